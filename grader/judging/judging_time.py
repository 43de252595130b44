"""Limit the time for judging one submission: a student could craft answers that take long to judge."""

from __future__ import annotations

import time

SECONDS = 120.0  # of processor time; a notebook with every exercise wrong takes a few


class JudgingTooLong(Exception):
    """The time is used up."""


class JudgingTime:
    """The time left for judging a submission."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._ends = time.thread_time() + seconds
        self._next_check = 0.0  # by the clock, which is far cheaper to read

    def check(self) -> None:
        """Raise JudgingTooLong if no time is left."""
        now = time.monotonic()
        if now < self._next_check:
            return
        seconds_left = self._ends - time.thread_time()
        if seconds_left < 0:
            raise JudgingTooLong
        self._next_check = now + seconds_left  # a thread cannot use more time than passes on the clock
