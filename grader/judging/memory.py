"""Answers that break a promise of memory: what the others are worth, and that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.judging import sentences
from grader.judging.credits import PROMISE_CREDIT
from grader.model.answer import Answer, Loss, Lost, Raised, sentence_of
from grader.model.exercise import SampledCase
from grader.model.memory import is_broken
from grader.model.verdict import Reason, Verdict


def _is_untried(answer: Answer) -> bool:
    """Whether a right function that is lent does not reach so far."""
    if isinstance(answer, Lost):
        return answer.loss is Loss.CALLS
    return isinstance(answer, Raised) and answer.beyond_lent


def without_promises(cases: Sequence[SampledCase], answers: Sequence[Answer]) -> list[Answer]:
    """What a verdict is about, unless all is right there."""
    return [answer for case, answer in zip(cases, answers, strict=True) if not case.case.promise]


def with_promises(others: Verdict, cases: Sequence[SampledCase], answers: Sequence[Answer]) -> Verdict | None:
    """The verdict on all cases from that on the others; none where these are right, and no promise is broken."""
    long = [(case.case.promise, answer) for case, answer in zip(cases, answers, strict=True) if case.case.promise]
    said = list(dict.fromkeys(promise.broken for promise, answer in long if promise and is_broken(answer)))
    losses = [answer for _, answer in long if isinstance(answer, Lost)]
    said += [sentence_of(answer) for answer in losses if answer.loss is Loss.ROOM]
    slow = next((answer for answer in losses if answer.loss is Loss.TIME), None)
    verdict = replace(others, cases=len(answers))
    if others.right and said:
        right = (sentences.RIGHT_BUT_LARGE if any(map(is_broken, answers)) else sentences.RIGHT_IN_SHORT, *said)
        return replace(verdict, credit=PROMISE_CREDIT, reason=Reason.MEMORY, sentences=right)
    if others.right and any(map(_is_untried, (answer for _, answer in long))):
        right = (sentences.RIGHT_IN_SHORT, sentences.LONG_UNTRIED)
        return replace(verdict, credit=PROMISE_CREDIT, reason=Reason.BESIDE, sentences=right)
    if others.right and slow:
        right = (sentences.RIGHT_BUT_SLOW, sentence_of(slow))
        return replace(verdict, credit=PROMISE_CREDIT, reason=Reason.BESIDE, sentences=right)
    if said:
        return replace(verdict, credit=others.credit * PROMISE_CREDIT, sentences=(*others.sentences, *said))
    return None if others.right else others
