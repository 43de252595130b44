"""Somebody who watches a class being graded, and does something once."""

from __future__ import annotations

from collections.abc import Callable, Mapping


def at_first_look(action: Callable[[], object]) -> Callable[[Mapping[str, float]], None]:
    """Does something at the first look at who is running."""
    actions = [action]

    def look(_running: Mapping[str, float]) -> None:
        while actions:
            actions.pop()()

    return look
