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


def add_lines(
    exercise: Exercise,
    verdict: Verdict,
    explain: Callable[[], Version | Verdict | None],
    read_facts: Callable[[], Sequence[Fact]],
) -> Verdict:
    """The verdict with the repair or the misconceptions that `explain` finds, if nothing else explains the mistake."""
    if verdict.misconceptions or verdict.reason not in UNEXPLAINED:
        return verdict
    explanation = explain()
    if explanation is None:
        return verdict
    if isinstance(explanation, Verdict):
        facts = read_facts()
        if any(fact.kind == FactKind.BORROWED for fact in facts):  # values of the notebook may look like any mistake
            return verdict
        return replace(add_facts(exercise, explanation, facts), pictures=verdict.pictures)
    return _add_repair(exercise, verdict, explanation, read_facts())


def _add_repair(exercise: Exercise, verdict: Verdict, repair: Version, facts: Sequence[Fact]) -> Verdict:
    is_small = verdict.reason != Reason.CONSTANT and repair.is_mostly_original(exercise.entry)
    about_memory = _describe_memory(facts, repair)
    sentences = [sentence for sentence in verdict.sentences if sentence not in about_memory]
    if repair.located:  # there is none if only a line is missing
        describe = wording.located if is_small else wording.located_without_points
        is_error = verdict.reason == Reason.ERROR  # then the error comes first
        sentences.insert(len(sentences) if is_error else 0, describe(repair.located))
    return replace(
        verdict,
        credit=max(CREDIT, verdict.credit) if is_small else verdict.credit,
        reason=Reason.LOCATED if repair.located else verdict.reason,
        located=repair.located,
        sentences=tuple(sentences),
    )


def _describe_memory(facts: Sequence[Fact], repair: Version) -> list[str]:
    """The sentences on tensors of whatever was in memory that the repair changes: it writes each entry, as it is."""
    lines = {location.line[:MAX_LINE] for location in repair.located}
    return wording.about_facts([fact for fact in facts if fact.kind == FactKind.EMPTY and fact.what in lines])
