"""Mistakes that several exercises know, as lines of solutions whose marks and names are the same."""

from __future__ import annotations

from collections.abc import Iterable

from grader import Misconception


def named(mistakes: Iterable[Misconception], *names: str) -> list[Misconception]:
    """Those with these names, where the lines of another exercise fit."""
    known = {one.name: one for one in mistakes}
    return [known[name] for name in names]
