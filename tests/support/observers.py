"""Watch a class being graded: what the grader logs, and who is running."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping


class Messages(logging.Handler):
    """Keeps the messages. A test may do something at the first one, as what was waited for happens then."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.at_first: Callable[[], object] = lambda: None

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())
        action, self.at_first = self.at_first, lambda: None
        action()


def at_first_look(action: Callable[[], object]) -> Callable[[Mapping[str, float]], None]:
    """For `autograde(watch=…)`: does something at the first look at who is running."""
    actions = [action]

    def look(_running: Mapping[str, float]) -> None:
        while actions:
            actions.pop()()

    return look
