"""Draw one argument anew: answers that stay the same show no understanding of it, and earn nothing."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from grader.again.arguments import names_of_arguments
from grader.again.call_variants import AskAgain
from grader.judging import wording
from grader.judging.answer_key import AnswerKey, CaseKey
from grader.judging.identical import holds_nan
from grader.judging.judge import Judge
from grader.judging.with_facts import add_facts, ways_of_named
from grader.judging.wrong_device import tolerance_on
from grader.model.answer import Answer, Returned
from grader.model.exercise import Exercise, Inputs
from grader.model.fact import Fact
from grader.model.findings import first_unusable
from grader.model.forms.module import ClassInputs
from grader.model.misconception import Misconception
from grader.model.verdict import Reason, Verdict
from grader.sandbox.nested import map_leaves

FAR = 100  # times the tolerance: a name for a mistake allows no change that is larger
DETAIL = 0.75  # what a mistake about a detail earns, at least
FIRST = 0.8  # the smallest number becomes this many times as large: it keeps its sign
GAPS = (0.5, 2.0)  # and each gap to the next one, some factor between these


def deny_credit_for_ignoring(
    key: AnswerKey, verdict: Verdict, read_facts: Callable[[], Sequence[Fact]], ask: AskAgain, judge: Judge
) -> Verdict:
    """The verdict, without points if answers stay the same when an argument is drawn anew."""
    names = {mistake.name for mistake in key.exercise.mistakes}
    is_right_in_another_way = not names.issuperset(verdict.misconceptions)
    if not 0 < verdict.credit < 1 or is_right_in_another_way:
        return verdict
    ignored = _Redrawing(key, ask, judge).ignored(verdict)
    if not ignored:
        return verdict
    sentences = [wording.ignored(ignored)]
    if verdict.located:
        sentences.append(wording.located_without_points(verdict.located))
    denied = Verdict(
        exercise=verdict.exercise,
        title=verdict.title,
        credit=0.0,
        reason=Reason.CONSTANT,
        sentences=tuple(sentences),
        located=verdict.located,
        cases_right=verdict.cases_right,
        cases=verdict.cases,
        pictures=verdict.pictures,
    )
    return add_facts(key.exercise, denied, read_facts())


@dataclass(frozen=True)
class RedrawnCase:
    """A case, and the same one with an argument drawn anew."""

    before: CaseKey
    after: CaseKey


class _Redrawing:
    """One student's code, asked again with one argument after another drawn anew."""

    def __init__(self, key: AnswerKey, ask: AskAgain, judge: Judge) -> None:
        self._key = key.only(key.about_numbers).without_promises()
        self._exercise = key.exercise
        self._ask = ask
        self._judge = judge
        self._tolerance = FAR * tolerance_on(judge.device)

    def ignored(self, verdict: Verdict) -> list[str]:
        """The arguments that the code ignores, unless a mistake that earns something does so alone.

        Two mistakes explain too much to excuse what neither does. Without a name, any mistake of the exercise will do.
        """
        credited = [mistake for mistake in self._exercise.mistakes if mistake.credit > 0]
        details = [mistake for mistake in credited if mistake.credit >= DETAIL]
        ignored = {
            name: cases for name, cases in self._without_effect().items() if not self._is_ignored_by(details, cases)
        }
        if verdict.misconceptions:
            named_mistakes = ways_of_named(self._exercise, verdict)
            return [name for name, cases in ignored.items() if not self._is_ignored_by(named_mistakes, cases)]
        all_cases = [case for cases in ignored.values() for case in cases]
        return [] if self._is_ignored_by(credited, all_cases) else list(ignored)

    def _without_effect(self) -> dict[str, list[RedrawnCase]]:
        """The arguments that change no answer of the student, with the cases where they change the right one."""
        names = names_of_arguments(self._exercise)
        cases_by_name: dict[str, list[RedrawnCase]] = {name: [] for name in names}
        for case_key in self._different_cases():
            redrawn = self._redraw_each(case_key, [index for index, name in enumerate(names) if name in cases_by_name])
            if not redrawn:
                continue
            answer, *answers = self._answers([case_key, *redrawn.values()])
            for (index, after_key), answer_after in zip(redrawn.items(), answers, strict=True):
                case = RedrawnCase(case_key, after_key)
                if not self._agree(answer, answer_after):
                    del cases_by_name[names[index]]
                elif not self._is_ignored_with((), [case]):
                    cases_by_name[names[index]].append(case)
        return {name: cases for name, cases in cases_by_name.items() if cases}

    def _different_cases(self) -> list[CaseKey]:
        """The first of the cases with the same name."""
        first_indices: dict[str, int] = {}
        for index, case in enumerate(self._key.cases):
            first_indices.setdefault(case.case.name, index)
        return [self._key[index] for index in first_indices.values()]

    def _redraw_each(self, case_key: CaseKey, indices: Sequence[int]) -> dict[int, CaseKey]:
        """The case with each of these arguments drawn anew, where that can be done."""
        redrawn = {}
        for index in indices:
            inputs = redraw_argument(self._exercise, case_key.case.inputs, index)
            if inputs:
                redrawn[index] = CaseKey(self._exercise, replace(case_key.case, inputs=inputs))
        return redrawn

    def _answers(self, cases: Sequence[CaseKey]) -> list[Answer]:
        """What is compared of the student's answers to these cases."""
        key = AnswerKey(self._exercise, cases)
        return self._judge.compared_answers(key, self._ask(key.cases))

    def _is_ignored_by(self, mistakes: Sequence[Misconception], cases: Sequence[RedrawnCase]) -> bool:
        """Whether one of the mistakes, alone, has the argument ignored in all of these cases."""
        return any(self._is_ignored_with((mistake,), cases) for mistake in mistakes)

    def _is_ignored_with(self, mistakes: Sequence[Misconception], cases: Sequence[RedrawnCase]) -> bool:
        """Whether the solution with these mistakes answers the same before and after."""
        return all(
            self._agree(case.before.compared_answer(mistakes), case.after.compared_answer(mistakes)) for case in cases
        )

    def _agree(self, before: Answer, after: Answer) -> bool:
        """Whether there is the same result, before and after."""
        if not (isinstance(before, Returned) and isinstance(after, Returned)):
            return False
        form = self._exercise.form
        result = None if first_unusable(before.value) else form.result(before.value)
        if result is None or holds_nan(result):  # nothing came back that could depend on anything
            return False
        return form.agrees(after.value, before.value, before.value, self._tolerance)


# An argument drawn anew: other numbers in the same order, so that whoever looks only for the largest looks in vain.


def redraw_argument(exercise: Exercise, inputs: Inputs, index: int) -> Inputs | None:
    """The inputs with one argument drawn anew, for a class in each of its calls; None if it has no two numbers."""
    if not exercise.form.methods:
        return _redraw(inputs, index)
    case = ClassInputs(*inputs)
    calls = {}
    for name, call in case.calls.items():
        arguments = _redraw(call, index)
        if arguments:
            calls[name] = arguments
    return tuple(case._replace(calls={**case.calls, **calls})) if calls else None


def _redraw(arguments: Sequence[Any], index: int) -> Inputs | None:
    numbers = _numbers_in(arguments[index]) if index < len(arguments) else np.empty(0)
    if len(numbers) < 2:
        return None
    factors = np.random.default_rng(len(numbers)).uniform(*GAPS, len(numbers) - 1)
    first = FIRST * numbers[:1]
    new_numbers = np.concatenate([first, first + np.cumsum(factors * np.diff(numbers))])
    replace_numbers = functools.partial(_replace_numbers, numbers=numbers, new_numbers=new_numbers)
    redrawn = map_leaves(replace_numbers, arguments[index])
    return (*arguments[:index], redrawn, *arguments[index + 1 :])


def _numbers_in(value: object) -> np.ndarray[Any, Any]:
    """All finite numbers in tensors, arrays and lists, each once and in order; numbers alone are settings."""
    match value:
        case torch.Tensor() if value.is_floating_point():
            numbers = value.detach().cpu().double().flatten().numpy()
        case np.ndarray() if value.dtype.kind == "f":
            numbers = value.astype(np.float64).ravel()
        case list() | tuple():
            numbers = np.concatenate([*map(_numbers_in_item, value), np.empty(0)])
        case _:
            return np.empty(0)
    return np.unique(numbers[np.isfinite(numbers)])


def _numbers_in_item(item: object) -> np.ndarray[Any, Any]:
    return np.array([item]) if isinstance(item, float) else _numbers_in(item)


def _replace_numbers(value: Any, numbers: np.ndarray[Any, Any], new_numbers: np.ndarray[Any, Any]) -> Any:
    """A tensor, an array or a number with new numbers in the places of these."""
    match value:
        case torch.Tensor() if value.is_floating_point():
            changed = _replace_numbers(value.detach().cpu().double().numpy(), numbers, new_numbers)
            return torch.from_numpy(changed).to(value)
        case np.ndarray() if value.dtype.kind == "f":
            changed = np.interp(value, numbers, new_numbers)
            return np.where(np.isfinite(value), changed, value).astype(value.dtype)
        case float() if math.isfinite(value):
            return float(np.interp(value, numbers, new_numbers))
    return value
