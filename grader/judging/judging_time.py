"""How long the judge may think about one submission: answers are a student's, and may be made to cost time."""

from __future__ import annotations

import time

SECONDS = 120.0  # of the processor; the answers of a notebook without one right exercise take a few


class JudgingTooLong(Exception):
    """The time is used up."""


class JudgingTime:
    """What is left for a submission."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._ends = time.thread_time() + seconds
        self._next_look = 0.0  # by the clock, which is asked at far less cost

    def look(self) -> None:
        """Raise JudgingTooLong if nothing is left."""
        now = time.monotonic()
        if now < self._next_look:
            return
        left = self._ends - time.thread_time()
        if left < 0:
            raise JudgingTooLong
        self._next_look = now + left  # a thread gets no more of the processor than passes by the clock
