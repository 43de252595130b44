"""A small picture of what a student's code returned."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.model import untrusted

MAX_SIDE = 12
MAX_NOTES = 8
MAX_NOTE = 400  # characters
_WORDS = ("NaN", "∞", "−∞")


@dataclass(frozen=True)
class Picture:
    """Small numbers that the student's code returned, and which of them break a rule. grader/kit/pictures.py makes it.

    Numbers have two digits, enough to see a pattern; one that is not finite is a word.
    """

    numbers: tuple[tuple[float | str, ...], ...]
    title: str = ""
    rows: str = "row"  # what a row stands for
    columns: str = "column"
    marked: tuple[tuple[int, int], ...] = ()
    summed: str = ""  # what the sums are of: "row", "column", or nothing
    sums: tuple[float | str, ...] = ()
    wrong_sums: tuple[int, ...] = ()
    wrong: tuple[str, ...] = ()  # sentences on what is marked
    right: tuple[str, ...] = ()  # and on the rules that are kept

    @classmethod
    def from_json(cls, data: object) -> Picture | None:
        """The picture in a verdict's JSON; None if it is not one of ours."""
        try:
            return _picture(data) if untrusted.is_object(data) else None
        except (IndexError, KeyError, OverflowError, TypeError, ValueError):
            return None


def _picture(data: Mapping[str, Any]) -> Picture | None:
    """Raises one error or another where a value is not as it should be."""
    numbers = tuple(tuple(map(_number, row)) for row in _few(data["numbers"], MAX_SIDE))
    height, width = len(numbers), len(numbers[0])
    if not 0 < width <= MAX_SIDE or any(len(row) != width for row in numbers):
        return None
    summed = data.get("summed", "")
    lines = {"row": height, "column": width}.get(summed, 0)
    sums = tuple(map(_number, _few(data.get("sums", ()), MAX_SIDE)))
    return Picture(
        numbers=numbers,
        title=_text(data.get("title", "")),
        rows=_text(data.get("rows", "row"))[:12],
        columns=_text(data.get("columns", "column"))[:12],
        marked=tuple((_index(i, height), _index(j, width)) for i, j in _few(data.get("marked", ()), MAX_SIDE**2)),
        summed=summed if lines and len(sums) == lines else "",
        sums=sums if len(sums) == lines else (),
        wrong_sums=tuple(_index(i, lines) for i in _few(data.get("wrong_sums", ()), MAX_SIDE)) if lines else (),
        wrong=tuple(map(_text, _few(data.get("wrong", ()), MAX_NOTES))),
        right=tuple(map(_text, _few(data.get("right", ()), MAX_NOTES))),
    )


def _number(value: object) -> float | str:
    if isinstance(value, str) and value in _WORDS:
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError
    return float(value)


def _index(value: object, length: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < length:
        raise ValueError
    return value


def _few(values: Any, most: int) -> Sequence[Any]:
    if not isinstance(values, (list, tuple)) or len(values) > most:
        raise ValueError
    return values


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value[:MAX_NOTE]
