"""Put the cases to a student's code in another way than the exercise does: what is right then shows what was wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader.judging.answer_key import AnswerKey
from grader.judging.identical import are_unchanged
from grader.judging.judge import is_right
from grader.judging.judging_time import JudgingTime
from grader.model.answer import UNCHANGED, Answer, Lost, Missing, Returned
from grader.model.exercise import Inputs, SampledCase

# Puts cases to the student's code.
AskAgain = Callable[[Sequence[SampledCase]], list[Answer]]


@dataclass(frozen=True)
class Way:
    """How inputs are given instead, and what that makes of a result: each of `back` may make it the one asked for."""

    name: str  # of the mistake of code that is right in this way
    says: tuple[str, ...]
    given: Callable[[Inputs], Inputs]
    back: Sequence[Callable[[Any], Any]] = (lambda value: value,)


class AskedAgain:
    """The cases of an exercise, once more for each way. Hardly any gets beyond the first case, which is put alone."""

    def __init__(self, key: AnswerKey, ask: AskAgain, device: str, time: JudgingTime) -> None:
        self._keys = key.split()
        self._ask = ask
        self._device = device
        self._time = time
        self._lost = False  # code that hangs in one way may hang in all

    def first_right(self, ways: Iterable[Way]) -> Way | None:
        """The first way in which all is right."""
        for way in ways:
            if self._is_right(way):
                return way
            if self._lost:
                break
        return None

    def _is_right(self, way: Way) -> bool:
        return all(self._is_right_for(key, way) for key in self._keys)

    def _is_right_for(self, key: AnswerKey, way: Way) -> bool:
        given = [replace(case, inputs=way.given(case.inputs)) for case in key.cases]
        answers = self._ask(given)
        self._lost = any(isinstance(answer, (Lost, Missing)) for answer in answers)
        if not all(isinstance(answer, Returned) for answer in answers):
            return False
        as_asked = (_as_asked(answers, given, key.cases, back) for back in way.back)
        return any(is_right(key, turned, self._device, self._time) for turned in as_asked)


def _as_asked(
    answers: Sequence[Answer], given: Sequence[SampledCase], cases: Sequence[SampledCase], back: Callable[[Any], Any]
) -> list[Answer]:
    """The answers as they would be to the cases themselves."""
    return [
        replace(
            answer,
            value=back(answer.value),
            inputs_after=UNCHANGED if are_unchanged(answer.inputs_after, list(other.inputs)) else None,
        )
        if isinstance(answer, Returned)
        else answer
        for answer, other, case in zip(answers, given, cases, strict=True)
    ]
