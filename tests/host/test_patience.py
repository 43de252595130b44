"""A machine that is short of something costs nobody a grade."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ASSIGNMENT
from grader.classroom.local_crew import InThisProcess
from grader.classroom.run import autograde
from grader.classroom.submission_grader import SubmissionGrader
from grader.course.folder import Course
from grader.errors import CourseError, CrewGone
from grader.host import patience, scratch, zygote_process
from grader.host.replies import CellResult
from grader.host.sandbox_process import SandboxProcess
from grader.host.zygote_process import ZygoteError
from grader.model.submission import Assignment
from grader.sandbox.confine import CannotConfineError
from support.observers import Messages


class FailingAtFirst:
    """Does what it should, after it has failed some times; or before that as well, some other times."""

    def __init__(self, work: Callable[..., object], error: int, times: int, before: int = 0) -> None:
        self.work, self.error, self.left, self.before = work, error, times, before

    def __call__(self, *arguments: object) -> object:
        self.before -= 1
        self.left -= self.before < 0
        if self.before < 0 <= self.left:
            raise OSError(self.error, os.strerror(self.error), "somewhere")
        return self.work(*arguments)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PAUSES", (0.0,) * 3)


def test_patiently_repeats_work_until_it_succeeds() -> None:
    slept: list[float] = []

    def pause_after(error: Exception, failed: int) -> float:
        if not isinstance(error, OSError):
            raise error
        return float(failed)

    assert patience.patiently(FailingAtFirst(lambda: 7, errno.EIO, 3), pause_after, slept.append) == 7
    assert slept == [0.0, 1.0, 2.0]
    with pytest.raises(ZeroDivisionError):
        patience.patiently(lambda: 1 / 0, pause_after)


def test_while_short_tries_once_more_than_there_are_pauses() -> None:
    tries = len(patience.PAUSES) + 1
    assert patience.while_short(FailingAtFirst(lambda: 7, errno.ENOSPC, tries - 1)) == 7
    with pytest.raises(OSError, match="No space left"):
        patience.while_short(FailingAtFirst(lambda: 7, errno.ENOSPC, tries))


@pytest.mark.slow
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EMFILE, errno.ENOMEM])
def test_sandbox_when_machine_is_short_waits(
    error: int, course: Course, submit: Callable[..., Path], solved: dict[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(course, "ada", {3: solved[3]})
    monkeypatch.setattr(scratch, "write_files", FailingAtFirst(scratch.write_files, error, 2))
    (graded,) = autograde(course, ASSIGNMENT)
    assert (graded.error, graded.points) == ("", 2)


@pytest.mark.slow
def test_fork_when_it_fails_is_tried_again(
    course: Course, submit: Callable[..., Path], solved: dict[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(course, "ada", {3: solved[3]})
    failing = FailingAtFirst(zygote_process.fork_sandbox, errno.EAGAIN, 2)
    monkeypatch.setattr("grader.host.sandbox_process.fork_sandbox", failing)
    (graded,) = autograde(course, ASSIGNMENT)
    assert (graded.error, graded.points) == ("", 2)


@pytest.mark.slow
def test_autograde_when_disk_is_full_waits_to_write_results(
    course: Course,
    submit: Callable[..., Path],
    solved: dict[int, str],
    monkeypatch: pytest.MonkeyPatch,
    messages: Messages,
) -> None:
    from grader.classroom import graded_folder

    submit(course, "ada", {3: solved[3]})
    monkeypatch.setattr(graded_folder, "write_files", FailingAtFirst(scratch.write_files, errno.ENOSPC, 2))
    (graded,) = autograde(course, ASSIGNMENT)
    assert (graded.error, graded.points) == ("", 2)
    assert messages.texts == ["This machine is short of resources (No space left on device). Waiting …"]


@pytest.mark.slow
@pytest.mark.parametrize("before", [0, 1])
def test_autograde_when_error_lasts_says_so_and_removes_the_folder(
    before: int, course: Course, submit: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(course, "ada")
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    failing = FailingAtFirst(scratch.write_files, errno.EROFS, 1, before)
    monkeypatch.setattr(scratch, "write_files", failing)
    if before:  # the first sandbox of all, which is nobody's, could start
        (graded,) = autograde(course, ASSIGNMENT)
        assert "Read-only" in graded.error
    else:
        with pytest.raises(CourseError, match=r"Cannot start a sandbox: .*Read-only"):
            list(autograde(course, ASSIGNMENT))
    assert [path.name for path in (tmp_path / "scratch").glob("sandbox-*")] == []


@pytest.mark.slow
def test_autograde_when_disk_stays_full_ends_and_loses_nothing(
    course: Course, submit: Callable[..., Path], solved: dict[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from grader.classroom import graded_folder

    submit(course, "ada", {3: solved[3]})
    with monkeypatch.context() as patch:
        patch.setattr(graded_folder, "write_files", FailingAtFirst(scratch.write_files, errno.ENOSPC, 99))
        with pytest.raises(CourseError, match="No space left"):
            list(autograde(course, ASSIGNMENT))
    (graded,) = autograde(course, ASSIGNMENT)
    assert graded.points == 2


@pytest.mark.slow
@pytest.mark.parametrize("error", [ZygoteError("it ended"), CannotConfineError("it is not confined")])
def test_submission_whose_sandbox_never_starts_fails_alone(
    error: Exception,
    course: Course,
    submit: Callable[..., Path],
    solved: dict[int, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Any other sandbox starts, so it is not the machine."""
    for student in ("ada", "emmy", "grace"):
        submit(course, student, {3: solved[3]} | ({1: "# never"} if student == "emmy" else {}))
    run_cell, tries = SandboxProcess.run_cell, []

    def never(sandbox: SandboxProcess, source: str, *arguments: Any) -> CellResult:
        if source == "# never":
            tries.append(source)
            raise error
        return run_cell(sandbox, source, *arguments)

    monkeypatch.setattr(SandboxProcess, "run_cell", never)
    graded = {one.student: one for one in autograde(course, ASSIGNMENT)}
    assert {student: one.points for student, one in graded.items() if not one.error} == {"ada": 2, "grace": 2}
    assert graded["emmy"].error.startswith("No sandbox starts for this submission, though one starts without it")
    assert len(tries) == 2


@pytest.mark.slow
def test_autograde_when_no_sandbox_starts_any_more_ends(
    course: Course, submit: Callable[..., Path], solved: dict[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(course, "ada", {3: solved[3]})

    def begin(*_: object) -> None:
        raise ZygoteError("it ended")

    monkeypatch.setattr(InThisProcess, "__init__", _without_trying)
    monkeypatch.setattr(SandboxProcess, "wait_until_ready", begin)
    with pytest.raises(CrewGone, match="Cannot start a sandbox: it ended"):
        list(autograde(course, ASSIGNMENT))


def _without_trying(crew: InThisProcess, assignment: Assignment) -> None:
    crew._grader = SubmissionGrader(assignment)
