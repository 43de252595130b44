"""The queue of submissions: whoever has waited longest since their last turn is next.

So nobody waits behind someone who submits ten times.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque

from grader.serving.arrivals import Arrival


class Queue:
    """What waits, for threads that put and one that takes. Of each student, one submission is graded at a time."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: dict[str, deque[Arrival]] = {}  # by student, in order of arrival
        self._turns: dict[str, int] = {}  # when each student was last served
        self._turn = itertools.count(1)
        self._busy: set[str] = set()  # students
        self._rests: dict[str, float] = {}  # assignments that cannot be graded now, and until when
        self._closed = False

    def put(self, arrival: Arrival) -> None:
        with self._changed:
            self._waiting.setdefault(arrival.student, deque()).append(arrival)
            self._changed.notify_all()

    def next_assignment(self) -> str | None:
        """Wait until there is something to do, and say of which assignment. None once the queue is closed."""
        with self._changed:
            while not self._closed:
                if (first := self._first()) is not None:
                    return first.assignment
                self._changed.wait(self._shortest_rest())
            return None

    def take(self, assignment: str) -> Arrival | None:
        """The next submission of this assignment, if there is one."""
        with self._changed:
            arrival = None if self._closed else self._first(assignment)
            if arrival is not None:
                self._remove(arrival)
                self._busy.add(arrival.student)
                self._turns[arrival.student] = next(self._turn)
            return arrival

    def done(self, student: str) -> None:
        with self._changed:
            self._busy.discard(student)
            self._changed.notify_all()

    def put_back(self, arrival: Arrival) -> None:
        """It was not graded, and is this student's next again."""
        with self._changed:
            self._busy.discard(arrival.student)
            self._waiting.setdefault(arrival.student, deque()).appendleft(arrival)
            self._changed.notify_all()

    def assignments(self) -> list[str]:
        """The assignments of which there is something to do now, that of whoever is next first."""
        with self._changed:
            ready = [] if self._closed else sorted(self._ready(), key=self._rank)
            return list(dict.fromkeys(arrival.assignment for arrival in ready))

    def ahead_of(self, arrival: Arrival) -> int:
        """How many students, at most, have a turn before this submission."""
        with self._changed:
            own = self._rank(arrival)
            return sum(self._rank(first) < own for first in self._ready() if first.student != arrival.student)

    def __len__(self) -> int:
        with self._changed:
            return sum(map(len, self._waiting.values()))

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def rest(self, assignment: str, seconds: float) -> None:
        """Leave an assignment alone for some time. Others go on."""
        with self._changed:
            self._rests[assignment] = time.monotonic() + seconds

    def _shortest_rest(self) -> float | None:
        left = [until - time.monotonic() for until in self._rests.values()]
        return max(0.0, min(left)) if left else None

    def _first(self, assignment: str = "") -> Arrival | None:
        fitting = [one for one in self._ready() if assignment in ("", one.assignment)]
        return min(fitting, key=self._rank, default=None)

    def _ready(self) -> list[Arrival]:
        """The next one of each student of whom none is being graded."""
        self._rests = {name: until for name, until in self._rests.items() if until > time.monotonic()}
        first = [waiting[0] for student, waiting in self._waiting.items() if student not in self._busy]
        return [one for one in first if one.assignment not in self._rests]

    def _rank(self, arrival: Arrival) -> tuple[int, int]:
        return self._turns.get(arrival.student, 0), arrival.id

    def _remove(self, arrival: Arrival) -> None:
        waiting = self._waiting[arrival.student]
        waiting.popleft()
        if not waiting:
            del self._waiting[arrival.student]
