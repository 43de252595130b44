"""Find the line in which a mistake lies: change the student's code in one spot after the other, until all is right.

What is changed is asked in a sandbox like the student's own code, and judged like it. That one change makes all answers
right is the proof. The change itself is never shown.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from grader.judging.answer_key import AnswerKey
from grader.judging.edits import FITTED, Edit, edits_of
from grader.judging.judge import is_right
from grader.judging.judging_time import JudgingTime, JudgingTooLong
from grader.judging.lending import found_in_all
from grader.judging.student_text import StudentText, definitions_in
from grader.model.answer import Answer, Returned
from grader.model.edited import EditedSource
from grader.model.exercise import Exercise, SampledCase

Item = TypeVar("Item")

MOST_TRIED = 8_000  # versions of one code
AT_ONCE = 32
MOST_SIZES = 10
SECONDS = 20.0  # of the judge's processor; a last bound, since what is tried is counted

# Puts a case to versions of the student's definitions.
AskEdited = Callable[[Sequence[EditedSource], SampledCase], list[Answer]]


@dataclass(frozen=True)
class Repaired:
    """A change that makes all answers right, in the text that it was made in."""

    edit: Edit
    text: StudentText

    @property
    def line(self) -> str:
        return self.text.line(self.edit.line).strip()


@dataclass(frozen=True)
class _Version:
    """The definitions with a change, and what a number that it brings in is in each case."""

    source: str
    fitting: Sequence[float] = ()

    def in_case(self, index: int) -> EditedSource:
        return EditedSource(self.source, {FITTED: self.fitting[index]} if self.fitting else {})


class Locating:
    """The search in one student's code for one exercise."""

    def __init__(self, exercise: Exercise, cases: Sequence[SampledCase], ask: AskEdited, device: str) -> None:
        self._cases = cases
        self._keys = [AnswerKey(exercise, [case]) for case in cases]
        self._ask = ask
        self._device = device
        self._time = JudgingTime(SECONDS)
        self._left = MOST_TRIED
        self._fitting = _fitting(cases)

    def repairs(self, source: str) -> list[Repaired]:
        """The most plausible changes that make all right: none, or one, or some that are equally plausible."""
        try:
            text = StudentText(definitions_in(source))
            telling = self._most_telling(text.source)
            return list(self._repairs(text, telling)) if telling is not None else []
        except (SyntaxError, ValueError, RecursionError, MemoryError, JudgingTooLong):
            return []

    def _most_telling(self, source: str) -> int | None:
        """The smallest of the cases that the code answers wrong; None if it is right."""
        wrong = [index for index in range(len(self._cases)) if not self._is_right(index, _Version(source))]
        return min(wrong, key=lambda index: _effort(self._cases[index]), default=None)

    def _repairs(self, text: StudentText, telling: int) -> Iterator[Repaired]:
        highest = math.inf
        for some in _some_at_once(self._versions(text), AT_ONCE):
            if self._left <= 0 or some[0][0].cost > highest:
                return
            self._left -= len(some)
            answers = self._ask([version.in_case(telling) for _, version in some], self._cases[telling])
            for (edit, version), answer in zip(some, answers, strict=True):
                if edit.cost > highest or not self._is_right_answer(telling, answer):
                    continue
                if self._is_right_in_all(version):
                    highest = edit.cost
                    yield Repaired(edit, text)

    def _versions(self, text: StudentText) -> Iterator[tuple[Edit, _Version]]:
        for edit in edits_of(text):
            source = text.with_splices(*edit.splices)
            for fitting in self._fitting if edit.fitted else [()]:
                yield edit, _Version(source, fitting)

    def _is_right_in_all(self, version: _Version) -> bool:
        return all(self._is_right(index, version) for index in range(len(self._cases)))

    def _is_right(self, index: int, version: _Version) -> bool:
        (answer,) = self._ask([version.in_case(index)], self._cases[index])
        return self._is_right_answer(index, answer)

    def _is_right_answer(self, index: int, answer: Answer) -> bool:
        return isinstance(answer, Returned) and is_right(self._keys[index], [answer], self._device, self._time)


def _some_at_once(items: Iterable[Item], count: int) -> Iterator[list[Item]]:
    left = iter(items)
    while some := list(itertools.islice(left, count)):
        yield some


def _effort(case: SampledCase) -> int:
    """How long a case takes, roughly: gradients and many numbers take longer."""
    *_, how = case.inputs
    asks_much = isinstance(how, dict) and bool(how.get("gradients") or how.get("impossible"))
    return (10_000 if asks_much else 0) + sum(value.numel() for value in _tensors(case.inputs))


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _tensors(item)


def _fitting(cases: Sequence[SampledCase]) -> list[tuple[float, ...]]:
    """Numbers that fit the cases, each with its value in every case: sizes, what divides them, roots, and 1 over it."""
    sizes = [values for values in found_in_all(cases) if all(type(size) is int and size > 0 for size in values)]
    quotients = [
        tuple(map(operator.floordiv, some, others))
        for some, others in itertools.permutations(sizes, 2)
        if not any(map(operator.mod, some, others)) and any(map(operator.gt, others, itertools.repeat(1)))
    ]
    products = [tuple(map(operator.mul, *pair)) for pair in itertools.combinations(sizes, 2)]
    whole = list(dict.fromkeys([*sizes, *quotients]))[:MOST_SIZES]
    roots = [tuple(map(math.sqrt, values)) for values in whole]
    below = [tuple(1 / size for size in values) for values in [*roots, *whole]]
    return list(dict.fromkeys([*whole, *roots, *below, *products[:MOST_SIZES]]))
