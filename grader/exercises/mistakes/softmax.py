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


OVER_QUERIES = Misconception(
    "softmax over queries",
    kind="axis",
    credit=0.5,
    says="Your weights are normalised over the queries of one key. They must be over the keys of one query.",
    change={"normalise": lambda scores: torch.softmax(scores, dim=0)},
)

SCORES_DIVIDED_BY_THEIR_SUM = Misconception(
    "without the exponential",
    kind="missing step",
    credit=0.25,
    says="Your weights are scores divided by their sum, without exp. They should be the softmax of the scores.",
    change={"normalise": lambda scores: scores / scores.sum(1, keepdim=True)},
)

SIGMOID = Misconception(
    "sigmoid",
    kind="wrong formula",
    credit=0.25,
    says="Your weights are the sigmoids of the scores. They should be the softmax.",
    change={"normalise": torch.sigmoid},
)

ALONG_ROWS = Misconception(
    "softmax along rows",
    kind="axis",
    credit=0.5,
    says="Your weights are normalised over the queries of one key. They must be down each column of KᵀQ: over "
    "the keys.",
    change={"normalise": lambda scores: torch.softmax(scores, dim=1)},
)

COLUMNS_NOT_NORMALISED = Misconception(
    "not normalised",
    kind="missing step",
    credit=0.25,
    says="Your weights do not sum to one: divide the exponentials by their sum in each column.",
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
