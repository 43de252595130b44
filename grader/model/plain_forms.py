"""How values of all kinds are called: "a dict with 2 keys", "a text of 5 characters"."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from grader.model.compare import describe_form, describe_list
from grader.sandbox.plain_text import one_line
from grader.sandbox.tables import Table

MAX_QUOTED = 40  # characters of a key that is told


def described(value: Any) -> str:
    """How a value is built that a student's code gave."""
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


def kind_of(value: Any) -> str:
    """What is expected, without anything about how it is built."""
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
            return "bytes"
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
    """Such as "1 key", "2 keys"."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def quoted(key: Any) -> str:
    """A key or a name of the student's own, on one line and short."""
    if isinstance(key, int) and not isinstance(key, bool) and key.bit_length() > MAX_QUOTED:
        return "…"
    if isinstance(key, tuple):
        return one_line(_tuple(key), MAX_QUOTED)
    # Of a long text, no more than its beginning is made into one that can be shown.
    return one_line(repr(key[:MAX_QUOTED] if isinstance(key, (str, bytes)) else key), MAX_QUOTED + 2)


def as_number(value: Any) -> float | None:
    """A number of Python or numpy; a truth value is none."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def text_in_words(got: str, want: str) -> str:
    """Where a text differs from the one that is expected, without telling that."""
    if got.casefold() == want.casefold():
        return "has the right letters, but not the right capital ones."
    if got.strip() == want.strip():
        return "is right but for spaces or line breaks at its beginning or end."
    if "".join(got.split()) == "".join(want.split()):
        return "is right but for its spaces or line breaks."
    alike = next((i for i, (one, other) in enumerate(zip(got, want, strict=False)) if one != other), None)
    if alike is None:
        more = "goes on after that" if len(got) > len(want) else "ends too early"
        return f"is {described(got)}: it begins right, but {more}."
    return f"is {described(got)}, of which number {alike + 1} is the first wrong one."


def _in_a_list(item: Any) -> str:
    """As a rule, not all words in a list are of the same length."""
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


def _tuple(key: tuple[Any, ...]) -> str:
    return f"({', '.join(quoted(part) for part in key[:3])}{', …' if len(key) > 3 else ''})"
