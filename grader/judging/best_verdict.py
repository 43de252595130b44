"""The verdict that does a student most justice: in any form of the inputs, and whatever went wrong before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from grader.judging.judge import judge
from grader.model.answer import Answer
from grader.model.exercise import DrawnCase, Exercise, Standins
from grader.model.verdict import Reason, Verdict

# Puts cases to the student's code, with these functions in place of the student's own.
Ask = Callable[[Sequence[DrawnCase], Standins], list[Answer]]


def best_verdict(exercise: Exercise, ask: Ask, standins: Standins, seed: int, device: str) -> Verdict:
    """Judge with the student's earlier functions first, then with right ones in place of them."""
    verdict = _in_all_forms(exercise, ask, {}, seed, device)
    if verdict.right or verdict.reason in (Reason.MISSING, Reason.TO_DO) or not standins:
        return verdict
    followed = _in_all_forms(exercise, ask, standins, seed, device)
    # When both earn the same, the one that does not depend on earlier exercises explains better.
    return max(followed, verdict, key=lambda one: (one.credit, bool(one.misconceptions)))


def _in_all_forms(exercise: Exercise, ask: Ask, standins: Standins, seed: int, device: str) -> Verdict:
    drawn = exercise.draw(seed)
    verdict = judge(exercise, drawn, ask(drawn, standins), device)
    for form in exercise.other_forms:
        if verdict.credit == 1.0 or verdict.reason in (Reason.MISSING, Reason.TO_DO, Reason.NO_ANSWER):
            break
        reformed = [DrawnCase(case.case, form(case.inputs)) for case in drawn]
        other = judge(exercise, reformed, ask(reformed, standins), device)
        verdict = max(verdict, other, key=lambda one: one.credit)
    return verdict
