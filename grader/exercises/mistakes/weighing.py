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
        says="In your results, all sentences of a batch have the weights of the first. Each of them should have "
        "weights of its own.",
        change=change,
    )


def plain_average(**change: Any) -> Misconception:
    return Misconception(
        "plain average",
        kind="missing step",
        credit=0.0,
        says="Your outputs are the average of the values, whatever the weights. Each value must be multiplied by its "
        "weight, then summed.",
        change=change,
    )


def first_querys_weights(**change: Any) -> Misconception:
    return Misconception(
        "first query's weights",
        kind="mix-up",
        credit=0.25,
        says="In your results, every query has the weights of the first. Query i should have weights of its own.",
        change=change,
    )


# Where a class takes these steps.
QUERIES_AND_KEYS_EXCHANGED = Misconception(
    "queries and keys exchanged",
    kind="mix-up",
    credit=0.5,
    says="Queries and keys change places in your results. Row i of the scores is query i with every key.",
    change={"score": lambda q, k: k @ q.mT},
)

SUM_NEVER_RESET = Misconception(
    "sums that go on",
    kind="missing step",
    credit=0.5,
    says="The sum of one query goes on in the next. Start from zero for every query.",
    change={"after": lambda outputs, *_values: outputs.cumsum(dim=1)},
)


def mean_instead_of_sum(**change: Any) -> Misconception:
    return Misconception(
        "mean instead of sum",
        kind="wrong formula",
        credit=0.5,
        says="Your result is divided by the number of words. The weights already sum to one.",
        change=change,
    )
