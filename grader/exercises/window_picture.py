"""A picture of the keys that each query sees in a student's code, in a case where values name their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from grader import Inputs, Picture, randn
from grader.kit.pictures import numbers_in, places_in

Tensor = torch.Tensor

WORDS, WINDOW = 8, 3
NOTHING = 1e-6


def named_words(rng: torch.Generator) -> Inputs:
    """The value of word s is one in entry s and zero elsewhere, so the output of a query is its weights."""
    queries, keys = randn(rng, 1, 1, WORDS, WORDS), randn(rng, 1, 1, WORDS, WORDS)
    return queries, keys, torch.eye(WORDS).reshape(1, 1, WORDS, WORDS), WINDOW


def keys_seen(value: Any, inputs: Sequence[Any]) -> Picture | None:
    """A row for each query and a column for each key. Marks keys that it sees wrongly, or fails to see."""
    values, window = inputs[2], inputs[3]
    if values.shape != (1, 1, WORDS, WORDS) or not torch.equal(values.cpu()[0, 0], torch.eye(WORDS)):
        return None
    if not isinstance(value, Tensor) or value.is_complex() or value.shape != values.shape:
        return None
    weights = value.detach().cpu().double()[0, 0]
    table = torch.ones(WORDS, WORDS, dtype=torch.bool)
    within = table.tril() & table.triu(1 - window)
    visible = ~(weights.abs() <= NOTHING)  # NaN is something
    wrong = [
        *_describe(visible & ~table.tril(), "sees a later key"),
        *_describe(visible & ~table.triu(1 - window), f"sees a key that is more than {window - 1} words back"),
        *_describe(within & ~visible, "does not see all keys of its window"),
    ]
    title = f"The window is {window}. Each value names its word, so these numbers are the weights."
    return Picture(
        title=title,
        numbers=numbers_in(weights),
        rows="query",
        columns="key",
        first=0,
        marked=places_in(visible ^ within),
        wrong=tuple(wrong),
    )


def _describe(marked: Tensor, fault: str) -> list[str]:
    """One sentence about all queries with a mark."""
    queries = [str(row) for row in marked.any(1).nonzero().flatten().tolist()]
    if not queries:
        return []
    ending = ["", ", and so does one other", f", and so do {len(queries) - 1} others"][min(len(queries) - 1, 2)]
    return [f"Query {queries[0]} {fault}{ending}."]
