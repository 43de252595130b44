"""A table of course.toml, whose keys and values are looked at before anybody believes them.

Whatever is wrong is a CourseError: the file, the key, what is wrong with it, and what to write instead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from grader.errors import CourseError

COURSE_FILE = "course.toml"


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
    text = f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
