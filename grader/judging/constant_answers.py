"""Recognize answers that do not depend on the inputs, and answers that are one of them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from grader.judging.answered_case import AnsweredCase
from grader.judging.identical import identical
from grader.model.answer import Returned
from grader.model.compare import same
from grader.model.forms.parts import named


def are_same_for_all(cases: Sequence[AnsweredCase]) -> bool:
    """Whether there is one result for all cases, which should have several."""
    results = [case.result for case in cases]
    if len(results) < 2 or any(result is None for result in results):
        return False
    return _are_identical(results) and not _are_identical([case.expected for case in cases])


def are_same_for_each_draw(cases: Sequence[AnsweredCase]) -> bool:
    """Whether some cases are drawn twice, and each of them has one result for inputs of one size."""
    draws: dict[str, list[Any]] = {}
    for case in cases:
        if case.result is None:
            return False
        draws.setdefault(case.name, []).append(case.result)
    pairs = [results[:2] for results in draws.values() if len(results) > 1]
    return bool(pairs) and all(identical(*pair) for pair in pairs)


def _are_identical(values: Sequence[Any]) -> bool:
    return all(identical(values[0], value) for value in values[1:])


@dataclass(frozen=True)
class _Call:
    """A call of a student's code in a case."""

    arguments: Sequence[object]
    result: object


def is_argument_returned(cases: Sequence[AnsweredCase]) -> bool:
    """Whether each result is the same argument itself."""
    calls = list(itertools.chain.from_iterable(map(_calls, cases)))
    for arguments in zip(*(call.arguments for call in calls), strict=False):
        pairs = zip(calls, arguments, strict=True)
        if all(_is_argument(call.result, argument, cases[0]) for call, argument in pairs):
            return True
    return False


def _calls(case: AnsweredCase) -> list[_Call]:
    """The calls in a case: the one of a function, or all those of a class."""
    value = case.answer.value if isinstance(case.answer, Returned) else None
    outputs, expected = named(value, "output"), named(case.expected, "output")
    if not isinstance(expected, dict):
        return [_Call(case.inputs, value)]
    if not isinstance(outputs, dict):
        return [_Call(case.inputs, None)]
    arguments: dict[str, Sequence[object]] = {}
    for argument in case.inputs:
        if isinstance(argument, dict) and argument.keys() >= expected.keys():
            arguments = argument
            break
    return [_Call(arguments.get(name, ()), outputs.get(name)) for name in expected]


def _is_argument(result: object, argument: object, case: AnsweredCase) -> bool:
    if isinstance(result, torch.Tensor):
        return isinstance(argument, torch.Tensor) and same(result, argument, case.tolerance)
    if result is None or isinstance(argument, torch.Tensor) or case.exercise.read is not None:
        return False
    form = case.exercise.form
    return not form.finding(result, form.right_answer(argument), case.tolerance)
