"""Answers that break a promise of memory: what the others are worth, and that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.judging import sentences
from grader.judging.credits import MEMORY_CREDIT
from grader.model.answer import Answer
from grader.model.exercise import SampledCase
from grader.model.memory import is_broken
from grader.model.verdict import Reason, Verdict


def keeping_promises(answers: Sequence[Answer]) -> list[int]:
    """The answers that are judged by themselves, because others break promises; none if nobody does, or all do."""
    kept = [index for index, answer in enumerate(answers) if not is_broken(answer)]
    return kept if len(kept) < len(answers) else []


def beyond_promise(others: Verdict, cases: Sequence[SampledCase], answers: Sequence[Answer]) -> Verdict:
    """The verdict on all cases, from that on the others."""
    asked = [case.case.promise for case, answer in zip(cases, answers, strict=True) if is_broken(answer)]
    said = list(dict.fromkeys(promise.broken for promise in asked if promise))
    verdict = replace(others, credit=others.credit * MEMORY_CREDIT, cases=len(answers))
    if others.right:
        return replace(verdict, reason=Reason.MEMORY, sentences=(sentences.RIGHT_BUT_LARGE, *said))
    return replace(verdict, sentences=(*others.sentences, *said))
