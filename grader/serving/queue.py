"""The queue of submissions, as the table of arrivals has it: whoever has waited longest since their last turn is next.

So nobody waits behind someone who submits ten times.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection

from grader.serving.arrivals import Arrival, Arrivals


class Queue:
    """What waits, for the thread that grades. Other threads tell it when something has come, or when to stop."""

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals = arrivals
        self._changed = threading.Condition()
        self._rests: dict[str, float] = {}  # assignments that cannot be graded now, and until when
        self.is_closed = False

    def look_again(self) -> None:
        """There is something new in the table."""
        with self._changed:
            self._changed.notify_all()

    def next_assignment(self) -> str:
        """Wait until there is something to do, and say of which assignment. It is empty once the queue is closed."""
        with self._changed:
            while not self.is_closed:
                line = self.line()
                if line:
                    return line[0].assignment
                self._changed.wait(self._shortest_rest())
            return ""

    def pause(self, seconds: float) -> None:
        """Wait for this time, unless the queue is closed or something new comes."""
        with self._changed:
            if not self.is_closed:
                self._changed.wait(seconds)

    def line(self) -> list[Arrival]:
        """The submissions that can be graded now, the next one first. It is empty once the queue is closed."""
        return [] if self.is_closed else self._arrivals.in_line(self._resting())

    def ahead_of(self, arrival: Arrival) -> int:
        """How many students, at most, have a turn before this submission."""
        return self._arrivals.ahead_of(arrival, self._resting())

    def close(self) -> None:
        with self._changed:
            self.is_closed = True
            self._changed.notify_all()

    def rest(self, assignment: str, seconds: float) -> None:
        """Leave an assignment alone for some time. Others go on."""
        self._rests = {**self._rests, assignment: time.monotonic() + seconds}

    def _resting(self) -> Collection[str]:
        now = time.monotonic()
        return [name for name, until in self._rests.items() if until > now]

    def _shortest_rest(self) -> float | None:
        """The seconds until the first assignment may be tried again; None if none rests."""
        now = time.monotonic()
        self._rests = {name: until for name, until in self._rests.items() if until > now}
        return min(self._rests.values()) - now if self._rests else None
