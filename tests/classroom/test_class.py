"""A class at once: the same as nbgrader leaves, nothing twice, nothing lost."""

from __future__ import annotations

import ctypes
import errno
import multiprocessing
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import nbformat
import pytest

import grader
from grader.checks.demo import make_up_class
from grader.classroom.local_crew import LocalCrew
from grader.classroom.run import autograde
from grader.course.folder import CONFIG_FILE, Course
from grader.errors import CourseError
from grader.host import scratch
from grader.host.scratch import write_files
from grader.model.submission import Graded, Submission
from grader.notebooks.cells import fill_in
from support.observers import Messages, at_first_look
from support.snapshots import files, rows

pytestmark = [pytest.mark.user, pytest.mark.slow]

ASSIGNMENT = "self_attention"
PR_SET_CHILD_SUBREAPER = 36
DUE = datetime(2026, 11, 20, 12)


def hand_in_all_kinds(course: Course, submit: Callable[..., Path], solved: dict[int, str]) -> None:
    """Some of the class of the demo, and what else nbgrader makes something of: late ones, files, broken notebooks."""
    make_up_class(course)
    for student in ("henri", "luca"):  # an endless loop costs time, and an upload that broke off has no grade
        shutil.rmtree(course.root / "submitted" / student)
    for student, hours in (("late", 30), ("extended", 30), ("early", -5)):
        folder = submit(course, student, {1: solved[1], 3: solved[3]}).parent
        (folder / "timestamp.txt").write_text(f"{DUE + timedelta(hours=hours)} UTC")
    folder = submit(course, "files", {3: "from mine import softmax"}).parent
    (folder / "mine.py").write_text(solved[3])
    (folder / "data").mkdir()
    (folder / "data/words.txt").write_text("one two")
    (folder / "checks.py").write_text("raise RuntimeError")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/mine.pyc").write_bytes(b"")
    submit(course, "broken", b"[]")
    submit(course, "empty", b'{"cells": []}')
    noisy = {3: solved[3] + "\nfor number in range(5000):\n    print(number)\nraise ValueError('after all')"}
    submit(course, "noisy", noisy)


def set_up_gradebook(course: Course) -> None:
    """What an instructor has arranged before: a due date, an extension, points and words given by hand."""
    with course.api().gradebook as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate=DUE)
        for student in ("extended", "late", "ada"):
            gradebook.update_or_create_student(student, first_name=student.title())
            gradebook.update_or_create_submission(ASSIGNMENT, student)
        gradebook.grant_extension(ASSIGNMENT, "extended", days=2)
        gradebook.find_grade("test-exercise-2", ASSIGNMENT, ASSIGNMENT, "ada").manual_score = 1.5
        gradebook.find_grade("test-exercise-3", ASSIGNMENT, ASSIGNMENT, "late").extra_credit = 0.5
        gradebook.find_comment("exercise-3", ASSIGNMENT, ASSIGNMENT, "ada").manual_comment = "Nicely done."
        gradebook.db.commit()


def test_autograde_rows_and_notebooks_equal_those_of_nbgrader(
    new_course: Callable[[], Course], submit: Callable[..., Path], solved: dict[int, str]
) -> None:
    """In the same course, with the same preprocessors: ours by two workers, nbgrader's one by one."""
    ours, theirs = new_course(), new_course()
    for course in (ours, theirs):
        hand_in_all_kinds(course, submit, solved)
        set_up_gradebook(course)
    results = list(autograde(ours, ASSIGNMENT, jobs=2))
    assert [one.error for one in results if one.error] == []
    api = theirs.api()
    for student in theirs.students(ASSIGNMENT):
        assert api.autograde(ASSIGNMENT, student)["success"]
    assert rows(ours) == rows(theirs)
    assert files(ours) == files(theirs)


def test_autograde_regrades_only_what_has_changed(course: Course, submit: Callable[..., Path], solved: Any) -> None:
    """Neither by itself nor with others; whatever a grade depends on makes it run again."""
    path = submit(course, "ada", {3: solved[3]})
    submit(course, "emmy", {5: solved[5]})
    assert unchanged_students(course) == set()
    assert unchanged_students(course) == {"ada", "emmy"}
    assert unchanged_students(course, force=True) == set()
    submit(course, "ada", {})
    assert unchanged_students(course) == {"emmy"}
    (path.parent / "words.txt").write_text("one")
    assert unchanged_students(course) == {"emmy"}
    shutil.rmtree(course.root / "autograded/emmy")
    assert unchanged_students(course) == {"ada"}
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write("\nc.RunAndJudge.seed = 7\n")
    course = Course(course.root)
    assert unchanged_students(course) == set()
    assert unchanged_students(course, confined=False) == set()
    course.api().autograde(ASSIGNMENT, "ada")  # by plain nbgrader, with another time in the notebook's outputs
    (course.root / "autograded/ada" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").chmod(0o644)
    (course.root / "autograded/ada" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").write_text("{}")
    assert unchanged_students(course, confined=False) == {"emmy"}


def test_autograde_when_nothing_changed_does_not_load_torch(
    course: Course, submit: Callable[..., Path], solved: dict[int, str]
) -> None:
    """It takes more time than looking through a class."""
    submit(course, "ada", {3: solved[3]})
    list(autograde(course, ASSIGNMENT))
    again = f"""
import sys
from pathlib import Path
from grader.classroom.run import autograde
from grader.course.folder import Course

(result,) = autograde(Course(Path()), {ASSIGNMENT!r}, jobs=2)
print(result.unchanged, "torch" in sys.modules)
"""
    said = subprocess.run([sys.executable, "-c", again], cwd=course.root, capture_output=True, text=True, check=True)
    assert said.stdout == "True False\n"


def test_fork_server_when_not_needed_is_ended() -> None:
    """The process that workers are forked from is ended in the middle of its imports."""
    head = """
import multiprocessing.forkserver
from pathlib import Path
from grader.classroom import fork_server

fork_server.start_early()
server = multiprocessing.forkserver._forkserver._forkserver_pid
while "libtorch" not in Path(f"/proc/{server}/maps").read_text():
    pass
print(server)
"""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)  # what the head leaves behind becomes our own child
    try:
        server = subprocess.run([sys.executable, "-c", head], stdout=subprocess.PIPE, text=True, check=True).stdout
        _, status = os.waitpid(int(server), 0)
    finally:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL


def test_autograde_when_config_leaves_out_the_judge_raises(course: Course, submit: Callable[..., Path]) -> None:
    submit(course, "ada")
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write("c.Autograde.autograde_preprocessors = ['nbgrader.preprocessors.Execute']")
    course = Course(course.root)
    with pytest.raises(CourseError, match="leaves out grader"):
        list(autograde(course, ASSIGNMENT))


def unchanged_students(course: Course, **how: Any) -> set[str]:
    return {one.student for one in autograde(course, ASSIGNMENT, **how) if one.unchanged}


def test_autograde_when_unchanged_returns_the_same_verdicts(
    course: Course, submit: Callable[..., Path], solved: Any
) -> None:
    submit(course, "ada", {3: solved[3], 5: "open('/etc/passwd')"})
    (first,), (second,) = (list(autograde(course, ASSIGNMENT)) for _ in range(2))
    assert (second.verdicts, list(second.blocked)) == (first.verdicts, list(first.blocked))
    assert first.blocked
    assert second.unchanged


def test_autograde_results_keep_no_notebooks_in_memory(course: Course, submit: Callable[..., Path]) -> None:
    """Whoever follows a run keeps the results of a whole class: those of thousands would fill the memory."""
    submit(course, "ada")
    (result,) = autograde(course, ASSIGNMENT)
    assert (result.error, len(result.verdicts), result.notebooks) == ("", 8, {})


def test_manual_points_and_comments_survive_a_regrade(course: Course, submit: Callable[..., Path], solved: Any) -> None:
    submit(course, "ada", {3: solved[3]})
    list(autograde(course, ASSIGNMENT))
    with course.api().gradebook as gradebook:
        grade = gradebook.find_grade("test-exercise-2", ASSIGNMENT, ASSIGNMENT, "ada")
        grade.manual_score, grade.needs_manual_grade = 2.5, False
        gradebook.find_comment("exercise-2", ASSIGNMENT, ASSIGNMENT, "ada").manual_comment = "Well meant."
        gradebook.db.commit()
    submit(course, "ada", {5: solved[5]})
    list(autograde(course, ASSIGNMENT))
    with course.api().gradebook as gradebook:
        grade = gradebook.find_grade("test-exercise-2", ASSIGNMENT, ASSIGNMENT, "ada")
        assert (grade.manual_score, grade.auto_score, grade.needs_manual_grade) == (2.5, 0, False)
        comment = gradebook.find_comment("exercise-2", ASSIGNMENT, ASSIGNMENT, "ada")
        assert comment.comment == "Well meant."
        assert gradebook.find_submission(ASSIGNMENT, "ada").score == 5.5


def test_autograde_when_resubmission_fails_keeps_the_former_grade(
    course: Course, submit: Callable[..., Path], solved: Any
) -> None:
    """What was graded stays as a whole, with its own time; the error is told."""
    path = submit(course, "ada", {3: solved[3]})
    (path.parent / "timestamp.txt").write_text("2026-11-20 12:00:00 UTC")
    list(autograde(course, ASSIGNMENT))
    before = rows(course), files(course)
    path.unlink()
    (path.parent / "timestamp.txt").write_text("2026-11-21 12:00:00 UTC")
    (result,) = autograde(course, ASSIGNMENT)
    assert "there is no self_attention.ipynb" in result.error
    assert (rows(course), files(course)) == before


def test_autograde_when_a_worker_is_killed_grades_all(course: Course, submit: Callable[..., Path], solved: Any) -> None:
    for number in range(6):
        submit(course, f"s{number}", {3: solved[3]})

    def kill() -> None:
        multiprocessing.active_children()[0].kill()

    results = list(autograde(course, ASSIGNMENT, jobs=2, watch=at_first_look(kill)))
    assert sorted((one.student, one.points) for one in results) == [(f"s{number}", 2) for number in range(6)]


class DeadlyNotebook(bytes):
    """A notebook that kills the process that receives it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)",)


def test_autograde_when_a_submission_kills_workers_grades_others(
    course: Course, submit: Callable[..., Path], solved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two tries, then the others go on."""
    for student in ("ada", "eve", "zoe"):
        submit(course, student, {3: solved[3]})
    grade = LocalCrew.grade

    def with_a_deadly_one(workers: LocalCrew, submissions: Iterable[Submission]) -> Iterator[Graded | None]:
        deadly = (
            replace(one, notebooks={ASSIGNMENT: DeadlyNotebook()}) if one.student == "eve" else one
            for one in submissions
        )
        return grade(workers, deadly)

    monkeypatch.setattr(LocalCrew, "grade", with_a_deadly_one)
    results = {one.student: one for one in autograde(course, ASSIGNMENT, jobs=2)}
    assert (results["ada"].points, results["zoe"].points) == (2, 2)
    assert "killed" in results["eve"].error


@pytest.fixture
def with_own_exercises(course: Course) -> Path:
    """The exercises of a course, in its own folder."""
    folder = course.root / "exercises"
    shutil.copytree(Path(grader.__file__).parent / "exercises", folder, ignore=shutil.ignore_patterns("__pycache__"))
    config = course.root / CONFIG_FILE
    config.write_text(config.read_text().replace('"grader.exercises"', '"exercises"'))
    return folder


@pytest.mark.parametrize("jobs", [1, 2])
def test_autograde_when_an_exercise_file_is_broken_names_it(
    jobs: int, course: Course, with_own_exercises: Path, submit: Callable[..., Path], solved: Any
) -> None:
    for student in ("ada", "bob"):
        submit(course, student, {3: solved[3]})
    wrong = with_own_exercises / "ex03_softmax.py"
    right = wrong.read_text()
    wrong.write_text(f"{right}\n1 / 0\n")
    with pytest.raises(CourseError, match=r"exercises/ex03_softmax\.py, line \d+: ZeroDivisionError"):
        list(autograde(course, ASSIGNMENT, jobs=jobs))
    wrong.write_text(right)
    course = Course(course.root)
    assert [one.points for one in autograde(course, ASSIGNMENT, jobs=jobs)] == [2, 2]


def test_autograde_when_an_exercise_file_changes_regrades(
    course: Course, with_own_exercises: Path, submit: Callable[..., Path], solved: Any
) -> None:
    submit(course, "ada", {3: solved[3]})
    assert [one.unchanged for _ in range(2) for one in autograde(course, ASSIGNMENT)] == [False, True]
    changed = with_own_exercises / "ex03_softmax.py"
    changed.write_text(changed.read_text().replace("credit=", "credit=0.5 * ", 1))
    assert [one.unchanged for one in autograde(Course(course.root), ASSIGNMENT)] == [False]


@pytest.fixture
def _sqlite_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would, for five seconds, before it says that somebody else has the gradebook."""
    connect = sqlite3.dbapi2.connect
    monkeypatch.setattr(sqlite3.dbapi2, "connect", lambda *where, **how: connect(*where, **{**how, "timeout": 0}))


@pytest.mark.usefixtures("_sqlite_does_not_wait")
def test_autograde_when_gradebook_is_locked_waits(
    course: Course, submit: Callable[..., Path], solved: Any, messages: Messages
) -> None:
    submit(course, "ada", {3: solved[3]})
    lock = sqlite3.connect(course.root / "gradebook.db", isolation_level=None)
    messages.at_first = lock.rollback
    watch = at_first_look(lambda: lock.execute("BEGIN EXCLUSIVE").close())
    (result,) = autograde(course, ASSIGNMENT, watch=watch)
    lock.close()
    assert (result.points, result.error) == (2, "")
    (message,) = messages.texts
    assert "locked" in message


@pytest.mark.usefixtures("_sqlite_does_not_wait")
def test_autograde_when_gradebook_stays_locked_writes_nothing(
    course: Course, submit: Callable[..., Path], solved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.gradebook.connection.PATIENCE", 0.0)
    submit(course, "ada", {3: solved[3]})
    before = rows(course)
    lock = sqlite3.connect(course.root / "gradebook.db", isolation_level=None)
    with pytest.raises(CourseError, match="locked"):
        list(autograde(course, ASSIGNMENT, watch=at_first_look(lambda: lock.execute("BEGIN EXCLUSIVE").close())))
    lock.close()
    assert (rows(course), files_without_waiting(course)) == (before, {})
    (result,) = autograde(course, ASSIGNMENT)
    assert (result.points, result.unchanged) == (2, False)


def files_without_waiting(course: Course) -> dict[str, Any]:
    return {path: content for path, content in files(course).items() if not path.startswith(".")}


def test_autograde_when_gradebook_is_removed_meanwhile_raises(
    course: Course, submit: Callable[..., Path], solved: Any
) -> None:
    submit(course, "ada", {3: solved[3]})
    gradebook = course.root / "gradebook.db"

    def remove() -> None:
        gradebook.rename(course.root / "aside")

    with pytest.raises(CourseError, match="removed or replaced"):
        list(autograde(course, ASSIGNMENT, watch=at_first_look(remove)))
    (course.root / "aside").rename(gradebook)
    (result,) = autograde(course, ASSIGNMENT)
    assert (result.points, result.unchanged) == (2, False)


def test_autograde_when_disk_is_full_loses_nothing(
    course: Course, submit: Callable[..., Path], solved: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for student in ("ada", "emmy", "zoe"):
        submit(course, student, {3: solved[3]})

    def write_until_full(files: Any, folder: Path) -> None:
        if "emmy" in folder.parts:
            write_files({"checks.py": b""}, folder)
            raise OSError(errno.ENOSPC, "No space left on device", str(folder))
        write_files(files, folder)

    with monkeypatch.context() as patch:
        patch.setattr("grader.host.patience.PAUSES", (0.0,))  # nobody makes room meanwhile
        patch.setattr("grader.classroom.graded_folder.write_files", write_until_full)
        with pytest.raises(CourseError, match="No space left"):
            list(autograde(course, ASSIGNMENT))
    results = list(autograde(course, ASSIGNMENT))
    assert [one.points for one in results] == [2, 2, 2]
    assert not (course.root / "autograded/.waiting").exists()


def test_autograde_when_course_is_being_graded_raises(course: Course, submit: Callable[..., Path]) -> None:
    submit(course, "ada")

    def again() -> None:
        with pytest.raises(CourseError, match="already being graded"):
            list(autograde(course, ASSIGNMENT))

    assert len(list(autograde(course, ASSIGNMENT, watch=at_first_look(again)))) == 1


def test_sweep_removes_folders_of_killed_graders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But not those of graders that are alive, nor what is none of theirs."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    alive, claim = scratch.claimed_folder("sandbox-")
    for name in ("sandbox-left", "zygote-left", "sandbox-new", "others"):
        (tmp_path / name / "files").mkdir(parents=True)
    (tmp_path / "sandbox-link").symlink_to("others")
    for name in (alive.name, "sandbox-left", "zygote-left", "others"):
        os.utime(tmp_path / name, (0, 0))
    scratch.sweep()
    assert {path.name for path in tmp_path.iterdir()} == {alive.name, "sandbox-new", "sandbox-link", "others"}
    os.close(claim)


def test_standins_follow_the_order_of_the_released_notebook(
    course: Course, submit: Callable[..., Path], solved: dict[int, str], scores: Callable[..., dict[str, float]]
) -> None:
    """The course has moved exercise 3 behind exercise 4: a right softmax is lent to no exercise 4 any longer.

    Whoever moves cells back gets the same.
    """
    handed_in: dict[int | str, str] = {
        3: "def softmax(items_in):\n    return torch.as_tensor(items_in) * 3",
        4: solved[4],
    }
    submit(course, "as-before", handed_in)
    assert [one.error for one in autograde(course, ASSIGNMENT)] == [""]
    assert scores(course, "as-before")["test-exercise-4"] == 2
    released = course.read("release", ASSIGNMENT)
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in released.cells]
    moved = [released.cells.pop(ids.index(name)) for name in ("test-exercise-3", "exercise-3")][::-1]
    after = next(
        place
        for place, cell in enumerate(released.cells)
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "test-exercise-4"
    )
    released.cells[after + 1 : after + 1] = moved
    before = course.read("release", ASSIGNMENT)
    nbformat.write(released, course.notebook("release", ASSIGNMENT))
    submit(course, "moved-back", fill_in(before, handed_in))
    submit(course, "in-order", handed_in)
    assert [one.error for one in autograde(course, ASSIGNMENT)] == ["", "", ""]
    for student in ("in-order", "moved-back"):
        assert scores(course, student)["test-exercise-4"] < 2
