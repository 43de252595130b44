"""The thread that grades: which submissions it starts, and that none waits for another one that takes long."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Iterator
from multiprocessing import Pipe
from typing import Any, ClassVar

import pytest

from grader.classroom import local_crew
from grader.course.folder import Course
from grader.errors import CrewGone
from grader.model.submission import Assignment, Graded, Submission
from grader.serving import desk as desks
from grader.serving.arrivals import Arrival, Arrivals, Stage
from grader.serving.desk import Desk, GradingOptions
from support.observers import Messages

pytestmark = pytest.mark.slow

FIRST, SECOND, THIRD = "self_attention", "causal_attention", "transformer"
PATIENCE = 60  # seconds
SLOW = "ada"  # whose submissions are graded when a test says so


class Process:
    """In place of a process that grades: it answers at once, or when a test says so."""

    every: ClassVar[list[Process]]
    started: ClassVar[queue.Queue[tuple[str, str]]]
    breaking: ClassVar[int]  # how often a process for FIRST still breaks

    def __init__(self, _context: object, assignment: Assignment, gpu: str) -> None:
        self.assignment, self.gpu = assignment, gpu
        self.submission: Submission | None = None
        self.since = 0.0
        self.connection, self._answers = Pipe()
        Process.every.append(self)

    def start(self, submission: Submission) -> None:
        self.submission, self.since = submission, time.monotonic()
        if submission.student != SLOW:
            self.answer()
        Process.started.put((submission.student, self.assignment.name))

    def answer(self) -> None:
        self._answers.send("done")

    def result(self) -> Graded:
        self.connection.recv()
        if Process.breaking and self.assignment.name == FIRST:
            Process.breaking -= 1
            raise CrewGone("Cannot start a sandbox.")
        assert self.submission is not None
        graded, self.submission = self.submission.result(), None
        return graded

    def end(self) -> None:
        self.connection.close()
        Process.every.remove(self)


class Table(Arrivals):
    """Notes what is graded."""

    finished: queue.Queue[int]

    def finish(self, arrival: Arrival, state: Stage, result: dict[str, Any]) -> None:
        super().finish(arrival, state, result)
        self.finished.put(arrival.id)


@pytest.fixture
def table(course: Course, monkeypatch: pytest.MonkeyPatch) -> Iterator[Table]:
    monkeypatch.setattr(local_crew, "CrewProcess", Process)
    monkeypatch.setattr(local_crew, "try_a_sandbox", lambda _: None)
    monkeypatch.setattr(Process, "every", [], raising=False)
    monkeypatch.setattr(Process, "started", queue.Queue(), raising=False)
    monkeypatch.setattr(Process, "breaking", 0, raising=False)
    arrivals = Table(course)
    arrivals.finished = queue.Queue()
    yield arrivals
    arrivals.close()


@pytest.fixture
def submit(course: Course, table: Table) -> Callable[[Desk, str, str], Arrival]:
    """Submits the release of an assignment."""

    def submitted(desk: Desk, student: str, assignment: str) -> Arrival:
        release = course.folder("release") / assignment / f"{assignment}.ipynb"
        arrival = table.add(student, assignment, {assignment: release.read_bytes()})
        desk.queue.look_again()
        return arrival

    return submitted


def _end_of(table: Table, *arrivals: Arrival) -> None:
    """Wait until exactly these are graded."""
    assert sorted(table.finished.get(timeout=PATIENCE) for _ in arrivals) == [arrival.id for arrival in arrivals]
    for arrival in arrivals:
        assert (now := table.get(arrival.id)) is not None
        assert (now.state, now.result.get("error")) == (Stage.GRADED, None)


def test_desk_when_a_submission_is_slow_grades_others(
    course: Course, table: Table, submit: Callable[[Desk, str, str], Arrival], messages: Messages
) -> None:
    desk = Desk(course, table, GradingOptions(2))
    desk.start()
    slow = submit(desk, SLOW, FIRST)
    assert Process.started.get(timeout=PATIENCE) == (SLOW, FIRST)
    (busy,) = [process for process in Process.every if process.submission is not None]
    others = [submit(desk, student, name) for student in ("emmy", "zoe") for name in (SECOND, FIRST, THIRD)]
    next_of_slow = submit(desk, SLOW, SECOND)
    _end_of(table, *others)
    assert len(Process.every) == 2
    assert table.finished.empty()
    (now,) = [arrival for arrival in table.of_class() if arrival.state is Stage.GRADING]
    assert now.id == slow.id, "of each student, one at a time"
    busy.answer()
    _end_of(table, slow)
    while Process.started.get(timeout=PATIENCE) != (SLOW, SECOND):
        pass
    desk.queue.close()
    (busy,) = [process for process in Process.every if process.submission is not None]
    busy.answer()
    desk.close()
    _end_of(table, next_of_slow)
    assert (desk.trouble, messages.texts, Process.every) == ({}, [], [])


def test_desk_when_an_assignment_breaks_logs_once_and_grades_others(
    course: Course,
    table: Table,
    submit: Callable[[Desk, str, str], Arrival],
    monkeypatch: pytest.MonkeyPatch,
    messages: Messages,
) -> None:
    monkeypatch.setattr(desks, "AGAIN", 0.0)
    monkeypatch.setattr(Process, "breaking", 3)
    desk = Desk(course, table, GradingOptions(2))
    desk.start()
    slow = submit(desk, SLOW, SECOND)
    assert Process.started.get(timeout=PATIENCE) == (SLOW, SECOND)
    (busy,) = [process for process in Process.every if process.submission is not None]
    _end_of(table, submit(desk, "emmy", FIRST))
    assert messages.texts == [f"{FIRST}: Cannot start a sandbox."]
    assert busy in Process.every
    busy.answer()
    desk.close()
    _end_of(table, slow)
    assert desk.trouble == {}
