"""Mistakes that several exercises share, as lines for solutions with the same marks and names."""

from __future__ import annotations

from collections.abc import Iterable

from grader import Misconception


def named(mistakes: Iterable[Misconception], *names: str) -> list[Misconception]:
    """The mistakes with these names, for an exercise where the lines of another one fit."""
    known = {one.name: one for one in mistakes}
    return [known[name] for name in names]
