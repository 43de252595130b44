"""Questions about parts of values: whether keys are the same, which columns belong together, and so on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch

from grader.model import compare
from grader.model.plain_forms import as_number, named, quoted
from grader.sandbox.tables import Column, Table

EXACT = 2**53  # whole numbers below are floats as well
NEARLY = 0.01  # how much a number may at most differ from the whole one that is expected


def is_plain(value: Any) -> bool:
    """Whether a value is compared in kind: all but tensors, and lists of tensors and numbers."""
    if isinstance(value, torch.Tensor):
        return False
    has_tensor, waiting = False, [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, torch.Tensor):
            has_tensor = True
        elif isinstance(part, (list, tuple)):
            waiting.extend(part)
        elif as_number(part) is None:
            return True
    return not has_tensor


GROUPS = {"number": "numbers", "b": "truth values", "U": "texts", "M": "times", "m": "lengths of time"}


def single(got: Any) -> Any:
    """What is in an array or a tensor that holds one thing."""
    if isinstance(got, torch.Tensor) and got.numel() == 1 and not got.is_complex():
        return got.detach().cpu().item()
    if isinstance(got, (np.generic, np.ndarray)) and got.size == 1:
        return got.item()
    return got


def is_stacked(got: Any) -> bool:
    if isinstance(got, Table):
        return got.is_series
    return isinstance(got, (np.ndarray, torch.Tensor)) and got.ndim > 0


def is_whole(number: float, want: int, tolerance: float) -> bool:
    """Whether a number is a whole one, exactly; of one that is computed as a float, but for rounding."""
    if number == want:
        return True
    if isinstance(number, int) or abs(want) >= EXACT:
        return False
    return abs(number - want) <= min(tolerance * max(1, abs(want)), NEARLY)


def as_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def tagged(key: Any) -> Any:
    """The same for keys that are the same: True is not 1."""
    if isinstance(key, bool):
        return ("truth", key)
    return tuple(map(tagged, key)) if isinstance(key, tuple) else key


def lacking_and_extra(got: Iterable[Any], want: Iterable[Any]) -> tuple[list[Any], list[Any]]:
    """What is expected and not there, and what is there and not expected, of keys or of the items of sets."""
    given, expected = ({tagged(item): item for item in items} for items in (got, want))
    lacking = [item for tag, item in expected.items() if tag not in given]
    return lacking, [item for tag, item in given.items() if tag not in expected]


def in_keys(what: str, missing: Sequence[Any], extra: Sequence[Any]) -> str:
    """How many are missing, and which are too many: those are the student's own."""
    words = []
    if missing:
        words.append(f"lacks {len(missing)} of the {what}s that it should have")
    if extra:
        words.append(f"has {named(len(extra), what)} that it should not have, such as {quoted(extra[0])}")
    return f"{', and '.join(words)}."


def are_rearranged(got: Sequence[Any], want: Sequence[Any]) -> bool:
    """Whether the same words and whole numbers are there, each as often."""
    if not all(isinstance(item, (str, int)) for side in (got, want) for item in side):
        return False
    given, expected = (sorted(map(repr, side)) for side in (got, want))
    return given == expected


def differ_by_rounding(extra: Sequence[Any], missing: Sequence[Any], tolerance: float) -> bool:
    """Whether what is too much is what is missing, but for rounding."""
    real = [isinstance(item, float) and item == item for item in (*extra, *missing)]
    if len(extra) != len(missing) or not all(real):
        return False
    given, expected = (torch.tensor(sorted(side), dtype=torch.float64) for side in (extra, missing))
    return compare.difference(given, expected, tolerance) is None


def as_array(got: Any, strict: bool) -> np.ndarray[Any, Any] | None:
    if isinstance(got, np.ndarray):
        return got
    if strict:
        return None
    if isinstance(got, torch.Tensor):
        got = got.detach().cpu()
        return np.asarray((got.float() if got.dtype is torch.bfloat16 else got).numpy())
    cells = got.columns[0].cells if isinstance(got, Table) and got.is_series else None
    return cells if isinstance(cells, np.ndarray) else None


def as_tensor(array: np.ndarray[Any, Any]) -> torch.Tensor:
    return torch.from_numpy(array.astype(np.float64))


def group_of(array: np.ndarray[Any, Any]) -> str:
    return "number" if array.dtype.kind in "iuf" else array.dtype.kind


def equal_entries(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if want.dtype.kind in "Mm":
        return np.asarray((got == want) | (np.isnat(got) & np.isnat(want)))
    return np.asarray(got == want)


def first_true(wrong: np.ndarray[Any, Any]) -> tuple[int, ...] | None:
    return tuple(map(int, np.argwhere(wrong)[0])) if wrong.any() else None


def cells_of(column: Column) -> list[Any]:
    """As a list; what is missing is None, whatever the column is."""
    cells = column.cells.tolist() if isinstance(column.cells, np.ndarray) else column.cells
    return [None if isinstance(cell, float) and cell != cell else cell for cell in cells]


def paired_columns(got: Table, want: Table) -> list[tuple[Column, Column]] | None:
    """The columns that belong together; None if there are others. Their order is a matter of taste."""
    given = {tagged(column.name): column for column in got.columns}
    expected = [tagged(column.name) for column in want.columns]
    if len(got.columns) != len(expected) or given.keys() != set(expected):
        return None
    if len(given) < len(expected):  # names that are there twice say little
        alike = expected == [tagged(column.name) for column in got.columns]
        return list(zip(got.columns, want.columns, strict=True)) if alike else None
    return [(given[name], column) for name, column in zip(expected, want.columns, strict=True)]
