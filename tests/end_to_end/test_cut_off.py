"""`grader collect` and `grader publish` are killed at a moment; run again, they lose nothing and do nothing twice."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.course.folder import Course
from grader.gradebook.published import Publications
from support.command_line import grader as run_grader
from support.made_class import ASSIGNMENT, Paper, grade
from support.snapshots import files_in

pytestmark = pytest.mark.slow

STUDENTS = ("ada", "alan", "barbara")
KILLS = {"collect": 12, "publish": 6}
WRITES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "ctypes.dlsym")
NewCourse = Callable[[], Course]


class StepCounter:
    """Counts each step to a disk or to a platform, in a process of its own, which is killed at one of them."""

    def __init__(self, root: Path, at: int) -> None:
        self._root = str(root)
        self._at = at
        self.steps = 0

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not (event in WRITES or (event == "open" and self._writes(*arguments))):
            return
        self.steps += 1
        if self.steps == self._at:
            if event == "open":  # just opened: there it is, and empty
                self._at = 0
                with open(arguments[0], "wb"):  # noqa: PTH123
                    pass
            os.kill(os.getpid(), signal.SIGKILL)

    def _writes(self, path: Any, mode: Any, flags: int) -> bool:
        here = isinstance(path, (str, os.PathLike)) and os.path.abspath(path).startswith(self._root)  # noqa: PTH100
        return here and ("w" in mode if mode else bool(flags & (os.O_WRONLY | os.O_RDWR)))


def run_and_kill(course: Course, words: list[str], at: int = 0) -> int:
    """Run a command that is killed at this step, if it gets there. How many steps there were, if it was not.

    On a busy machine a request may be made again, so that not all runs have as many steps.
    """
    receiving, sending = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            hook = StepCounter(course.root, at)
            sys.addaudithook(hook)
            ended = run_grader(*words, folder=course.root)
            os.write(sending, f"{hook.steps} {ended.returncode} {ended.stderr}".encode())
        finally:
            os._exit(0)
    os.close(sending)
    with os.fdopen(receiving) as said:
        steps, code, stderr = (*said.read().split(" ", 2), "", "", "")[:3]
    _, status = os.waitpid(pid, 0)
    assert (at and os.WIFSIGNALED(status)) or code == "0", stderr
    return int(steps or 0)


def moments(steps: int, kills: int) -> list[int]:
    """Spread over all steps, the first and the last among them."""
    assert steps >= kills
    return [1 + (steps - 1) * kill // (kills - 1) for kill in range(kills)]


def finish(course: Course, words: list[str]) -> None:
    done = run_grader(*words, folder=course.root)
    assert done.returncode == 0, done.stderr


# --- collect ---------------------------------------------------------------------------------------------------------


def exchange(course: Course, make_notebook: Callable[..., Any], day: int, students: dict[str, str]) -> Path:
    """What these students have handed in on that day, with a file beside it."""
    folder = course.root.parent / f"inbound{day}"
    for student, source in students.items():
        place = folder / f"{student}+{ASSIGNMENT}+2026-10-{day} 09:00:00 UTC"
        place.mkdir(parents=True)
        nbformat.write(make_notebook(course, {3: source}), place / f"{ASSIGNMENT}.ipynb")
        (place / "data.txt").write_text(f"{student} {day}")
    return folder


def test_collect_when_killed_loses_nothing(new_course: NewCourse, make_notebook: Callable[..., Any]) -> None:
    """Two have handed in before, and one is new. Of each there is one hand-in, whole, the old or the new one."""

    def copy_of_published() -> tuple[Course, list[str]]:
        course = new_course()
        first = exchange(course, make_notebook, 10, dict.fromkeys(("ada", "alan"), "first = 1"))
        second = exchange(course, make_notebook, 12, dict.fromkeys(STUDENTS, "second = 2"))
        finish(course, ["collect", ASSIGNMENT, str(first), "--as-named"])
        return course, ["collect", ASSIGNMENT, str(second), "--as-named"]

    def by_student(course: Course) -> dict[str, dict[str, bytes]]:
        folders = {student: course.root / "submitted" / student / ASSIGNMENT for student in STUDENTS}
        return {student: files_in(folder) for student, folder in folders.items() if folder.exists()}

    whole, words = copy_of_published()
    before = by_student(whole)
    steps = run_and_kill(whole, words)
    after = by_student(whole)
    assert set(after) == set(STUDENTS)
    seen = set()
    for at in moments(steps, KILLS["collect"]):
        course, words = copy_of_published()
        run_and_kill(course, words, at)
        held = by_student(course)
        assert all(held.get(student) in (before.get(student), after[student]) for student in STUDENTS)
        seen.add(tuple(held.get(student) == after[student] for student in STUDENTS))
        finish(course, words)
        assert files_in(course.root / "submitted") == files_in(whole.root / "submitted")
    assert len(seen) > 2, "no run was killed in the middle"


# --- publish ---------------------------------------------------------------------------------------------------------


PUBLISH = ["publish", ASSIGNMENT, "--yes", "--stale-anyway", "--to"]


@pytest.fixture(scope="module")
def published_once(new_course: NewCourse) -> Course:
    """Three who were told their points, two of whom have others since."""
    course = new_course()
    grade(course, Paper("ada"), Paper("alan", {2: 0.5}), Paper("barbara", {7: 0.35}))
    finish(course, [*PUBLISH, "canvas"])
    grade(course, Paper("ada"), Paper("alan"), Paper("barbara"))
    return course


@pytest.fixture
def copy_of_published(published_once: Course, tmp_path: Path) -> Callable[[], Course]:
    def make() -> Course:
        shutil.rmtree(tmp_path / "course", ignore_errors=True)
        return Course(shutil.copytree(published_once.root, tmp_path / "course"))

    return make


def publications_of(course: Course) -> list[Any]:
    """Of each publication: what students were told, and all that was handed out with it."""
    kept = Publications(course, ASSIGNMENT)
    found = [(kept.read(number), kept.folder(number)) for number in kept.numbers]
    return [
        (one.number, one.students, one.changed, files_in(folder / "export"), pages_in(folder / "feedback.zip"))
        for one, folder in found
    ]


def pages_in(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as pages:
        return {name: pages.read(name) for name in pages.namelist()}


def test_publish_when_killed_loses_nothing(copy_of_published: Callable[[], Course]) -> None:
    """The first publication stays as it was, and the second one is there once."""
    words = [*PUBLISH, "canvas"]
    course = copy_of_published()
    before = publications_of(course)
    steps = run_and_kill(course, words)
    after, pages, table = (
        publications_of(course),
        files_in(course.root / "feedback"),
        files_in(course.root / "export"),
    )
    assert (len(before), len(after)) == (1, 2)
    for at in moments(steps, KILLS["publish"]):
        course = copy_of_published()
        run_and_kill(course, words, at)
        assert publications_of(course) in (before, after)
        finish(course, words)
        assert (publications_of(course), files_in(course.root / "feedback"), files_in(course.root / "export")) == (
            after,
            pages,
            table,
        )
        assert not (course.root / "published" / ASSIGNMENT / ".next").exists()
