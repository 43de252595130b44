"""Hidden tests in an instructor's own kernel: what the test cells of `source/` call."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
import torch

from grader.course.folder import CONFIG_FILE, Course
from grader.course.loading import Exercises, earlier_functions, in_order_of
from grader.errors import CourseError
from grader.judging.best_verdict import best_verdict, combined, in_all_forms
from grader.model.answer import Answer, Missing, Raised, Returned
from grader.model.exercise import DEFAULT_SEED, Exercise, Inputs, LentClass, SampledCase, Standins
from grader.model.label import Label
from grader.model.verdict import Verdict
from grader.notebooks.cells import tested_exercise
from grader.notebooks.verdict_cells import verdict_panel
from grader.sandbox.forms import put
from grader.sandbox.lent_classes import lent_class


def hidden_tests(label: Label, points: float) -> float:
    """Judge what the calling notebook defines for an exercise of its assignment, and show the verdict.

    The notebook lies in a folder that is called as the assignment, somewhere in the course folder, as in source/.

    Returns what it earns. nbgrader takes that as the score, should it run the notebook without our parts.
    """
    from IPython.display import display

    notebook = sys._getframe(1).f_globals
    exercises = _exercises_here()
    if label not in exercises:
        raise CourseError(f"There is no exercise {label} in {Path.cwd().name}.")
    functions = exercises[label].functions
    verdict = combined({function.entry: _verdict(function, exercises, notebook) for function in functions})
    earned = verdict.points(points)
    display(verdict_panel(verdict, f"{earned:g} of {points:g} points"), raw=True)  # type: ignore[no-untyped-call]
    return earned


def _exercises_here() -> Exercises:
    """Those of the assignment in whose folder the notebook runs."""
    folder = Path.cwd()
    for root in folder.parents:
        if (root / CONFIG_FILE).is_file():
            cells = [cell for path in sorted(folder.glob("*.ipynb")) for cell in nbformat.read(path, 4).cells]
            return in_order_of(Course(root).exercises(folder.name), map(tested_exercise, cells))
    raise CourseError(f"{folder} lies in no course folder, so there is nothing to judge by.")


def _verdict(exercise: Exercise, exercises: Exercises, notebook: dict[str, Any]) -> Verdict:
    right = earlier_functions(exercises, exercise)
    lent = {name: lent_class(name, each) if isinstance(each, LentClass) else each for name, each in right.items()}

    def ask(drawn: Sequence[SampledCase], standins: Standins) -> list[Answer]:
        own = {name: notebook[name] for name in standins if name in notebook}
        notebook.update({name: lent[name] for name in standins})
        try:
            return [_answer(exercise, notebook.get(exercise.entry), case.inputs) for case in drawn]
        finally:
            for name in standins:
                notebook.pop(name)
            notebook.update(own)

    return best_verdict(in_all_forms(exercise, DEFAULT_SEED), ask, right, "cpu")


def _answer(exercise: Exercise, function: Any, inputs: Inputs) -> Answer:
    """Put a case to code of this process. Here it is trusted: it is the instructor's own."""
    if not callable(function):
        return Missing()
    given = _copy(list(inputs))
    try:
        value = put(exercise.form.name, function, given)
    except Exception as error:
        return Raised(type(error).__name__, str(error))
    return Returned(value, given)


def _copy(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, (list, tuple)) else value
