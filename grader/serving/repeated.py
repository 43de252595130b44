"""What is said again and again is said once a minute: no client fills a log."""

from __future__ import annotations

import logging
import time
from collections.abc import Hashable

SECONDS = 60.0
LOGGERS = ("tornado", "asyncio")


class Repeated:
    """What was said within the last minute."""

    def __init__(self) -> None:
        self._times: dict[Hashable, float] = {}

    def is_new(self, topic: Hashable) -> bool:
        now = time.monotonic()
        self._times = {earlier: since for earlier, since in self._times.items() if now < since + SECONDS}
        return self._times.setdefault(topic, now) == now


class SeldomLogged(logging.Filter):
    """Lets through what the same line of code logs, with an error of the same line, once a minute.

    The texts do not matter: clients can choose parts of them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._repeated = Repeated()

    def filter(self, record: logging.LogRecord) -> bool:
        traceback = record.exc_info[2] if record.exc_info else None
        while traceback and traceback.tb_next:
            traceback = traceback.tb_next
        error = (traceback.tb_frame.f_code.co_filename, traceback.tb_lineno) if traceback else None
        return self._repeated.is_new((record.pathname, record.lineno, error))


def log_seldom() -> None:
    """What libraries of the server log goes to standard error."""
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.addFilter(SeldomLogged())
    for name in LOGGERS:
        logging.getLogger(name).addHandler(handler)
