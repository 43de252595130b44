"""Find an author's mistakes in an exercise: each problem says where it is and how to fix it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from grader.judging.answer_key import AnswerKey
from grader.judging.wrong_device import TOLERANCE
from grader.model.answer import Raised, Returned
from grader.model.compare import same
from grader.model.exercise import Exercise
from grader.model.exercise_files import describe_error
from grader.model.label import Label
from grader.model.misconception import Misconception
from grader.sandbox.nested import map_tensors

MOST = TOLERANCE["cpu"]


@dataclass(frozen=True)
class ExerciseProblem:
    """Something for the author to fix."""

    exercise: Label | None  # None if it is in no single exercise
    location: str  # a function, perhaps with a case or misconceptions; a cell; a file
    description: str
    way_out: str
    is_note: bool = False  # whether the author may well leave it so

    def __str__(self) -> str:
        locations = [f"exercise {self.exercise}" if self.exercise is not None else "", self.location]
        return f"{', '.join(filter(None, locations))}: {self.description.rstrip('.')}. {self.way_out}"


def problem_of(exercise: Exercise, names: Sequence[str], description: str, way_out: str) -> ExerciseProblem:
    """A problem in a function of an exercise; `names` are those of the case or misconceptions concerned."""
    location = ", ".join([f"`{exercise.entry}`", *(f"“{name}”" for name in names)])
    return ExerciseProblem(exercise.label, location, description, way_out)


def problems_of(key: AnswerKey) -> Iterator[ExerciseProblem]:
    """All problems in one function of an exercise."""
    yield from _impossible_credits(key.exercise)
    problems = list(unsound_references(key))
    yield from problems
    if problems:  # without a sound reference, there is nothing to compare with
        return
    if all(value is None for value in key.expected):
        description = "the reference returns nothing in any case"
        way_out = "End it with `return`, or ask for something that can be compared."
        yield problem_of(key.exercise, [], description, way_out)
        return
    yield from _steps_that_fail(key)
    if never_makes_objects(key):
        return
    problems = list(_misconceptions_that_stop(key))
    yield from problems
    if problems:
        return
    yield from _idle_cases(key)
    yield from _changes_without_effect(key)
    yield from _misconceptions_that_are_alike(key)


def _impossible_credits(exercise: Exercise) -> Iterator[ExerciseProblem]:
    for mistake in exercise.mistakes:
        if not 0 <= mistake.credit < 1:
            way_out = "A mistake needs a credit of at least 0 and less than 1."
            yield problem_of(exercise, [mistake.name], f"its credit is {mistake.credit:g}", way_out)


def _steps_that_fail(key: AnswerKey) -> Iterator[ExerciseProblem]:
    """Methods that a student's code can only get right by an error. Some may be meant so, but not `__init__`."""
    for step, error in key.exercise.form.failing_steps(key.expected).items():
        description = f"`{step}` of the reference raises {error} in every case"
        problem = problem_of(key.exercise, [], description, "In `using(…)`, give it arguments that it takes.")
        yield replace(problem, is_note=step != "__init__")


def never_makes_objects(key: AnswerKey) -> bool:
    """Whether no case of a class has an object, so that there is nothing to compare."""
    return "__init__" in key.exercise.form.failing_steps(key.expected)


# --- the reference ---------------------------------------------------------------------------------------------------


def unsound_references(key: AnswerKey) -> Iterator[ExerciseProblem]:
    """Problems with the reference, at most one for each case: the first one causes the others."""
    reported = set()
    for index, case in enumerate(key.cases):
        if case.case.name not in reported:
            problem = _find_unsound_reference(key, index)
            if problem:
                reported.add(case.case.name)
                yield problem


def _find_unsound_reference(key: AnswerKey, index: int) -> ExerciseProblem | None:
    exercise, inputs = key.exercise, key.cases[index].inputs
    names = [key.cases[index].case.name]
    try:
        answer, second_answer = _answer(exercise, inputs), _answer(exercise, inputs)
    except Exception as error:
        description = f"the reference stops with {describe_error(error)}"
        return problem_of(exercise, names, description, "Fix the reference, or the inputs of this case.")
    description = _describe_failing_function(exercise, inputs, answer)
    if description:
        return problem_of(exercise, names, description, "Fix it, because student code would be judged by it.")
    if not all(numbers.isfinite().all() for numbers, _ in _pairs(exercise, answer, answer)):
        way_out = "Choose inputs that give finite values: NaN cannot be compared."
        return problem_of(exercise, names, "the reference is not finite", way_out)
    if exercise.form.finding(second_answer, answer, MOST):
        description = "the reference gives different answers for the same inputs"
        way_out = "Take the randomness out, or `read` only what does not depend on it."
        return problem_of(exercise, names, description, way_out)
    if not _is_the_same_in_float64(exercise, inputs, answer):
        description = "float32 and float64 give different numbers, so right answers fail"
        way_out = "Choose inputs of ordinary size, without near ties or differences of large numbers."
        return problem_of(exercise, names, description, way_out)
    return None


def _describe_failing_function(exercise: Exercise, inputs: object, answer: object) -> str:
    """Say which other function that grading calls fails even on a right answer; empty if none does."""
    calls: list[tuple[str, Any, tuple[Any, ...]]] = [("other_forms", form, (inputs,)) for form in exercise.other_forms]
    if exercise.picture:
        calls.append(("picture", exercise.picture, (answer, inputs)))
    for name, function, arguments in calls:
        try:
            function(*arguments)
        except Exception as error:
            return f"`{name}` stops with {describe_error(error)}"
    return ""


def _answer(exercise: Exercise, inputs: Any) -> Any:
    return exercise.compared(exercise.reference(*inputs), inputs)


def _is_the_same_in_float64(exercise: Exercise, inputs: object, answer: object) -> bool:
    precise_answer = _answer(exercise, map_tensors(_precise, inputs))
    return all(same(numbers, precise, MOST) for numbers, precise in _pairs(exercise, answer, precise_answer))


def _pairs(exercise: Exercise, first: object, second: object) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Pairs of corresponding numbers; empty if there are none."""
    return exercise.form.paired_numbers(first, second) or []


def _precise(tensor: torch.Tensor) -> torch.Tensor:
    """In float64 if it is in float32. 16-bit tensors stay: they are a case of their own."""
    return tensor.double() if tensor.dtype is torch.float32 else tensor


# --- what cases and misconceptions do --------------------------------------------------------------------------------


def _idle_cases(key: AnswerKey) -> Iterator[ExerciseProblem]:
    """Cases that no misconception fails. They may still catch what nobody has given a name."""
    for name, draws in itertools.groupby(range(len(key.cases)), key=lambda index: key.cases[index].case.name):
        indices = list(draws)
        if not any(_is_wrong(key, mistake, index) for mistake in key.exercise.mistakes for index in indices):
            way_out = "Add a mistake that it catches, if there is one."
            yield replace(problem_of(key.exercise, [name], "no misconception fails this case", way_out), is_note=True)


def _misconceptions_that_stop(key: AnswerKey) -> Iterator[ExerciseProblem]:
    """Misconceptions that never return an answer, which is a slip by the author."""
    for mistake in key.exercise.mistakes:
        if not any(isinstance(key[index].compared_answer([mistake]), Returned) for index in range(len(key.cases))):
            try:
                key.exercise.wrong_answer([mistake], key.cases[0].inputs)
            except Exception as error:
                description = f"it stops in every case, with {describe_error(error)}"
                yield problem_of(key.exercise, [mistake.name], description, "Fix its change, or its answer.")


def _changes_without_effect(key: AnswerKey) -> Iterator[ExerciseProblem]:
    for mistake in key.exercise.mistakes:
        if not any(_is_wrong(key, mistake, index) for index in range(len(key.cases))):
            way_out = "Fix the change, or add a case where it matters."
            yield problem_of(key.exercise, [mistake.name], "it is right in every case", way_out)


def _misconceptions_that_are_alike(key: AnswerKey) -> Iterator[ExerciseProblem]:
    for first, second in itertools.combinations(key.exercise.mistakes, 2):
        if explains(key, first, second) or explains(key, second, first):
            way_out = "Add a case where they differ, or merge the two."
            yield problem_of(key.exercise, [first.name, second.name], "no case tells these two apart", way_out)


def explains(key: AnswerKey, mistake: Misconception, second: Misconception) -> bool:
    """Whether the first misconception gives the second's answer in every case, errors included."""
    return all(_gives_answer_of(key, mistake, second, index) for index in range(len(key.cases)))


def _gives_answer_of(key: AnswerKey, mistake: Misconception, second: Misconception, index: int) -> bool:
    wrong, answer = key[index].compared_answer([mistake]), key[index].compared_answer([second])
    if not isinstance(answer, Returned) or not isinstance(wrong, Returned):
        return isinstance(answer, Raised) and isinstance(wrong, Raised)
    return key.exercise.form.agrees(answer.value, wrong.value, key.expected[index], MOST)


def _is_wrong(key: AnswerKey, mistake: Misconception, index: int) -> bool:
    answer = key[index].compared_answer([mistake])
    if not isinstance(answer, Returned):
        return True
    return key.exercise.form.finding(answer.value, key.expected[index], MOST) is not None
