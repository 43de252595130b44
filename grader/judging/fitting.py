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


def values_in_all(cases: Sequence[SampledCase]) -> list[tuple[Any, ...]]:
    """Values at the same path in all cases, one for each: sizes, then the tensors and lists with them."""
    values_of_cases = [dict(_values_by_path(case.inputs)) for case in cases]
    sizes: list[tuple[Any, ...]] = []
    others: list[tuple[Any, ...]] = []
    for path in values_of_cases[0]:
        if all(path in values_by_path for values_by_path in values_of_cases):
            values = tuple(values_by_path[path] for values_by_path in values_of_cases)
            if any(type(value) is not int for value in values):
                others.append(values)
            elif values not in sizes:
                sizes.append(values)
    return sizes + others


def _values_by_path(value: object, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Sizes, tensors and lists in a value, with their paths. A list's first element represents the others."""
    match value:
        case torch.Tensor():
            yield path, value
            for dimension, size in enumerate(value.shape):
                yield (*path, "size", dimension), size
        case bool() | float() | str() | None:
            return
        case int():
            yield path, value
        case Mapping():
            for name, element in value.items():
                yield from _values_by_path(element, (*path, name))
        case [first, *_] if path and isinstance(value, list):
            yield path, value
            yield (*path, "length"), len(value)
            if isinstance(first, int | float):  # it may stand in place of a vector
                yield (*path, "size", 0), len(value)
            yield from _values_by_path(first, (*path, 0))
        case list() | tuple():
            for index, element in enumerate(value):
                yield from _values_by_path(element, (*path, index))


MOST_SIZES = 10
LARGE = 2**31  # from here on, products are not sizes any more, nor roots floats
EFFORT_OF_GRADIENTS = 10_000  # numbers that take as long


def numbers_that_fit(cases: Sequence[SampledCase]) -> list[tuple[float, ...]]:
    """Numbers with their values in all cases: sizes, their quotients, roots, inverses and products."""
    sizes: list[tuple[int, ...]] = []
    for values in values_in_all(cases):
        if all(type(size) is int and 0 < size < LARGE for size in values):
            sizes.append(values)
    quotients: list[tuple[int, ...]] = []
    for dividends, divisors in itertools.permutations(sizes, 2):
        if not any(map(operator.mod, dividends, divisors)) and max(divisors) > 1:
            quotients.append(tuple(map(operator.floordiv, dividends, divisors)))
    products = [tuple(map(operator.mul, *pair)) for pair in itertools.combinations(sizes, 2)]
    whole = list(dict.fromkeys([*sizes, *quotients]))[:MOST_SIZES]
    roots = [tuple(map(math.sqrt, numbers)) for numbers in whole]
    inverses: list[tuple[float, ...]] = []
    for numbers in [*roots, *whole]:
        inverses.append(tuple(1 / number for number in numbers))
    return list(dict.fromkeys([*whole, *roots, *inverses, *products[:MOST_SIZES]]))


def effort(case: SampledCase) -> int:
    """Estimate how long a case takes: gradients and many numbers take longer."""
    options = case.inputs[-1] if case.inputs else None
    numbers = sum(tensor.numel() for tensor in tensors_in(case.inputs))
    if isinstance(options, dict) and (options.get("gradients") or options.get("impossible")):
        return EFFORT_OF_GRADIENTS + numbers
    return numbers
