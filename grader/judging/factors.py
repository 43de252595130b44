"""Numbers that are right but for one factor in each case: of the result, or of the scores that it is made of.

All that is said is proved by the numbers of every case about numbers, and nothing is claimed of the code.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from grader.judging import sentences
from grader.judging.answer_key import AnswerKey
from grader.judging.fitting import effort
from grader.judging.judging_time import JudgingTime
from grader.judging.laws import Law, law_of, sizes_of
from grader.model.answer import Answer, Returned
from grader.model.compare import paired_numbers
from grader.model.exercise import changes_of

Tensor = torch.Tensor

SHOWS = 0.01  # of the largest number: so much shows what a factor does
MOVES = 0.05  # of the largest number, by which a result moves for a scale e times as large: then it tells the scale
SCALES = [10 ** (step / 4) for step in range(-12, 11)]  # that are tried first
DIFFERS = 0.01  # relative, of factors that are told to be different ones
STEPS = 12  # of Newton
STEP = 1e-3  # relative, over which a slope is measured


def said_of_factors(key: AnswerKey, answers: Sequence[Answer], tolerance: float, time: JudgingTime) -> list[str]:
    """A sentence, if one factor for each case is all that is wrong with the numbers."""
    compared = [index for index in key.about_numbers if _is_compared(key, index)]
    if not all(isinstance(answers[index], Returned) for index in compared):
        return []
    values = {index: answer.value for index in compared if isinstance(answer := answers[index], Returned)}
    of_result = _OfResult(key, values, tolerance, time)
    if of_result.is_right():  # and something else is wrong
        return []
    of_scores = (_OfScores(key, values, tolerance, time, *scaled) for scaled in key.exercise.scales.items())
    return next(filter(None, (factor.said() for factor in (of_result, *of_scores))), [])


def _is_compared(key: AnswerKey, index: int) -> bool:
    """Whether a case is about the numbers of a result."""
    expected = key.expected[index]
    return bool(key.exercise.form.paired_numbers(expected, expected))


class _Unfit(Exception):
    """There is no factor."""


class _OfResult:
    """The factor by which a result is too large."""

    def __init__(self, key: AnswerKey, values: Mapping[int, Any], tolerance: float, time: JudgingTime) -> None:
        self.key = key
        self.values = values  # what came back in the cases that are compared
        self.tolerance = tolerance
        self.time = time

    def said(self) -> list[str]:
        try:
            factors = {index: self.factor(index) for index in self.in_order()}
        except _Unfit:
            return []
        known = [factor for factor in factors.values() if factor is not None]
        if not known:
            return []
        numbers = [factors[index] for index in self.values]
        law = law_of(numbers, sizes_of(self.key.exercise, [self.key.cases[index] for index in self.values]))
        return self.in_words(law if law and self.holds(law) else None, known)

    def is_right(self) -> bool:
        """Whether no number is wrong."""
        try:
            return all(_are_near(*self.numbers(index), self.tolerance) for index in self.values)
        except _Unfit:
            return False

    def in_order(self) -> list[int]:
        return list(self.values)

    def holds(self, law: Law) -> bool:
        """Whether the law gives all numbers in all cases, also in those that do not tell the factor."""
        return all(
            _are_near(got, factor * want, self.tolerance)
            for (got, want), factor in zip(map(self.numbers, self.values), law.values, strict=True)
        )

    def in_words(self, law: Law | None, known: Sequence[float]) -> list[str]:
        cases = len(self.values)
        if law:
            return [sentences.times(law.words, cases)]
        return [sentences.times_another(cases)] if max(known) - min(known) > DIFFERS * max(map(abs, known)) else []

    def factor(self, index: int) -> float | None:
        """Of a case; None if it does not tell any."""
        self.time.look()
        got, want = self.numbers(index)
        largest = want.abs().max()
        if not bool(got.isfinite().all() and want.isfinite().all()):
            raise _Unfit
        if largest == 0:
            factor = 0.0
        else:
            unit = want / largest
            factor = float((got @ unit) / (want @ unit))
        if not math.isfinite(factor) or not _are_near(got, factor * want, self.tolerance):
            raise _Unfit
        if largest == 0:
            return None
        if factor == 0:
            raise _Unfit
        showing = want[want.abs() > SHOWS * largest]
        return factor if bool((showing - showing[0]).abs().max() > SHOWS * largest) else None

    def numbers(self, index: int) -> tuple[Tensor, Tensor]:
        return _in_a_row(self.key.exercise.form.paired_numbers(self.values[index], self.key.expected[index]))


class _OfScores(_OfResult):
    """The number by which scores are multiplied, before what comes after them makes a result of them."""

    def __init__(
        self,
        key: AnswerKey,
        values: Mapping[int, Any],
        tolerance: float,
        time: JudgingTime,
        step: str,
        what: str,
    ) -> None:
        super().__init__(key, values, tolerance, time)
        self._step = step
        self._what = what
        self._fitted: dict[int, float] = {}

    def in_order(self) -> list[int]:
        """The smallest first: most code is through with it."""
        return sorted(self.values, key=lambda index: effort(self.key.cases[index]))

    def factor(self, index: int) -> float | None:
        tried = [(self._miss(index, scale), scale) for scale in SCALES]
        scale = min(tried)[1]
        for _ in range(STEPS):
            got, out = self._with(index, scale)
            slope = self._slope(index, scale)
            steep = float(slope @ slope)
            if steep == 0:
                break
            move = float(slope @ (got - out)) / steep
            scale *= math.exp(max(-1.0, min(1.0, move)))
            if abs(move) < self.tolerance / 100:
                break
        got, out = self._with(index, scale)
        if not _are_near(got, out, self.tolerance):
            raise _Unfit
        self._fitted[index] = scale
        moves = float(self._slope(index, scale).abs().max())
        return scale if len(out) > 1 and moves > MOVES * float(out.abs().max()) else None

    def holds(self, law: Law) -> bool:
        return self._comes_out(dict(zip(self.values, law.values, strict=True)))

    def in_words(self, law: Law | None, known: Sequence[float]) -> list[str]:
        cases = len(self.values)
        if law:
            return [sentences.scaled_by(self._what, law.words, cases)]
        enough = len(known) > 1 and self._comes_out(self._fitted)
        return [sentences.scaled_otherwise(self._what, cases)] if enough else []

    def _comes_out(self, scales: Mapping[int, float]) -> bool:
        """Whether all that the student's code answers comes out with these scales."""
        agrees, expected = self.key.exercise.form.agrees, self.key.expected
        return all(
            (out := self.key.changed(self._changes(scale), index)) is not None
            and agrees(self.values[index], out, expected[index], self.tolerance)
            for index, scale in scales.items()
        )

    def _miss(self, index: int, scale: float) -> float:
        got, out = self._with(index, scale)
        return float((got - out).square().sum())

    def _slope(self, index: int, scale: float) -> Tensor:
        more, less = (self._with(index, scale * (1 + step))[1] for step in (STEP, -STEP))
        return (more - less) / (2 * STEP)

    def _with(self, index: int, scale: float) -> tuple[Tensor, Tensor]:
        """The student's numbers, and those that come out with this scale."""
        self.time.look()
        out = self.key.changed_at_first(self._changes(scale), index)
        got = self.values[index]
        if self.key.exercise.glance:
            outputs = got.get("output") if isinstance(got, dict) else None
            got = outputs.get("output") if isinstance(outputs, dict) else None
            return _in_a_row(paired_numbers(got, out) if got is not None and out is not None else None)
        return _in_a_row(self.key.exercise.form.paired_numbers(got, out) if out is not None else None)

    def _changes(self, scale: float) -> dict[str, Any]:
        exercise = self.key.exercise
        unscaled = changes_of([one for one in exercise.mistakes if one.name == exercise.unscaled])
        return {**unscaled, self._step: lambda scores, *_sizes: _times(scores, scale)}


def _times(scores: Any, factor: float) -> Any:
    """All numbers of a tensor, or of lists, times this."""
    return [_times(one, factor) for one in scores] if isinstance(scores, list) else scores * factor


def _in_a_row(pairs: Sequence[tuple[Tensor, Tensor]] | None) -> tuple[Tensor, Tensor]:
    """All numbers of both sides, where there are some and all are finite."""
    if not pairs:
        raise _Unfit
    got, want = (torch.cat([numbers.reshape(-1) for numbers in side]) for side in zip(*pairs, strict=True))
    if not len(got) or not bool(got.isfinite().all() and want.isfinite().all()):
        raise _Unfit
    return got, want


def _are_near(got: Tensor, want: Tensor, tolerance: float) -> bool:
    size = want.abs()
    return bool(((got - want).abs() <= tolerance * (size + size.max())).all())
