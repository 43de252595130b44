"""The only path from a student's code to a verdict."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from grader.again.asking_again import add_evidence_of_code
from grader.again.drawn_anew import deny_credit_for_ignoring
from grader.facts.definitions import Definitions
from grader.facts.device_facts import with_device_named
from grader.judging.answer_key import AnswerKey
from grader.judging.best_verdict import Ask, best_verdict, keys_in_all_forms
from grader.judging.judge import Judge
from grader.judging.judging_time import JudgingTooLong
from grader.judging.wording import JUDGING_TOO_LONG
from grader.model.answer import Answer
from grader.model.exercise import Exercise, SampledCase, Standins
from grader.model.verdict import Reason, Verdict
from grader.repair.version import Version
from grader.repair.with_lines import add_lines


@dataclass(frozen=True)
class Code:
    """A student's code for an exercise, wherever it runs."""

    definitions: Definitions  # read from the text of its cells
    ask: Ask
    # Explains the mistake by small edits to the cell with the function.
    explain: Callable[[AnswerKey, Standins], Version | Verdict | None]
    hung: frozenset[str] = frozenset()  # functions that have hung or crashed


def decide(exercise: Exercise, earlier: Standins, code: Code, judge: Judge, seed: int) -> Verdict:
    """The verdict on code for one function of an exercise, on the cases drawn from a seed.

    `earlier` has correct functions for the exercises before this one.
    """
    try:
        return _Deciding(exercise, earlier, code, judge, keys_in_all_forms(exercise, seed)).verdict()
    except JudgingTooLong:
        return Verdict(exercise.label, exercise.title, 0.0, Reason.NO_ANSWER, (JUDGING_TOO_LONG,))


class _Deciding:
    def __init__(
        self, exercise: Exercise, earlier: Standins, code: Code, judge: Judge, keys: Sequence[AnswerKey]
    ) -> None:
        self._exercise = exercise
        self._code = code
        self._judge = judge
        self._keys = keys
        defined_names = code.definitions.defined_beside(exercise.entry, earlier)
        standins = {name: function for name, function in earlier.items() if name not in defined_names}
        self._standins = standins if code.definitions.mentions(exercise.entry, set(standins)) else {}

    def verdict(self) -> Verdict:
        """Judge the answers, then add what the text shows, what other answers show, and the wrong line."""
        exercise, code, key = self._exercise, self._code, self._keys[0]
        standins_first = not code.hung.isdisjoint(self._standins)
        verdict = best_verdict(self._keys, code.ask, self._standins, self._judge, standins_first)
        facts = functools.partial(code.definitions.facts, exercise)
        ask = self._ask_with_standins
        verdict = add_evidence_of_code(key, verdict, facts, ask, self._judge)
        verdict = with_device_named(verdict, code.definitions.only_source(exercise.entry))
        explain = functools.partial(code.explain, key, self._standins)
        verdict = add_lines(exercise, verdict, explain, facts)
        return deny_credit_for_ignoring(key, verdict, facts, ask, self._judge)

    def _ask_with_standins(self, cases: Sequence[SampledCase]) -> list[Answer]:
        return self._code.ask(cases, self._standins)
