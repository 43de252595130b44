"""Codes of a corpus, each for one exercise, through the whole pipeline in as few submissions as can hold them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

import pytest

from grader import decide
from grader.classroom.run import autograde
from grader.course.folder import Course
from grader.host import grading
from grader.host.grading import own_seed
from grader.judging.answer_key import AnswerKey
from grader.judging.best_verdict import in_all_forms
from grader.model.exercise import Exercise
from grader.model.verdict import Verdict
from grader.notebooks.verdict_cells import results_of

# Of hidden inputs. Each submission has its own; with a few of them, what is right is worked out for many at once.
SEEDS = 4


class Code(Protocol):
    """A code of a corpus."""

    @property
    def number(self) -> int: ...

    @property
    def cell(self) -> str: ...


OneCode = TypeVar("OneCode", bound=Code)


def grade(
    course: Course, assignment: str, students: Mapping[str, Sequence[OneCode]], submit: Callable[..., Path]
) -> dict[OneCode, Verdict]:
    """What the graded notebooks hold for each code."""
    for student, codes in students.items():
        submit(course, student, {code.number: code.cell for code in codes}, assignment)
    with a_few_seeds():
        assert [result.error for result in autograde(course, assignment) if result.error] == []
    found = {}
    for student, codes in students.items():
        graded = results_of(course.read(f"autograded/{student}", assignment))[0]
        verdicts = {scored.verdict.exercise: scored.verdict for scored in graded}
        found.update({code: verdicts[code.number] for code in codes})
    return found


@contextlib.contextmanager
def a_few_seeds() -> Iterator[None]:
    """Seeds are made as ever, of all that a submission is; what is known of the cases that they draw is kept."""
    make, draw = own_seed, in_all_forms
    known: dict[tuple[str, int], list[AnswerKey]] = {}

    def keys(exercise: Exercise, seed: int) -> list[AnswerKey]:
        place = (exercise.entry, seed)
        if place not in known:
            known[place] = draw(exercise, seed)
        return known[place]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grading, "own_seed", lambda *of_what: make(*of_what) % SEEDS)
        patch.setattr(decide, "in_all_forms", keys)
        yield
