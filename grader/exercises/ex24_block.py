"""Exercise 24: a transformer block: attention and a feed-forward network, with norms and shortcuts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from grader import MODULE, Case, ClassCase, Exercise, LentClass, at, randn, wrong
from grader.kit.module_cases import draw_weights, in_float64, twice_and_changed
from grader.kit.module_readings import picture_of_future, reader
from grader.kit.pieces import FLOAT64

from .given_attention import GivenAttention as Attention
from .given_attention import block_shapes
from .mistakes import any_module

Tensor = torch.Tensor

TINY = 1e-3  # the square of such numbers is about as large as a norm's eps
EPS = (
    "Your code is right until numbers become tiny: then the eps of a norm matters. Use the eps of nn.LayerNorm, 1e-5, "
    "added to the variance under the root."
)


class TransformerBlock(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.norm1 = nn.LayerNorm(d_model)  #: norms
        self.norm2 = nn.LayerNorm(d_model)  #: norms
        self.attention = Attention(d_model, num_heads)  #: attention
        self.ff_in = nn.Linear(d_model, d_ff)  #: layers
        self.ff_out = nn.Linear(d_ff, d_model)  #: layers
        self.dropout = nn.Dropout(dropout)  #: rate

    def forward(self, x):
        x = x + self.dropout(self.attention(self.norm1(x)))  #: attend
        hidden = self.ff_in(self.norm2(x))  # (B, T, d_ff)  #: hidden
        hidden = F.gelu(hidden)  #: activate
        x = x + self.dropout(self.ff_out(hidden))  #: feed
        return x  #: result


def drawn(rng: torch.Generator, d_model: int, d_ff: int) -> dict[str, Tensor]:
    """Weights with biases and norms as large as the rest, so that it shows if they are missing."""
    weights = draw_weights(rng, block_shapes(d_model, d_ff))
    return {name: weight if weight.dim() > 1 else weight * len(weight) ** 0.5 for name, weight in weights.items()}


def sized(
    B: int, T: int, d_model: int, heads: int, d_ff: int, p: float = 0.0, **options: Any
) -> Callable[[torch.Generator], ClassCase]:
    def inputs(rng: torch.Generator) -> ClassCase:
        weights = drawn(rng, d_model, d_ff)
        x = 2 * randn(rng, B, T, d_model) + 0.5
        return ClassCase([d_model, heads, d_ff, p], weights, twice_and_changed(rng, x), **options)

    return inputs


def with_nothing_to_add(rng: torch.Generator) -> ClassCase:
    """Both output layers are zero, so nothing is added to x, and the output is x itself."""
    case = sized(2, 4, 6, 2, 9)(rng)
    last = ("attention.combine", "ff_out")
    silent = {name: torch.zeros_like(each) if name.startswith(last) else each for name, each in case.weights.items()}
    return replace(case, weights=silent)


def of_tiny_numbers(rng: torch.Generator, *, silent: bool) -> ClassCase:
    """Words whose variance is about as small as eps. With `silent`, attention adds nothing to them, so the second norm
    sees them, too; otherwise, only the first does."""
    case = sized(2, 3, 5, 1, 6)(rng)
    zeros = {name: torch.zeros_like(each) for name, each in case.weights.items() if silent and "combine" in name}
    return replace(case, weights={**case.weights, **zeros}, calls={"output": [TINY * case.calls["output"][0]]})


# fmt: off
exercise = Exercise(
    number=24,
    assignment="transformer",
    title="A block",
    solution=TransformerBlock,
    form=MODULE,
    lent=LentClass(TransformerBlock),
    picture=picture_of_future,
    read=reader(TransformerBlock, causal=True),
    cases=[
        Case("one sentence", "missing gradients, a mask that is missing", sized(1, 5, 4, 2, 7, gradients=1)),
        Case("several sentences", "sentences that are mixed, norms over the batch", sized(3, 4, 6, 3, 11, gradients=1)),
        Case("as many heads as words", "words and heads that are exchanged", sized(2, 4, 8, 4, 5)),
        Case("as many features as words", "norms over words", sized(2, 6, 6, 2, 3)),
        Case("a single word", "squeezed dimensions", sized(2, 1, 4, 2, 6)),
        Case("one head", "a number of heads that is not the argument", sized(2, 5, 5, 1, 8)),
        Case("nothing to add", "norms outside of the shortcuts", with_nothing_to_add),
        Case("tiny numbers", "another eps of the first norm, or at another place",
             functools.partial(of_tiny_numbers, silent=False), beside=EPS),
        Case("tiny numbers that go on", "another eps of the second norm, or at another place",
             functools.partial(of_tiny_numbers, silent=True), beside=EPS),
        Case("not in training", "dropout that is always active", sized(2, 4, 6, 2, 10, p=1.0)),
        Case("in training, at a rate of 0", "a rate that is not the argument", sized(2, 5, 4, 2, 9, train=True)),
        Case("in training, at a rate of 1", "dropout that is missing, or elsewhere",
             sized(2, 5, 6, 3, 8, p=1.0, train=True)),
        Case("float64 inputs", "a result of another type than the input", in_float64(sized(2, 5, 6, 2, 7)), FLOAT64),
    ],
    mistakes=[
        wrong("norm after adding",
              {"attend": ("self.norm1(x)", "x"), "after attend": "x = self.norm1(x)", "hidden": ("self.norm2(x)", "x"),
               "after feed": "x = self.norm2(x)"},
              "Your results look like those of a block that normalizes its sums (post-norm). Here, each part gets a "
              "normalized copy, and the sums are never normalized: when nothing is added, x comes out unchanged.",
              kind="arrangement"),
        wrong("norm and dropout after adding",
              {"attend": "x = self.dropout(self.norm1(x + self.attention(x)))", "hidden": ("self.norm2(x)", "x"),
               "feed": "x = self.dropout(self.norm2(x + self.ff_out(hidden)))"},
              "Your results look like those of a block that normalizes its sums (post-norm) and drops entries of the "
              "result. Here, each part gets a normalized copy of x, and dropout is for what the part returns, before "
              "that is added.", kind="arrangement"),
        wrong("norm before and after", {"after attend": "x = self.norm1(x)", "after feed": "x = self.norm2(x)"},
              "Your results look like those of a block that normalizes what goes into each part, and the sums as well. "
              "Do not normalize the sums.", kind="arrangement"),
        wrong("norm of what the parts return",
              {"attend": ("self.attention(self.norm1(x))", "self.norm1(self.attention(x))"),
               "hidden": ("self.norm2(x)", "x"), "feed": ("self.ff_out(hidden)", "self.norm2(self.ff_out(hidden))")},
              "Your results look like those of a block that normalizes what each part returns. Normalize what goes "
              "into the parts: attention should get norm1(x), the feed-forward network norm2(x).", kind="arrangement"),
        wrong("attention not normalized", {"attend": ("self.norm1(x)", "x")},
              "In your results, attention gets x itself. Give it norm1(x).", kind="missing step"),
        wrong("feed-forward not normalized", {"hidden": ("self.norm2(x)", "x")},
              "In your results, the feed-forward network gets x itself. Give it norm2(x).", kind="missing step"),
        wrong("no norms", {"attend": ("self.norm1(x)", "x"), "hidden": ("self.norm2(x)", "x")},
              "Your results look like those of a block without norms. Give norm1(x) to attention, and norm2(x) to the "
              "feed-forward network.", credit=0.25, kind="missing step"),
        wrong("norm1 twice", {"hidden": ("norm2", "norm1")},
              "Your results look as if norm1 were in both places. The second must be norm2, which has its own numbers.",
              kind="mix-up"),
        wrong("norm2 twice", {"norms": "self.norm1 = self.norm2 = nn.LayerNorm(d_model)"},
              "Your results look as if norm2's numbers were in both places, which also happens when norm1 and norm2 "
              "are the same object. Give each norm its own numbers.", kind="mix-up"),
        wrong("norms exchanged", {"attend": ("norm1", "norm2"), "hidden": ("norm2", "norm1")},
              "Your results look as if norm2 came before attention, and norm1 before the feed-forward network. Swap "
              "them.", credit=0.75, kind="mix-up"),
        wrong("norms without biases", {"norms": ("LayerNorm", "RMSNorm")},
              "norm1 has no bias, like RMSNorm, or a LayerNorm with bias=False. Both norms should be nn.LayerNorm with "
              "its bias.", credit=0.75, kind="mix-up"),
        wrong("attention without shortcut", {"attend": ("x + ", "")},
              "In your results, the output of attention replaces x. Add it to x.", kind="missing step"),
        wrong("feed-forward without shortcut", {"feed": ("x + ", "")},
              "In your results, the output of the feed-forward network replaces x. Add it to x.", kind="missing step"),
        wrong("no shortcuts", {"attend": ("x + ", ""), "feed": ("x + ", "")},
              "In your results, the output of each part replaces x. Add it to x, both times.",
              credit=0.25, kind="missing step"),
        wrong("shortcuts around the norm missing",
              {"before attend": "x = self.norm1(x)", "attend": ("self.norm1(x)", "x"),
               "before hidden": "x = self.norm2(x)", "hidden": ("self.norm2(x)", "x")},
              "In your results, the output of each part is added to the normalized x. Add it to x itself: the "
              "shortcuts go around the norms.", kind="arrangement"),
        wrong("first shortcut around the norm missing",
              {"before attend": "x = self.norm1(x)", "attend": ("self.norm1(x)", "x")},
              "In your results, the output of attention is added to the normalized x. Add it to x itself: the shortcut "
              "goes around the norm.", kind="arrangement"),
        wrong("second shortcut around the norm missing",
              {"before hidden": "x = self.norm2(x)", "hidden": ("self.norm2(x)", "x")},
              "In your results, the output of the feed-forward network is added to the normalized x. Add it to x "
              "itself: the shortcut goes around the norm.", kind="arrangement"),
        wrong("second shortcut from the beginning", {"before attend": "first = x", "feed": ("x + ", "first + ")},
              "Your last sum starts from the original x, so what attention added is lost. Start from the sum before "
              "it.", kind="mix-up"),
        wrong("parts side by side", {"before attend": "first = x", "hidden": ("self.norm2(x)", "self.norm2(first)")},
              "In your results, the feed-forward network reads the original x. It should read the sum of x and the "
              "output of attention.", kind="arrangement"),
        wrong("order exchanged", {"attend": "", "after feed": "x = x + self.dropout(self.attention(self.norm1(x)))"},
              "Your results look as if the feed-forward network came first, and attention second. Swap them.",
              kind="arrangement"),
        wrong("attention only", {"hidden": "", "activate": "", "feed": ""},
              "Your results are those of attention alone. The feed-forward network is missing: it is the second part.",
              credit=0.25, kind="missing step"),
        wrong("feed-forward only", {"attend": ""},
              "Your results are those of the feed-forward network alone. Attention is missing: it is the first part.",
              credit=0.25, kind="missing step"),
        *at("activate",
            wrong("ReLU for GELU", "hidden = F.relu(hidden)",
                  "Your results look as if ReLU were between the two layers. Use GELU.", credit=0.75),
            wrong("SiLU for GELU", "hidden = F.silu(hidden)",
                  "Your results look as if SiLU were between the two layers. Use GELU.", credit=0.75),
            wrong("GELU by tanh", 'hidden = F.gelu(hidden, approximate="tanh")',
                  "Your results look like the tanh approximation of GELU. Use plain F.gelu.", credit=0.75),
            wrong("no activation", "",
                  "Your results look like those of two linear layers in a row, which can do no more than one. Put GELU "
                  "between them.")),
        wrong("activated after both layers",
              {"activate": "", "feed": ("self.ff_out(hidden)", "F.gelu(self.ff_out(hidden))")},
              "Your results look as if GELU came after ff_out. Put it between ff_in and ff_out.", kind="arrangement"),
        wrong("activated twice", {"feed": ("self.ff_out(hidden)", "F.gelu(self.ff_out(hidden))")},
              "Your results look as if GELU came after each of the two layers. Put it between them only.",
              kind="arrangement"),
        *at("before norms",
            wrong("d_ff is not the argument", "d_ff = 4 * d_model",
                  "The hidden layer has 4 · d_model entries, whatever d_ff is. Take its size from the argument.",
                  kind="hard-coded"),
            wrong("hidden layer as wide as x", "d_ff = d_model",
                  "The hidden layer has d_model entries, whatever d_ff is. Take its size from the argument.",
                  kind="hard-coded")),
        wrong("layers without biases", {"layers": (")", ", bias=False)")},
              "ff_in and ff_out have no biases. Leave out bias=False.", credit=0.75, kind="missing step"),
        wrong("one head", {"attention": ("num_heads", "1")},
              "Your results look as if attention had one head, whatever num_heads is. Pass num_heads on to it.",
              kind="hard-coded"),
        wrong("nothing dropped", {"attend": ("self.dropout", ""), "feed": ("self.dropout", "")},
              "In training, nothing is dropped. Apply dropout to the output of attention, and to the output of ff_out.",
              kind="missing step"),
        wrong("attention not dropped", {"attend": ("self.dropout", "")},
              "In training, no entries of attention's output are dropped. Apply dropout to it before you add it to x.",
              credit=0.75, kind="missing step"),
        *at("feed",
            wrong("feed-forward not dropped", ("self.dropout", ""),
                  "In training, no entries of ff_out's output are dropped. Apply dropout to it before you add it to x.",
                  credit=0.75, kind="missing step"),
            wrong("dropout on the inside", ("self.dropout(self.ff_out(hidden))", "self.ff_out(self.dropout(hidden))"),
                  "In training, the hidden layer is dropped instead of the output of ff_out, so the bias of ff_out "
                  "remains. Drop the output.", credit=0.75, kind="mix-up")),
        wrong("dropout on the norms",
              {"attend": ("self.dropout(self.attention(self.norm1(x)))", "self.attention(self.dropout(self.norm1(x)))"),
               "hidden": ("self.norm2(x)", "self.dropout(self.norm2(x))"), "feed": ("self.dropout", "")},
              "In training, the inputs of the parts are dropped, not their outputs. Drop what the parts return.",
              kind="mix-up"),
        wrong("dropout on the sums",
              {"attend": ("self.dropout", ""), "after attend": "x = self.dropout(x)", "feed": ("self.dropout", ""),
               "after feed": "x = self.dropout(x)"},
              "In training, entries of x itself are dropped. Drop only what is added to x, so that the shortcut stays "
              "whole.", kind="mix-up"),
        *at("rate",
            wrong("not the given rate", "self.dropout = nn.Dropout(0.5)",
                  "In training, chance decides what is dropped even if the argument dropout is 0 or 1, so the rate is "
                  "a different one. Pass the argument to nn.Dropout.", kind="hard-coded"),
            wrong("dropout always active", "self.dropout = lambda x: F.dropout(x, dropout)",
                  "Something is dropped outside of training, too. Drop entries only while self.training is "
                  "true, as nn.Dropout does.", kind="missing step")),
        wrong("everything detached", {"result": "return x.detach()"},
              "No gradient gets through, as when the computation uses no_grad, detach or the like. Compute "
              "the result from the weights, with operations that keep gradients.", kind="gradient"),
        *any_module.of_any("rate", "x"),
    ],
)
# fmt: on
