"""Add to a verdict the lines where unnamed mistakes are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from grader.again.asking_again import UNEXPLAINED
from grader.judging import sentences
from grader.judging.with_facts import with_facts
from grader.model.exercise import Exercise
from grader.model.fact import Fact, FactKind
from grader.model.located import Change
from grader.model.verdict import Reason, Verdict
from grader.repair.edited_text import enough_is_left
from grader.repair.locating import Repair

# As much as misconceptions of these kinds earn.
CREDITS = {
    Change.NUMBER: 0.5,
    Change.AXIS: 0.5,
    Change.NAME: 0.5,
    Change.ORDER: 0.5,
    Change.ARRANGEMENT: 0.5,
    Change.ALIAS: 0.5,
    Change.LOST: 0.5,
    Change.RETURNED: 0.5,
    Change.OPERATOR: 0.25,
    Change.OPPOSITE: 0.25,
    Change.UPDATE: 0.25,
    Change.COPIED: 0.5,
    Change.CALL: 0.25,
    Change.SURPLUS: 0.25,
    Change.MISSING: 0.25,
    Change.AFTER: 0.25,
    Change.PLACE: 0.25,
}


def with_lines(
    exercise: Exercise,
    verdict: Verdict,
    find: Callable[[], Repair | Verdict | None],
    read: Callable[[], Sequence[Fact]],
    is_solution: Callable[[Repair], bool],
) -> Verdict:
    """The verdict with what `find` finds, if nothing else explains the mistake. `read` gives the facts of the text.

    A located line earns points if the repaired code is one solution (`is_solution`), not several to choose from.
    """
    if verdict.misconceptions or verdict.reason not in UNEXPLAINED:
        return verdict
    repair = find()
    if repair is None:
        return verdict
    if isinstance(repair, Verdict):
        facts = read()
        if any(fact.kind == FactKind.BORROWED for fact in facts):  # values of the notebook may look like any mistake
            return verdict
        return replace(with_facts(exercise, repair, facts), pictures=verdict.pictures)
    said = [sentences.located(repair.located)] if repair.located else []  # there is none if only a line is missing
    stopped = verdict.reason == Reason.ERROR  # the error comes first
    return replace(
        verdict,
        credit=_credit(exercise, repair, is_solution) if verdict.reason != Reason.CONSTANT else 0.0,
        reason=Reason.LOCATED if repair.located else verdict.reason,
        located=repair.located,
        sentences=(*verdict.sentences, *said) if stopped else (*said, *verdict.sentences),
    )


def _credit(exercise: Exercise, repair: Repair, is_solution: Callable[[Repair], bool]) -> float:
    """What the repair earns: something only if most of the code is the student's own."""
    if not enough_is_left(repair.text, exercise.entry) or not is_solution(repair):
        return 0.0
    return math.prod(CREDITS[edit.change] for edit in repair.text.edits)
