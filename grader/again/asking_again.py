"""Ask a student's code again in another way: if all is right then, the mistake is found."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

from grader.again.arguments import variants_by_name, variants_with_rows
from grader.again.call_variants import AskAgain, CallVariant, VariantTrials
from grader.again.parameter_names import variants_by_parameters
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
MOST_CHOICES = 150  # of values; sizes come first, and two names get through all of them


def is_right_with_other_variables(
    key: AnswerKey,
    ask: AskAgain,
    names: Sequence[str],
    judge: Judge,
) -> bool:
    """Whether all answers are right once each name holds some value from the inputs."""
    if not 0 < len(names) <= MAX_NAMES:
        return False
    key = key.only(key.about_numbers)  # one name cannot fit two counts of words
    keys = key.split()  # right answers do not depend on these variables
    choices = itertools.product(values_in_all(key.cases), repeat=len(names))
    for choice in itertools.islice(choices, MOST_CHOICES):
        cases = [
            replace(case, lent=dict(zip(names, values, strict=True)))
            for case, values in zip(key.cases, zip(*choice, strict=True), strict=True)
        ]
        cases_of_keys = zip(keys, (cases[:1], cases[1:]), strict=True)
        if all(judge.is_right(key, ask(cases_of_key)) for key, cases_of_key in cases_of_keys):
            return True
    return False


CREDIT = 0.5  # for code that is right when asked in another way
UNEXPLAINED = (Reason.WRONG, Reason.ERROR, Reason.CONSTANT)


def add_evidence_of_code(
    key: AnswerKey,
    verdict: Verdict,
    read_facts: Callable[[], Sequence[Fact]],
    ask: AskAgain,
    judge: Judge,
) -> Verdict:
    """Add to a verdict what the code shows: its text, which `read_facts` reads, and its other answers."""
    if not may_be_seen_in_code(verdict):
        return verdict
    facts, exercise = read_facts(), key.exercise
    names = borrowed_names(facts, exercise, verdict)
    if names and is_right_with_other_variables(key, ask, names, judge):
        return name_only_borrowing(verdict, facts)
    if verdict.reason in UNEXPLAINED:
        verdict = _explain_by_variants(key, verdict, facts, ask, judge) or verdict
    return add_facts(exercise, verdict, facts)


def _explain_by_variants(
    key: AnswerKey, verdict: Verdict, facts: Sequence[Fact], ask: AskAgain, judge: Judge
) -> Verdict | None:
    exercise, first_case = key.exercise, key.cases[0]
    by_name = list(variants_by_name(exercise, first_case, facts))
    with_rows = list(variants_with_rows(exercise, first_case))
    by_parameters = list(variants_by_parameters(exercise, key.cases, ask))
    trials = VariantTrials(key, ask, judge)
    right_variant = trials.first_right([*by_parameters, *by_name, *with_rows])
    if right_variant:
        return _name_variant(right_variant, verdict)
    if with_rows and _is_for_columns(key, ask, facts):
        with_rows = []
    if len(by_parameters) > 1:  # which is which is not certain enough to allow another mistake besides
        by_parameters = []
    best = trials.best_named([*by_parameters, *by_name, *with_rows])
    return _name_variant_and_mistakes(*best, exercise) if best else None


def _is_for_columns(key: AnswerKey, ask: AskAgain, facts: Sequence[Fact]) -> bool:
    """Whether the code reads how long a column is, or all its results have the shape that is asked for."""
    if any(fact.kind == FactKind.WRITTEN and fact.what in FIRST_SIZES for fact in facts):
        return True
    return numbers_of(key.exercise.form, ask(key.cases), key.expected) is not None


def _name_variant(variant: CallVariant, verdict: Verdict) -> Verdict:
    return replace(
        verdict,
        credit=CREDIT,
        reason=Reason.MISCONCEPTION,
        misconceptions=(variant.name,),
        sentences=(*variant.sentences, variant.if_right),
        pictures=(),
    )


def _name_variant_and_mistakes(variant: CallVariant, verdict: Verdict, exercise: Exercise) -> Verdict:
    """The verdict on code that is asked in another way, and on what is still wrong."""
    sentences = [misconception.says for misconception in named_misconceptions(exercise, verdict)]
    names = (variant.name, *verdict.misconceptions)
    heading = wording.several_mistakes(len(names), len(names))
    return replace(
        verdict,
        credit=CREDIT * verdict.credit,
        misconceptions=names,
        heading=heading,
        sentences=(heading, *variant.sentences, *sentences),
        pictures=(),
    )
