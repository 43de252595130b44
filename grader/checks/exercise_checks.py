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
from grader.model.exercise_files import said_of
from grader.model.label import Label
from grader.model.misconception import Misconception
from grader.sandbox.nested import map_tensors

MOST = TOLERANCE["cpu"]


@dataclass(frozen=True)
class ExerciseProblem:
    """Something for the author to fix."""

    exercise: Label | None  # None if it is in no single exercise
    place: str  # a function, perhaps with a case or misconceptions; a cell; a file
    what: str
    way_out: str
    is_note: bool = False  # whether the author may well leave it so

    def __str__(self) -> str:
        places = [f"exercise {self.exercise}" if self.exercise is not None else "", self.place]
        return f"{', '.join(filter(None, places))}: {self.what.rstrip('.')}. {self.way_out}"


def problems_of(key: AnswerKey) -> Iterator[ExerciseProblem]:
    """All problems in one function of an exercise."""
    yield from _impossible_credits(key.exercise)
    found = list(unsound_references(key))
    yield from found
    if found:  # without a sound reference, there is nothing to compare with
        return
    if all(value is None for value in key.expected):
        what = "the reference returns nothing in any case"
        yield problem_of(key.exercise, [], what, "End it with `return`, or ask for something that can be compared.")
        return
    yield from _steps_that_fail(key)
    if never_makes_objects(key):
        return
    if stopping := list(_misconceptions_that_stop(key)):
        yield from stopping
        return
    yield from _idle_cases(key)
    yield from _changes_without_effect(key)
    yield from _misconceptions_that_are_alike(key)


def problem_of(exercise: Exercise, parts: Sequence[str], what: str, way_out: str) -> ExerciseProblem:
    """A problem in a function of an exercise; `parts` names the case or misconceptions concerned."""
    return ExerciseProblem(
        exercise.label, ", ".join([f"`{exercise.entry}`", *(f"“{part}”" for part in parts)]), what, way_out
    )


def _impossible_credits(exercise: Exercise) -> Iterator[ExerciseProblem]:
    for one in exercise.mistakes:
        if not 0 <= one.credit < 1:
            what = f"its credit is {one.credit:g}"
            yield problem_of(exercise, [one.name], what, "A mistake needs a credit of at least 0 and less than 1.")


def _steps_that_fail(key: AnswerKey) -> Iterator[ExerciseProblem]:
    """Methods that a student's code can only get right by an error. Some may be meant so, but not `__init__`."""
    for step, error in key.exercise.form.failing_steps(key.expected).items():
        what = f"`{step}` of the reference raises {error} in every case"
        problem = problem_of(key.exercise, [], what, "In `using(…)`, give it arguments that it takes.")
        yield replace(problem, is_note=step != "__init__")


def never_makes_objects(key: AnswerKey) -> bool:
    """Whether no case of a class has an object, so that there is nothing to compare."""
    return "__init__" in key.exercise.form.failing_steps(key.expected)


# --- the reference ---------------------------------------------------------------------------------------------------


def unsound_references(key: AnswerKey) -> Iterator[ExerciseProblem]:
    """Problems with the reference, at most one for each case: the first one causes the others."""
    known = set()
    for index, case in enumerate(key.cases):
        if case.case.name not in known and (found := _unsound_reference(key, index)):
            known.add(case.case.name)
            yield found


def _unsound_reference(key: AnswerKey, index: int) -> ExerciseProblem | None:
    exercise, case = key.exercise, key.cases[index]
    place = [case.case.name]
    try:
        first, second = (_answer(exercise, case.inputs) for _ in range(2))
    except Exception as error:
        what = f"the reference stops with {said_of(error)}"
        return problem_of(exercise, place, what, "Fix the reference, or the inputs of this case.")
    if stopped := _what_stops(exercise, case.inputs, first):
        return problem_of(exercise, place, stopped, "Fix it, because student code would be judged by it.")
    if not all(numbers.isfinite().all() for numbers, _ in _pairs(exercise, first, first)):
        return problem_of(
            exercise,
            place,
            "the reference is not finite",
            "Choose inputs that give finite values: NaN cannot be compared.",
        )
    if exercise.form.finding(second, first, MOST):
        what = "the reference gives different answers for the same inputs"
        return problem_of(exercise, place, what, "Take the randomness out, or `read` only what does not depend on it.")
    if not _is_the_same_in_float64(exercise, case.inputs, first):
        what = "float32 and float64 give different numbers, so right answers fail"
        return problem_of(
            exercise, place, what, "Choose inputs of ordinary size, without near ties or differences of large numbers."
        )
    return None


def _what_stops(exercise: Exercise, inputs: object, answer: object) -> str:
    """Say which other function that grading calls fails even on a right answer; empty if none does."""
    calls: list[tuple[str, Any, tuple[Any, ...]]] = [("other_forms", form, (inputs,)) for form in exercise.other_forms]
    calls += [("picture", exercise.picture, (answer, inputs))] if exercise.picture else []
    for name, function, arguments in calls:
        try:
            function(*arguments)
        except Exception as error:
            return f"`{name}` stops with {said_of(error)}"
    return ""


def _answer(exercise: Exercise, inputs: Any) -> Any:
    return exercise.compared(exercise.reference(*inputs), inputs)


def _is_the_same_in_float64(exercise: Exercise, inputs: object, answer: object) -> bool:
    precise = _answer(exercise, map_tensors(_precise, inputs))
    return all(same(given, wanted, MOST) for given, wanted in _pairs(exercise, answer, precise))


def _pairs(exercise: Exercise, one: object, other: object) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Pairs of corresponding numbers; empty if there are none."""
    return exercise.form.paired_numbers(one, other) or []


def _precise(tensor: torch.Tensor) -> torch.Tensor:
    """In float64 if it is in float32. 16-bit tensors stay: they are a case of their own."""
    return tensor.double() if tensor.dtype is torch.float32 else tensor


# --- what cases and misconceptions do --------------------------------------------------------------------------------


def _idle_cases(key: AnswerKey) -> Iterator[ExerciseProblem]:
    """Cases that no misconception fails. They may still catch what nobody has given a name."""
    for name, samples in itertools.groupby(range(len(key.cases)), key=lambda index: key.cases[index].case.name):
        sampled = list(samples)
        if not any(_is_wrong(key, one, index) for one in key.exercise.mistakes for index in sampled):
            what, way_out = "no misconception fails this case", "Add a mistake that it catches, if there is one."
            yield replace(problem_of(key.exercise, [name], what, way_out), is_note=True)


def _misconceptions_that_stop(key: AnswerKey) -> Iterator[ExerciseProblem]:
    """Misconceptions that never return an answer, which is a slip by the author."""
    for one in key.exercise.mistakes:
        if not any(isinstance(key[index].wrong([one]), Returned) for index in range(len(key.cases))):
            try:
                key.exercise.wrong_answer([one], key.cases[0].inputs)
            except Exception as error:
                what = f"it stops in every case, with {said_of(error)}"
                yield problem_of(key.exercise, [one.name], what, "Fix its change, or its answer.")


def _changes_without_effect(key: AnswerKey) -> Iterator[ExerciseProblem]:
    for one in key.exercise.mistakes:
        if not any(_is_wrong(key, one, index) for index in range(len(key.cases))):
            way_out = "Fix the change, or add a case where it matters."
            yield problem_of(key.exercise, [one.name], "it is right in every case", way_out)


def _misconceptions_that_are_alike(key: AnswerKey) -> Iterator[ExerciseProblem]:
    for one, other in itertools.combinations(key.exercise.mistakes, 2):
        if explains(key, one, other) or explains(key, other, one):
            way_out = "Add a case where they differ, or merge the two."
            yield problem_of(key.exercise, [one.name, other.name], "no case tells these two apart", way_out)


def explains(key: AnswerKey, one: Misconception, other: Misconception) -> bool:
    """Whether the first misconception gives the second's answer in every case, errors included."""
    return all(_agree(key, one, other, index) for index in range(len(key.cases)))


def _agree(key: AnswerKey, one: Misconception, other: Misconception, index: int) -> bool:
    wrong, answer = key[index].wrong([one]), key[index].wrong([other])
    if not isinstance(answer, Returned) or not isinstance(wrong, Returned):
        return isinstance(answer, Raised) and isinstance(wrong, Raised)
    return key.exercise.form.agrees(answer.value, wrong.value, key.expected[index], MOST)


def _is_wrong(key: AnswerKey, one: Misconception, index: int) -> bool:
    answer = key[index].wrong([one])
    return not isinstance(answer, Returned) or bool(key.exercise.form.finding(answer.value, key.expected[index], MOST))
