"""How long a submission's code may take, in all sandboxes together, and how much memory it may use."""

from __future__ import annotations

import time
from dataclasses import dataclass

from grader.host.scratch import MustEnd
from grader.host.zygote_process import ForkedProcess
from grader.model.answer import Loss
from grader.sandbox.wire import MEANWHILE_SECONDS

A_MOMENT = 0.01  # seconds
LAST_WAIT = 1.0  # seconds more, once a notebook has waited too long
MOST_ENDS = 2  # of cells and cases that waited too long; then the notebook is over


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
    waiting: float = 10.0  # all of a notebook may wait this long without computing


class Computing:
    """The time that a sandbox spends on one request."""

    def __init__(self, process: ForkedProcess, seconds: float) -> None:
        self._process = process
        self._seconds = seconds
        self._cpu, self._clock = process.cpu_seconds, time.monotonic()

    def check(self) -> None:
        """Raise MustEnd if the time is up by both the clock and the processor: threads together compute faster."""
        if min(self._process.cpu_seconds - self._cpu, time.monotonic() - self._clock) >= self._seconds:
            raise MustEnd(Loss.TIME, self._seconds)


class Waiting:
    """The time that a sandbox spends on one request without computing.

    It is checked again and again while it owes a reply and sends nothing. If it gets no processor, it is not asleep,
    however busy the machine is.
    """

    def __init__(self, process: ForkedProcess, time_left: Time) -> None:
        self._process = process
        self._time = time_left
        self._cpu = process.cpu_seconds

    def check(self) -> None:
        """Raise MustEnd if the notebook has waited too long. Called each MEANWHILE_SECONDS or less often."""
        before, self._cpu = self._cpu, self._process.cpu_seconds
        if self._process.is_asleep:
            self._time.count_waiting(max(0.0, MEANWHILE_SECONDS - (self._cpu - before)))


class Time:
    """The computing time left to some code, in all its sandboxes, and when it ends by the clock.

    Code that computes is ended by its processor time, however busy the machine is. Code that sleeps or waits forever
    is ended by the clock, at the same moment in all sandboxes of a notebook.
    """

    def __init__(
        self, seconds: float, patience: float, within: Time | None = None, waiting: float = Limits.waiting
    ) -> None:
        self._began = time.monotonic()
        self._seconds = seconds
        self._within = within
        self._most_waiting = waiting
        self._waited = 0.0
        self._ends = 0  # of cells and cases that waited too long
        self._processes: list[ForkedProcess] = []  # also those that are gone
        self.ends_at: float = self._began + seconds * patience
        if within:
            self.ends_at = min(self.ends_at, within.ends_at)

    def count(self, process: ForkedProcess) -> None:
        """Count what this process computes from now on."""
        self._processes.append(process)
        if self._within:
            self._within.count(process)

    def seconds_left(self) -> float:
        """The seconds left. They are used up when processor and clock both are, since threads compute faster."""
        computed = sum(process.cpu_seconds for process in self._processes)
        passed = time.monotonic() - self._began
        seconds = max(0.0, self._seconds - min(computed, passed))
        return min(seconds, self._within.seconds_left()) if self._within else seconds

    def count_waiting(self, seconds: float) -> None:
        """Count time without computing, and raise MustEnd if it is too long in all.

        Cells that compute are still run after that, until the notebook waits again.
        """
        if self._within:
            self._within.count_waiting(seconds)
            return
        self._waited += seconds
        if self._waited >= self._most_waiting + LAST_WAIT * self._ends:
            self._ends += 1
            raise MustEnd(Loss.IDLE, self._most_waiting)

    @property
    def waited_too_long(self) -> float:
        """The seconds of waiting after which nothing more is run; 0 if it has not waited that long."""
        if self._within:
            return self._within.waited_too_long
        return self._most_waiting if self._ends >= MOST_ENDS else 0.0

    @property
    def is_over(self) -> bool:
        if self._within and self._within.is_over:
            return True
        return self.seconds_left() < A_MOMENT or self._ends >= MOST_ENDS or time.monotonic() >= self.ends_at
