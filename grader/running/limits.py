"""How long the code of a submission may compute, and how much memory it has."""

from __future__ import annotations

import time
from dataclasses import dataclass

from grader.model.answer import Loss
from grader.running.scratch import MustEnd
from grader.running.zygote_process import Forked


@dataclass(frozen=True)
class Limits:
    """Seconds that code may compute, and memory.

    A busy machine gives a sandbox as little of its processors as it likes, so the clock is only a last bound, for code
    that sleeps, or waits for ever.
    """

    cell: float = 10.0
    case: float = 5.0
    submission: float = 300.0
    memory: int = 4 * 2**30  # bytes
    patience: float = 5.0  # how many times as long everything may take by the clock


class Computing:
    """How long a sandbox has been at something."""

    def __init__(self, process: Forked, seconds: float) -> None:
        self._process = process
        self._seconds = seconds
        self._cpu, self._clock = process.cpu_seconds, time.monotonic()

    def look(self) -> None:
        """Raise MustEnd if the time is used up: by the clock, and by the processor, which threads may share."""
        if min(self._process.cpu_seconds - self._cpu, time.monotonic() - self._clock) >= self._seconds:
            raise MustEnd(Loss.TIME, self._seconds)
