"""Questions about parts of values: whether keys are the same, which columns belong together, and so on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch

from grader.model import compare
from grader.model.compare import describe_form, describe_list
from grader.sandbox.plain_text import one_line
from grader.sandbox.tables import Array, Column, Table

# What values of all kinds are called: "a dict with 2 keys", "a text of 5 characters".

MAX_QUOTED = 40  # characters of a key that is shown


def describe(value: object) -> str:
    """The form of a value from a student's code."""
    match value:
        case bool() | np.bool_():
            return "a truth value"
        case str():
            return f"a text of {counted(len(value), 'character')}"
        case dict():
            return f"a dict with {counted(len(value), 'key')}"
        case set() | frozenset():
            return f"a set of {len(value)}"
        case bytes():
            return f"{counted(len(value), 'byte')}"
        case np.ndarray():
            return f"an array of shape {value.shape}"
        case Table():
            rows = counted(len(value.index.cells), "row")
            return f"a Series of {rows}" if value.is_series else _frame(rows, len(value.columns))
        case list() | tuple():
            return describe_list(value, _in_a_list)
    return describe_form(value)


def kind_of(value: object) -> str:
    """The kind of an expected value, without its form."""
    match value:
        case bool():
            return "a truth value (True or False)"
        case int():
            return "a whole number"
        case float():
            return "a number"
        case str():
            return "a text"
        case bytes():
            return "a bytes object"
        case tuple():
            return "a tuple"
        case list():
            return "a list"
        case dict():
            return "a dict"
        case set() | frozenset():
            return "a set"
        case np.ndarray():
            return "a numpy array"
        case torch.Tensor():
            return "a torch tensor"
        case Table():
            return "a pandas Series" if value.is_series else "a pandas DataFrame"
    return describe_form(value)


def counted(count: int, noun: str) -> str:
    """A number with its noun: "1 key", "2 keys"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def quoted(key: object) -> str:
    """A key or a name of the student's own, on one line and short."""
    if isinstance(key, int) and not isinstance(key, bool) and key.bit_length() > MAX_QUOTED:
        return "…"
    if isinstance(key, tuple):
        return one_line(_tuple(key), MAX_QUOTED)
    # Only the beginning of a long text is made into one to show.
    return one_line(repr(key[:MAX_QUOTED] if isinstance(key, (str, bytes)) else key), MAX_QUOTED + 2)


def as_number(value: object) -> float | None:
    """A number of Python or numpy; truth values do not count."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def text_in_words(actual: str, expected: str) -> str:
    """Where a text differs from the expected one, without revealing that."""
    if actual.casefold() == expected.casefold():
        return "has the right letters, but wrong upper or lower case."
    if actual.strip() == expected.strip():
        return "is right except for spaces or line breaks at its beginning or end."
    if "".join(actual.split()) == "".join(expected.split()):
        return "is right except for spaces or line breaks."
    for number, (letter, expected_letter) in enumerate(zip(actual, expected, strict=False), start=1):
        if letter != expected_letter:
            return f"is {describe(actual)}, and character {number} is the first wrong one."
    end = "goes on for too long" if len(actual) > len(expected) else "ends too early"
    return f"is {describe(actual)}: it begins right, but {end}."


def _in_a_list(item: object) -> str:
    """The form of an item; words in a list rarely have one length."""
    match item:
        case str():
            return "a text"
        case dict():
            return "a dict"
        case set() | frozenset():
            return "a set"
    return describe(item)


def _frame(rows: str, columns: int) -> str:
    return f"a DataFrame of {rows} and {counted(columns, 'column')}"


def _tuple(key: tuple[object, ...]) -> str:
    return f"({', '.join(quoted(part) for part in key[:3])}{', …' if len(key) > 3 else ''})"


EXACT = 2**53  # whole numbers below are exact floats
NEARLY = 0.01  # how far a number may at most be from the whole one that is expected


def is_plain(value: object) -> bool:
    """Whether a value is compared in kind: all except tensors, and lists of tensors and numbers."""
    if isinstance(value, torch.Tensor):
        return False
    has_tensor, waiting = False, [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, torch.Tensor):
            has_tensor = True
        elif isinstance(item, (list, tuple)):
            waiting.extend(item)
        elif as_number(item) is None:
            return True
    return not has_tensor


GROUPS = {"number": "numbers", "b": "truth values", "U": "texts", "M": "times", "m": "durations"}


def single(actual: object) -> Any:
    """The one item of an array or a tensor, if it has just one."""
    if isinstance(actual, torch.Tensor) and actual.numel() == 1 and not actual.is_complex():
        return actual.detach().cpu().item()
    if isinstance(actual, (np.generic, np.ndarray)) and actual.size == 1:
        return actual.item()
    return actual


def is_stacked(actual: object) -> bool:
    if isinstance(actual, Table):
        return actual.is_series
    return isinstance(actual, (np.ndarray, torch.Tensor)) and actual.ndim > 0


def is_whole(number: float, expected: int, tolerance: float) -> bool:
    """Whether a number is the whole one that is wanted: exactly, or for a float, up to rounding."""
    if number == expected:
        return True
    if isinstance(number, int) or abs(expected) >= EXACT:
        return False
    return abs(number - expected) <= min(tolerance * max(1, abs(expected)), NEARLY)


def as_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def tagged(key: object) -> object:
    """A key in a form to compare: True is not 1."""
    if isinstance(key, bool):
        return ("truth", key)
    return tuple(map(tagged, key)) if isinstance(key, tuple) else key


def lacking_and_extra(actual: Iterable[object], expected: Iterable[object]) -> tuple[list[object], list[object]]:
    """The keys, or items of sets, that are missing, and those that are not expected."""
    actual_by_tag = {tagged(item): item for item in actual}
    expected_by_tag = {tagged(item): item for item in expected}
    lacking = [item for tag, item in expected_by_tag.items() if tag not in actual_by_tag]
    extra = [item for tag, item in actual_by_tag.items() if tag not in expected_by_tag]
    return lacking, extra


def describe_keys(noun: str, missing: Sequence[object], extra: Sequence[object]) -> str:
    """How many keys are missing, and one too many: those are the student's own."""
    clauses = []
    if missing:
        clauses.append(f"lacks {counted(len(missing), noun)} that it should have")
    if extra:
        such_as = ":" if len(extra) == 1 else ", such as"
        clauses.append(f"has {counted(len(extra), noun)} that it should not have{such_as} {quoted(extra[0])}")
    return f"{', and '.join(clauses)}."


def are_rearranged(actual: Sequence[object], expected: Sequence[object]) -> bool:
    """Whether both have the same words and whole numbers, equally often."""
    if not all(isinstance(item, (str, int)) for side in (actual, expected) for item in side):
        return False
    return sorted(map(repr, actual)) == sorted(map(repr, expected))


def differ_by_rounding(extra: Sequence[object], missing: Sequence[object], tolerance: float) -> bool:
    """Whether extra numbers are the missing ones, up to rounding."""
    are_real = all(isinstance(item, float) and item == item for item in (*extra, *missing))
    if len(extra) != len(missing) or not are_real:
        return False
    actual, expected = (torch.tensor(sorted(numbers), dtype=torch.float64) for numbers in (extra, missing))
    return compare.same(actual, expected, tolerance)


def as_array(actual: object, strict: bool) -> Array | None:
    if isinstance(actual, np.ndarray):
        return actual
    if strict:
        return None
    if isinstance(actual, torch.Tensor):
        actual = actual.detach().cpu()
        return np.asarray((actual.float() if actual.dtype is torch.bfloat16 else actual).numpy())
    cells = actual.columns[0].cells if isinstance(actual, Table) and actual.is_series else None
    return cells if isinstance(cells, np.ndarray) else None


def as_tensor(array: Array) -> torch.Tensor:
    return torch.from_numpy(array.astype(np.float64))


def group_of(array: Array) -> str:
    return "number" if array.dtype.kind in "iuf" else array.dtype.kind


def equal_entries(actual: Array, expected: Array) -> Array:
    if expected.dtype.kind in "Mm":
        return np.asarray((actual == expected) | (np.isnat(actual) & np.isnat(expected)))
    return np.asarray(actual == expected)


def first_true(wrong: Array) -> tuple[int, ...] | None:
    return tuple(map(int, np.argwhere(wrong)[0])) if wrong.any() else None


def cells_of(column: Column) -> list[object]:
    """The cells as a list, with None for missing ones."""
    cells = column.cells.tolist() if isinstance(column.cells, np.ndarray) else column.cells
    return [None if isinstance(cell, float) and cell != cell else cell for cell in cells]


def paired_columns(actual: Table, expected: Table) -> list[tuple[Column, Column]] | None:
    """The columns paired by name, in any order; None if there are others."""
    actual_names = [tagged(column.name) for column in actual.columns]
    expected_names = [tagged(column.name) for column in expected.columns]
    if len(actual_names) != len(expected_names) or set(actual_names) != set(expected_names):
        return None
    if len(set(actual_names)) < len(expected_names):  # names used twice say little
        is_same_order = actual_names == expected_names
        return list(zip(actual.columns, expected.columns, strict=True)) if is_same_order else None
    column_of = dict(zip(actual_names, actual.columns, strict=True))
    return [(column_of[name], column) for name, column in zip(expected_names, expected.columns, strict=True)]
