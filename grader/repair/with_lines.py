"""Add to a verdict the lines where unnamed mistakes are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from grader.again.asking_again import UNEXPLAINED
from grader.judging import wording
from grader.judging.with_facts import add_facts
from grader.judging.wording import MAX_LINE
from grader.model.exercise import Exercise
from grader.model.fact import Fact, FactKind
from grader.model.verdict import Reason, Verdict
from grader.repair.version import Version

CREDIT = 0.5  # as much as a mistake with a name earns


def with_lines(
    exercise: Exercise,
    verdict: Verdict,
    find: Callable[[], Version | Verdict | None],
    read: Callable[[], Sequence[Fact]],
) -> Verdict:
    """The verdict with what `find` finds, if nothing else explains the mistake. `read` gives the facts of the text."""
    if verdict.misconceptions or verdict.reason not in UNEXPLAINED:
        return verdict
    repair = find()
    if repair is None:
        return verdict
    if isinstance(repair, Verdict):
        facts = read()
        if any(fact.kind == FactKind.BORROWED for fact in facts):  # values of the notebook may look like any mistake
            return verdict
        return replace(add_facts(exercise, repair, facts), pictures=verdict.pictures)
    is_small = verdict.reason != Reason.CONSTANT and repair.is_mostly_original(exercise.entry)
    credit = max(CREDIT, verdict.credit) if is_small else verdict.credit
    sentence = wording.located if is_small else wording.located_without_points
    sites = [sentence(repair.located)] if repair.located else []  # there is none if only a line is missing
    before = [text for text in verdict.sentences if text not in _about_memory(read(), repair)]
    stopped = verdict.reason == Reason.ERROR  # the error comes first
    return replace(
        verdict,
        credit=credit,
        reason=Reason.LOCATED if repair.located else verdict.reason,
        located=repair.located,
        sentences=(*before, *sites) if stopped else (*sites, *before),
    )


def _about_memory(facts: Sequence[Fact], repair: Version) -> list[str]:
    """The sentences on tensors of whatever was in memory that the repair changes: it writes each entry, as it is."""
    lines = {site.line[:MAX_LINE] for site in repair.located}
    return wording.about_facts([fact for fact in facts if fact.kind == FactKind.EMPTY and fact.what in lines])
