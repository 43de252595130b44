"""Hidden tests in an instructor's own kernel: what the test cells of `source/` call."""

from __future__ import annotations

import sys
from typing import Any

import torch

from grader.answer import Answer, Missing, Raised, Returned
from grader.exercise import Exercise, Inputs
from grader.exercises import EXERCISES
from grader.judge import judge, together
from grader.rendering import verdict_panel
from grader.sandbox.observe import put
from grader.verdict import Verdict


def hidden_tests(number: int) -> None:
    """Judge what the calling notebook defines for an exercise, and show the verdict."""
    from IPython.display import display

    notebook = sys._getframe(1).f_globals
    functions = EXERCISES[number].functions
    verdict = together({one.entry: _verdict(one, notebook.get(one.entry)) for one in functions})
    display(verdict_panel(verdict, f"{verdict.credit:.0%} of the points"), raw=True)  # type: ignore[no-untyped-call]


def _verdict(exercise: Exercise, function: Any) -> Verdict:
    drawn = exercise.draw()
    return judge(exercise, drawn, [_answer(exercise, function, case.inputs) for case in drawn])


def _answer(exercise: Exercise, function: Any, inputs: Inputs) -> Answer:
    """Put a case to code of this process. Here it is trusted: it is the instructor's own."""
    if not callable(function):
        return Missing()
    given = _copy(list(inputs))
    try:
        value = put(exercise.form, function, given)
    except Exception as error:
        return Raised(type(error).__name__, str(error))
    return Returned(value, given)


def _copy(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, (list, tuple)) else value
