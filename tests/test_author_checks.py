"""What `grader validate` tells an author: each thing that may be wrong, with its place and the way out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import nbformat
import pytest
import torch

from grader.judging.answer_key import AnswerKey
from grader.model.exercise import Case, Exercise, Misconception, randn
from grader.model.forms.function import FUNCTION
from grader.proof.exercise_checks import problems_of
from grader.proof.notebook_checks import problems_of_notebooks

Tensor = torch.Tensor


def doubled(x: Tensor, factor: float = 2.0) -> Tensor:
    return factor * x


SOUND = Exercise(
    number=1,
    assignment="small",
    title="Twice",
    entry="double",
    reference=doubled,
    form=FUNCTION,
    cases=[Case("three numbers", "tripled", lambda rng: (randn(rng, 3),))],
    misconceptions=[
        Misconception("tripled", kind="wrong formula", credit=0.5, says="Tripled.", change={"factor": 3.0}),
        Misconception("halved", kind="wrong formula", credit=0.5, says="Halved.", change={"factor": 0.5}),
    ],
)
TRIPLED, HALVED = SOUND.misconceptions
CALLS: Iterator[int] = iter(range(1_000))


def by_chance(x: Tensor, factor: float = 2.0) -> Tensor:
    return factor * x + next(CALLS)


def far_less_precise(x: Tensor, factor: float = 2.0) -> Tensor:
    """The difference of two large numbers, of which float32 loses most."""
    return factor * ((x + 1e6) - 1e6)


@pytest.mark.parametrize(
    ("exercise", "place", "what"),
    [
        (replace(SOUND, reference=lambda x, factor=2.0: factor * x / 0), "three numbers", "is not finite"),
        (replace(SOUND, reference=by_chance), "three numbers", "in two ways"),
        (replace(SOUND, reference=far_less_precise), "three numbers", "float32 and float64"),
        (replace(SOUND, reference=lambda x, **_: x.nowhere), "three numbers", "stops with AttributeError"),
        (
            replace(SOUND, cases=[*SOUND.cases, Case("zeros", "nothing", lambda _: (torch.zeros(3),))]),
            "zeros",
            "no misconception fails this case",
        ),
        (
            replace(SOUND, misconceptions=[*SOUND.misconceptions, replace(TRIPLED, name="three times")]),
            "tripled”, “three times",
            "no case tells these two apart",
        ),
        (
            replace(SOUND, misconceptions=[TRIPLED, replace(HALVED, change={"factor": 2})]),
            "halved",
            "right in every case",
        ),
        (replace(SOUND, misconceptions=[replace(TRIPLED, credit=1.5), HALVED]), "tripled", "its credit is 1.5"),
    ],
)
def test_what_is_wrong_with_an_exercise_is_told(exercise: Exercise, place: str, what: str) -> None:
    (problem,) = problems_of(AnswerKey(exercise, exercise.sample()))
    assert str(problem).startswith(f"exercise 1, `double`, “{place}”: {problem.what}. ")
    assert (problem.exercise, what in problem.what) == (1, True)
    assert problem.way_out.endswith(".")


def test_nothing_is_wrong_with_a_sound_exercise() -> None:
    assert list(problems_of(AnswerKey(SOUND, SOUND.sample()))) == []


SOLUTION = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
TEST = "check(1)\n### BEGIN HIDDEN TESTS\nhidden_tests(1, points=2)\n### END HIDDEN TESTS"


def notebook(solution: str = SOLUTION, test: str = TEST, heading: str = "## Exercise 1: twice (2 points)") -> Any:
    section = nbformat.v4.new_markdown_cell(f'<a id="exercise-1"></a>\n\n{heading}')
    answer = nbformat.v4.new_code_cell(solution)
    answer.metadata["nbgrader"] = {"grade_id": "exercise-1", "grade": False, "solution": True}
    graded = nbformat.v4.new_code_cell(test)
    graded.metadata["nbgrader"] = {"grade_id": "test-exercise-1", "grade": True, "solution": False, "points": 2}
    return nbformat.v4.new_notebook(cells=[section, answer, graded])


def without(index: int) -> Any:
    found = notebook()
    del found.cells[index]
    return found


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            lambda: notebook(SOLUTION.replace("BEGIN SOLUTION", "BEGIN SOLUTON")),
            "exercise 1, cell exercise-1, line 2: `### BEGIN SOLUTON` is no mark",
        ),
        (lambda: notebook(SOLUTION.replace("### END", "## end")), "line 4: `## end SOLUTION` is no marker"),
        (
            lambda: notebook(test=TEST.replace("\n### END HIDDEN TESTS", "")),
            "test-exercise-1: `### BEGIN HIDDEN TESTS` and",
        ),
        (lambda: notebook(test=TEST.replace("hidden_tests(1", "hidden_tests(2")), "it calls `hidden_tests(2)`"),
        (lambda: notebook(test=TEST.replace("check(1)", "check(3)")), "it calls `check(3)`"),
        (lambda: notebook(test="check(1)"), "it calls no hidden tests"),
        (lambda: notebook(test=TEST.replace("points=2", "points=3")), "2 in the cell's metadata, 3 in hidden_tests"),
        (lambda: notebook(heading="## Exercise 1: twice (5 points)"), "5 in the heading"),
        (lambda: without(0), "the notebook has no section for it"),
        (lambda: without(1), "the notebook has no cell for a solution"),
        (lambda: without(2), "the notebook has no test cell"),
    ],
)
def test_what_is_wrong_with_a_notebook_is_told(make: Callable[[], Any], told: str) -> None:
    found = [str(problem) for problem in problems_of_notebooks([make()], [SOUND])]
    assert any(told in text for text in found), found


def test_a_section_without_an_exercise_is_told() -> None:
    (problem,) = problems_of_notebooks([notebook()], [])
    assert re.search("there is no such exercise", str(problem))


def test_nothing_is_wrong_with_a_sound_notebook() -> None:
    assert list(problems_of_notebooks([notebook()], [SOUND])) == []
    spoken = SOLUTION.replace("    return", "    # begin with the solution of before\n    return")
    assert list(problems_of_notebooks([notebook(spoken)], [SOUND])) == []
