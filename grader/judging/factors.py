"""Results that are right except for one factor per case: of the result, or of the scores behind it.

The numbers of every case prove what is said. Nothing is claimed about the code.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from grader.judging import sentences
from grader.judging.answer_key import AnswerKey
from grader.judging.fitting import LARGE, MOST_SIZES, by_place, effort
from grader.judging.judging_time import JudgingTime
from grader.model.answer import Answer, Returned
from grader.model.compare import paired_numbers
from grader.model.exercise import Exercise, SampledCase, changes_of
from grader.model.forms.parts import first_output

# Each case has its own factor; a law says how it depends on a size. It is shown only if no other law fits: of two,
# nobody knows which one the student wrote. Powers such as D ** 0.05 and laws of two sizes stay unnamed: eleven of
# 3,586 pieces of student code follow one.

FEWEST = 2  # cases that show the number
NEAR = 1e-4  # relative; two laws hardly ever come this close in all cases
LARGEST = 50  # the largest number named
SAME_IN_ALL = "the same number"
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
POWERS = {
    1.0: "n",
    0.5: "√n",
    -1.0: "1/n",
    -0.5: "1/√n",
    2.0: "n²",
    -2.0: "1/n²",
    1.5: "n√n",
    -1.5: "1/(n√n)",
}

Sizes = Mapping[tuple[int, ...], Sequence[str]]  # the values in all cases, and the inputs with them


@dataclass(frozen=True)
class Law:
    """A factor in words, and its value in each case."""

    words: str
    values: tuple[float, ...]


def law_of(numbers: Sequence[float | None], sizes: Sizes) -> Law | None:
    """The only law that the known numbers follow; None if there is none, or more than one."""
    known = [number for number in numbers if number is not None]
    if len(known) < FEWEST:
        return None
    if all(_near(number, known[0]) for number in known):
        words, value = _simple(known[0]) or (SAME_IN_ALL, known[0])
        return Law(words, (value,) * len(numbers))
    if min(known) <= 0:
        return None
    laws = list(_laws(numbers, {values: words for values, words in sizes.items() if len(set(values)) > 1}))
    found = [law for factor, law in laws if factor == 1] or [law for _, law in laws]
    return found[0] if len(found) == 1 else None


def sizes_of(exercise: Exercise, cases: Sequence[SampledCase]) -> Sizes:
    """The sizes that a student can see in the inputs, with the inputs that have them."""
    is_class = exercise.form.noun == "class"
    found: dict[tuple[int, ...], list[str]] = {}
    places = by_place(cases) if cases else {}
    if is_class:  # the arguments of a class are a list, each item a size of its own
        made_with = zip(*(case.inputs[0] for case in cases), strict=False)
        places = {**{(0, index): values for index, values in enumerate(made_with)}, **places}
    for place, values in places.items():
        said = _of_class(place, exercise.entry) if is_class else _of_function(place)
        if said and all(type(value) is int and 0 < value < LARGE for value in values):
            found.setdefault(values, []).append(said)
    return dict(itertools.islice(found.items(), MOST_SIZES))


def _laws(numbers: Sequence[float | None], sizes: Sizes) -> Iterator[tuple[float, Law]]:
    """Laws that fit: a simple number times a power of one size."""
    for values, words in sizes.items():
        for power, formula in POWERS.items():
            powers = [value**power for value in values]
            first = next(number / of for number, of in zip(numbers, powers, strict=True) if number is not None)
            if simple := _simple(first):
                said, factor = simple
                law = Law(
                    f"{'' if factor == 1 else f'{said} · '}{formula}, where n is {_named(words)}",
                    tuple(factor * of for of in powers),
                )
                if all(number is None or _near(number, of) for number, of in zip(numbers, law.values, strict=True)):
                    yield factor, law


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= NEAR * abs(other)


def _simple(number: float) -> tuple[str, float] | None:
    """A number in words, if it is whole, a root, or one over these. Others might give too much away."""
    sign, size = ("−" if number < 0 else ""), abs(number)
    if not 1 / (2 * LARGEST) < size < 2 * LARGEST:
        return None
    for whole, words, value in (
        (round(size), "{}", float),
        (round(1 / size), "1/{}", lambda whole: 1 / whole),
        (round(size**2), "√{}", math.sqrt),
        (round(1 / size**2), "1/√{}", lambda whole: 1 / math.sqrt(whole)),
    ):
        if 0 < whole <= LARGEST and _near(size, value(whole)):
            return sign + words.format(whole), math.copysign(value(whole), number)
    return None


def _named(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{words[0]} (or something else that is as large in all of them)"


def _of_function(place: Sequence[Any]) -> str:
    """A place in the inputs in words, as a function's author sees it."""
    match place:
        case [int(index), *rest] if index < len(ORDINALS):
            return _part(f"the {ORDINALS[index]} argument", rest)
    return ""


def _of_class(place: Sequence[Any], name: str) -> str:
    match place:
        case [0, int(index)] if index < len(ORDINALS):
            return f"the {ORDINALS[index]} argument of {name}(…)"
        case [2, "output", int(index), *rest] if index < len(ORDINALS):
            return _part(f"the {ORDINALS[index]} argument of forward(…)", rest)
    return ""


def _part(whole: str, rest: Sequence[Any]) -> str:
    match rest:
        case []:
            return whole
        case ["size", int(dimension)]:
            return f"shape[{dimension}] of {whole}"
        case ["length"]:
            return f"the length of {whole}"
        case [0, *further]:
            return _part(f"the first item of {whole}", further)
    return ""


Tensor = torch.Tensor

SHOWS = 0.01  # of the largest number: enough to show a factor
MOVES = 0.05  # of the largest number: a result that moves this much when the scale grows e-fold shows the scale
SCALES = [10 ** (step / 4) for step in range(-12, 11)]  # tried first
DIFFERS = 0.01  # relative: factors this far apart are different
STEPS = 12  # of Newton's method
STEP = 1e-3  # relative, for measuring a slope


def said_of_factors(key: AnswerKey, answers: Sequence[Answer], tolerance: float, time: JudgingTime) -> list[str]:
    """A sentence, if numbers are right except for one factor per case."""
    compared = [index for index in key.about_numbers if _is_compared(key, index)]
    if not all(isinstance(answers[index], Returned) for index in compared):
        return []
    values = {index: answer.value for index in compared if isinstance(answer := answers[index], Returned)}
    of_result = _OfResult(key, values, tolerance, time)
    if of_result.is_right():  # something else is wrong
        return []
    of_scores = (_OfScores(key, values, tolerance, time, *scaled) for scaled in key.exercise.scales.items())
    return next(filter(None, (factor.said() for factor in (of_result, *of_scores))), [])


def _is_compared(key: AnswerKey, index: int) -> bool:
    """Whether the case compares numbers of a result."""
    expected = key.expected[index]
    return bool(key.exercise.form.paired_numbers(expected, expected))


class _Unfit(Exception):
    """No factor fits."""


class _OfResult:
    """The factor by which a result is too large."""

    def __init__(self, key: AnswerKey, values: Mapping[int, Any], tolerance: float, time: JudgingTime) -> None:
        self.key = key
        self.values = values  # the student's results in the cases that are compared
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
        """Whether the law gives all numbers in all cases, including those that do not show the factor."""
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
        """The factor of a case; None if the case does not show it."""
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
    """The factor of the scores, before the rest of the solution turns them into a result."""

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
        """Cheap cases first: they rule out most code."""
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
        """Whether these scales reproduce all of the student's answers."""
        agrees, expected = self.key.exercise.form.agrees, self.key.expected
        return all(
            (out := self.key[index].changed(self._changes(scale))) is not None
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
        """The student's numbers, and those that this scale gives."""
        self.time.look()
        out = self.key[index].changed_at_first(self._changes(scale))
        got = self.values[index]
        if self.key.exercise.glance:
            got = first_output(got)
            return _in_a_row(paired_numbers(got, out) if got is not None and out is not None else None)
        return _in_a_row(self.key.exercise.form.paired_numbers(got, out) if out is not None else None)

    def _changes(self, scale: float) -> dict[str, Any]:
        exercise = self.key.exercise
        unscaled = changes_of([one for one in exercise.mistakes if one.name == exercise.unscaled])
        return {**unscaled, self._step: lambda scores, *_sizes: _times(scores, scale)}


def _times(scores: Any, factor: float) -> Any:
    """All numbers of a tensor or of nested lists, multiplied by a factor."""
    return [_times(one, factor) for one in scores] if isinstance(scores, list) else scores * factor


def _in_a_row(pairs: Sequence[tuple[Tensor, Tensor]] | None) -> tuple[Tensor, Tensor]:
    """Flatten both sides; raises _Unfit without any numbers, or where some are not finite."""
    if not pairs:
        raise _Unfit
    got, want = (torch.cat([numbers.reshape(-1) for numbers in side]) for side in zip(*pairs, strict=True))
    if not len(got) or not bool(got.isfinite().all() and want.isfinite().all()):
        raise _Unfit
    return got, want


def _are_near(got: Tensor, want: Tensor, tolerance: float) -> bool:
    size = want.abs()
    return bool(((got - want).abs() <= tolerance * (size + size.max())).all())
