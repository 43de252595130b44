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

NOTEBOOK_VARIABLES = "the notebook's variables"  # the name of the mistake

BORROWED_CREDIT = 0.5  # as for a notebook's number written in the code


# What explains answers where nothing else does, and would only be in the way of what does.
_OF_UNEXPLAINED_ANSWERS = (FactKind.EMPTY, FactKind.UNREAD, FactKind.RANDOM)


def may_be_seen_in_code(verdict: Verdict) -> bool:
    """Whether something is wrong that the code may show."""
    return not verdict.right and verdict.reason not in (Reason.TO_DO, Reason.MISSING, Reason.NO_ANSWER)


def borrowed_names(facts: Sequence[Fact], exercise: Exercise, verdict: Verdict) -> list[str]:
    """The notebook's variables that the code reads, if it could earn more with nothing else wrong."""
    if verdict.credit > BORROWED_CREDIT or FactKind.BORROWED in _kinds(exercise, verdict):
        return []
    return [fact.what for fact in facts if fact.kind == FactKind.BORROWED]


def name_only_borrowing(verdict: Verdict, facts: Sequence[Fact]) -> Verdict:
    """The verdict on code that is right with other values in the notebook's variables."""
    return replace(
        verdict,
        credit=BORROWED_CREDIT,
        reason=Reason.MISCONCEPTION,
        misconceptions=(NOTEBOOK_VARIABLES,),
        sentences=(*_describe_borrowing(facts), wording.ALL_ELSE_RIGHT),
        explained_in="",
    )


def add_facts(exercise: Exercise, verdict: Verdict, facts: Sequence[Fact]) -> Verdict:
    """Add to a verdict what the code shows.

    A step missing from the numbers may be in the code, its result lost: then that comes first.
    """
    if any(fact.kind == FactKind.NO_RETURN for fact in facts):  # whatever else is wrong follows from that
        sentences = wording.about_facts([fact for fact in facts if fact.kind not in _OF_UNEXPLAINED_ANSWERS])
        return replace(verdict, sentences=tuple(sentences), symptom=Symptom.NOTHING)
    verdict = _prefer_sentences_on_code(exercise, verdict, facts)
    verdict = _prefer_borrowing(exercise, verdict, facts)
    if _is_unexplained(verdict) and any(fact.kind == FactKind.EMPTY for fact in facts):  # NaN was just in memory
        sentences = [sentence for sentence in verdict.sentences if sentence != wording.WHERE_NAN_COMES_FROM]
        verdict = replace(verdict, sentences=tuple(sentences))
    kinds = _kinds(exercise, verdict)
    needless = kinds | _needless_kinds(verdict)
    sentences = wording.about_facts([fact for fact in facts if fact.kind not in needless])
    if "missing step" in kinds or any(fact.kind == FactKind.MADE_ANEW for fact in facts):
        return replace(verdict, sentences=(*sentences, *verdict.sentences))
    return replace(verdict, sentences=(*verdict.sentences, *sentences))


def _needless_kinds(verdict: Verdict) -> set[str]:
    """The kinds of facts that would explain nothing of this verdict, or repeat it."""
    kinds: set[str] = set()
    if verdict.misconceptions or verdict.reason not in (Reason.WRONG, Reason.ERROR, Reason.CONSTANT):
        kinds.add(FactKind.UNREAD)
    if verdict.reason != Reason.CONSTANT:
        kinds.add(FactKind.RANDOM)
    if not _is_unexplained(verdict):
        kinds.add(FactKind.EMPTY)
    if NOTEBOOK_VARIABLES in verdict.misconceptions:
        kinds.add(FactKind.BORROWED)
    if not verdict.holds_nan:
        kinds.add(FactKind.INFINITE)
    return kinds


def _is_unexplained(verdict: Verdict) -> bool:
    return not verdict.misconceptions and verdict.reason == Reason.WRONG


def _prefer_sentences_on_code(exercise: Exercise, verdict: Verdict, facts: Sequence[Fact]) -> Verdict:
    """Use a misconception's sentence on the code, if the code shows it."""
    expressions = {fact.what for fact in facts if fact.kind == FactKind.WRITTEN}
    sentences_on_code: dict[str, str] = {}
    for misconception in named_misconceptions(exercise, verdict):
        if not expressions.isdisjoint(misconception.in_code):
            sentences_on_code[misconception.says] = misconception.says_of_code
    sentences = [sentences_on_code.get(sentence, sentence) for sentence in verdict.sentences]
    return replace(verdict, sentences=tuple(sentences))


def _prefer_borrowing(exercise: Exercise, verdict: Verdict, facts: Sequence[Fact]) -> Verdict:
    """Call one number for all cases borrowed, not written, if it is the notebook's."""
    fixed_numbers = [mistake for mistake in named_misconceptions(exercise, verdict) if mistake.or_borrowed]
    if not fixed_numbers or not any(fact.kind == FactKind.BORROWED for fact in facts):
        return verdict
    (sentence,) = _describe_borrowing(facts)
    new_names = {mistake.name: NOTEBOOK_VARIABLES for mistake in fixed_numbers}
    new_sentences = {mistake.says: sentence for mistake in fixed_numbers}
    misconceptions = list(dict.fromkeys(new_names.get(name, name) for name in verdict.misconceptions))
    sentences = list(dict.fromkeys(new_sentences.get(sentence, sentence) for sentence in verdict.sentences))
    heading = verdict.heading
    if len(misconceptions) < 2:
        sentences = [sentence for sentence in sentences if sentence != heading]
        heading = ""
    return replace(verdict, misconceptions=tuple(misconceptions), sentences=tuple(sentences), heading=heading)


def _describe_borrowing(facts: Sequence[Fact]) -> list[str]:
    return wording.about_facts([fact for fact in facts if fact.kind == FactKind.BORROWED])


def _kinds(exercise: Exercise, verdict: Verdict) -> set[str]:
    """The kinds of the named misconceptions: facts of these kinds would only repeat them."""
    return {misconception.kind for misconception in named_misconceptions(exercise, verdict)}


def named_misconceptions(exercise: Exercise, verdict: Verdict) -> list[Misconception]:
    """The misconceptions that a verdict names."""
    return [misconception for misconception in ways_of_named(exercise, verdict) if misconception.way == 0]


def ways_of_named(exercise: Exercise, verdict: Verdict) -> list[Misconception]:
    """All ways of the misconceptions that a verdict names."""
    return [misconception for misconception in exercise.mistakes if misconception.name in verdict.misconceptions]
