"""Killed at any moment, the next run goes on: every submission is graded whole, or not at all."""

from __future__ import annotations

import contextlib
import copy
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from grader.classroom.local_crew import InThisProcess
from grader.classroom.run import autograde
from grader.course.folder import Course
from grader.host.zygote_process import start_zygote, use_zygote
from grader.model.submission import Graded, Submission
from support.snapshots import files, rows

pytestmark = pytest.mark.slow

ASSIGNMENT = "self_attention"
STUDENTS = [f"s{number}" for number in range(8)]
MOMENTS = range(50)
# One of so many kills comes when some have their results: how busy the machine is decides on the others.
IN_THE_MIDDLE = 3


class Remembering(InThisProcess):
    """Grades each submission once; then the result is known, and a run is nothing but reading and writing."""

    known: ClassVar[dict[tuple[str, bytes | None], Graded]] = {}

    def grade(self, submissions: Iterable[Submission]) -> Iterator[Graded | None]:
        for submission in submissions:
            key = (submission.student, submission.notebooks[ASSIGNMENT])
            if key not in self.known:
                self.known[key] = self._grader.grade(submission)
            yield copy.deepcopy(self.known[key])
            yield None


@pytest.fixture
def versions(solved: dict[int, str]) -> list[dict[int, str]]:
    """What the class hands in first, and what it hands in then."""
    return [{3: solved[3]}, {5: solved[5]}]


def hand_in(course: Course, submit: Callable[..., Path], what: dict[int, str]) -> None:
    for student in STUDENTS:
        submit(course, student, what)


def test_autograde_when_killed_at_any_moment_is_whole(
    course: Course,
    new_course: Callable[[], Course],
    submit: Callable[..., Path],
    versions: list[dict[int, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The class hands in again and again, and every run is killed. What is graded is one version or the other."""
    monkeypatch.setattr("grader.classroom.run.InThisProcess", Remembering)
    monkeypatch.setattr("grader.classroom.run.BATCH", 3)
    undisturbed = [new_course() for _ in versions]
    for other, what in zip(undisturbed, versions, strict=True):
        hand_in(other, submit, what)
        list(autograde(other, ASSIGNMENT))
    start = time.monotonic()
    hand_in(course, submit, versions[0])
    list(autograde(course, ASSIGNMENT))
    duration = time.monotonic() - start
    wanted = [state(other) for other in undisturbed]
    seen = set()
    for kill, moment in enumerate(MOMENTS):
        rng = random.Random(moment)
        hand_in(course, submit, versions[(kill + 1) % 2])
        if kill % IN_THE_MIDDLE:
            run_and_kill(course, after=rng.uniform(0, duration))
        else:
            run_and_kill(course, results=rng.randrange(1, len(STUDENTS)))
        list(autograde(course, ASSIGNMENT, STUDENTS[:1]))  # the next run puts right what was left behind
        held = state(course)
        assert all(held[student] in (wanted[0][student], wanted[1][student]) for student in STUDENTS)
        seen.add(tuple(held[student] == wanted[0][student] for student in STUDENTS))
    assert len(seen) > 2, "no run was killed in the middle"
    for other, what in zip(undisturbed, versions, strict=True):
        hand_in(course, submit, what)
        list(autograde(course, ASSIGNMENT))
        assert (rows(course), files(course)) == (rows(other), files(other))


def run_and_kill(course: Course, after: float = 0.0, results: int = 0) -> None:
    """Grade in a process of its own, which is killed after some time, or by itself when there are so many results."""
    # With a zygote of its own, as each process of a crew has: else the reply to an order over which it was killed would
    # come to us, and every sandbox that follows here would be taken for the one before it.
    zygote = start_zygote().fork_zygote()
    pid = os.fork()
    if pid == 0:
        use_zygote(zygote)
        try:
            for number, _ in enumerate(autograde(course, ASSIGNMENT), start=1):
                if number == results:
                    os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(0)
    zygote.close()
    if results > 0:
        os.waitpid(pid, 0)
        return
    time.sleep(after)  # the moment is the point here
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


SCORES = """
    SELECT submitted_assignment.student_id, base_cell.name, grade.auto_score
    FROM grade JOIN base_cell ON base_cell.id = grade.cell_id
    JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
    JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
    ORDER BY base_cell.name
"""


def state(course: Course) -> dict[str, Any]:
    """Of each student: the scores in the gradebook, and what the autograded notebook holds."""
    with contextlib.closing(sqlite3.connect(course.root / "gradebook.db")) as gradebook:
        scores = gradebook.execute(SCORES).fetchall()
    return {student: ([one for one in scores if one[0] == student], notebook(course, student)) for student in STUDENTS}


def notebook(course: Course, student: str) -> str:
    path = course.notebook(f"autograded/{student}", ASSIGNMENT)
    return path.read_text() if path.exists() else ""


HANGS = "def softmax(items_in):\n    while str(items_in):\n        pass"  # its text does not show that it never ends


@pytest.mark.usefixtures("hears_ctrl_c")
def test_autograde_when_interrupted_in_a_hang_stops(course: Course, submit: Callable[..., Path], solved: Any) -> None:
    """And says how many have a grade; the next run grades the rest."""
    for student in STUDENTS[:3]:
        submit(course, student, {3: solved[3]})
    submit(course, "t", {3: HANGS})
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write(
            "\nc.RunAndJudge.timeout = c.RunAndJudge.case_timeout = c.RunAndJudge.submission_timeout = 10_000\n"
        )
    grader = subprocess.Popen(
        [sys.executable, "-m", "grader", "autograde", ASSIGNMENT, "--jobs", "2"],
        cwd=course.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        until(lambda: all(notebook(course, student) for student in STUDENTS[:3]))
        grader.send_signal(signal.SIGINT)
        _, said = grader.communicate(timeout=100)
    finally:
        grader.kill()
    assert grader.returncode == 130
    assert "Stopped with 3 of 4 graded." in said
    assert "Traceback" not in said
    assert not notebook(course, "t")


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 200
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)  # between two looks
