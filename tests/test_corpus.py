"""Student code in many styles, right and wrong, through the whole pipeline to gradebook.db.

One submission takes one file of each exercise, so that a few dozen submissions hold the whole corpus, and so that every
exercise is judged among mistakes in the others. CI grades an eighth of what is right and a twenty-fourth of what
is wrong, `make test` half of that.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from graded_corpus import Result, grade, submissions
from our_course import EXERCISES
from part import FEWER, part
from solution_cells import of_notebook

from grader.course import Course
from grader.judging.arguments import ANOTHER_ORDER
from grader.judging.rows import FLAT_WORDS, WORDS_AS_ROWS
from grader.judging.with_facts import NAME as BORROWED

CORPUS = Path(__file__).parent / "corpus"
ASSIGNMENTS = tuple(dict.fromkeys(exercise.assignment for exercise in EXERCISES.values()))
# Mistakes of every exercise, which are found by asking again.
FOUND_BY_ASKING = {BORROWED, ANOTHER_ORDER, WORDS_AS_ROWS, FLAT_WORDS}


@dataclass(frozen=True)
class Entry:
    """A file of the corpus, and the misconceptions that its second line says the grader must name."""

    number: int
    path: Path

    @property
    def assignment(self) -> str:
        return EXERCISES[self.number].assignment

    @property
    def cell(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def named(self) -> set[str]:
        match = re.search(r"^# named: (.*)$", self.cell, re.MULTILINE)
        return set() if match is None or match[1] == "nothing" else set(match[1].split(" + "))

    def __str__(self) -> str:
        return f"{self.number}-{self.path.stem}"


def entries(kind: str) -> list[Entry]:
    return [Entry(number, path) for number in EXERCISES for path in sorted(CORPUS.glob(f"*/ex{number:02}/{kind}/*.py"))]


def one_for_each_misconception() -> list[Entry]:
    """The first file for every name, and every file with two names at once."""
    chosen: dict[tuple[int, frozenset[str]], Entry] = {}
    for entry in entries("wrong"):
        if entry.named:
            chosen.setdefault((entry.number, frozenset(entry.named)), entry)
    return list(chosen.values())


RIGHT = entries("right")
WRONG = one_for_each_misconception()


def some(entries: list[Entry], of: int) -> list[Entry]:
    """Of each exercise as large a part."""
    return [one for number in EXERCISES for one in part((one for one in entries if one.number == number), of)]


SOME_RIGHT, SOME_WRONG = some(RIGHT, of=8 * FEWER), some(WRONG, of=24 * FEWER)


@pytest.fixture(scope="module")
def graded(
    new_course: Callable[[], Course], submit: Callable[..., Path], scores: Callable[..., dict[str, float]]
) -> Callable[[Entry], Result]:
    """What the gradebook holds for a chosen file. An assignment is graded when it is first asked for."""
    course = new_course()

    @functools.cache
    def results(assignment: str) -> dict[Entry, Result]:
        students = {
            **submissions("right", SOME_RIGHT, assignment),
            **submissions("wrong", SOME_WRONG, assignment),
        }
        # A class may inherit from that of an earlier exercise, of which nothing may have been drawn.
        return grade(course, assignment, students, submit, scores, of_notebook(assignment))

    return lambda entry: results(entry.assignment)[entry]


@pytest.mark.parametrize("number", EXERCISES)
def test_there_are_five_right_styles_of_every_exercise_and_only_real_names(number: int) -> None:
    assert len([entry for entry in RIGHT if entry.number == number]) >= 5
    named = {name for entry in WRONG if entry.number == number for name in entry.named}
    assert named - FOUND_BY_ASKING <= misconceptions(number)


@pytest.mark.parametrize("number", EXERCISES)
def test_there_is_a_file_for_every_misconception(number: int) -> None:
    alone = {name for entry in WRONG if entry.number == number and len(entry.named) == 1 for name in entry.named}
    assert alone - FOUND_BY_ASKING == misconceptions(number)


def misconceptions(number: int) -> set[str]:
    return {one.name for function in EXERCISES[number].functions for one in function.misconceptions}


@pytest.mark.parametrize("entry", SOME_RIGHT, ids=str)
def test_right_gets_full_marks(entry: Entry, graded: Callable[[Entry], Result]) -> None:
    result = graded(entry)
    assert result.points == result.max_points, result.verdict.sentences


@pytest.mark.parametrize("entry", SOME_WRONG, ids=str)
def test_wrong_loses_marks_and_the_cause_is_named(entry: Entry, graded: Callable[[Entry], Result]) -> None:
    result = graded(entry)
    assert result.points < result.max_points
    assert set(result.verdict.misconceptions) == entry.named, result.verdict.sentences


def test_a_mistake_in_an_earlier_exercise_is_not_told_in_place_of_the_one_in_this(
    new_course: Callable[[], Course], submit: Callable[..., Path], scores: Callable[..., dict[str, float]]
) -> None:
    by_name = {str(entry): entry for entry in WRONG}
    blocks, detached = by_name["24-hidden_of_d_model"], by_name["25-detached"]
    found = grade(new_course(), "transformer", {"one": [blocks, detached]}, submit, scores)
    assert set(found[detached].verdict.misconceptions) == detached.named


@pytest.mark.parametrize("entry", SOME_WRONG, ids=str)
def test_what_is_quoted_is_in_the_code(entry: Entry, graded: Callable[[Entry], Result]) -> None:
    """What a sentence puts between backticks, it says of the code: each name and number of it is there."""
    quoted = [part for said in graded(entry).verdict.sentences for part in re.findall(r"`([^`]+)`", said)]
    assert [word for part in quoted for word in re.findall(r"\w+", part) if word not in entry.cell] == []
