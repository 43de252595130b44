"""Mistakes in modules that split one projection into heads: exercises 18 and 19."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from grader import Misconception

from . import gradients, masks, one_head, results, scaling, weighing

Tensor = torch.Tensor


def averaged(outputs: Tensor) -> Tensor:
    return outputs.mean(1).repeat(1, 1, outputs.shape[1])


def first_of(dim: int) -> Callable[..., Tensor]:
    """What belongs to the first head (dim 1) or sentence (dim 0), for all."""
    return lambda weights, *_sizes: weights.narrow(dim, 0, 1).expand_as(weights)


def viewed(x: Tensor, heads: int) -> Tensor:
    """In the right shape, but not transposed."""
    B, T, size = x.shape
    return x.reshape(B, heads, T, size // heads)


def softmax_over(dim: int) -> Callable[[Tensor], Tensor]:
    return lambda scores: torch.softmax(scores, dim=dim)


def not_kept(_module: nn.Module, _held: object) -> None:
    """For a layer or a buffer that is made and forgotten."""


def zeros_for_infinity(credit: float) -> Misconception:
    return Misconception(
        "zeros for −∞",
        kind="wrong formula",
        credit=credit,
        says="In your results, hidden scores count as 0, or nearly 0, and softmax turns each into exp(0) = 1. Set them "
        "to −∞.",
        change={"hide": lambda scores, later, sizes: scores.masked_fill(later, 0.0)},
    )


def minus_one_for_infinity(credit: float) -> Misconception:
    return Misconception(
        "−1 for −∞",
        kind="wrong formula",
        credit=credit,
        says="Hidden scores count as −1 in your results, which softmax still sees. Set them to −∞.",
        change={"hide": lambda scores, later, sizes: scores.masked_fill(later, -1 / sizes.head_dim**0.5)},
    )


def minus_one_after_scaling(credit: float) -> Misconception:
    return Misconception(
        "−1 for −∞, after scaling",
        kind="wrong formula",
        credit=credit,
        says="Hidden scores count as −1 in your results, which softmax still sees. Set them to −∞.",
        change={"hide": lambda scores, later, sizes: scores.masked_fill(later, -1.0)},
    )


SENTENCES_MIXED_UP_IN_MERGING = Misconception(
    "sentences mixed up in merging",
    kind="arrangement",
    credit=0.25,
    says="Your results are those of heads merged while they stand before the sentences of the batch, which mixes "
    "sentences and words up. All heads of a word belong side by side.",
    change={"merge": lambda outputs: outputs.transpose(0, 1).reshape(len(outputs), outputs.shape[2], -1)},
)


def result_normalised(last: str, width: Callable[[Any], int]) -> Misconception:
    """By a LayerNorm of its own, behind the last layer."""
    return Misconception(
        "result normalised",
        kind="mix-up",
        credit=0.5,
        says=f"Your results are those of a LayerNorm after {last}. That belongs to the block around attention: return "
        f"what {last} makes.",
        change={
            "begin": lambda module: module.add_module("norm", nn.LayerNorm(width(module))),
            "normalise_result": lambda module, outputs: module.norm(outputs),
        },
    )


IN_MODULES = [
    Misconception(
        "not scaled",
        kind="scaling",
        credit=0.5,
        says="The scores that you use are not scaled. Divide them by √head_dim, the root of the length of a key.",
        change={"scale": lambda scores, sizes: scores},
    ),
    Misconception(
        "divided by head_dim",
        kind="scaling",
        credit=0.5,
        says="Your scores are divided by head_dim, or twice by its root. Divide them by √head_dim once.",
        change={"scale": lambda scores, sizes: scores / sizes.head_dim},
    ),
    Misconception(
        "divided by head_dim and 2",
        kind="wrong formula",
        credit=0.5,
        says="The scores that you use are divided by head_dim and by 2. Divide by the root of head_dim, ** 0.5.",
        in_code=one_head.DIVIDED_TWICE,
        says_of_code="/ … ** 1 / 2 divides by (… ** 1), and then by 2. Write ** 0.5.",
        change={"scale": lambda scores, sizes: scores / sizes.head_dim / 2},
    ),
    Misconception(
        "divided by head_dim / 2",
        kind="wrong formula",
        credit=0.5,
        says="The scores that you use are divided by half of head_dim. Divide by the root of it, ** 0.5.",
        in_code=one_head.HALVED,
        says_of_code="** 1 / 2 is (… ** 1) / 2, so you divide by half of head_dim. Write ** 0.5.",
        change={"scale": lambda scores, sizes: scores / (sizes.head_dim / 2)},
    ),
    Misconception(
        "multiplied by √head_dim",
        kind="scaling",
        credit=0.5,
        says="The scores that you use are multiplied by √head_dim. They should be divided by it.",
        change={"scale": lambda scores, sizes: scores * sizes.head_dim**0.5},
    ),
    Misconception(
        "scaled in the wrong place",
        kind="scaling",
        credit=0.5,
        says="Your results are those of scores that are not scaled, divided by √head_dim at the end. Divide the "
        "scores, before softmax.",
        change={
            "scale": lambda scores, sizes: scores,
            "change_weights": lambda weights, sizes: weights / sizes.head_dim**0.5,
        },
    ),
    scaling.sign_flipped(scale=lambda scores, sizes: -scores / sizes.head_dim**0.5),
    Misconception(
        "heads in reverse order",
        kind="arrangement",
        credit=0.5,
        says="The last head comes first. Merge the heads in their order.",
        change={"merge": lambda outputs: outputs.flip(1).transpose(1, 2).flatten(2)},
    ),
    Misconception(
        "first head's weights for all",
        kind="mix-up",
        credit=0.25,
        says="In your results, all heads have the weights of the first. Each head should have its own.",
        change={"change_weights": first_of(1)},
    ),
    Misconception(
        "weights averaged over heads",
        kind="mix-up",
        credit=0.25,
        says="In your results, all heads have the mean of their weights. Each head should have its own.",
        change={"change_weights": lambda weights, sizes: weights.mean(1, keepdim=True).expand_as(weights)},
    ),
    Misconception(
        "first head only",
        kind="mix-up",
        credit=0.25,
        says="The output of the first head stands in the places of all heads. Merge all of them.",
        change={"merge": lambda outputs: outputs[:, 0].repeat(1, 1, outputs.shape[1])},
    ),
    Misconception(
        "heads averaged",
        kind="wrong formula",
        credit=0.25,
        says="The mean of the heads stands in the places of all heads. Put them side by side.",
        change={"merge": averaged},
    ),
    masks.SOFTMAX_TWICE,
    Misconception(
        "exponentials not divided",
        kind="missing step",
        credit=0.25,
        says="Your values are weighted by exponentials that are not divided by their sum. The weights are the softmax.",
        change={"normalise": torch.exp},
    ),
    Misconception(
        "sigmoid for softmax",
        kind="wrong formula",
        credit=0.25,
        says="Your weights are the sigmoids of the scores, which do not sum to one. They should be the softmax over "
        "the keys.",
        change={"normalise": torch.sigmoid},
    ),
    weighing.first_sentences_weights(change_weights=first_of(0)),
    results.squeezed(finish=lambda outputs: outputs.squeeze()),
    gradients.EVERYTHING_DETACHED,
]
