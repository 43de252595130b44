"""Numbers that fit the cases of an exercise, and how much a case costs."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from grader.judging.found_in_inputs import found_in_all
from grader.model.exercise import SampledCase

MOST_SIZES = 10
LARGE = 2**31  # of which a product is no size any more, and no root a float
MUCH = 10_000  # numbers that take as long as gradients


def numbers_that_fit(cases: Sequence[SampledCase]) -> list[tuple[float, ...]]:
    """Numbers with their values in all cases: sizes, what remains when one divides another, roots, one over it."""
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
    """How long a case takes, roughly: gradients and many numbers take longer."""
    how = case.inputs[-1] if case.inputs else None
    asks_much = isinstance(how, dict) and bool(how.get("gradients") or how.get("impossible"))
    return (MUCH if asks_much else 0) + sum(value.numel() for value in tensors_in(case.inputs))


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from tensors_in(item)
