"""Mistakes that several exercises share, as lines for solutions with the same marks and names."""

from __future__ import annotations

from collections.abc import Iterable

from grader import Misconception


def mistakes_named(mistakes: Iterable[Misconception], *names: str) -> list[Misconception]:
    """The mistakes with these names, for an exercise where the lines of another one fit."""
    ways_by_name = {name: [mistake for mistake in mistakes if mistake.name == name] for name in names}
    if missing := [name for name, ways in ways_by_name.items() if not ways]:
        raise KeyError(missing[0])
    return [way for ways in ways_by_name.values() for way in ways]
