"""Softmax along the wrong dimension, or another function in its place."""

from __future__ import annotations

from typing import Any

import torch

from grader import Misconception

Tensor = torch.Tensor


def over_everything(scores: Tensor) -> Tensor:
    """All weights together sum to one."""
    return torch.softmax(scores.flatten(), dim=0).reshape(scores.shape)


def applied_twice(**change: Any) -> Misconception:
    return Misconception(
        "applied twice",
        kind="wrong formula",
        credit=0.5,
        says="Your weights are those of softmax applied twice. Once is enough.",
        change=change,
    )


SIGMOID = Misconception(
    "sigmoid",
    kind="wrong formula",
    credit=0.25,
    says="Your weights are the sigmoids of the scores. They should be the softmax.",
    change={"normalise": torch.sigmoid},
)

OVER_EVERYTHING = Misconception(
    "softmax over everything",
    kind="axis",
    credit=0.5,
    says="All your weights together sum to one, and not those of each query. Softmax is over each row, dim=-1.",
    change={"normalise": over_everything},
)

ROWS_NOT_NORMALISED = Misconception(
    "not normalised",
    kind="missing step",
    credit=0.25,
    says="Your weights do not sum to one: divide the exponentials by their sum in each row.",
    change={"normalise": torch.exp},
)


def not_shifted(**change: Any) -> Misconception:
    return Misconception(
        "softmax not shifted",
        kind="missing step",
        credit=0.75,
        says="Where scores are large, exp overflows, or is 0 in a whole row: ∞/∞ and 0/0 are NaN. "
        "Use torch.softmax, or subtract the maximum of each row before exp.",
        change=change,
    )
