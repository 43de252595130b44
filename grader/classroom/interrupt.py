"""Ctrl-C, also where Python forgets it: what is raised in a destructor is printed, and lost."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


class Interrupt:
    """Remembers that somebody wants us to stop, until it has become a KeyboardInterrupt that arrives."""

    def __init__(self) -> None:
        self._wanted = False

    @contextlib.contextmanager
    def noted(self) -> Iterator[None]:
        """Within this, Ctrl-C does what it does otherwise, and is remembered."""
        self._wanted = False
        usual = signal.getsignal(signal.SIGINT)
        if not callable(usual) or threading.current_thread() is not threading.main_thread():
            yield  # it is ignored, or ends us at once; or it is the affair of somebody else
            return

        def note(number: int, frame: FrameType | None) -> None:
            self._wanted = True
            usual(number, frame)

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, usual)

    def look(self) -> None:
        """KeyboardInterrupt, if one was lost."""
        if self._wanted:
            self._wanted = False
            raise KeyboardInterrupt
