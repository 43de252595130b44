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
class CallVariant:
    """Another way to give the inputs. Each of `restorers` may turn the result into the one asked for."""

    name: str  # of the mistake in code that is right this way
    sentences: tuple[str, ...]
    change_inputs: Callable[[Inputs], Inputs]
    restorers: Sequence[Callable[[Any], Any]] = (lambda value: value,)
    if_right: str = RIGHT_OTHERWISE  # what to say besides


class VariantTrials:
    """Puts the cases again in each variant. The first one goes alone, since hardly any code gets beyond it."""

    def __init__(self, key: AnswerKey, ask: AskAgain, judge: Judge) -> None:
        self._key = key
        self._keys = key.split()
        self._ask = ask
        self._judge = judge
        self._is_lost = False  # code that hangs in one way may hang in all

    def first_right(self, variants: Iterable[CallVariant]) -> CallVariant | None:
        """The first variant in which all is right."""
        for variant in variants:
            if self._is_right(variant):
                return variant
            if self._is_lost:
                break
        return None

    def best_named(self, variants: Iterable[CallVariant]) -> tuple[CallVariant, Verdict] | None:
        """The variant in which the fewest mistakes are left, if these have names."""
        candidates = []
        for variant in variants:
            candidates += [(variant, verdict) for verdict in self._verdicts(variant) if verdict.misconceptions]
        return min(candidates, key=lambda candidate: len(candidate[1].misconceptions), default=None)

    def _verdicts(self, variant: CallVariant) -> Iterator[Verdict]:
        """The verdicts on code that runs in this way. The first case, alone, stops most of it."""
        if not self._is_lost and any(self._restored_answers(self._keys[0], variant)):
            for answers in self._restored_answers(self._key, variant):
                yield self._judge.verdict(self._key, answers)

    def _is_right(self, variant: CallVariant) -> bool:
        for key in self._keys:
            if not any(self._judge.is_right(key, answers) for answers in self._restored_answers(key, variant)):
                return False
        return True

    def _restored_answers(self, key: AnswerKey, variant: CallVariant) -> Iterator[list[Answer]]:
        """The answers as they may be meant; none if one of them is not a result."""
        cases = [replace(case, inputs=variant.change_inputs(case.inputs)) for case in key.cases]
        answers = self._ask(cases)
        self._is_lost = any(isinstance(answer, (Lost, Missing)) for answer in answers)
        if all(isinstance(answer, Returned) for answer in answers):
            for restore in variant.restorers:
                yield [_restore(answer, case, restore) for answer, case in zip(answers, cases, strict=True)]


def _restore(answer: Answer, case: SampledCase, restore: Callable[[Any], Any]) -> Answer:
    """An answer to a changed case, turned into one to the case itself."""
    if not isinstance(answer, Returned):
        return answer
    inputs_after = UNCHANGED if are_unchanged(answer.inputs_after, list(case.inputs)) else None
    return replace(answer, value=restore(answer.value), inputs_after=inputs_after)
