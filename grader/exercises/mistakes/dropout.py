"""Dropout that is forgotten, at another rate, or elsewhere than on the weights of a module."""

from __future__ import annotations

import torch
from torch import nn

from grader import Misconception

Tensor = torch.Tensor


def unscaled(dropout: nn.Dropout, weights: Tensor) -> Tensor:
    return weights * (torch.rand_like(weights) >= dropout.p) if dropout.training else weights


BEFORE_SOFTMAX = Misconception(
    "dropout before softmax",
    kind="mix-up",
    credit=0.5,
    says="With dropout as without, your weights sum to one, as when what goes into softmax is dropped. Drop weights, "
    "after the last softmax.",
    change={"drop_weights": lambda dropout, weights: weights, "drop_raw": lambda dropout, scores: dropout(scores)},
)

ON_MASKED_SCORES = Misconception(
    "dropout on masked scores",
    kind="mix-up",
    credit=0.5,
    says="In training, your results have NaN or infinite numbers, as after dropout on masked scores, where 0 · −∞ is "
    "NaN. Drop weights, after the softmax.",
    change={"drop_weights": lambda dropout, weights: weights, "drop_scores": lambda dropout, scores: dropout(scores)},
)

WITHOUT_THE_ARGUMENT = Misconception(
    "dropout of 0",
    kind="hard-coded",
    credit=0.5,
    says="Even with a dropout of 0, two calls in training differ, as with a rate written in the code, or with the "
    "default of nn.Dropout. Take every rate from the argument dropout.",
    change={"rate": lambda _p: 0.5},
)

# Of modules with a causal mask: exercises 16 and 18.
IN_MODULES = [
    Misconception(
        "nothing dropped",
        kind="missing step",
        credit=0.5,
        says="In training, nothing is dropped. Dropout is for the attention weights.",
        change={"drop_weights": lambda dropout, weights: weights},
    ),
    WITHOUT_THE_ARGUMENT,
    Misconception(
        "dropout always active",
        kind="missing step",
        credit=0.5,
        says="Weights are dropped outside of training, too. Use nn.Dropout, or F.dropout with training=self.training.",
        change={"drop_weights": lambda dropout, weights: nn.functional.dropout(weights, dropout.p, True)},
    ),
    # Before the one that says more: beside a mistake in the weights, the two cannot be told apart.
    Misconception(
        "dropout elsewhere",
        kind="mix-up",
        credit=0.5,
        says="Something other than attention weights is dropped, or more than these, perhaps values. Drop attention "
        "weights only.",
        change={"drop_weights": lambda dropout, weights: weights, "drop_values": lambda dropout, v: dropout(v)},
    ),
    Misconception(
        "dropout on the output",
        kind="mix-up",
        credit=0.5,
        says="Entries of the vectors are dropped that come after the weights. Drop attention weights, before they meet "
        "the values.",
        change={
            "drop_weights": lambda dropout, weights: weights,
            "drop_outputs": lambda dropout, out: dropout(out),
        },
    ),
    Misconception(
        "survivors not scaled",
        kind="missing step",
        credit=0.5,
        says="Weights that survive dropout must be divided by 1 − p, as nn.Dropout does.",
        change={"drop_weights": unscaled},
    ),
]
