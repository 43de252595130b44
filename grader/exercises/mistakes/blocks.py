"""What goes wrong in a block of a transformer: exercise 24."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from grader import Misconception

from . import gradients

Tensor = torch.Tensor


def one_for_both(new: Any) -> Any:
    norm = new()
    return norm, norm


NORMS = [
    Misconception(
        "norm after adding",
        kind="arrangement",
        credit=0.5,
        says="Your results are those of a block that normalises its sums (post-norm). Here each part gets a normalised "
        "copy, and what is added up is never normalised: with nothing to add, x comes out as it went in.",
        change={"before": lambda norm, x, part: x, "after": lambda norm, x: norm(x)},
    ),
    Misconception(
        "norm and dropout after adding",
        kind="arrangement",
        credit=0.25,
        says="Your results are those of a block that normalises its sums (post-norm) and drops entries of what comes "
        "out. Here each part gets a normalised copy of x, and dropout is for what it returns, before that is added.",
        change={
            "before": lambda norm, x, part: x,
            "after": lambda norm, x: norm(x),
            "drop": lambda dropout, made, part: made,
            "drop_last": lambda dropout, x: dropout(x),
        },
    ),
    Misconception(
        "norm before and after",
        kind="arrangement",
        credit=0.5,
        says="Your results are those of a block that normalises what goes into each part, and the sums as well. Leave "
        "the sums as they are.",
        change={"after": lambda norm, x: norm(x)},
    ),
    Misconception(
        "norm of what the parts return",
        kind="arrangement",
        credit=0.5,
        says="Your results are those of a block that normalises what each part returns. Normalise what goes into the "
        "parts: attention should get norm1(x), the feed-forward network norm2(x).",
        change={"before": lambda norm, x, part: x, "norm_made": lambda norm, made: norm(made)},
    ),
    Misconception(
        "attention not normalised",
        kind="missing step",
        credit=0.5,
        says="In your results, attention gets x as it is. It should get norm1(x).",
        change={"before": lambda norm, x, part: x if part == 1 else norm(x)},
    ),
    Misconception(
        "feed-forward not normalised",
        kind="missing step",
        credit=0.5,
        says="In your results, the feed-forward network gets x as it is. It should get norm2(x).",
        change={"before": lambda norm, x, part: x if part == 2 else norm(x)},
    ),
    Misconception(
        "no norms",
        kind="missing step",
        credit=0.25,
        says="Your results are those of a block without norms. Attention should get norm1(x), the feed-forward network "
        "norm2(x).",
        change={"before": lambda norm, x, part: x},
    ),
    Misconception(
        "norm1 twice",
        kind="mix-up",
        credit=0.5,
        says="Your results are those of norm1 in both places. The second must be norm2, which has numbers of its own.",
        change={"which": lambda part: 1},
    ),
    Misconception(
        "norm2 twice",
        kind="mix-up",
        credit=0.5,
        says="Your results are those of norm2's numbers in both places, as also happens when norm1 and norm2 are the "
        "same object. Each needs numbers of its own.",
        change={"two_norms": one_for_both},
    ),
    Misconception(
        "norms exchanged",
        kind="mix-up",
        credit=0.75,
        says="Your results are those of norm2 before attention and norm1 before the feed-forward network. It should be "
        "the other way round.",
        change={"which": lambda part: 3 - part},
    ),
    Misconception(
        "norms without biases",
        kind="mix-up",
        credit=0.75,
        says="norm1 has no bias. Both norms should be nn.LayerNorm, which has one; RMSNorm has none, and neither does "
        "a LayerNorm with bias=False.",
        change={"norm": nn.RMSNorm},
    ),
]

SHORTCUTS = [
    Misconception(
        "attention without shortcut",
        kind="missing step",
        credit=0.5,
        says="What attention returns replaces x in your results. Add it to x.",
        change={"add": lambda x, made, part: made if part == 1 else x + made},
    ),
    Misconception(
        "feed-forward without shortcut",
        kind="missing step",
        credit=0.5,
        says="What the feed-forward network returns replaces x in your results. Add it to x.",
        change={"add": lambda x, made, part: made if part == 2 else x + made},
    ),
    Misconception(
        "no shortcuts",
        kind="missing step",
        credit=0.25,
        says="What each part returns replaces x in your results. Add it to x, both times.",
        change={"add": lambda x, made, part: made},
    ),
    Misconception(
        "shortcuts around the norm missing",
        kind="arrangement",
        credit=0.5,
        says="What each part returns is added to the normalised x in your results. Add it to x itself: the norms stand "
        "beside the shortcut, not on it.",
        change={"shortcut": lambda x, normed, first, part: normed},
    ),
    Misconception(
        "second shortcut from the beginning",
        kind="mix-up",
        credit=0.5,
        says="Your last sum begins with the x that came in, so what attention added is lost. It should begin with the "
        "sum before it.",
        change={"shortcut": lambda x, normed, first, part: first},
    ),
    Misconception(
        "parts side by side",
        kind="arrangement",
        credit=0.5,
        says="In your results, the feed-forward network reads the x that came in. It should read the sum of that and "
        "what attention returned.",
        change={"read": lambda x, first, part: first},
    ),
    Misconception(
        "order exchanged",
        kind="arrangement",
        credit=0.5,
        says="Your results are those of the feed-forward network first and attention second. It should be the reverse.",
        change={"parts": (2, 1)},
    ),
    Misconception(
        "attention only",
        kind="missing step",
        credit=0.25,
        says="Your results are those of attention alone, without the feed-forward network. It is the second part.",
        change={"parts": (1,)},
    ),
    Misconception(
        "feed-forward only",
        kind="missing step",
        credit=0.25,
        says="Your results are those of the feed-forward network alone, without attention. It is the first part.",
        change={"parts": (2,)},
    ),
]


def activated_by(name: str, function: Any, says: str, credit: float = 0.75) -> Misconception:
    return Misconception(name, kind="wrong formula", credit=credit, says=says, change={"activate": function})


FEED_FORWARD = [
    activated_by(
        "ReLU for GELU", torch.relu, "Your results are those of ReLU between the two layers. It should be GELU."
    ),
    activated_by(
        "SiLU for GELU", nn.functional.silu, "Your results are those of SiLU between the two layers. It should be GELU."
    ),
    activated_by(
        "GELU by tanh",
        lambda x: nn.functional.gelu(x, approximate="tanh"),
        "Your results are those of the approximation of GELU by tanh. Take F.gelu as it is.",
    ),
    activated_by(
        "no activation",
        lambda x: x,
        "Your results are those of two linear layers in a row, which are no more than one. GELU belongs between them.",
        credit=0.5,
    ),
    Misconception(
        "activated after both layers",
        kind="arrangement",
        credit=0.5,
        says="Your results are those of GELU after ff_out. It belongs between ff_in and ff_out.",
        change={"activate": lambda x: x, "activate_last": nn.functional.gelu},
    ),
    Misconception(
        "activated twice",
        kind="arrangement",
        credit=0.5,
        says="Your results are those of GELU after each of the two layers. It belongs between them only.",
        change={"activate_last": nn.functional.gelu},
    ),
    Misconception(
        "d_ff is not the argument",
        kind="hard-coded",
        credit=0.5,
        says="The hidden layer has 4 · d_model entries whatever d_ff is. Take its size from the argument.",
        change={"hidden_size": lambda d_model, d_ff: 4 * d_model},
    ),
    Misconception(
        "hidden layer as wide as x",
        kind="hard-coded",
        credit=0.5,
        says="The hidden layer has d_model entries whatever d_ff is. Take its size from the argument.",
        change={"hidden_size": lambda d_model, d_ff: d_model},
    ),
    Misconception(
        "layers without biases",
        kind="missing step",
        credit=0.75,
        says="ff_in and ff_out have no biases. Leave out bias=False.",
        change={"bias": False},
    ),
    Misconception(
        "one head",
        kind="hard-coded",
        credit=0.5,
        says="Your results are those of attention with one head, whatever num_heads is. Pass it the argument.",
        change={"heads": lambda num_heads: 1},
    ),
]

# At a rate of 1, whatever is dropped is 0: what is dropped shows without chance.
DROPOUT = [
    Misconception(
        "nothing dropped",
        kind="missing step",
        credit=0.5,
        says="In training, nothing is dropped. Dropout is for what attention returns, and for what ff_out returns.",
        change={"drop": lambda drop, made, part: made},
    ),
    Misconception(
        "attention not dropped",
        kind="missing step",
        credit=0.75,
        says="In training, nothing is dropped of what attention returns. Dropout comes before it is added to x.",
        change={"drop": lambda drop, made, part: made if part == 1 else drop(made)},
    ),
    Misconception(
        "feed-forward not dropped",
        kind="missing step",
        credit=0.75,
        says="In training, nothing is dropped of what ff_out returns. Dropout comes before it is added to x.",
        change={"drop": lambda drop, made, part: made if part == 2 else drop(made)},
    ),
    Misconception(
        "dropout on the inside",
        kind="mix-up",
        credit=0.75,
        says="In training, the hidden layer is dropped in place of what ff_out returns: the bias of ff_out remains.",
        change={
            "drop": lambda drop, made, part: made if part == 2 else drop(made),
            "inside": lambda drop, hidden: drop(hidden),
        },
    ),
    Misconception(
        "dropout on the norms",
        kind="mix-up",
        credit=0.5,
        says="In training, it is what goes into the parts that is dropped, not what they return.",
        change={
            "drop": lambda drop, made, part: made,
            "drop_normed": lambda drop, normed: drop(normed),
        },
    ),
    Misconception(
        "dropout on the sums",
        kind="mix-up",
        credit=0.5,
        says="In training, entries of x itself are dropped. Drop what is added to x, so that the shortcut stays whole.",
        change={
            "drop": lambda drop, made, part: made,
            "drop_sum": lambda drop, x: drop(x),
        },
    ),
    Misconception(
        "not the given rate",
        kind="hard-coded",
        credit=0.5,
        says="In training, chance decides what is dropped even where the argument dropout is 0 or 1: the rate is a "
        "different one. Pass nn.Dropout the argument.",
        change={"rate": lambda p: 0.5},
    ),
    Misconception(
        "dropout always active",
        kind="missing step",
        credit=0.5,
        says="Something is dropped outside of training, too. Use nn.Dropout, or F.dropout with training=self.training.",
        change={"drop": lambda drop, made, part: nn.functional.dropout(made, drop.p, True)},
    ),
]

OF_A_BLOCK = [*NORMS, *SHORTCUTS, *FEED_FORWARD, *DROPOUT, gradients.EVERYTHING_DETACHED]
