"""What `grader validate` tells an author: each thing that may be wrong, with its place and the way out."""

from __future__ import annotations

import copy
import os
import random
import re
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import nbformat
import numpy as np
import pytest
import torch
from nbformat import NotebookNode

from grader.checks.drawn_inputs import problems_of_drawing
from grader.checks.exercise_checks import problems_of
from grader.checks.notebook_checks import problems_of_notebooks
from grader.judging.answer_key import AnswerKey
from grader.judging.identical import identical
from grader.model.exercise import Case, Exercise, randn
from grader.model.exercise_files import ExerciseFiles
from grader.model.forms.function import FUNCTION
from grader.model.misconception import Misconception
from grader.notebooks.cells import solved_exercise
from support.our_course import of_assignment
from support.plain_nbgrader import added_cell
from support.solution_cells import source
from support.unwritten import UnwrittenExercise

Tensor = torch.Tensor


def doubled(x: Tensor, factor: float = 2.0) -> Tensor:
    return factor * x


SOUND = UnwrittenExercise(
    number=1,
    assignment="small",
    title="Twice",
    entry="double",
    solution=doubled,
    form=FUNCTION,
    cases=[Case("three numbers", "tripled", lambda rng: (randn(rng, 3),))],
    mistakes=[
        Misconception("tripled", kind="wrong formula", credit=0.5, says="Tripled.", change={"factor": 3.0}),
        Misconception("halved", kind="wrong formula", credit=0.5, says="Halved.", change={"factor": 0.5}),
    ],
)
TRIPLED, HALVED = SOUND.mistakes
CALLS: Iterator[int] = iter(range(1_000))


def by_chance(x: Tensor, factor: float = 2.0) -> Tensor:
    return factor * x + next(CALLS)


def far_less_precise(x: Tensor, factor: float = 2.0) -> Tensor:
    """The difference of two large numbers, of which float32 loses most."""
    return factor * ((x + 1e6) - 1e6)


@pytest.mark.parametrize(
    ("exercise", "place", "what"),
    [
        (replace(SOUND, solution=lambda x, factor=2.0: factor * x / 0), "three numbers", "is not finite"),
        (replace(SOUND, solution=by_chance), "three numbers", "different answers for the same inputs"),
        (replace(SOUND, solution=far_less_precise), "three numbers", "float32 and float64"),
        (replace(SOUND, solution=lambda x, **_: x.nowhere), "three numbers", "stops with AttributeError"),
        (
            replace(SOUND, cases=[*SOUND.cases, Case("zeros", "nothing", lambda _: (torch.zeros(3),))]),
            "zeros",
            "no misconception fails this case",
        ),
        (
            replace(SOUND, mistakes=[*SOUND.mistakes, replace(TRIPLED, name="three times")]),
            "tripled”, “three times",
            "no case tells these two apart",
        ),
        (
            replace(SOUND, mistakes=[TRIPLED, replace(HALVED, change={"factor": 2})]),
            "halved",
            "right in every case",
        ),
        (replace(SOUND, mistakes=[replace(TRIPLED, credit=1.5), HALVED]), "tripled", "its credit is 1.5"),
    ],
)
def test_exercise_with_a_problem_is_reported(exercise: Exercise, place: str, what: str) -> None:
    (problem,) = problems_of(AnswerKey(exercise, exercise.sample()))
    assert str(problem).startswith(f"exercise 1, `double`, “{place}”: {problem.description}. ")
    assert (problem.exercise, what in problem.description) == (1, True)
    assert problem.way_out.endswith(".")
    assert problem.is_note == (what == "no misconception fails this case")


@pytest.mark.parametrize(
    ("exercise", "told"),
    [
        (
            replace(SOUND, solution=lambda _, factor=2.0: None if factor else 0),
            "the reference returns nothing in any case",
        ),
        (
            replace(SOUND, mistakes=[TRIPLED, replace(HALVED, change={"factor": "half"})]),
            "“halved”: it stops in every case, with TypeError: ",
        ),
        (replace(SOUND, picture=lambda *_: [][0]), "`picture` stops with IndexError: list index"),
        (replace(SOUND, other_forms=[lambda inputs: inputs[7]]), "`other_forms` stops with IndexError: tuple index"),
    ],
)
def test_code_that_stops_or_returns_nothing_is_reported(exercise: Exercise, told: str) -> None:
    (problem,) = problems_of(AnswerKey(exercise, exercise.sample()))
    assert told in str(problem)


@pytest.fixture
def no_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting one takes seconds. tests/authoring/test_new_course.py has it draw, too."""
    monkeypatch.setattr("grader.checks.drawn_inputs._traces_elsewhere", lambda *_: {})


def drawing(inputs: Callable[[torch.Generator], Any]) -> list[str]:
    exercise = replace(SOUND, cases=[Case("drawn", "nothing", inputs)])
    return [str(problem) for problem in problems_of_drawing(ExerciseFiles(), "small", [exercise])]


@pytest.mark.usefixtures("no_other_process")
@pytest.mark.parametrize(
    "inputs",
    [
        lambda _: (torch.randn(3),),
        lambda _: ([torch.rand(1), 2],),
        lambda _: (np.random.rand(2),),
        lambda _: ({"a": random.random()},),
        lambda _: (torch.nn.Linear(2, 2).weight,),
        lambda _: (time.time(),),
        lambda _: (str(uuid.uuid4()),),
        lambda _: ([*os.urandom(8)],),
        lambda _: (np.random.default_rng().random(),),
        lambda _: ({random.random(), 1.0},),
    ],
)
def test_inputs_that_do_not_come_from_their_generator_are_reported(inputs: Callable[[torch.Generator], Any]) -> None:
    (told,) = drawing(inputs)
    assert told.startswith(
        "exercise 1, `double`, “drawn”: the same seed gives different inputs each time. Draw everything"
    )


@pytest.mark.usefixtures("no_other_process")
@pytest.mark.parametrize(
    "inputs",
    [
        lambda rng: (randn(rng, 3), [1, 2.5, None, "a", b"b", True], {"k": {1, 2}}, np.arange(3), torch.float32),
        lambda rng: (np.random.default_rng(rng.initial_seed()).random(3), random.Random(rng.initial_seed()).random()),
        lambda rng: (torch.rand(2, generator=rng).bfloat16(), torch.tensor(1), torch.zeros(0), doubled),
        lambda _: (np.array(["a", None], dtype=object), float("nan"), frozenset("a")),
    ],
)
def test_inputs_that_come_from_their_generator_are_no_problem(inputs: Callable[[torch.Generator], Any]) -> None:
    assert drawing(inputs) == []


def test_shared_generators_give_the_same_inputs_after_other_draws() -> None:
    """Also where nobody has looked: points do not depend on what happened in the process."""
    case = Case("drawn", "nothing", lambda _: (torch.randn(3), np.random.rand(2), random.random()))
    exercise = replace(SOUND, cases=[case])
    first = exercise.sample(7)
    torch.randn(5), np.random.rand(5), random.random()
    before = torch.get_rng_state(), random.getstate()
    assert identical([one.inputs for one in exercise.sample(7)], [one.inputs for one in first])
    assert torch.equal(before[0], torch.get_rng_state()), "and nobody else notices"
    assert before[1] == random.getstate()


def test_inputs_that_cannot_be_drawn_are_reported() -> None:
    (told,) = drawing(lambda _: 1 / 0)
    assert told == (
        "exercise 1, `double`, “drawn”: its inputs cannot be drawn, for ZeroDivisionError: division by zero. Fix that."
    )
    (told,) = drawing(lambda _: [1.0])
    assert told.endswith("“drawn”: its inputs are of type list, and no tuple. A single one is written `(x,)`.")


def test_sound_exercise_has_no_problems() -> None:
    assert list(problems_of(AnswerKey(SOUND, SOUND.sample()))) == []


SCHEMA = {"schema_version": 3}


def double(x: Tensor) -> Tensor:
    return 2 * x  #: result


OF_NOTEBOOK = Exercise(number=1, assignment="small", title="Twice", solution=double, cases=SOUND.cases, mistakes=[])
SOLUTION = "def double(x: Tensor) -> Tensor:\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
TEST = "check(1)\n### BEGIN HIDDEN TESTS\nhidden_tests(1, points=2)\n### END HIDDEN TESTS"


def notebook(solution: str = SOLUTION, test: str = TEST, heading: str = "## Exercise 1: twice (2 points)") -> Any:
    section = nbformat.v4.new_markdown_cell(f'<a id="exercise-1"></a>\n\n{heading}')
    answer = nbformat.v4.new_code_cell(solution)
    answer.metadata["nbgrader"] = {"grade_id": "exercise-1", "grade": False, "solution": True, **SCHEMA}
    graded = nbformat.v4.new_code_cell(test)
    graded.metadata["nbgrader"] = {
        "grade_id": "test-exercise-1", "grade": True, "solution": False, "points": 2, **SCHEMA
    }  # fmt: skip
    return nbformat.v4.new_notebook(cells=[section, answer, graded])


def notebook_without_cell(index: int) -> Any:
    found = notebook()
    del found.cells[index]
    return found


def notebook_with_metadata(index: int, **known: Any) -> Any:
    found = notebook()
    found.cells[index].metadata["nbgrader"].update(known)
    return found


def notebook_with_copied_cell(index: int) -> Any:
    found = notebook()
    found.cells.append(copy.deepcopy(found.cells[index]))
    return found


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            lambda: notebook(SOLUTION.replace("BEGIN SOLUTION", "BEGIN SOLUTON")),
            "exercise 1, cell exercise-1, line 2: `### BEGIN SOLUTON` is not a mark",
        ),
        (lambda: notebook(SOLUTION.replace("### END", "## end")), "line 4: `## end SOLUTION` is not a marker"),
        (
            lambda: notebook(test=TEST.replace("\n### END HIDDEN TESTS", "")),
            "test-exercise-1: `### BEGIN HIDDEN TESTS` and",
        ),
        (lambda: notebook(test=TEST.replace("hidden_tests(1", "hidden_tests(2")), "it calls `hidden_tests(2)`"),
        (lambda: notebook(test=TEST.replace("check(1)", "check(3)")), "it calls `check(3)`"),
        (lambda: notebook(test="check(1)"), "it calls no hidden tests"),
        (lambda: notebook(test=TEST.replace("points=2", "points=3")), "2 in the cell's metadata, 3 in hidden_tests"),
        (lambda: notebook(heading="## Exercise 1: twice (5 points)"), "5 in the heading"),
        (
            lambda: notebook(heading="## Exercise 1: twice"),
            "exercise 1: its heading says no points: “Exercise 1: twice”. Write `(2 points)` at its end.",
        ),
        (lambda: notebook(test=TEST.replace(", points=2", "")), "it calls `hidden_tests` without points"),
        (
            lambda: notebook(test="hidden_tests(1, points=2)"),
            "exercise 1, cell test-exercise-1, line 1: students would get these hidden tests. Put it between",
        ),
        (
            lambda: notebook_with_metadata(2, points=-2),
            "cell test-exercise-1: its points are -2. Set a number of 0 or more",
        ),
        (
            lambda: notebook_with_metadata(2, points="two"),
            "cell test-exercise-1: its points are two. Set a number of 0 or more",
        ),
        (
            lambda: notebook_with_metadata(2, points=None),
            "cell test-exercise-1: it has no points. Set a number of 0 or more",
        ),
        (
            lambda: notebook_with_metadata(1, grade_id="exercise 1"),
            "cell exercise 1: its grade_id is “exercise 1”. Use letters",
        ),
        (
            lambda: notebook_with_copied_cell(1),
            "cell exercise-1: two cells have this grade_id. Change one of them: a copied",
        ),
        (lambda: notebook_without_cell(0), "the notebook has no section for it"),
        (lambda: notebook_without_cell(1), "the notebook has no solution cell"),
        (lambda: notebook_without_cell(2), "the notebook has no test cell"),
    ],
)
def test_notebook_with_a_problem_is_reported(make: Callable[[], Any], told: str) -> None:
    found = [str(problem) for problem in problems_of_notebooks({"week1": make()}, [OF_NOTEBOOK])]
    assert any(told in text for text in found), found


def test_exercise_in_two_notebooks_is_reported() -> None:
    (problem,) = problems_of_notebooks({"week1": notebook(), "more": notebook()}, [OF_NOTEBOOK])
    assert "exercise 1: several notebooks have a solution cell for it: week1.ipynb, more.ipynb" in str(problem)


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        (added_cell("why", "Why?", "markdown", grade=False, task=True, points=None), "cell why: it has no points"),
        (
            added_cell("help", "# BEGIN SOLUTON", grade=False, solution=True, locked=False),
            "cell help, line 1: `# BEGIN",
        ),
    ],
)
def test_cell_when_there_are_several_notebooks_is_reported_with_its_own(cell: NotebookNode, told: str) -> None:
    other = nbformat.v4.new_notebook(cells=[cell])
    (problem,) = problems_of_notebooks({"week1": notebook(), "more": other}, [OF_NOTEBOOK])
    assert str(problem).startswith(f"more.ipynb, {told}")
    problems = [str(problem) for problem in problems_of_notebooks({"more": other}, [])]
    assert problems[0].startswith(told)


def test_section_without_an_exercise_is_reported() -> None:
    (problem,) = problems_of_notebooks({"week1": notebook()}, [])
    assert re.search("there is no such exercise", str(problem))


def test_sound_notebook_has_no_problems() -> None:
    assert list(problems_of_notebooks({"week1": notebook()}, [OF_NOTEBOOK])) == []
    spoken = SOLUTION.replace("2 * x", "2 * x\n    # begin with the solution of before")
    assert list(problems_of_notebooks({"week1": notebook(spoken)}, [OF_NOTEBOOK])) == []


def test_solution_cell_that_differs_from_the_exercise_file_is_reported() -> None:
    notebook = copy.deepcopy(source("self_attention"))
    exercises = of_assignment("self_attention")
    assert list(problems_of_notebooks({"week1": notebook}, exercises)) == []
    (cell,) = (cell for cell in notebook.cells if solved_exercise(cell) == 3)
    cell.source = cell.source.replace("exp.sum()", "exp.sum(dim=0)")
    (problem,) = problems_of_notebooks({"week1": notebook}, exercises)
    assert str(problem) == (
        "exercise 3, `softmax`: the solution cell has `return exp / exp.sum(dim=0)  # (n,)` where the exercise "
        "file has `return exp / exp.sum()  # (n,)`. Make them the same."
    )
