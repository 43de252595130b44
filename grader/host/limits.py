"""How long a submission's code may take, in all sandboxes together, and how much memory it may use."""

from __future__ import annotations

import time
from dataclasses import dataclass

from grader.host.scratch import MustEnd
from grader.host.zygote_process import Forked
from grader.model.answer import Loss

A_MOMENT = 0.01  # seconds


@dataclass(frozen=True)
class Limits:
    """How many seconds code may compute, and how much memory it may use.

    On a busy machine a sandbox gets little of the processors, so the clock is only a last bound: for code that sleeps
    or waits forever.
    """

    cell: float = 10.0
    case: float = 5.0
    submission: float = 300.0
    memory: int = 4 * 2**30  # bytes
    patience: float = 5.0  # everything may take this many times as long by the clock


class Computing:
    """The time that a sandbox spends on one request."""

    def __init__(self, process: Forked, seconds: float) -> None:
        self._process = process
        self._seconds = seconds
        self._cpu, self._clock = process.cpu_seconds, time.monotonic()

    def look(self) -> None:
        """Raise MustEnd if the time is up by both the clock and the processor: threads together compute faster."""
        if min(self._process.cpu_seconds - self._cpu, time.monotonic() - self._clock) >= self._seconds:
            raise MustEnd(Loss.TIME, self._seconds)


class Time:
    """The computing time left to some code, in all its sandboxes, and when it ends by the clock.

    Code that computes is ended by its processor time, however busy the machine is. Code that sleeps or waits forever
    is ended by the clock, at the same moment in all sandboxes of a notebook.
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
        """Count what this process computes from now on."""
        self._processes.append(process)
        if self._within:
            self._within.counts(process)

    def left(self) -> float:
        """The seconds left. They are used up when processor and clock both are, since threads compute faster."""
        computed, passed = sum(one.cpu_seconds for one in self._processes), time.monotonic() - self._began
        left = max(0.0, self._seconds - min(computed, passed))
        return min(left, self._within.left()) if self._within else left

    @property
    def is_over(self) -> bool:
        return self.left() < A_MOMENT or time.monotonic() >= self.ends_at
