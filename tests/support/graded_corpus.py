"""Grade pieces of a corpus through the whole pipeline, in as few submissions as can hold them."""

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
from grader.host.grading import seed_of_submission
from grader.judging.answer_key import AnswerKey
from grader.judging.best_verdict import keys_in_all_forms
from grader.model.exercise import Exercise
from grader.model.verdict import Verdict
from grader.notebooks.verdict_cells import results_of

# For hidden inputs. Real submissions all differ; with only a few seeds, many share the same right answers.
SEEDS = 4


class Code(Protocol):
    """A piece of a corpus."""

    @property
    def number(self) -> int: ...

    @property
    def cell(self) -> str: ...


OneCode = TypeVar("OneCode", bound=Code)


def grade(
    course: Course, assignment: str, students: Mapping[str, Sequence[OneCode]], submit: Callable[..., Path]
) -> dict[OneCode, Verdict]:
    """The verdict in the graded notebooks on each piece."""
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
    """Map the seeds of submissions to only a few, and keep the answer keys for these."""
    make, draw = seed_of_submission, keys_in_all_forms
    known: dict[tuple[str, int], list[AnswerKey]] = {}

    def keys(exercise: Exercise, seed: int) -> list[AnswerKey]:
        place = (exercise.entry, seed)
        if place not in known:
            known[place] = draw(exercise, seed)
        return known[place]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grading, "seed_of_submission", lambda *of_what: make(*of_what) % SEEDS)
        patch.setattr(decide, "keys_in_all_forms", keys)
        yield
