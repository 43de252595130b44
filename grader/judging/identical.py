"""Whether values are equal to the last bit, or NaN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from grader.model.answer import UNCHANGED, Answer, Returned
from grader.sandbox.decoder import plain
from grader.sandbox.nested import tensors_in
from grader.sandbox.tables import Table, is_table


def identical(one: object, other: object) -> bool:
    """Whether values are equal to the last bit, NaN included."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        is_same_type = one.shape == other.shape and one.dtype == other.dtype
        return is_same_type and (torch.equal(one, other) or torch.allclose(one, other, 0, 0, equal_nan=True))
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(identical, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(identical(one[key], other[key]) for key in one)
    if is_table(other):  # an author's, which the channel would reduce
        other = plain(other)
    if isinstance(one, Table) and isinstance(other, Table):
        return identical(_cells(one), _cells(other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        is_same_type = one.shape == other.shape and _is_same_dtype(one.dtype, other.dtype)
        return is_same_type and identical(one.tolist(), other.tolist())
    if isinstance(one, (set, frozenset)) and isinstance(other, (set, frozenset)):
        return type(one) is type(other) and _with_types(one) == _with_types(other)
    if isinstance(one, float) and isinstance(other, (int, float)):
        return one == other or (one != one and other != other)
    if type(one) is not type(other):
        return False
    return one is None or (isinstance(one, (bool, int, str, bytes, np.generic)) and bool(one == other))


def _cells(table: Table) -> list[Any]:
    columns = [(column.name, column.cells) for column in (table.index, *table.columns)]
    return [table.is_series, *columns]


def _is_same_dtype(one: np.dtype[Any], other: np.dtype[Any]) -> bool:
    """Whether types are the same; texts may differ in length."""
    return one.kind == other.kind and (one.kind in "OUT" or one == other)


def _with_types(elements: set[Any] | frozenset[Any]) -> set[Any]:
    """Elements with their types: True differs from 1; all NaN are equal."""
    return {(type(element), element) for element in plain(elements)}


def same_answer(one: Answer, other: Answer) -> bool:
    """Whether two answers agree in everything that is judged."""
    if not isinstance(one, Returned) or not isinstance(other, Returned):
        return one == other
    return one.devices == other.devices and identical(_judged_values(one), _judged_values(other))


def _judged_values(answer: Returned) -> list[Any]:
    """What came back, and the inputs if they were changed."""
    return [answer.value, None if answer.inputs_after is UNCHANGED else answer.inputs_after]


def modifies_inputs(answer: Answer, inputs: Sequence[Any]) -> bool:
    """Whether the student's code changed any of its inputs."""
    return isinstance(answer, Returned) and not are_unchanged(answer.inputs_after, list(inputs))


def are_unchanged(inputs_after: object, inputs: Sequence[Any]) -> bool:
    return inputs_after is UNCHANGED or identical(inputs_after, inputs)


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
