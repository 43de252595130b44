"""A picture of slots that a student's code reads, in a case where values name slots and all words weigh the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from grader import Inputs, Picture
from grader.kit.pictures import numbers_in, places_in

Tensor = torch.Tensor

PAGES, PAGE_SIZE = 4, 3
TABLE, LENGTHS = [[2, 0], [3, -1]], [4, 2]
NOTHING = 1e-3


def in_use(page_table: Tensor, lengths: Tensor, pages: int, page_size: int) -> Tensor:
    """A table (pages, page_size) that is true for slots with a word of some sentence."""
    occupied = torch.zeros(pages, page_size, dtype=torch.bool)
    for row, length in zip(page_table.tolist(), lengths.tolist(), strict=True):
        for place in range(length):
            occupied[row[place // page_size], place % page_size] = True
    return occupied


def named_slots(rng: torch.Generator) -> Inputs:
    """Outputs show how much a sentence takes from each slot: queries are 0, and each value is 1 in its own entry."""
    slots = PAGES * PAGE_SIZE
    keys = torch.randn(PAGES, PAGE_SIZE, 1, slots, generator=rng)
    values = torch.eye(slots).reshape(PAGES, PAGE_SIZE, 1, slots)
    turned = torch.randint(2, (), generator=rng).item() == 1  # so that no constant is right
    table, lengths = (TABLE[::-1], LENGTHS[::-1]) if turned else (TABLE, LENGTHS)
    return torch.zeros(2, 1, slots), keys, values, torch.tensor(table), torch.tensor(lengths)


def slots_read(value: Any, inputs: Sequence[Any]) -> Picture | None:
    """A row for each sentence and a column for each slot. Marks slots that it reads wrongly, or fails to read."""
    query, key_pages, _values, page_table, lengths = inputs[:5]
    slots = key_pages.shape[0] * key_pages.shape[1]
    if len(inputs) > 5 or query.any() or query.shape != (len(lengths), 1, slots) or slots > PAGES * PAGE_SIZE:
        return None
    if not isinstance(value, Tensor) or value.is_complex() or value.shape != query.shape:
        return None
    weights = value.detach().cpu().double()[:, 0]  # (B, slots)
    of_each = zip(page_table.cpu().split(1), lengths.cpu().split(1), strict=True)
    expected = torch.stack([in_use(*one, *key_pages.shape[:2]).flatten() for one in of_each])  # (B, slots)
    used = ~(weights.abs() <= NOTHING)  # NaN is something
    wrong = [
        *_sentences(used & ~expected, "reads slots that hold none of its words"),
        *_sentences(expected & ~used, "does not read all of its words"),
    ]
    title = f"Slots 0 to {key_pages.shape[1] - 1} are page 0, and so on. All words have the same weight."
    return Picture(
        title=title,
        numbers=numbers_in(weights),
        rows="sentence",
        columns="slot",
        first=0,
        marked=places_in(used ^ expected),
        wrong=tuple(wrong),
    )


def _sentences(marked: Tensor, fault: str) -> list[str]:
    return [f"Sentence {row} {fault}." for row in marked.any(1).nonzero().flatten().tolist()]
