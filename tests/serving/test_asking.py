"""The thread that has questions made: after all verdicts, after a restart, and whatever becomes of its process."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from grader.course.folder import Course
from grader.explaining.question import CodeQuestion, QuestionKind
from grader.gradebook.asked_questions import AskedQuestion, own_code_by_student
from grader.model.submission import Graded
from grader.model.verdict import Reason, Scored, Verdict
from grader.serving import asking as asking_module
from grader.serving.arrivals import Arrival, Arrivals, Stage
from grader.serving.asking import Asking, QuestionProcess, RightCode
from grader.serving.queue import Queue
from grader.term.reading import COURSE_FILE
from support.our_course import EXERCISES
from support.served import ASSIGNMENT, PATIENCE

QUESTION = CodeQuestion(QuestionKind.TIMES, 3, "How often does line 3 run?", "`x` of shape (4,)", ("4", "5"), 1, "")


class MadeUpProcess:
    """Stands in for the process that makes questions: it makes one about each exercise that is not known."""

    def __init__(self) -> None:
        self.codes: list[RightCode] = []
        self.made = threading.Semaphore(0)

    def make_questions(self, code: RightCode) -> list[AskedQuestion]:
        self.codes.append(code)
        self.made.release()
        entries = [EXERCISES[int(label)].entry for label in code.exercises]
        questions = [AskedQuestion("", entry, "", QUESTION) for entry in entries if entry not in code.known_entries]
        return questions[: code.count]

    def end(self) -> None: ...


@pytest.fixture
def arrivals(course: Course) -> Iterator[Arrivals]:
    (course.root / COURSE_FILE).write_text("[explain]\n")
    table = Arrivals(course)
    yield table
    table.close()


@pytest.fixture
def start(course: Course, arrivals: Arrivals) -> Iterator[Callable[[], Asking]]:
    """Starts the thread, with the made-up process."""
    started: list[Asking] = []

    def start_thread() -> Asking:
        asking = Asking(course, arrivals, Queue(arrivals))
        asking._process = MadeUpProcess()  # type: ignore[assignment]
        asking.start()
        started.append(asking)
        return asking

    yield start_thread
    for asking in started:
        asking.close()


def process_of(asking: Asking) -> MadeUpProcess:
    process: Any = asking._process
    assert isinstance(process, MadeUpProcess)
    return process


def graded(arrivals: Arrivals, student: str, content: bytes, right: Mapping[int, bool]) -> Arrival:
    """A submission with such verdicts."""
    arrival = arrivals.add(student, ASSIGNMENT, {ASSIGNMENT: content})
    verdicts = [
        Scored(Verdict(label, "", float(is_right), Reason.RIGHT if is_right else Reason.WRONG), 1.0)
        for label, is_right in right.items()
    ]
    arrivals.finish(arrival, Stage.GRADED, Graded(student, verdicts=verdicts).to_json())
    return arrival


def wait_until_made(asking: Asking, arrival: Arrival) -> None:
    assert process_of(asking).made.acquire(timeout=PATIENCE)
    while asking.is_coming(arrival):
        pass


def test_questions_are_about_what_is_right_and_new(
    course: Course, arrivals: Arrivals, start: Callable[[], Asking]
) -> None:
    asking = start()
    first = graded(arrivals, "ada", b"1", {7: True, 8: False})
    asking.add(first)
    wait_until_made(asking, first)
    second = graded(arrivals, "ada", b"2", {6: True, 7: True, 8: True})
    asking.add(second)
    wait_until_made(asking, second)
    asked = own_code_by_student(course, ASSIGNMENT).get("ada")
    assert asked is not None
    assert [question.entry for question in asked.questions] == [EXERCISES[label].entry for label in (7, 6, 8)]
    assert [(code.exercises, code.count) for code in process_of(asking).codes] == [([7], 3), ([6, 7, 8], 2)]


def test_questions_wait_until_nobody_waits_for_a_verdict(arrivals: Arrivals, start: Callable[[], Asking]) -> None:
    waiting = arrivals.add("emmy", ASSIGNMENT, {ASSIGNMENT: b"0"})
    asking = start()
    asking.add(first := graded(arrivals, "ada", b"1", {7: True}))
    assert not process_of(asking).made.acquire(timeout=2 * asking_module.PAUSE)
    arrivals.begin(waiting)
    wait_until_made(asking, first)


def test_questions_left_by_an_earlier_server_are_made_at_the_start(
    arrivals: Arrivals, start: Callable[[], Asking]
) -> None:
    superseded = graded(arrivals, "ada", b"1", {7: True})
    left = graded(arrivals, "ada", b"2", {7: True})
    asking = start()
    wait_until_made(asking, left)
    assert process_of(asking).codes[0].notebooks == {ASSIGNMENT: b"2"}
    asking.close()
    again = start()
    assert not again.is_coming(left)
    assert not again.is_coming(superseded)
    assert len(process_of(again).codes) == 0


def test_submission_that_breaks_everything_has_no_questions_and_the_next_one_has(
    course: Course, arrivals: Arrivals, start: Callable[[], Asking], monkeypatch: pytest.MonkeyPatch
) -> None:
    asking = start()
    make = process_of(asking).make_questions

    def break_once(code: RightCode) -> list[AskedQuestion]:
        if code.student == "ada":
            raise MemoryError
        return make(code)

    monkeypatch.setattr(asking._process, "make_questions", break_once)
    broken = graded(arrivals, "ada", b"1", {7: True})
    good = graded(arrivals, "emmy", b"2", {7: True})
    asking.add(broken)
    asking.add(good)
    wait_until_made(asking, good)
    assert own_code_by_student(course, ASSIGNMENT).get("ada") is None
    assert own_code_by_student(course, ASSIGNMENT).get("emmy") is not None


@pytest.mark.slow
def test_process_that_is_killed_makes_no_questions_and_is_started_again(
    course: Course, make_notebook: Callable[..., Any], solved: dict[int, str]
) -> None:
    notebook = json.dumps(make_notebook(course, solved)).encode()
    code = RightCode(course.root, ASSIGNMENT, "ada", {ASSIGNMENT: notebook}, [7, 8], [], 3)
    process = QuestionProcess()
    try:
        questions = process.make_questions(code)
        assert questions
        assert process._process is not None
        os.kill(process._process.pid or 0, signal.SIGKILL)
        assert process.make_questions(code) == []
        assert process.make_questions(code) == questions
    finally:
        process.end()
