"""Answers of the reference and of misconceptions to some cases: computed on demand, and once."""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from grader.model.answer import Raised, Returned, answered
from grader.model.exercise import Exercise, Glance, SampledCase
from grader.model.misconception import Misconception, changes_of

Computed = TypeVar("Computed")
Hypothesis = Sequence[Misconception]  # one misconception, or two at once
Key = tuple[tuple[str, int], ...]  # of those


class CaseKey:
    """A case, with the answers of the reference and of misconceptions."""

    def __init__(self, exercise: Exercise, case: SampledCase) -> None:
        self.case = case
        self._exercise = exercise
        # For single misconceptions: there are thousands of pairs. Only their first outputs, which are small, are kept.
        self._answers: dict[Key, Returned | Raised] = {}
        self._readings: dict[Key, Returned | Raised] = {}
        self._outputs: dict[Key, Any] = {}
        self.seconds = 0.0  # spent on the expected answer, for choosing among cases

    @functools.cached_property
    def expected(self) -> Any:
        """The compared part of the reference's answer."""
        start = time.perf_counter()
        expected = self._compared(self._value(()))
        self.seconds = time.perf_counter() - start
        return expected

    def answer(self, held: Hypothesis) -> Returned | Raised:
        """The answer of student code with these misconceptions."""
        return _kept(self._answers, held, self._answer)

    def wrong(self, held: Hypothesis) -> Returned | Raised:
        """The compared part of the answer with these misconceptions."""
        return _kept(self._readings, held, self._read)

    def output(self, held: Hypothesis) -> Any:
        """The first output, with these misconceptions if any; None where it cannot be computed."""
        return _kept(self._outputs, held, self._look, most=2)

    @property
    def is_soon_computed(self) -> bool:
        """Whether no part of the case takes long."""
        return self._glance.whole

    def soon(self, held: Hypothesis) -> Returned | Raised:
        """The compared part of the answer to the case without its slow parts."""
        try:
            value = _quietly(self._glance.answer, changes_of(held))
        except Exception as error:
            return Raised(type(error).__name__)
        return Returned(self._compared_at_a_glance(value), [])

    @functools.cached_property
    def _glance(self) -> Glance:
        assert self._exercise.glance
        return self._exercise.glance(*self.case.inputs)

    def _answer(self, held: Hypothesis) -> Returned | Raised:
        return answered(lambda: self._value(held), self.case.inputs)

    def _value(self, held: Hypothesis) -> Any:
        if not self._exercise.glance:
            return self._exercise.wrong_answer(held, self.case.inputs)
        return _quietly(self._glance.everything, changes_of(held))

    def _read(self, held: Hypothesis) -> Returned | Raised:
        answer = self.answer(held)
        return answer if isinstance(answer, Raised) else replace(answer, value=self._compared(answer.value))

    def _compared(self, value: object) -> Any:
        return self._exercise.form.right_answer(self._exercise.compared(value, self.case.inputs))

    def _compared_at_a_glance(self, value: object) -> Any:
        return self._exercise.form.right_answer(self._exercise.compared(value, self._glance.inputs))

    def _look(self, held: Hypothesis) -> Any:
        try:
            return _quietly(functools.partial(self._glance.output, once=len(held) > 1), changes_of(held))
        except Exception:  # such code would have failed, and the student's did not
            return None


def _kept(
    known: dict[Key, Computed], held: Hypothesis, compute: Callable[[Hypothesis], Computed], most: int = 1
) -> Computed:
    """The value for these misconceptions, remembered if there are at most so many."""
    if len(held) > most:
        return compute(held)
    key = tuple(mistake.key for mistake in held)
    if key not in known:
        known[key] = compute(held)
    return known[key]


def _quietly(compute: Callable[[Mapping[str, Any]], Any], changes: Mapping[str, Any]) -> Any:
    """Compute without the warnings that torch gives for wrong code."""
    with warnings.catch_warnings(action="ignore"):
        return compute(changes)


class AnswerKey:
    """The cases of an exercise, with the possible answers to them."""

    def __init__(self, exercise: Exercise, cases: Sequence[SampledCase | CaseKey]) -> None:
        self.exercise = exercise
        self._keys = [case if isinstance(case, CaseKey) else CaseKey(exercise, case) for case in cases]
        self.cases = [key.case for key in self._keys]

    def only(self, indices: Iterable[int]) -> AnswerKey:
        """A key for some of the cases, which shares all computed answers."""
        return AnswerKey(self.exercise, [self._keys[index] for index in indices])

    def short(self) -> AnswerKey:
        """A key without memory promises: those cases are long, and show no mistakes that the others miss."""
        short = [index for index, case in enumerate(self.cases) if not case.case.promise]
        return self.only(short) if len(short) < len(self.cases) else self

    def split(self) -> tuple[AnswerKey, AnswerKey]:
        """Keys for the first case and for the rest: hardly any code that is asked again gets beyond the first."""
        return self.only([0]), self.only(range(1, len(self.cases)))

    @functools.cached_property
    def expected(self) -> list[Any]:
        """The compared part of the reference's answer to each case."""
        return [key.expected for key in self._keys]

    @functools.cached_property
    def about_numbers(self) -> list[int]:
        """Indices of the cases that ask for right numbers alone."""
        return [index for index, case in enumerate(self.cases) if not case.case.beside]

    def __getitem__(self, index: int) -> CaseKey:
        return self._keys[index]


def answers_of_code(cases: Sequence[SampledCase], code: Callable[..., Any]) -> list[Returned | Raised]:
    """The answers of some code to these cases, as if it were a student's."""
    return [answered(functools.partial(code, *case.inputs), case.inputs) for case in cases]
