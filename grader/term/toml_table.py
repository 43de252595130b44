"""A table of course.toml, whose keys and values are looked at before anybody believes them.

Whatever is wrong is a CourseError: the file, the key, what is wrong with it, and what to write instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Any, TypeVar

from grader.errors import CourseError
from grader.term.times import NoTime, length_of, moment_of

COURSE_FILE = "course.toml"

T = TypeVar("T")


class TomlTable:
    """`place` is where it stands in the file: the keys that lead to it."""

    def __init__(self, values: Mapping[str, Any], place: tuple[str, ...] = ()) -> None:
        self.values = values
        self._place = place

    def wrong(self, key: str, what: str, instead: str) -> CourseError:
        return CourseError(f"{COURSE_FILE}, {'.'.join([*self._place, key])}: {what}. {instead}.")

    def only(self, known: Collection[str]) -> None:
        """Other keys than these are misspelt."""
        for key in self.values:
            if key not in known:
                raise self.wrong(key, "there is no such key", nearest(key, known))

    def table(self, key: str) -> TomlTable:
        """The table of this name, or an empty one."""
        found = self.values.get(key, {})
        if not isinstance(found, dict):
            raise self.wrong(
                key, f"{shown(found)} is no table", f"Write [{'.'.join([*self._place, key])}] in its place"
            )
        return TomlTable(found, (*self._place, key))

    def share(self, key: str, usual: float | None = None) -> float:
        """A number from 0 to 1. It must be there if there is no usual one."""
        found = self.values.get(key, usual)
        if isinstance(found, bool) or not isinstance(found, (int, float)) or not 0 <= found <= 1:
            what = "it is missing" if found is None else f"{shown(found)} is no number from 0 to 1"
            raise self.wrong(key, what, f"Write {key} = 0.1 for 10 %")
        return float(found)

    def amount(self, key: str, usual: float) -> float:
        """A number that is not negative."""
        found = self.values.get(key, usual)
        if isinstance(found, bool) or not isinstance(found, (int, float)) or not 0 <= found < math.inf:
            raise self.wrong(key, f"{shown(found)} is no number from 0 on", f"Write {key} = 2, say")
        return float(found)

    def switch(self, key: str, usual: bool) -> bool:
        found = self.values.get(key, usual)
        if not isinstance(found, bool):
            raise self.wrong(
                key, f"{shown(found)} is neither true nor false", f"Write {key} = {str(not usual).lower()}"
            )
        return found

    def one_of(self, key: str, known: Sequence[str]) -> str:
        found = self.values.get(key)
        if found not in known:
            what = "it is missing" if found is None else f"{shown(found)} is none of them"
            choice = " or ".join(f'{key} = "{one}"' for one in known)
            raise self.wrong(key, what, f"Write {choice}")
        return str(found)

    def length(self, key: str) -> timedelta:
        """How long something is; nothing if it is not said."""
        return self._time(key, length_of) if key in self.values else timedelta()

    def moment(self, key: str, zone: str) -> datetime | None:
        return self._time(key, lambda value: moment_of(value, zone)) if key in self.values else None

    def _time(self, key: str, read: Callable[[object], T]) -> T:
        try:
            return read(self.values[key])
        except NoTime as error:
            raise self.wrong(key, f"{shown(self.values[key])}: {error.what}", error.instead) from None

    def names(self, key: str, example: str) -> list[str]:
        """A list of texts or whole numbers, as texts."""
        found = self.values.get(key, [])
        if not isinstance(found, list) or not all(map(_is_name, found)):
            raise self.wrong(key, f"{shown(found)} is no list of names", f"Write {key} = {example}")
        return [str(one) for one in found]


def _is_name(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def nearest(name: str, known: Collection[str]) -> str:
    """What was meant, as far as anybody can tell, and what else there is."""
    if not known:
        return "There is none"
    meant = get_close_matches(name, known, 1, 0.0)
    return f"Did you mean {meant[0]}? There are: {', '.join(known)}"


def shown(value: object) -> str:
    """A value as it stands in the file, if it is not long."""
    if isinstance(value, list):
        return f"[{', '.join(map(shown, value))}]"
    text = f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
