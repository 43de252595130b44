"""Answers of the reference and of misconceptions to some cases: computed on demand, and once."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from grader.model.answer import Raised, Returned, answered
from grader.model.exercise import Exercise, Glance, Inputs, SampledCase
from grader.model.misconception import Misconception, changes_of
from grader.sandbox.nested import tensors_in

Computed = TypeVar("Computed")
Hypothesis = Sequence[Misconception]  # misconceptions that a student may hold at once
HypothesisKey = tuple[tuple[str, int], ...]

MOST_KEPT = 2**24  # bytes of answers to one case
BYTES_OF_TENSOR = 500  # about, beside its numbers


def key_of(hypothesis: Hypothesis) -> HypothesisKey:
    return tuple(misconception.key for misconception in hypothesis)


class CaseKey:
    """A case, with the answers of the reference and of misconceptions."""

    def __init__(self, exercise: Exercise, case: SampledCase) -> None:
        self.case = case
        self._exercise = exercise
        # For single misconceptions, and for others as long as there is room: there are thousands of pairs. For a class,
        # only their first outputs are kept, and those of the sets of three that are tried: they are small.
        self._answers: dict[HypothesisKey, Returned | Raised] = {}
        self._compared_answers: dict[HypothesisKey, Returned | Raised] = {}
        self._outputs: dict[HypothesisKey, Any] = {}

    @functools.cached_property
    def expected(self) -> Any:
        """The compared part of the reference's answer."""
        return self._compared(self._compute_value(()), self.case.inputs)

    def answer(self, hypothesis: Hypothesis) -> Returned | Raised:
        """The answer of student code with these misconceptions."""
        has_room = len(hypothesis) > 1 and len(self._answers) < self._most_answers
        most = len(hypothesis) if has_room or key_of(hypothesis) in self._answers else 1
        return _cached(self._answers, hypothesis, self._compute_answer, most)

    def compared_answer(self, hypothesis: Hypothesis) -> Returned | Raised:
        """The compared part of the answer with these misconceptions."""
        return _cached(self._compared_answers, hypothesis, self._compute_compared)

    def output(self, hypothesis: Hypothesis) -> Any:
        """The first output, with these misconceptions if any; None where it cannot be computed."""
        return _cached(self._outputs, hypothesis, self._compute_output, most=3)

    @property
    def is_quick(self) -> bool:
        """Whether no part of the case takes long."""
        return self._glance.whole

    def quick_answer(self, hypothesis: Hypothesis) -> Returned | Raised:
        """The compared part of the answer to the case without its slow parts."""
        try:
            value = _without_warnings(self._glance.answer, hypothesis)
        except Exception as error:
            return Raised(type(error).__name__)
        return Returned(self._compared(value, self._glance.inputs), [])

    @functools.cached_property
    def _glance(self) -> Glance:
        assert self._exercise.glance
        return self._exercise.glance(*self.case.inputs)

    @functools.cached_property
    def _most_answers(self) -> int:
        """How many answers with several misconceptions may be kept, as all have about the size of the right one."""
        return 0 if self._exercise.glance else MOST_KEPT // _size(self.answer(()))

    def _compute_answer(self, hypothesis: Hypothesis) -> Returned | Raised:
        return answered(lambda: self._compute_value(hypothesis), self.case.inputs)

    def _compute_value(self, hypothesis: Hypothesis) -> Any:
        if not self._exercise.glance:
            return self._exercise.wrong_answer(hypothesis, self.case.inputs)
        return _without_warnings(self._glance.everything, hypothesis)

    def _compute_compared(self, hypothesis: Hypothesis) -> Returned | Raised:
        answer = self.answer(hypothesis)
        if isinstance(answer, Raised):
            return answer
        return replace(answer, value=self._compared(answer.value, self.case.inputs))

    def _compared(self, value: object, inputs: Inputs) -> Any:
        return self._exercise.form.right_answer(self._exercise.compared(value, inputs))

    def _compute_output(self, hypothesis: Hypothesis) -> Any:
        output = functools.partial(self._glance.output, once=len(hypothesis) > 1)
        try:
            return _without_warnings(output, hypothesis)
        except Exception:  # such code would have failed, and the student's did not
            return None


def _size(answer: Returned | Raised) -> int:
    """About how many bytes an answer takes."""
    tensors = tensors_in(answer.value) if isinstance(answer, Returned) else ()
    return BYTES_OF_TENSOR + sum(BYTES_OF_TENSOR + tensor.nbytes for tensor in tensors)


def _cached(
    cache: dict[HypothesisKey, Computed],
    hypothesis: Hypothesis,
    compute: Callable[[Hypothesis], Computed],
    most: int = 1,
) -> Computed:
    """The value for these misconceptions, remembered if there are at most so many."""
    if len(hypothesis) > most:
        return compute(hypothesis)
    key = key_of(hypothesis)
    if key not in cache:
        cache[key] = compute(hypothesis)
    return cache[key]


def _without_warnings(compute: Callable[[Mapping[str, Any]], Any], hypothesis: Hypothesis) -> Any:
    """Compute with these misconceptions, without the warnings that torch gives for wrong code."""
    with warnings.catch_warnings(action="ignore"):
        return compute(changes_of(hypothesis))


class AnswerKey:
    """The cases of an exercise, with the possible answers to them."""

    def __init__(self, exercise: Exercise, cases: Sequence[SampledCase | CaseKey]) -> None:
        self.exercise = exercise
        self._keys = [case if isinstance(case, CaseKey) else CaseKey(exercise, case) for case in cases]
        self.cases = [key.case for key in self._keys]

    def only(self, indices: Iterable[int]) -> AnswerKey:
        """A key for some of the cases, which shares all computed answers."""
        return AnswerKey(self.exercise, [self._keys[index] for index in indices])

    def without_promises(self) -> AnswerKey:
        """A key without memory promises: those cases are long, and show no mistakes that the others miss."""
        indices = [index for index, case in enumerate(self.cases) if not case.case.promise]
        return self.only(indices) if len(indices) < len(self.cases) else self

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
