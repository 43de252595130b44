"""How long the code of a submission may take, in all sandboxes together, and how much memory it has."""

from __future__ import annotations

import time
from dataclasses import dataclass

from grader.host.scratch import MustEnd
from grader.host.zygote_process import Forked
from grader.model.answer import Loss

A_MOMENT = 0.01  # seconds


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


class Time:
    """What code has left to compute, in whichever sandboxes it runs, and when all of that ends by the clock.

    Code that computes is ended by what it has computed, however busy the machine is. Code that sleeps, or waits for
    ever, is ended by the clock, which is the same for everything that a notebook's code is run for.
    """

    def __init__(self, seconds: float, patience: float, within: Time | None = None) -> None:
        self._began = time.monotonic()
        self._seconds = seconds
        self._within = within
        self._processes: list[Forked] = []  # also those that are gone
        self.ends_at: float = self._began + seconds * patience
        if within:
            self.ends_at = min(self.ends_at, within.ends_at)

    def counts(self, process: Forked) -> None:
        """From now on, what it computes is taken off this."""
        self._processes.append(process)
        if self._within:
            self._within.counts(process)

    def left(self) -> float:
        """Until both are used up, the time to compute and as much of the clock's, since threads compute faster."""
        computed, passed = sum(one.cpu_seconds for one in self._processes), time.monotonic() - self._began
        left = max(0.0, self._seconds - min(computed, passed))
        return min(left, self._within.left()) if self._within else left

    @property
    def is_over(self) -> bool:
        return self.left() < A_MOMENT or time.monotonic() >= self.ends_at
