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

    def look(self) -> None:
        """Raise JudgingTooLong if nothing is left."""
        if time.thread_time() > self._ends:
            raise JudgingTooLong
