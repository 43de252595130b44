"""Make verdicts true of the code: add to what numbers prove what the code itself shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.judging import wording
from grader.model.answer import Symptom
from grader.model.exercise import Exercise
from grader.model.fact import Fact, FactKind
from grader.model.misconception import Misconception
from grader.model.verdict import Reason, Verdict

NAME = "the notebook's variables"

BORROWED_CREDIT = 0.5  # as for a notebook's number written in the code


# What explains answers where nothing else does, and would only be in the way of what does.
_OF_UNEXPLAINED_ANSWERS = (FactKind.EMPTY, FactKind.UNREAD, FactKind.RANDOM)


def is_for_the_code_to_tell(verdict: Verdict) -> bool:
    """Whether something is wrong that the code may show."""
    return not verdict.right and verdict.reason not in (Reason.TO_DO, Reason.MISSING, Reason.NO_ANSWER)


def borrowed_by(facts: Sequence[Fact], exercise: Exercise, verdict: Verdict) -> list[str]:
    """The notebook's variables that the code reads, if it could earn more with nothing else wrong."""
    if verdict.credit > BORROWED_CREDIT or FactKind.BORROWED in _kinds(exercise, verdict):
        return []
    return [fact.what for fact in facts if fact.kind == FactKind.BORROWED]


def only_borrowed(verdict: Verdict, facts: Sequence[Fact]) -> Verdict:
    """The verdict on code that is right with other values in the notebook's variables."""
    borrowed = wording.of_facts([fact for fact in facts if fact.kind == FactKind.BORROWED])
    return replace(
        verdict,
        credit=BORROWED_CREDIT,
        reason=Reason.MISCONCEPTION,
        misconceptions=(NAME,),
        sentences=(*borrowed, wording.ALL_ELSE_RIGHT),
        explained_in="",
    )


def with_facts(exercise: Exercise, verdict: Verdict, facts: Sequence[Fact]) -> Verdict:
    """Add to a verdict what the code shows.

    A step missing from the numbers may be in the code, its result lost: then that comes first.
    """
    if any(fact.kind == FactKind.NO_RETURN for fact in facts):  # whatever else is said follows from that
        said = wording.of_facts([fact for fact in facts if fact.kind not in _OF_UNEXPLAINED_ANSWERS])
        return replace(verdict, sentences=tuple(said), symptom=Symptom.NOTHING)
    verdict = _borrowed_and_not_written(exercise, _in_words_of_the_code(exercise, verdict, facts), facts)
    kinds = _kinds(exercise, verdict)
    if verdict.misconceptions or verdict.reason not in (Reason.WRONG, Reason.ERROR, Reason.CONSTANT):
        kinds.add(FactKind.UNREAD)
    if verdict.reason != Reason.CONSTANT:
        kinds.add(FactKind.RANDOM)
    if verdict.misconceptions or verdict.reason != Reason.WRONG:
        kinds.add(FactKind.EMPTY)
    elif any(fact.kind == FactKind.EMPTY for fact in facts):  # then it was just in memory
        told = [text for text in verdict.sentences if text != wording.WHERE_NAN_COMES_FROM]
        verdict = replace(verdict, sentences=tuple(told))
    if NAME in verdict.misconceptions:  # said already
        kinds.add(FactKind.BORROWED)
    if not verdict.holds_nan:
        kinds.add(FactKind.INFINITE)
    said = wording.of_facts([fact for fact in facts if fact.kind not in kinds])
    first = "missing step" in kinds or any(fact.kind == FactKind.MADE_ANEW for fact in facts)
    return replace(verdict, sentences=(*said, *verdict.sentences) if first else (*verdict.sentences, *said))


def _in_words_of_the_code(exercise: Exercise, verdict: Verdict, facts: Sequence[Fact]) -> Verdict:
    """Use a misconception's sentence on the code, if the code shows it."""
    written = {fact.what for fact in facts if fact.kind == FactKind.WRITTEN}
    seen = {one.says: one.says_of_code for one in named_in(exercise, verdict) if written & set(one.in_code)}
    return replace(verdict, sentences=tuple(seen.get(text, text) for text in verdict.sentences))


def _borrowed_and_not_written(exercise: Exercise, verdict: Verdict, facts: Sequence[Fact]) -> Verdict:
    """Call one number for all cases borrowed, not written, if it is the notebook's."""
    if not any(fact.kind == FactKind.BORROWED for fact in facts):
        return verdict
    fixed = [held for held in named_in(exercise, verdict) if held.or_borrowed]
    if not fixed:
        return verdict
    names, said = {held.name for held in fixed}, {held.says for held in fixed}
    (borrowed,) = wording.of_facts([fact for fact in facts if fact.kind == FactKind.BORROWED])
    misconceptions = dict.fromkeys(NAME if name in names else name for name in verdict.misconceptions)
    texts = dict.fromkeys(borrowed if text in said else text for text in verdict.sentences)
    heading = verdict.heading if len(misconceptions) > 1 else ""
    return replace(
        verdict,
        misconceptions=tuple(misconceptions),
        sentences=tuple(text for text in texts if text != verdict.heading or heading),
        heading=heading,
    )


def _kinds(exercise: Exercise, verdict: Verdict) -> set[str]:
    """The kinds of the named misconceptions: facts of these kinds would only repeat them."""
    return {held.kind for held in named_in(exercise, verdict)}


def named_in(exercise: Exercise, verdict: Verdict) -> list[Misconception]:
    """The misconceptions that a verdict names."""
    return [held for held in exercise.mistakes if held.name in verdict.misconceptions and held.way == 0]
