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


def described(value: object) -> str:
    """The form of a value from a student's code."""
    match value:
        case bool() | np.bool_():
            return "a truth value"
        case str():
            return f"a text of {named(len(value), 'character')}"
        case dict():
            return f"a dict with {named(len(value), 'key')}"
        case set() | frozenset():
            return f"a set of {len(value)}"
        case bytes():
            return f"{named(len(value), 'byte')}"
        case np.ndarray():
            return f"an array of shape {value.shape}"
        case Table():
            rows = named(len(value.index.cells), "row")
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


def named(count: int, what: str) -> str:
    """A number with its noun: "1 key", "2 keys"."""
    return f"{count} {what}{'' if count == 1 else 's'}"


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


def text_in_words(got: str, want: str) -> str:
    """Where a text differs from the expected one, without revealing that."""
    if got.casefold() == want.casefold():
        return "has the right letters, but wrong upper or lower case."
    if got.strip() == want.strip():
        return "is right except for spaces or line breaks at its beginning or end."
    if "".join(got.split()) == "".join(want.split()):
        return "is right except for spaces or line breaks."
    alike = next((i for i, (one, other) in enumerate(zip(got, want, strict=False)) if one != other), None)
    if alike is None:
        more = "goes on for too long" if len(got) > len(want) else "ends too early"
        return f"is {described(got)}: it begins right, but {more}."
    return f"is {described(got)}, and character {alike + 1} is the first wrong one."


def _in_a_list(item: object) -> str:
    """The form of an item; words in a list rarely have one length."""
    match item:
        case str():
            return "a text"
        case dict():
            return "a dict"
        case set() | frozenset():
            return "a set"
    return described(item)


def _frame(rows: str, columns: int) -> str:
    return f"a DataFrame of {rows} and {named(columns, 'column')}"


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
        part = waiting.pop()
        if isinstance(part, torch.Tensor):
            has_tensor = True
        elif isinstance(part, (list, tuple)):
            waiting.extend(part)
        elif as_number(part) is None:
            return True
    return not has_tensor


GROUPS = {"number": "numbers", "b": "truth values", "U": "texts", "M": "times", "m": "durations"}


def single(got: object) -> Any:
    """The one item of an array or a tensor, if it has just one."""
    if isinstance(got, torch.Tensor) and got.numel() == 1 and not got.is_complex():
        return got.detach().cpu().item()
    if isinstance(got, (np.generic, np.ndarray)) and got.size == 1:
        return got.item()
    return got


def is_stacked(got: object) -> bool:
    if isinstance(got, Table):
        return got.is_series
    return isinstance(got, (np.ndarray, torch.Tensor)) and got.ndim > 0


def is_whole(number: float, want: int, tolerance: float) -> bool:
    """Whether a number is the whole one that is wanted: exactly, or for a float, up to rounding."""
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


def tagged(key: object) -> object:
    """A key in a form to compare: True is not 1."""
    if isinstance(key, bool):
        return ("truth", key)
    return tuple(map(tagged, key)) if isinstance(key, tuple) else key


def lacking_and_extra(got: Iterable[object], want: Iterable[object]) -> tuple[list[object], list[object]]:
    """The keys, or items of sets, that are missing, and those that are not expected."""
    given, expected = ({tagged(item): item for item in items} for items in (got, want))
    lacking = [item for tag, item in expected.items() if tag not in given]
    return lacking, [item for tag, item in given.items() if tag not in expected]


def in_keys(what: str, missing: Sequence[object], extra: Sequence[object]) -> str:
    """How many keys are missing, and one too many: those are the student's own."""
    words = []
    if missing:
        words.append(f"lacks {named(len(missing), what)} that it should have")
    if extra:
        such_as = ":" if len(extra) == 1 else ", such as"
        words.append(f"has {named(len(extra), what)} that it should not have{such_as} {quoted(extra[0])}")
    return f"{', and '.join(words)}."


def are_rearranged(got: Sequence[object], want: Sequence[object]) -> bool:
    """Whether both have the same words and whole numbers, equally often."""
    if not all(isinstance(item, (str, int)) for side in (got, want) for item in side):
        return False
    given, expected = (sorted(map(repr, side)) for side in (got, want))
    return given == expected


def differ_by_rounding(extra: Sequence[object], missing: Sequence[object], tolerance: float) -> bool:
    """Whether extra numbers are the missing ones, up to rounding."""
    real = [isinstance(item, float) and item == item for item in (*extra, *missing)]
    if len(extra) != len(missing) or not all(real):
        return False
    given, expected = (torch.tensor(sorted(side), dtype=torch.float64) for side in (extra, missing))
    return compare.difference(given, expected, tolerance) is None


def as_array(got: object, strict: bool) -> Array | None:
    if isinstance(got, np.ndarray):
        return got
    if strict:
        return None
    if isinstance(got, torch.Tensor):
        got = got.detach().cpu()
        return np.asarray((got.float() if got.dtype is torch.bfloat16 else got).numpy())
    cells = got.columns[0].cells if isinstance(got, Table) and got.is_series else None
    return cells if isinstance(cells, np.ndarray) else None


def as_tensor(array: Array) -> torch.Tensor:
    return torch.from_numpy(array.astype(np.float64))


def group_of(array: Array) -> str:
    return "number" if array.dtype.kind in "iuf" else array.dtype.kind


def equal_entries(got: Array, want: Array) -> Array:
    if want.dtype.kind in "Mm":
        return np.asarray((got == want) | (np.isnat(got) & np.isnat(want)))
    return np.asarray(got == want)


def first_true(wrong: Array) -> tuple[int, ...] | None:
    return tuple(map(int, np.argwhere(wrong)[0])) if wrong.any() else None


def cells_of(column: Column) -> list[object]:
    """The cells as a list, with None for missing ones."""
    cells = column.cells.tolist() if isinstance(column.cells, np.ndarray) else column.cells
    return [None if isinstance(cell, float) and cell != cell else cell for cell in cells]


def paired_columns(got: Table, want: Table) -> list[tuple[Column, Column]] | None:
    """The columns paired by name, in any order; None if there are others."""
    given = {tagged(column.name): column for column in got.columns}
    expected = [tagged(column.name) for column in want.columns]
    if len(got.columns) != len(expected) or given.keys() != set(expected):
        return None
    if len(given) < len(expected):  # names used twice say little
        alike = expected == [tagged(column.name) for column in got.columns]
        return list(zip(got.columns, want.columns, strict=True)) if alike else None
    return [(given[name], column) for name, column in zip(expected, want.columns, strict=True)]
