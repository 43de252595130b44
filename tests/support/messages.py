"""What the grader logs, for tests that read it."""

from __future__ import annotations

import logging
from collections.abc import Callable


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
