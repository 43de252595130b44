"""Values that are weighed with other weights, or not summed as they should be."""

from __future__ import annotations

from typing import Any

from grader import Misconception


def first_sentences_weights(**change: Any) -> Misconception:
    return Misconception(
        "first sentence's weights for all",
        kind="mix-up",
        credit=0.25,
        says="In your results, all sentences of a batch have the weights of the first. Each of them should have "
        "weights of its own.",
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


def mean_instead_of_sum(**change: Any) -> Misconception:
    return Misconception(
        "mean instead of sum",
        kind="wrong formula",
        credit=0.5,
        says="Your result is divided by the number of words. The weights already sum to one.",
        change=change,
    )
