"""Numbers that fit the cases of an exercise, and how much a case costs."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from grader.model.exercise import SampledCase
from grader.sandbox.nested import tensors_in

# Sizes in the inputs of all cases, and what has them.

Path = tuple[Any, ...]


def found_in_all(cases: Sequence[SampledCase]) -> list[tuple[Any, ...]]:
    """Values at the same place in all cases, one for each: sizes, then the tensors and lists with them."""
    parts_by_place = [dict(_parts(case.inputs)) for case in cases]
    shared = [place for place in parts_by_place[0] if all(place in parts for parts in parts_by_place)]
    values = [tuple(parts[place] for parts in parts_by_place) for place in shared]
    sizes = list(dict.fromkeys(value for value in values if all(type(size) is int for size in value)))
    return sizes + [value for value in values if any(type(size) is not int for size in value)]


def _parts(value: object, place: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Sizes, tensors and lists in a value, with their places. A list's first item represents the rest."""
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
            if isinstance(first, int | float):  # it may stand in place of a vector
                yield (*place, "size", 0), len(value)
            yield from _parts(first, (*place, 0))
        case list() | tuple():
            for index, item in enumerate(value):
                yield from _parts(item, (*place, index))


MOST_SIZES = 10
LARGE = 2**31  # from here on, products are not sizes any more, nor roots floats
MUCH = 10_000  # numbers that take as long as gradients


def numbers_that_fit(cases: Sequence[SampledCase]) -> list[tuple[float, ...]]:
    """Numbers with their values in all cases: sizes, their quotients, roots, inverses and products."""
    sizes = [values for values in found_in_all(cases) if all(type(size) is int and 0 < size < LARGE for size in values)]
    quotients = [
        tuple(map(operator.floordiv, some, others))
        for some, others in itertools.permutations(sizes, 2)
        if not any(map(operator.mod, some, others)) and max(others) > 1
    ]
    products = [tuple(map(operator.mul, *pair)) for pair in itertools.combinations(sizes, 2)]
    whole = list(dict.fromkeys([*sizes, *quotients]))[:MOST_SIZES]
    roots = [tuple(map(math.sqrt, values)) for values in whole]
    below = [tuple(1 / size for size in values) for values in [*roots, *whole]]
    return list(dict.fromkeys([*whole, *roots, *below, *products[:MOST_SIZES]]))


def effort(case: SampledCase) -> int:
    """Estimate how long a case takes: gradients and many numbers take longer."""
    how = case.inputs[-1] if case.inputs else None
    asks_much = isinstance(how, dict) and bool(how.get("gradients") or how.get("impossible"))
    return (MUCH if asks_much else 0) + sum(value.numel() for value in tensors_in(case.inputs))
