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


def identical(first: object, second: object) -> bool:
    """Whether values are equal to the last bit, NaN included."""
    if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
        is_same_type = first.shape == second.shape and first.dtype == second.dtype
        return is_same_type and (torch.equal(first, second) or torch.allclose(first, second, 0, 0, equal_nan=True))
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)):
        return len(first) == len(second) and all(map(identical, first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(identical(first[key], second[key]) for key in first)
    if is_table(second):  # an author's, which the channel would reduce
        second = plain(second)
    if isinstance(first, Table) and isinstance(second, Table):
        return identical(_cells(first), _cells(second))
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        is_same_type = first.shape == second.shape and _is_same_dtype(first.dtype, second.dtype)
        return is_same_type and identical(first.tolist(), second.tolist())
    if isinstance(first, (set, frozenset)) and isinstance(second, (set, frozenset)):
        return type(first) is type(second) and _with_types(first) == _with_types(second)
    if isinstance(first, float) and isinstance(second, (int, float)):
        return first == second or (first != first and second != second)
    if type(first) is not type(second):
        return False
    return first is None or (isinstance(first, (bool, int, str, bytes, np.generic)) and bool(first == second))


def _cells(table: Table) -> list[Any]:
    columns = [(column.name, column.cells) for column in (table.index, *table.columns)]
    return [table.is_series, *columns]


def _is_same_dtype(first: np.dtype[Any], second: np.dtype[Any]) -> bool:
    """Whether types are the same; texts may differ in length."""
    return first.kind == second.kind and (first.kind in "OUT" or first == second)


def _with_types(elements: set[Any] | frozenset[Any]) -> set[Any]:
    """Elements with their types: True differs from 1; all NaN are equal."""
    return {(type(element), element) for element in plain(elements)}


def same_answer(first: Answer, second: Answer) -> bool:
    """Whether two answers agree in everything that is judged."""
    if not isinstance(first, Returned) or not isinstance(second, Returned):
        return first == second
    return first.devices == second.devices and identical(_judged_values(first), _judged_values(second))


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
