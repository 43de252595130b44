"""`grader try`: one piece of code, judged in its notebook."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.authoring.beginnings import new_assignment, new_course, new_exercise
from grader.course.folder import Course
from support.command_line import grader

SUM = "def mean(numbers):\n    return sum(numbers)\n"


@pytest.fixture
def course(tmp_path: Path) -> Iterator[Course]:
    new_course(tmp_path / "statistics")
    with contextlib.chdir(tmp_path / "statistics"):
        course = Course(Path())
        for assignment in ("week1", "week2"):
            new_assignment(course, assignment)
        new_exercise(course, "mean", "week1")
        new_exercise(course, "other", "week2")
        Path("attempt.py").write_text(SUM)
        yield course


def test_try_prints_the_verdict_and_writes_no_file(course: Course) -> None:
    before = sorted(course.root.rglob("*"))
    ended = grader("try", "mean", "attempt.py", folder=course.root)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout == (
        "Exercise mean, The mean: 1 of 2 points (not divided)\n"
        "  What comes out is the sum. The mean is the sum, divided by how many numbers there are.\n"
    )
    assert [path for path in sorted(course.root.rglob("*")) if "__pycache__" not in path.parts] == before


def test_try_page_is_that_of_a_student(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("typer.launch", opened.append)
    ended = grader("try", "mean", "attempt.py", "--page", folder=course.root)
    (page,) = opened
    assert Path(page).name in ended.stdout
    assert "What comes out is the sum" in Path(page).read_text(encoding="utf-8")


def test_right_code_has_all_points(course: Course) -> None:
    Path("attempt.py").write_text("import statistics\n\ndef mean(numbers):\n    return statistics.fmean(numbers)\n")
    assert grader("try", "mean", "attempt.py", folder=course.root).stdout.startswith(
        "Exercise mean, The mean: 2 of 2 points (right)"
    )


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["median"], "There is no exercise median in week1, week2."),
        (["mean", "--assignment", "week2"], "There is no exercise mean in week2."),
        (["mean", "--assignment", "week3"], "There is no assignment “week3”"),
    ],
)
def test_try_of_an_unknown_exercise_says_so(asked: list[str], told: str, course: Course) -> None:
    name, *options = asked
    ended = grader("try", name, "attempt.py", *options, folder=course.root)
    assert ended.returncode == 1
    assert told in ended.stderr


def test_try_when_two_assignments_have_the_exercise_asks_for_one(course: Course) -> None:
    new_exercise(course, "2", "week1")
    path = course.root / "exercises/week1_2.py"
    new_exercise(course, "2", "week2")
    assert path.is_file()
    ended = grader("try", "2", "attempt.py", folder=course.root)
    assert (ended.returncode, ended.stderr) == (
        1, "Several assignments have an exercise 2. Choose one, such as: --assignment week1\n",
    )  # fmt: skip
    assert grader("try", "2", "attempt.py", "--assignment", "week2", folder=course.root).returncode == 0
