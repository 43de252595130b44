"""What is on record of student code in many styles, right and wrong: test_records.py proves that it is so."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.course.folder import Course
from support.corpus import RIGHT, WRONG, entries
from support.graded_corpus import grade
from support.our_course import EXERCISES
from support.real_mistakes import OF_ALL
from support.records import judging, made_of_mistakes, records
from support.records import pieces as pieces_on_record


@pytest.mark.parametrize("number", EXERCISES)
def test_corpus_has_five_right_styles_and_only_known_names(number: int) -> None:
    assert len([entry for entry in RIGHT if entry.number == number]) >= 5
    named = {name for entry in WRONG if entry.number == number for name in entry.named}
    assert named - OF_ALL <= misconceptions(number)


@pytest.mark.parametrize("number", EXERCISES)
def test_corpus_has_a_piece_for_every_misconception(number: int) -> None:
    alone = {name for entry in WRONG if entry.number == number and len(entry.named) == 1 for name in entry.named}
    made = {one.name for _, one, _ in made_of_mistakes(number)}
    assert (alone - OF_ALL) | made == misconceptions(number)


@pytest.mark.proof
@pytest.mark.parametrize("number", EXERCISES)
def test_solution_with_lines_of_a_misconception_gets_its_name(number: int) -> None:
    """As a student's code, in its notebook: what the exercise holds for this mistake is what that code does."""
    names = [one.name for _, one, _ in made_of_mistakes(number)]
    told = 1 if number == 41 else None  # moe calls route, and has its mistakes, too
    with judging() as verdict_on:
        found = [(one.name, *verdict_on(piece).misconceptions[:told]) for _, one, piece in made_of_mistakes(number)]
    assert found == [(name, name) for name in names]


def misconceptions(number: int) -> set[str]:
    return {one.name for function in EXERCISES[number].functions for one in function.mistakes}


@pytest.mark.parametrize("number", EXERCISES)
def test_right_pieces_on_record_have_full_marks(number: int) -> None:
    lost = {
        name: one.sentences for name, one in records(number).items() if name.startswith("right/") and one.credit < 1
    }
    assert lost == {}


@pytest.mark.parametrize("number", EXERCISES)
def test_wrong_pieces_on_record_lose_marks_with_named_cause(number: int) -> None:
    found = {name.partition("/")[2]: one for name, one in records(number).items() if name.startswith("wrong/")}
    assert [name for name, one in found.items() if one.credit == 1] == []
    asked = {entry.name: entry.named for entry in entries("wrong") if entry.number == number and entry.named}
    assert {name: set(found[name].misconceptions) for name in asked} == asked


@pytest.mark.parametrize("number", EXERCISES)
def test_pieces_on_record_with_one_mistake_earn_its_credit(number: int) -> None:
    """The other functions of the exercise are right. Where memory has a limit, code beyond it earns half of that."""
    functions = EXERCISES[number].functions
    shares = (1.0, 0.5) if any(case.promise for function in functions for case in function.cases) else (1.0,)
    credits: dict[str, set[float]] = {}
    for function in functions:
        for mistake in function.mistakes:
            earned = (mistake.credit + len(functions) - 1) / len(functions)
            credits.setdefault(mistake.name, set()).update(share * earned for share in shares)
    other_credits = {}
    for name, piece in records(number).items():
        (mistake_name, *others) = piece.misconceptions or ("",)
        if mistake_name in credits and not others and piece.credit not in credits[mistake_name]:
            other_credits[name] = piece.credit
    assert other_credits == {}


@pytest.mark.slow
def test_mistake_in_an_earlier_exercise_does_not_hide_the_one_in_this(
    new_course: Callable[[], Course], submit: Callable[..., Path]
) -> None:
    by_name = {str(entry): entry for entry in WRONG}
    blocks, detached = by_name["24-hidden_of_d_model"], by_name["25-detached"]
    found = grade(new_course(), "transformer", {"one": [blocks, detached]}, submit)
    assert set(found[detached].misconceptions) == detached.named


@pytest.mark.parametrize("number", EXERCISES)
def test_quoted_lines_are_in_the_code(number: int) -> None:
    """What a sentence puts between backticks, it says of the code: each name and number of it is there.

    What Python says is its own, and may be about given code; a function that is missing is not there; and which
    argument a code takes for another is said by the exercise's names.
    """
    cells = {piece.name: piece.cell for piece in pieces_on_record(number)}
    found = [
        f"{name}: {word}"
        for name, one in records(number).items()
        for said in one.sentences
        if not re.search(r"stopped with|There is no function called|^Your code takes `", said)
        for quoted in re.findall(r"`([^`]+)`", said)
        for word in re.findall(r"\w+", quoted)
        if word not in cells[name]
    ]
    assert found == []
