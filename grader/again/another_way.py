"""Put the cases to a student's code in another way: if it is right then, this shows what was wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from grader.judging.answer_key import AnswerKey
from grader.judging.identical import are_unchanged
from grader.judging.judge import Judge
from grader.judging.wording import RIGHT_OTHERWISE
from grader.model.answer import UNCHANGED, Answer, Lost, Missing, Returned
from grader.model.exercise import Inputs, SampledCase
from grader.model.verdict import Verdict

# Puts cases to the student's code.
AskAgain = Callable[[Sequence[SampledCase]], list[Answer]]


@dataclass(frozen=True)
class Way:
    """Another way to give the inputs. Each of `back` may turn the result into the one asked for."""

    name: str  # of the mistake in code that is right this way
    says: tuple[str, ...]
    given: Callable[[Inputs], Inputs]
    back: Sequence[Callable[[Any], Any]] = (lambda value: value,)
    if_right: str = RIGHT_OTHERWISE  # what to say besides


class AskedAgain:
    """Puts the cases again in each way. The first one goes alone, since hardly any code gets beyond it."""

    def __init__(self, key: AnswerKey, ask: AskAgain, judge: Judge) -> None:
        self._key = key
        self._keys = key.split()
        self._ask = ask
        self._judge = judge
        self._lost = False  # code that hangs in one way may hang in all

    def first_right(self, ways: Iterable[Way]) -> Way | None:
        """The first way in which all is right."""
        for way in ways:
            if self._is_right(way):
                return way
            if self._lost:
                break
        return None

    def best_named(self, ways: Iterable[Way]) -> tuple[Way, Verdict] | None:
        """The way in which the fewest mistakes are left, if these have names."""
        verdicts = ((way, verdict) for way in ways for verdict in self._verdicts(way) if verdict.misconceptions)
        return min(verdicts, key=lambda found: len(found[1].misconceptions), default=None)

    def _verdicts(self, way: Way) -> Iterator[Verdict]:
        """The verdicts on code that runs in this way. The first case, alone, stops most of it."""
        if not self._lost and any(self._as_asked(self._keys[0], way)):
            for answers in self._as_asked(self._key, way):
                yield self._judge.verdict(self._key, answers)

    def _is_right(self, way: Way) -> bool:
        return all(
            any(self._judge.is_right(key, answers) for answers in self._as_asked(key, way)) for key in self._keys
        )

    def _as_asked(self, key: AnswerKey, way: Way) -> Iterator[list[Answer]]:
        """The answers as they may be meant; none if one of them is not a result."""
        given = [replace(case, inputs=way.given(case.inputs)) for case in key.cases]
        answers = self._ask(given)
        self._lost = any(isinstance(answer, (Lost, Missing)) for answer in answers)
        if all(isinstance(answer, Returned) for answer in answers):
            yield from (_as_asked(answers, given, key.cases, back) for back in way.back)


def _as_asked(
    answers: Sequence[Answer], given: Sequence[SampledCase], cases: Sequence[SampledCase], back: Callable[[Any], Any]
) -> list[Answer]:
    """The answers, turned into answers to the cases themselves."""
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
