"""A mistake that the command line adds to an exercise: in its file, and as a piece of the corpus."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from grader.authoring.beginnings import new_assignment, new_course, new_exercise
from grader.authoring.new_mistake import NewMistake, new_mistake
from grader.checks.student_code import read_pieces
from grader.course.folder import Course
from grader.errors import CourseError
from support.command_line import grader

DOUBLED = NewMistake(
    "doubled “twice”", "mean", 'return 2 * sum(numbers) / len(numbers)  # "2"', "It is twice the mean."
)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    new_course(tmp_path)
    new_assignment(Course(tmp_path), "week1")
    new_exercise(Course(tmp_path), "mean", "week1")
    return Course(tmp_path)


def file_of(course: Course) -> Path:
    return course.root / "exercises/week1_mean.py"


def test_new_mistake_is_written_into_file_and_corpus(course: Course) -> None:
    before = file_of(course).read_text()
    files = new_mistake(course, "mean", DOUBLED)
    assert files == [file_of(course), course.root / "corpus/week1/mean.txt"]
    *others, mistake = Course(course.root).exercises("week1")["mean"].mistakes
    assert len(others) == 2
    assert (mistake.name, mistake.change, mistake.says) == (DOUBLED.name, {"mean": DOUBLED.line}, DOUBLED.says)
    assert [line for line in before.splitlines() if line not in file_of(course).read_text().splitlines()] == []
    piece = read_pieces(files[1].read_text())[-1]
    assert (piece.kind, piece.name, piece.fields) == ("wrong", "doubled_twice", {"named": DOUBLED.name})
    assert piece.code == f"def mean(numbers):\n    {DOUBLED.line}\n"


def test_new_mistake_twice_appends_both(course: Course) -> None:
    text = file_of(course).read_text()
    begin, end = text.index("*at("), text.index("    ],\n)")
    for kept in (
        "",
        "# none yet\n        ",
        'wrong("zero", {"mean": "return 0"}, "It is 0.")',
        'wrong("zero", ("s", "z"), "")  # a, b',
    ):
        file_of(course).write_text(f"{text[:begin]}{kept}\n{text[end:]}".replace('("s", "z")', '{"mean": "return 0"}'))
        (course.root / "corpus/week1/mean.txt").unlink(missing_ok=True)
        new_mistake(Course(course.root), "mean", DOUBLED)
        new_mistake(Course(course.root), "mean", NewMistake("doubled twice", "mean", "return 3", "It is 3."))
        names = [mistake.name for mistake in Course(course.root).exercises("week1")["mean"].mistakes]
        assert names[-2:] == ["doubled “twice”", "doubled twice"]
        assert len(names) == 2 + ("wrong(" in kept)
        pieces = read_pieces((course.root / "corpus/week1/mean.txt").read_text())
        assert [piece.name for piece in pieces] == ["doubled_twice", "doubled_twice_2"]


@pytest.mark.parametrize(
    ("mistake", "old", "new", "said"),
    [
        (NewMistake("not divided", "mean", "return 0", "x"), "", "", "already has a mistake “not divided”"),
        (NewMistake("x", "sum", "return 0", "x"), "", "", "no mark “sum”. There are: mean."),
        (NewMistake("x", "mean", "return total", "x"), "", "", "“return total” cannot stand there: its lines read"),
        (NewMistake("x", "mean", "return (", "x"), "", "", "the solution is not Python"),
        (DOUBLED, "mistakes=[", "mistakes=[] + [", "`mistakes` is not written as a list"),
        (DOUBLED, "randn, wrong", "randn\nfrom grader import *", "does not import `wrong`"),
    ],
)
def test_new_mistake_when_it_does_not_fit_writes_nothing(
    course: Course, mistake: NewMistake, old: str, new: str, said: str
) -> None:
    text = file_of(course).read_text()
    file_of(course).write_text(text.replace(old, new) if old else text)
    before = {path: path.read_text() for path in (file_of(course), course.root / "corpus/week1/mean.txt")}
    with pytest.raises(CourseError) as caught:
        new_mistake(Course(course.root), "mean", mistake)
    assert said in str(caught.value)
    assert {path: path.read_text() for path in before} == before


@pytest.mark.slow
def test_new_mistake_command_asks_for_what_is_missing(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("return -sum(numbers) / len(numbers)\n"))
    asked = ("new", "mistake", "mean", "negative", "--at", "mean", "--says", "It has the wrong sign.")
    ended = grader(*asked, folder=course.root)
    assert "What students write there: " in ended.stdout
    assert "corpus/week1/mean.txt" in ended.stdout
    assert ":named: negative" in (course.root / "corpus/week1/mean.txt").read_text()
