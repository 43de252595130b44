"""Ask a student's code again in another way: if all is right then, the mistake is found."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from grader.again.another_way import AskAgain, AskedAgain, Way
from grader.again.arguments import ways_by_name, ways_with_rows
from grader.again.parameter_names import ways_by_parameters
from grader.facts.code_facts import FIRST_SIZES
from grader.judging import wording
from grader.judging.answer_key import AnswerKey
from grader.judging.fitting import values_in_all
from grader.judging.judge import Judge
from grader.judging.precision import numbers_of
from grader.judging.with_facts import (
    add_facts,
    borrowed_names,
    may_be_seen_in_code,
    name_only_borrowing,
    named_misconceptions,
)
from grader.model.exercise import Exercise
from grader.model.fact import Fact, FactKind
from grader.model.verdict import Reason, Verdict

# Ask again with values in the notebook's variables that fit the case: if all is right then, nothing else was wrong.

MAX_NAMES = 3
MOST = 150  # ways to lend; sizes come first, and two names get through all of them


def is_right_with_lent_values(
    key: AnswerKey,
    ask: AskAgain,
    names: Sequence[str],
    judge: Judge,
) -> bool:
    """Whether all answers are right once each name holds some value from the inputs."""
    if not 0 < len(names) <= MAX_NAMES:
        return False
    key = key.only(key.about_numbers)  # one name cannot fit two counts of words
    cases, keys = key.cases, key.split()  # right answers do not depend on what is lent
    for chosen in itertools.islice(itertools.product(values_in_all(cases), repeat=len(names)), MOST):
        lent = [
            replace(case, lent=dict(zip(names, of_case, strict=True)))
            for case, of_case in zip(cases, zip(*chosen, strict=True), strict=True)
        ]
        asked = zip(keys, (lent[:1], lent[1:]), strict=True)
        if all(judge.is_right(key, ask(some)) for key, some in asked):
            return True
    return False


CREDIT = 0.5  # for code that is right when asked in another way
UNEXPLAINED = (Reason.WRONG, Reason.ERROR, Reason.CONSTANT)


def true_of_the_code(
    key: AnswerKey,
    verdict: Verdict,
    read: Callable[[], Sequence[Fact]],
    ask: AskAgain,
    judge: Judge,
) -> Verdict:
    """Add to a verdict what the code shows: its text, which `read` reads, and its other answers."""
    if not may_be_seen_in_code(verdict):
        return verdict
    facts, exercise = read(), key.exercise
    names = borrowed_names(facts, exercise, verdict)
    if names and is_right_with_lent_values(key, ask, names, judge):
        return name_only_borrowing(verdict, facts)
    if verdict.reason in UNEXPLAINED:
        verdict = _in_another_way(key, verdict, facts, ask, judge) or verdict
    return add_facts(exercise, verdict, facts)


def _in_another_way(
    key: AnswerKey, verdict: Verdict, facts: Sequence[Fact], ask: AskAgain, judge: Judge
) -> Verdict | None:
    exercise, first = key.exercise, key.cases[0]
    by_name, with_rows = list(ways_by_name(exercise, first, facts)), list(ways_with_rows(exercise, first))
    by_parameters = list(ways_by_parameters(exercise, key.cases, ask))
    asked = AskedAgain(key, ask, judge)
    if way := asked.first_right([*by_parameters, *by_name, *with_rows]):
        return _right_in(way, verdict)
    if with_rows and _is_for_columns(key, ask, facts):
        with_rows = []
    if len(by_parameters) > 1:  # which is which is not certain enough to allow another mistake besides
        by_parameters = []
    best = asked.best_named([*by_parameters, *by_name, *with_rows])
    return _named_in(*best, exercise) if best else None


def _is_for_columns(key: AnswerKey, ask: AskAgain, facts: Sequence[Fact]) -> bool:
    """Whether the code reads how long a column is, or all its results have the shape that is asked for."""
    if any(fact.kind == FactKind.WRITTEN and fact.what in FIRST_SIZES for fact in facts):
        return True
    return numbers_of(key.exercise.form, ask(key.cases), key.expected) is not None


def _right_in(way: Way, verdict: Verdict) -> Verdict:
    return replace(
        verdict,
        credit=CREDIT,
        reason=Reason.MISCONCEPTION,
        misconceptions=(way.name,),
        sentences=(*way.says, way.if_right),
        pictures=(),
    )


def _named_in(way: Way, verdict: Verdict, exercise: Exercise) -> Verdict:
    """The verdict on the way, and on what is still wrong."""
    says = [one.says for one in named_misconceptions(exercise, verdict)]
    names = (way.name, *verdict.misconceptions)
    heading = wording.several_mistakes(len(names), len(names))
    return replace(
        verdict,
        credit=CREDIT * verdict.credit,
        misconceptions=names,
        heading=heading,
        sentences=(heading, *way.says, *says),
        pictures=(),
    )
