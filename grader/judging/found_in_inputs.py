"""Sizes, and what has them, wherever they stand in the inputs of all cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from grader.model.exercise import SampledCase

Path = tuple[Any, ...]


def found_in_all(cases: Sequence[SampledCase]) -> list[tuple[Any, ...]]:
    """What is found at the same place in all cases, in each of them: sizes, and then what has them."""
    values = list(by_place(cases).values())
    sizes = list(dict.fromkeys(value for value in values if all(type(size) is int for size in value)))
    return sizes + [value for value in values if any(type(size) is not int for size in value)]


def by_place(cases: Sequence[SampledCase]) -> dict[Path, tuple[Any, ...]]:
    """The same by where it is found."""
    found = [dict(_parts(case.inputs)) for case in cases]
    return {place: tuple(one[place] for one in found) for place in found[0] if all(place in one for one in found)}


def _parts(value: Any, place: Path = ()) -> Iterator[tuple[Path, Any]]:
    """All sizes in a value, and its tensors and lists, by where they are. Of a list, the first item stands for all."""
    match value:
        case torch.Tensor():
            yield place, value
            yield from (((*place, "size", dimension), size) for dimension, size in enumerate(value.shape))
        case bool() | float() | str() | None:
            return
        case int():
            yield place, value
        case Mapping():
            for name, item in value.items():
                yield from _parts(item, (*place, name))
        case [first, *_] if place and isinstance(value, list):
            yield place, value
            yield (*place, "length"), len(value)
            yield from _parts(first, (*place, 0))
        case list() | tuple():
            for index, item in enumerate(value):
                yield from _parts(item, (*place, index))
