"""Find the fairest verdict: in any form of the inputs, and whatever went wrong in earlier exercises."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from grader.judging.answer_key import AnswerKey
from grader.judging.identical import same_answer
from grader.judging.judge import Judge
from grader.judging.wording import FUNCTION_STILL_TO_DO
from grader.model.answer import Answer
from grader.model.exercise import Exercise, SampledCase, Standins
from grader.model.verdict import Reason, Verdict, about_their_cell

# Verdicts that no other form of the inputs changes. Lists are on no device, so they would hide a wrong one.
_WHATEVER_THE_FORM = (Reason.MISSING, Reason.TO_DO, Reason.NO_ANSWER, Reason.WRONG_DEVICE)

# Puts cases to the student's code, with these functions in place of the student's own.
Ask = Callable[[Sequence[SampledCase], Standins], list[Answer]]


def best_verdict(
    keys: Sequence[AnswerKey],
    ask: Ask,
    standins: Standins,
    judge: Judge,
    standins_first: bool = False,
) -> Verdict:
    """Judge with the student's earlier functions first, then with right ones in place of them.

    `keys` has one for each form of the inputs. The order never changes the verdict: right functions come first
    where one of the student's hangs, to avoid waiting for it again.
    """
    best = _Best(keys, ask, judge)
    with_standins = best.verdict(standins) if standins and standins_first else None
    if with_standins and with_standins.right:
        return with_standins
    verdict = best.verdict({})
    if verdict.right or verdict.reason in (Reason.MISSING, Reason.TO_DO) or not standins:
        return verdict
    with_standins = with_standins or best.verdict(standins)
    if with_standins.misconceptions and verdict.misconceptions:
        return with_standins  # it is about this exercise's own code, the other perhaps about an earlier one's
    # When both earn the same, the one that does not depend on earlier exercises explains better.
    return max(with_standins, verdict, key=lambda verdict: (verdict.credit, bool(verdict.misconceptions)))


def keys_in_all_forms(exercise: Exercise, seed: int) -> list[AnswerKey]:
    """Keys for the cases as drawn, and in each other form of their inputs."""
    cases = exercise.sample(seed)
    keys = [AnswerKey(exercise, cases)]
    for form in exercise.other_forms:
        cases_in_form = [SampledCase(case.case, form(case.inputs)) for case in cases]
        keys.append(AnswerKey(exercise, cases_in_form))
    return keys


class _Best:
    """Finds the best verdict in any form. Equal answers, as where earlier functions are right, are judged once."""

    def __init__(self, keys: Sequence[AnswerKey], ask: Ask, judge: Judge) -> None:
        self._keys = keys
        self._ask = ask
        self._judge = judge
        self._judged: list[tuple[AnswerKey, list[Answer], Verdict]] = []

    def verdict(self, standins: Standins) -> Verdict:
        """The verdict in the first form in which the code is right, else the one with the most points."""
        verdicts: list[Verdict] = []
        for key in self._keys:
            verdict = self._verdict_on(key, self._ask(key.cases, standins))
            if verdict.right:
                return verdict
            verdicts.append(verdict)
            if verdict.reason in _WHATEVER_THE_FORM:
                break
        return max(verdicts, key=lambda verdict: verdict.credit)

    def _verdict_on(self, key: AnswerKey, answers: list[Answer]) -> Verdict:
        for judged_key, judged_answers, verdict in self._judged:
            if judged_key is key and all(map(same_answer, judged_answers, answers)):
                return verdict
        verdict = self._judge.verdict(key, answers)
        self._judged.append((key, answers, verdict))
        return verdict


def combine(verdicts: Mapping[str, Verdict]) -> Verdict:
    """Combine the verdicts on functions, by name, that share an exercise's points."""
    if len(verdicts) == 1:
        return next(iter(verdicts.values()))
    if any(verdict.reason != Reason.TO_DO for verdict in verdicts.values()):
        verdicts = {name: _about_function(verdict) for name, verdict in verdicts.items()}
    all_verdicts = list(verdicts.values())
    return replace(
        all_verdicts[0],
        credit=sum(verdict.credit for verdict in all_verdicts) / len(all_verdicts),
        reason=min(all_verdicts, key=_by_what_it_tells).reason,
        sentences=_combine_sentences(verdicts),
        misconceptions=tuple(chain.from_iterable(verdict.misconceptions for verdict in all_verdicts)),
        cases_right=sum(verdict.cases_right for verdict in all_verdicts),
        cases=sum(verdict.cases for verdict in all_verdicts),
        explained_in=next((verdict.explained_in for verdict in all_verdicts if verdict.explained_in), ""),
        pictures=tuple(chain.from_iterable(verdict.pictures for verdict in all_verdicts)),
        lost=next((verdict.lost for verdict in all_verdicts if verdict.lost), None),
        located=tuple(chain.from_iterable(verdict.located for verdict in all_verdicts)),
        functions={name: replace(verdict, pictures=()) for name, verdict in verdicts.items()},
    )


def _combine_sentences(verdicts: Mapping[str, Verdict]) -> tuple[str, ...]:
    """What all verdicts say, or else the sentences of each behind its function's name."""
    if len({verdict.sentences for verdict in verdicts.values()}) == 1:
        return next(iter(verdicts.values())).sentences
    about_cell = about_their_cell(verdicts)
    sentences: list[str] = []
    for name, verdict in verdicts.items():
        sentences += [f"`{name}`: {sentence}" for sentence in verdict.sentences if sentence not in about_cell]
    return (*sentences, *about_cell)


def _about_function(verdict: Verdict) -> Verdict:
    """A verdict that speaks of its function alone: the exercise is begun."""
    return replace(verdict, sentences=(FUNCTION_STILL_TO_DO,)) if verdict.reason == Reason.TO_DO else verdict


def _by_what_it_tells(verdict: Verdict) -> tuple[bool, bool, float]:
    """What is wrong comes before what is still to do, and that before what is right."""
    return verdict.right, verdict.reason == Reason.TO_DO, verdict.credit
