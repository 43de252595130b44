"""Whether two values are equal to the last bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from grader.model.answer import UNCHANGED, Answer, Returned
from grader.model.exercise import SampledCase
from grader.sandbox.decoder import plain
from grader.sandbox.nested import tensors_in
from grader.sandbox.tables import Table, is_table


def identical(one: object, other: object) -> bool:
    """Whether values are equal to the last bit, NaN included."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        same = one.shape == other.shape and one.dtype == other.dtype
        return same and (torch.equal(one, other) or torch.allclose(one, other, 0, 0, equal_nan=True))
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(identical, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(identical(one[key], other[key]) for key in one)
    if is_table(other):  # an author's, which the channel would reduce
        other = plain(other)
    if isinstance(one, Table) and isinstance(other, Table):
        return identical(_parts(one), _parts(other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and _alike(one.dtype, other.dtype) and identical(one.tolist(), other.tolist())
    if isinstance(one, (set, frozenset)) and isinstance(other, (set, frozenset)):
        return type(one) is type(other) and _with_types(one) == _with_types(other)
    if isinstance(one, float) and isinstance(other, (int, float)):
        return one == other or (one != one and other != other)
    if type(one) is not type(other):
        return False
    return one is None or (isinstance(one, (bool, int, str, bytes, np.generic)) and bool(one == other))


def same_answer(one: Answer, other: Answer) -> bool:
    """Whether two answers agree in everything that is judged."""
    if not isinstance(one, Returned) or not isinstance(other, Returned):
        return one == other
    parts = [(each.value, None if each.inputs_after is UNCHANGED else each.inputs_after) for each in (one, other)]
    return one.devices == other.devices and identical(*parts)


def _with_types(items: set[Any] | frozenset[Any]) -> set[Any]:
    """Items with their types: True differs from 1; all NaN are equal."""
    return {(type(item), item) for item in plain(items)}


def _parts(table: Table) -> list[Any]:
    return [table.is_series, *((column.name, column.cells) for column in (table.index, *table.columns))]


def _alike(one: np.dtype[Any], other: np.dtype[Any]) -> bool:
    """Whether types are the same; texts may differ in length."""
    return one.kind == other.kind and (one.kind in "OUT" or one == other)


def modifies_inputs(answers: Sequence[Answer], cases: Sequence[SampledCase]) -> bool:
    """Whether the student's code changed any of its inputs."""
    return any(
        isinstance(answer, Returned) and not are_unchanged(answer.inputs_after, list(case.inputs))
        for answer, case in zip(answers, cases, strict=True)
    )


def are_unchanged(after: object, inputs: Sequence[Any]) -> bool:
    return after is UNCHANGED or identical(after, inputs)


def all_are_nan(value: object) -> bool:
    """Whether there are numbers, and each of them is NaN."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(all_are_nan, value))
    return isinstance(value, torch.Tensor) and value.numel() > 0 and bool(value.isnan().all())


def holds_nan(value: object) -> bool:
    """Whether any number in a value is NaN."""
    return any(bool(tensor.isnan().any()) for tensor in tensors_in(value))


def is_the_same_for_all(expected: Sequence[Any], values: Sequence[Any]) -> bool:
    """Whether all values are equal and should not be; never if one is None."""
    if any(value is None for value in values):
        return False
    alike, right = ([identical(side[0], one) for one in side[1:]] for side in (values, expected))
    return len(values) > 1 and all(alike) and not all(right)


def is_constant(names: Sequence[str], values: Sequence[Any]) -> bool:
    """Whether values of the same name are always equal; never if one is None."""
    if any(value is None for value in values):
        return False
    alike: dict[str, list[Any]] = {}
    for name, value in zip(names, values, strict=True):
        alike.setdefault(name, []).append(value)
    pairs = [pair for pair in alike.values() if len(pair) > 1]
    return bool(pairs) and all(identical(*pair[:2]) for pair in pairs)
