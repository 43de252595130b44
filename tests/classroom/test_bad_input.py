"""Whatever lies in a course folder where something else should lie: a clear line, and a grade for all the others."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.run import autograde
from grader.cli.app import run as main
from grader.course.folder import Course
from grader.errors import CourseError
from support.snapshots import files, rows

pytestmark = [pytest.mark.user, pytest.mark.slow]

ASSIGNMENT = "self_attention"
Close = Callable[[Path, int], None]
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def close() -> Iterator[Close]:
    """`close(path, mode)` keeps everybody out, root as well, until the test ends."""
    closed: list[tuple[Path, int]] = []

    def close_one(path: Path, mode: int = 0) -> None:
        closed.append((path, path.stat().st_mode))
        path.chmod(mode)

    held = capabilities()
    capabilities(held & ~OVERRIDE)
    try:
        yield close_one
    finally:
        capabilities(held)
        for path, mode in closed:
            if path.exists():
                path.chmod(mode)


OVERRIDE = 0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: to read and write whatever the modes say


def capabilities(wanted: int | None = None) -> int:
    """Those of the first 32 that this thread makes use of; it may lay some down and take them up again."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # the third version; this thread
    data = (ctypes.c_uint32 * 6)()  # effective, permitted and inheritable, twice
    assert libc.capget(header, data) == 0
    held = data[0]
    if wanted is not None:
        data[0] = wanted
        assert libc.capset(header, data) == 0, os.strerror(ctypes.get_errno())
    return int(held)


@pytest.fixture
def command(course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs `grader autograde` in the course folder: exit code, and what it prints, line by line and as errors."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.chdir(course.root)
        monkeypatch.setattr("sys.argv", ["grader", "autograde", "--jobs", "1", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0), *capsys.readouterr()

    return run


def outcome(course: Course, **how: Any) -> dict[str, float | str]:
    """The points of each, or why there are none."""
    return {one.student: one.error or one.points for one in autograde(course, ASSIGNMENT, **how)}


@pytest.mark.parametrize("assignment", ["nonsense", "", "*", "../source/self_attention", "self_attention/", "a\0b"])
def test_autograde_of_an_unknown_assignment_prints_one_line(
    assignment: str, command: Command, submit: Any, course: Course
) -> None:
    submit(course, "ada")
    code, out, errors = command(assignment)
    assert (code, out) == (1, "")
    assert errors.splitlines() == [
        f"There is no assignment “{assignment}”. Assignments: causal_attention, fast_attention, modern_attention, "
        "multi_head_attention, self_attention, transformer."
    ]


@pytest.mark.parametrize("student", ["nobody", "", ".", "*", "../submitted/ada", "ada/", "/"])
def test_autograde_of_an_unknown_student_prints_one_line(
    student: str, command: Command, submit: Any, course: Course
) -> None:
    submit(course, "ada")
    code, out, errors = command(ASSIGNMENT, "--student", "ada", "--student", student)
    assert (code, out) == (1, "")
    assert errors.startswith(f"There is no submission of self_attention by {student}. Use the names of the folders ")
    assert len(errors.splitlines()) == 1


def test_autograde_when_nobody_has_submitted_says_so(command: Command, course: Course, close: Close) -> None:
    """A folder without students, with others' things, no folder, and one that nobody can look into."""
    there = "submitted/STUDENT/self_attention/self_attention.ipynb"
    nothing = (1, "", f"There is nothing to grade. Put submissions into {there}.\n")
    submitted = course.root / "submitted"
    assert command(ASSIGNMENT) == nothing
    submitted.mkdir()
    assert command(ASSIGNMENT) == nothing
    (submitted / "ada/causal_attention").mkdir(parents=True)
    (submitted / "self_attention").mkdir()
    (submitted / "all.zip").touch()
    assert command(ASSIGNMENT) == nothing
    close(submitted, 0)
    says = "The folder submitted/ cannot be read: Permission denied. Fix that, then run this again.\n"
    assert command(ASSIGNMENT) == (1, "", says)
    submitted.chmod(0o755)
    shutil.rmtree(submitted)
    submitted.touch()
    says = "The folder submitted/ cannot be read: Not a directory. Fix that, then run this again.\n"
    assert command(ASSIGNMENT) == (1, "", says)


def test_autograde_with_bad_submissions_names_them_and_grades_others(
    command: Command, course: Course, submit: Any, solved: dict[int, str], scores: Any, close: Close
) -> None:
    submitted = course.root / "submitted"
    submit(course, "ada", {3: solved[3]})
    says = hand_in_badly(course, submit, close)
    (submitted / "ben.ipynb").touch()
    (submitted / "gone").symlink_to("nowhere")
    (submitted / ".DS_Store").touch()
    code, out, errors = command(ASSIGNMENT)
    assert code == 1
    no_grade = [f"{student} has no grade: {why}." for student, why in says.items()]
    skipped = [f"submitted/{name} is not a student's folder, so it was skipped." for name in ("ben.ipynb", "gone")]
    assert sorted(errors.splitlines()) == sorted([*no_grade, *skipped])
    assert scores(course, "ada")["test-exercise-3"] == 2
    # Who has handed in a folder as a notebook has a grade as well; nothing in it is a file of the course.
    assert set(scores(course, "folder").values()) == {0}
    assert {place.split("/")[0] for place in files(course)} == {"ada", "folder"}

    code, out, errors = command(ASSIGNMENT, "--quiet")
    assert (code, out, sorted(errors.splitlines())) == (1, "", sorted(no_grade))

    code, out, _ = command(ASSIGNMENT, "--json")
    told = json.loads(out)
    assert (code, told["graded"], told["unchanged"]) == (1, 0, 2)
    assert set(told["failed"].values()) == set(says.values())
    assert set(told["students"]) == {"ada", "folder"}
    assert command(ASSIGNMENT, "--student", "ada", "--student", "folder", "--quiet") == (0, "", "")


def hand_in_badly(course: Course, submit: Any, close: Close) -> dict[str, str]:
    """What cannot be graded, and what is said of it."""
    source = course.root / "source" / ASSIGNMENT
    link = "the submission is a link, not a notebook"
    closed = "the submission cannot be read: Permission denied"
    name = "the folder's name is too long, or has characters that nbgrader cannot use. Rename it"
    says = {
        "closed notebook": closed, "closed folder": closed, "closed student": closed, "only names": closed,
        "big": "the submission is larger than 20 MB. Collect it with `grader collect`, which removes the outputs, or "
        "ask the student to clear all outputs",
        "file": f"submitted/file/{ASSIGNMENT} is not a folder",
        "link to a folder": link, "link to a notebook": link, "link to nowhere": link,
        "caf ": name, "red [31m": name, "x" * 101: name, ".hidden": name,
    }  # fmt: skip
    submitted = course.root / "submitted"
    close(submit(course, "closed notebook"), 0)
    close(submit(course, "closed folder").parent, 0)
    close(submit(course, "closed student").parents[1], 0)
    close(submit(course, "only names").parent, 0o444)
    with submit(course, "big").open("wb") as file:
        file.truncate(2**40)
    for student in ("file", "link to a folder", "link to a notebook", "link to nowhere"):
        (submitted / student).mkdir()
    (submitted / "file" / ASSIGNMENT).write_text("{}")
    (submitted / "link to a folder" / ASSIGNMENT).symlink_to(source)
    (submitted / "link to a notebook" / ASSIGNMENT).mkdir()
    course.notebook("submitted/link to a notebook", ASSIGNMENT).symlink_to(source / f"{ASSIGNMENT}.ipynb")
    (submitted / "link to nowhere" / ASSIGNMENT).symlink_to("nowhere")
    for student in (os.fsdecode(b"caf\xe9"), "red\x1b[31m", "x" * 101, ".hidden"):
        submit(course, student)
    folder = submit(course, "folder")
    folder.unlink()
    folder.mkdir()
    (folder / "notes.txt").touch()
    return says


def test_autograde_when_companion_files_are_unreadable_names_them(
    course: Course, submit: Any, solved: dict[int, str], close: Close
) -> None:
    """The notebook has its points."""
    folder = submit(course, "ada", {3: solved[3]}).parent
    for place in ("closed.txt", "closed/one.txt", "only names/one.txt", "timestamp.txt", os.fsdecode(b"caf\xe9.txt")):
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_text("2026-11-20 12:00:00 UTC")
    (folder / "out").symlink_to(course.root / "source")
    for place in ("closed.txt", "closed", "timestamp.txt"):
        close(folder / place, 0)
    close(folder / "only names", 0o444)
    with (folder / "zeros").open("wb") as file:
        file.truncate(2**40)
    (result,) = autograde(course, ASSIGNMENT)
    assert (result.points, result.error) == (2, "")
    assert result.blocked == (
        "submit something that cannot be read (closed)",
        "submit something that cannot be read (closed.txt)",
        "submit a link (out)",
        "submit a time that cannot be read (timestamp.txt)",
        "submit too many files, or too large ones",
    )
    assert set(files(course)) >= {
        f"ada/{ASSIGNMENT}/{ASSIGNMENT}.ipynb",
        os.fsdecode(b"ada/self_attention/caf\xe9.txt"),
    }


def test_autograde_with_a_path_of_great_length_grades_all(
    course: Course, submit: Any, solved: dict[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is to be written, it would be longer."""
    folder = submit(course, "ada", {3: solved[3]}).parent
    submit(course, "emmy", {3: solved[3]})
    monkeypatch.chdir(folder)
    while len(os.fsencode(Path.cwd())) < 3800:
        Path("d" * 200).mkdir()
        os.chdir("d" * 200)
    Path("long.txt").touch()
    monkeypatch.undo()
    first, second = sorted(autograde(course, ASSIGNMENT), key=lambda one: one.student)
    assert (first.points, first.blocked) == (2, ("submit a file in too many nested folders (long.txt)",))
    assert (second.points, second.blocked) == (2, ())


NAMES = (
    "Ada Lovelace", "x ", "Ödön", "O\u0308do\u0308n", "日本 語", "नमस्ते", "a.b..c", "o'neil",
    "s1234567@example.org", "x" * 100,
)  # fmt: skip


def test_autograde_accepts_unusual_student_names(
    course: Course, submit: Any, solved: dict[int, str], scores: Any
) -> None:
    """Spaces, letters of all scripts, in both ways to write them, dots."""
    for number, student in enumerate(NAMES):
        submit(course, student, {3: solved[3]} if number % 2 else {5: solved[5]})
    assert outcome(course) == {student: 2.0 if number % 2 else 3.0 for number, student in enumerate(NAMES)}
    for number, student in enumerate(NAMES):
        assert sum(scores(course, student).values()) == (2 if number % 2 else 3)
        assert course.notebook(f"autograded/{student}", ASSIGNMENT).is_file()
    assert {one.student for one in autograde(course, ASSIGNMENT, NAMES[:2]) if one.unchanged} == set(NAMES[:2])


@pytest.fixture(params=["closed", "no names", "a file"])
def bad_output(request: pytest.FixtureRequest, course: Course, close: Close) -> Path:
    """The folder autograded/, which cannot be written."""
    folder = course.root / "autograded"
    if request.param == "a file":
        folder.touch()
    else:
        folder.mkdir()
        close(folder, 0o555 if request.param == "closed" else 0)
    return folder


def test_autograde_when_autograded_is_not_writable_prints_one_line(
    bad_output: Path, command: Command, course: Course, submit: Any, solved: dict[int, str]
) -> None:
    """And nobody has half a grade."""
    submit(course, "ada", {3: solved[3]})
    before = rows(course)
    code, _, errors = command(ASSIGNMENT)
    assert code == 1
    assert errors.startswith("Cannot save the grades: ")
    assert str(bad_output) in errors
    assert len(errors.splitlines()) == 1
    assert rows(course) == before
    bad_output.chmod(0o755)
    if bad_output.is_file():
        bad_output.unlink()
    assert outcome(course) == {"ada": 2}


def test_autograde_when_one_folder_is_not_writable_grades_others(
    course: Course, submit: Any, solved: dict[int, str], close: Close
) -> None:
    students = ("ada", "barbara", "chien", "emmy", "zoe")
    for student in students:
        submit(course, student, {3: solved[3]})
    places = {student: course.root / "autograded" / student for student in students}
    for student in ("ada", "barbara", "chien"):
        (places[student] / ASSIGNMENT).mkdir(parents=True)
    close(places["ada"], 0o555)
    close(places["barbara"] / ASSIGNMENT, 0o555)
    close(places["chien"], 0)
    places["emmy"].touch()
    before = rows(course)["submissions"]
    assert outcome(course) == {
        "ada": f"cannot write to {places['ada']}",
        "barbara": f"cannot write to {places['barbara'] / ASSIGNMENT}",
        "chien": f"cannot write to {places['chien']}",
        "emmy": f"{places['emmy']} is not a folder",
        "zoe": 2,
    }
    assert {one[1] for one in rows(course)["submissions"] - before} == {"zoe"}


def test_autograde_replaces_graded_folders_without_write_permission(
    course: Course, submit: Any, solved: dict[int, str], close: Close
) -> None:
    path = submit(course, "ada", {3: solved[3]})
    outcome(course)
    data = course.root / "autograded/ada" / ASSIGNMENT / "data"
    data.mkdir()
    (data / "words.txt").touch()
    close(data, 0o555)
    submit(course, "ada", {5: solved[5]})
    assert outcome(course) == {"ada": 3}
    assert not data.exists()
    assert not (course.root / "autograded/.waiting").exists()
    assert path.is_file()


def no_database(path: Path, _close: Close) -> None:
    path.write_text("student,score\nada,30\n" * 100)


def folder(path: Path, _close: Close) -> None:
    path.unlink()
    path.mkdir()


def closed(path: Path, close: Close) -> None:
    close(path, 0)


def read_only(path: Path, close: Close) -> None:
    close(path, 0o444)


def cut_off(path: Path, _close: Close) -> None:
    os.truncate(path, path.stat().st_size // 2 // 4096 * 4096)


def empty(path: Path, _close: Close) -> None:
    os.truncate(path, 0)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (no_database, "cannot be used: file is not a database"),
        (folder, "cannot be used: unable to open database file"),
        (closed, "cannot be used: unable to open database file"),
        (read_only, "cannot be used: attempt to write a readonly database"),
        (cut_off, "cannot be used: database disk image is malformed"),
        (empty, "self_attention is not in the gradebook yet. Run: grader release self_attention"),
    ],
)
def test_autograde_when_gradebook_is_unusable_prints_one_line(
    spoil: Callable[[Path, Close], None], words: str, command: Command, course: Course, submit: Any, solved: Any,
    close: Close, tmp_path: Path,
) -> None:  # fmt: skip
    """And nothing is in its place when it is back."""
    gradebook = course.root / "gradebook.db"
    submit(course, "ada", {3: solved[3]})
    before = rows(course)
    shutil.copyfile(gradebook, tmp_path / "aside")
    spoil(gradebook, close)
    code, _, errors = command(ASSIGNMENT)
    assert code == 1
    assert words in errors
    assert len(errors.splitlines()) == 1
    assert spoil is empty or str(gradebook) in errors
    assert not any(course.root.glob("autograded/*/*"))
    gradebook.chmod(0o755)
    gradebook.rmdir() if gradebook.is_dir() else gradebook.unlink()
    (tmp_path / "aside").rename(gradebook)
    assert rows(course) == before
    assert outcome(course) == {"ada": 2}


def test_autograde_when_release_is_missing_says_so(course: Course, submit: Any) -> None:
    submit(course, "ada")
    course.notebook("release", ASSIGNMENT).unlink()
    with pytest.raises(CourseError, match="has not been released yet"):
        outcome(course)
