"""The verdict that does a student most justice: in any form of the inputs, and whatever went wrong before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grader.judging.answer_key import AnswerKey
from grader.judging.judge import judge_by, judge_soon
from grader.judging.judging_time import JudgingTime
from grader.model.answer import Answer
from grader.model.exercise import Exercise, SampledCase, Standins
from grader.model.verdict import Reason, Verdict

# Other forms of the inputs change nothing of it. Numbers in lists are on no device, so with them nobody misses it.
_WHATEVER_THE_FORM = (Reason.MISSING, Reason.TO_DO, Reason.NO_ANSWER, Reason.WRONG_DEVICE)

# Puts cases to the student's code, with these functions in place of the student's own.
Ask = Callable[[Sequence[SampledCase], Standins], list[Answer]]


def best_verdict(
    keys: Sequence[AnswerKey],
    ask: Ask,
    standins: Standins,
    device: str,
    time: JudgingTime | None = None,
    standins_first: bool = False,
) -> Verdict:
    """Judge with the student's earlier functions first, then with right ones in place of them.

    There is a key for each form that the inputs may come in. The order changes no verdict: right ones come first
    where one of the student's hangs, since that would have to be waited for again.
    """
    time = time or JudgingTime()
    followed = _best(keys, ask, standins, device, time) if standins and standins_first else None
    if followed and followed.right:
        return followed
    verdict = _best(keys, ask, {}, device, time)
    if verdict.right or verdict.reason in (Reason.MISSING, Reason.TO_DO) or not standins:
        return verdict
    followed = followed or _best(keys, ask, standins, device, time)
    if followed.misconceptions and verdict.misconceptions:
        return followed  # which is about this exercise's own code, while the other may tell of an earlier one's
    # When both earn the same, the one that does not depend on earlier exercises explains better.
    return max(followed, verdict, key=lambda verdict: (verdict.credit, bool(verdict.misconceptions)))


def in_all_forms(exercise: Exercise, seed: int) -> list[AnswerKey]:
    """The cases, then the same in the other forms that inputs may come in."""
    cases = exercise.sample(seed)
    reformed = [[SampledCase(case.case, form(case.inputs)) for case in cases] for form in exercise.other_forms]
    return [AnswerKey(exercise, drawn) for drawn in (cases, *reformed)]


def _best(keys: Sequence[AnswerKey], ask: Ask, standins: Standins, device: str, time: JudgingTime) -> Verdict:
    """Whether all is right in one of the forms is seen soon. Mistakes are looked for only where it is in none."""
    if len(keys) == 1:
        return judge_by(keys[0], ask(keys[0].cases, standins), device, time)
    tried: list[tuple[AnswerKey, list[Answer]]] = []
    for key in keys:
        tried.append((key, ask(key.cases, standins)))
        soon = judge_soon(*tried[-1], device, time)
        if soon and soon.right:
            return soon
        if soon and soon.reason in _WHATEVER_THE_FORM:
            break
    return max((judge_by(*one, device, time) for one in tried), key=lambda verdict: verdict.credit)
