"""Judge the long cases, in which code may use only so much memory: they can only lower the verdict on the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.judging import wording
from grader.model.answer import Answer, Loss, Lost, Raised
from grader.model.exercise import SampledCase, is_broken
from grader.model.verdict import Reason, Verdict

PROMISE_CREDIT = 0.5


def answers_without_promises(cases: Sequence[SampledCase], answers: Sequence[Answer]) -> list[Answer]:
    """The answers to all cases except those with a promise."""
    return [answer for case, answer in zip(cases, answers, strict=True) if not case.case.promise]


def lower_for_promises(short: Verdict, cases: Sequence[SampledCase], answers: Sequence[Answer]) -> Verdict | None:
    """The verdict on all cases from that on the short ones; None if these are right and no promise is broken."""
    long_answers: list[Answer] = []
    broken: list[str] = []  # a sentence for each kind of promise
    for case, answer in zip(cases, answers, strict=True):
        promise = case.case.promise
        if promise:
            long_answers.append(answer)
            if is_broken(answer) and promise.broken not in broken:
                broken.append(promise.broken)
    verdict = replace(short, cases=len(answers))
    if not short.right:
        if not broken:
            return short
        return replace(verdict, credit=short.credit * PROMISE_CREDIT, sentences=(*short.sentences, *broken))
    if broken:
        sentences = (wording.RIGHT_BUT_LARGE, *broken)
        return replace(verdict, credit=PROMISE_CREDIT, reason=Reason.MEMORY, sentences=sentences)
    if any(map(_is_untried, long_answers)):
        sentences = (wording.RIGHT_IN_SHORT, wording.LONG_UNTRIED)
        return replace(verdict, credit=PROMISE_CREDIT, reason=Reason.BESIDE, sentences=sentences)
    if any(isinstance(answer, Lost) and answer.loss is Loss.TIME for answer in long_answers):
        return replace(verdict, credit=PROMISE_CREDIT, reason=Reason.BESIDE, sentences=(wording.RIGHT_BUT_SLOW,))
    return None


def _is_untried(answer: Answer) -> bool:
    """Whether the right function in place of an earlier one cannot take such a large case."""
    if isinstance(answer, Lost):
        return answer.loss is Loss.CALLS
    return isinstance(answer, Raised) and answer.exceeds_standin
