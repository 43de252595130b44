"""Values that are weighed with other weights, or not summed as they should be."""

from __future__ import annotations

from typing import Any

import torch

from grader import Misconception

Tensor = torch.Tensor


def without_last(A: Tensor) -> Tensor:
    """For weights (N queries, N words): the last word never counts."""
    return torch.cat([A[:, :-1], A.new_zeros(len(A), 1)], dim=1)


def first_sentences_weights(**change: Any) -> Misconception:
    return Misconception(
        "first sentence's weights for all",
        kind="mix-up",
        credit=0.25,
        says="All sentences of a batch use the weights of the first. Compute weights for each of them.",
        change=change,
    )


def plain_average(**change: Any) -> Misconception:
    return Misconception(
        "plain average",
        kind="missing step",
        credit=0.0,
        says="You average the values, whatever the weights. Multiply each value with its weight, then sum.",
        change=change,
    )


def first_querys_weights(**change: Any) -> Misconception:
    return Misconception(
        "first query's weights",
        kind="mix-up",
        credit=0.25,
        says="You use the weights of the first query for all. Use those of the current query.",
        change=change,
    )


# Where a class takes these steps.
QUERIES_AND_KEYS_EXCHANGED = Misconception(
    "queries and keys exchanged",
    kind="mix-up",
    credit=0.5,
    says="Queries and keys change places: row i of the scores should be query i with every key.",
    change={"score": lambda q, k: k @ q.mT},
)

SUM_NEVER_RESET = Misconception(
    "sum never reset",
    kind="missing step",
    credit=0.5,
    says="The sum of one query goes on in the next. Start from zero for every query.",
    change={"after": lambda outputs, *_values: outputs.cumsum(dim=1)},
)

WEIGHTS_TRANSPOSED = Misconception(
    "weights transposed",
    kind="axis",
    credit=0.5,
    says="The weights are transposed. Column i must hold the weights of query i when you compute V @ A.",
    change={"combine": lambda V, A: V @ A.mT},
)

WORDS_ADDED = Misconception(
    "words added",
    kind="mix-up",
    credit=0.5,
    says="You add X to the result (a residual connection). Self-attention alone has no such sum.",
    change={"after": lambda outputs, X: outputs + X},
)


def mean_instead_of_sum(**change: Any) -> Misconception:
    return Misconception(
        "mean instead of sum",
        kind="wrong formula",
        credit=0.5,
        says="You divide the result by the number of words. The weights already sum to one.",
        change=change,
    )
