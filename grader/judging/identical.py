"""Whether two values are equal to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from grader.model.answer import Answer, Returned
from grader.model.exercise import SampledCase


def identical(one: Any, other: Any) -> bool:
    """Equal to the last bit, NaN included."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        same = one.shape == other.shape and one.dtype == other.dtype
        return same and (torch.equal(one, other) or torch.allclose(one, other, 0, 0, equal_nan=True))
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(identical, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(identical(one[key], other[key]) for key in one)
    if isinstance(one, float) and isinstance(other, (int, float)):
        return one == other or (one != one and other != other)
    return type(one) is type(other) and (one is None or (isinstance(one, (bool, int, str)) and one == other))


def modifies_inputs(answers: Sequence[Answer], cases: Sequence[SampledCase]) -> bool:
    """Whether what was given to the student's code is not the same afterwards."""
    return any(
        isinstance(answer, Returned) and not identical(answer.inputs_after, list(case.inputs))
        for answer, case in zip(answers, cases, strict=True)
    )


def all_are_nan(value: Any) -> bool:
    """Whether there are numbers, and each of them is NaN."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(all_are_nan, value))
    return isinstance(value, torch.Tensor) and value.numel() > 0 and bool(value.isnan().all())


def holds_nan(value: Any) -> bool:
    """Whether one of its numbers is NaN."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return any(map(holds_nan, value))
    return isinstance(value, torch.Tensor) and bool(value.isnan().any())


def is_constant(names: Sequence[str], values: Sequence[Any]) -> bool:
    """Whether values of the same name are equal, wherever there is one: None is no value."""
    if any(value is None for value in values):
        return False
    alike: dict[str, list[Any]] = {}
    for name, value in zip(names, values, strict=True):
        alike.setdefault(name, []).append(value)
    return all(len(pair) > 1 and identical(*pair[:2]) for pair in alike.values())
