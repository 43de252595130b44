"""Find the misconceptions, one or two at once, that explain all of a student's answers.

There are thousands of pairs. So where it saves time, a part of some cases is computed first, and only pairs that give
the student's answer there are tried on all cases.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from grader.judging.answer_key import Hypothesis
from grader.judging.answered_case import AnsweredCase
from grader.judging.judging_time import JudgingTime
from grader.model.answer import Raised, Returned
from grader.model.misconception import Misconception, can_combine

FEWEST_IN_COMMON = 2  # of several sets of three: with fewer, nobody can say what is wrong


def find_explanation(cases: Sequence[AnsweredCase], time: JudgingTime) -> Hypothesis:
    """The misconceptions that give the student's answers in every case; empty if none do."""
    if _is_any_lost(cases):
        return ()
    evidence = _select_evidence(cases)
    for hypothesis in _propose_hypotheses(evidence):
        time.check()
        if _explains(hypothesis, evidence):
            hypothesis = _add_second_misconception(hypothesis, evidence, time)
            requirement_cases = [case for case in cases if case not in evidence]
            return _add_unseen_misconception(hypothesis, evidence, requirement_cases, time)
    return ()


def find_common_misconceptions(cases: Sequence[AnsweredCase], hypotheses: Iterable[Hypothesis]) -> Hypothesis:
    """The misconceptions common to all hypotheses that give the student's answers in every case."""
    if _is_any_lost(cases):
        return ()
    evidence = _select_evidence(cases)
    explanations = [hypothesis for hypothesis in hypotheses if _explains(hypothesis, evidence)]
    if not explanations:
        return ()
    common: list[Misconception] = []
    for misconception in explanations[0]:
        if all(misconception in explanation for explanation in explanations):
            common.append(misconception)
    return tuple(common) if len(common) >= FEWEST_IN_COMMON else ()


def _is_any_lost(cases: Sequence[AnsweredCase]) -> bool:
    """Whether an answer is lost or missing: no misconception loses its answer."""
    return not all(isinstance(case.answer, Returned | Raised) for case in cases)


def _select_evidence(cases: Sequence[AnsweredCase]) -> list[AnsweredCase]:
    """The cases in the best order: wrong ones first, long texts last, where misconceptions take long to compute.

    Where numbers are wrong, the cases about other things show nothing.
    """
    number_cases = [case for case in cases if case.is_about_numbers]
    has_wrong_numbers = any(case.is_wrong for case in number_cases)
    return sorted(
        number_cases if has_wrong_numbers else cases,
        key=lambda case: (case.is_long, not case.is_wrong),
    )


# Hypotheses, in the order in which they are tried.


def _propose_hypotheses(evidence: Sequence[AnsweredCase]) -> Iterator[Hypothesis]:
    """Each misconception, and then the pairs that can be held at once."""
    exercise = evidence[0].exercise
    singles: list[Hypothesis] = [(misconception,) for misconception in exercise.mistakes]
    pairs = (pair for pair in itertools.combinations(exercise.mistakes, 2) if can_combine(*pair))
    if not exercise.glance:
        yield from singles
        yield from pairs
        return
    cases_with_output = [case for case in evidence if case.output is not None]
    if not cases_with_output:  # then there is no evidence for a second misconception
        yield from singles
        return
    yield from cases_with_output[0].select_by_output(singles)
    yield from _select_likely(list(pairs), cases_with_output, evidence, enough=len(singles))


def _select_likely(
    pairs: Sequence[Hypothesis],
    cases_with_output: Sequence[AnsweredCase],
    evidence: Sequence[AnsweredCase],
    enough: int,
) -> Sequence[Hypothesis]:
    """The pairs left after one case after another, until there are few enough to try."""
    for case in _drop_other_draws(cases_with_output)[:2]:  # one alone may show little, as a single word does
        if len(pairs) > enough:
            pairs = case.select_by_output(pairs)
    quick_cases_first = sorted(evidence, key=lambda case: not case.rules_out_quickly)
    for case in _drop_other_draws(quick_cases_first)[:3]:
        if len(pairs) > enough:
            pairs = case.select_possible(pairs)
    return pairs


def _drop_other_draws(cases: Iterable[AnsweredCase]) -> list[AnsweredCase]:
    """The first draw of each case: with other inputs, it shows much the same."""
    first_draws: dict[str, AnsweredCase] = {}
    for case in cases:
        first_draws.setdefault(case.name, case)
    return list(first_draws.values())


# What counts as an explanation.


def _explains(hypothesis: Hypothesis, evidence: Sequence[AnsweredCase]) -> bool:
    """Whether misconceptions explain every case, and at least one by more than an error."""
    if not all(case.is_explained_by(hypothesis) for case in evidence):
        return False
    if not any(case.is_evidence(hypothesis) for case in evidence):
        return False
    if len(hypothesis) == 1:
        return True
    for misconception in hypothesis:
        if not _is_needed(misconception, hypothesis, evidence) or _fits_by_chance(misconception, evidence):
            return False
    return True


def _is_needed(misconception: Misconception, hypothesis: Hypothesis, evidence: Sequence[AnsweredCase]) -> bool:
    """Whether numbers would be others without a misconception, or the code would not fail where it alone makes it fail.

    Where it takes the whole set to make code fail, as where shapes do not fit, many other sets would do that, too.
    """
    fewer = tuple(member for member in hypothesis if member is not misconception)
    unexplained = [case for case in evidence if not case.is_explained_by(fewer)]
    if any(case.is_returned for case in unexplained):
        return True
    return all(case.would_fail((misconception,)) for case in unexplained)


def _fits_by_chance(misconception: Misconception, evidence: Sequence[AnsweredCase]) -> bool:
    """Whether a misconception is about gradients, and no case asks for them."""
    return misconception.kind == "gradient" and all(case.would_be_right((misconception,)) for case in evidence)


def _add_second_misconception(
    hypothesis: Hypothesis, evidence: Sequence[AnsweredCase], time: JudgingTime
) -> Hypothesis:
    """Add a second misconception if a class without the right parameters shows one.

    Little is known about parameters that do not fit, so several may seem to explain the outputs: then none is added.
    If none does although the first one alone can be computed, something unknown is wrong, too.
    """
    if len(hypothesis) > 1:
        return hypothesis
    partial_calls = [case for case in evidence if case.is_partial_call or case.would_be_partial_call(hypothesis)]
    if all(case.is_partial_call_explained_by(hypothesis) for case in partial_calls):
        return hypothesis
    pairs: list[Hypothesis] = []
    for misconception in evidence[0].exercise.mistakes:
        time.check()
        if can_combine(hypothesis[0], misconception):
            pair = _add(misconception, hypothesis, evidence)
            if all(case.is_partial_call_explained_by(pair) for case in partial_calls):
                pairs.append(pair)
    explanations = [pair for pair in pairs if _explains(pair, evidence)]
    if len(explanations) == 1:
        return explanations[0]
    if not explanations and any(case.would_be_partial_call(hypothesis) for case in partial_calls):
        return ()
    return hypothesis


def _add_unseen_misconception(
    hypothesis: Hypothesis,
    evidence: Sequence[AnsweredCase],
    requirement_cases: Sequence[AnsweredCase],
    time: JudgingTime,
) -> Hypothesis:
    """Add one that changes no numbers, such as an error of another type, if only with it the other cases are explained.

    Without it, a student would read that everything else is right.
    """
    if not hypothesis or all(case.is_explained_by(hypothesis) for case in requirement_cases):
        return hypothesis
    for misconception in evidence[0].exercise.mistakes:
        time.check()
        if not all(can_combine(member, misconception) for member in hypothesis):
            continue
        if not all(case.would_be_right((misconception,)) for case in evidence):
            continue
        extended = _add(misconception, hypothesis, evidence)
        if all(case.is_explained_by(extended) for case in requirement_cases):
            return extended
    return hypothesis


def _add(misconception: Misconception, hypothesis: Hypothesis, evidence: Sequence[AnsweredCase]) -> Hypothesis:
    """A hypothesis with one more misconception, in the order in which the exercise has them."""
    return tuple(sorted((*hypothesis, misconception), key=evidence[0].exercise.mistakes.index))
