"""Numbers that are right but for one factor in each case: of the result, or of the scores that it is made of.

All that is said is proved by the numbers of every case about numbers, and nothing is claimed of the code.
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

# One number for each case, such as a factor: the law that it follows, read from the sizes of the cases. A law is told
# only where it is the only one that fits: of two that fit, nobody knows which one is meant.

FEWEST = 2  # cases that tell the number
NEAR = 1e-4  # relative; two laws of sizes below a hundred are hardly ever so near each other in all cases
LARGEST = 50  # whole number that is told
LARGEST_POWER = 6.0
SAME_IN_ALL = "one number, the same in all of them"
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
OF_SIZES = {
    1.0: "n",
    0.5: "√n",
    -1.0: "1/n",
    -0.5: "1/√n",
    2.0: "n²",
    -2.0: "1/n²",
    1.5: "n√n",
    -1.5: "1/(n√n)",
}
OF_PRODUCTS = {1.0: "(m · n)", 0.5: "√(m · n)", -1.0: "1/(m · n)", -0.5: "1/√(m · n)"}
OF_QUOTIENTS = {1.0: "m/n", 0.5: "√(m/n)", -1.0: "n/m", -0.5: "√(n/m)"}

Sizes = Mapping[tuple[int, ...], Sequence[str]]  # the values in all cases, and what has them


@dataclass(frozen=True)
class Law:
    """What a number is in words, and in each case."""

    words: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class _Base:
    """Something that powers are taken of, in each case."""

    formulas: Mapping[float, str]  # by power
    values: tuple[float, ...]
    where: str


def law_of(numbers: Sequence[float | None], sizes: Sizes) -> Law | None:
    """The only law that the numbers follow, as far as they are known; None if there is none, or more than one."""
    known = [number for number in numbers if number is not None]
    if len(known) < FEWEST:
        return None
    if all(_near(number, known[0]) for number in known):
        words, value = _simple(known[0]) or (SAME_IN_ALL, known[0])
        return Law(words, (value,) * len(numbers))
    if min(known) <= 0:
        return None
    bases = list(_bases({values: words for values, words in sizes.items() if len(set(values)) > 1}))
    for laws in (_plain, _times_numbers, _any_powers):
        found = [law for base in bases for law in laws(numbers, base)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def sizes_of(exercise: Exercise, cases: Sequence[SampledCase]) -> Sizes:
    """The sizes that a student can see in the inputs, with what has them: one may be that of several."""
    is_class = exercise.form.noun == "class"
    found: dict[tuple[int, ...], list[str]] = {}
    places = by_place(cases) if cases else {}
    if is_class:  # what a class is made with is a list of which each item stands for itself
        made_with = zip(*(case.inputs[0] for case in cases), strict=False)
        places = {**{(0, index): values for index, values in enumerate(made_with)}, **places}
    for place, values in places.items():
        said = _of_class(place, exercise.entry) if is_class else _of_function(place)
        if said and all(type(value) is int and 0 < value < LARGE for value in values):
            found.setdefault(values, []).append(said)
    return dict(itertools.islice(found.items(), MOST_SIZES))


def _bases(sizes: Sizes) -> Iterator[_Base]:
    """What powers are taken of: sizes, and then what two of them make, if that is another one."""
    known: set[tuple[float, ...]] = set(sizes)
    yield from (_Base(OF_SIZES, values, f"n is {_named(words)}") for values, words in sizes.items())
    for (one, words_one), (other, words_other) in itertools.combinations(sizes.items(), 2):
        where = f"m is {_named(words_one)}, and n is {_named(words_other)}"
        product = tuple(a * b for a, b in zip(one, other, strict=True))
        quotient = tuple(a / b for a, b in zip(one, other, strict=True))
        for formulas, values in ((OF_PRODUCTS, product), (OF_QUOTIENTS, quotient)):
            turned = tuple(1 / value for value in values)
            if len(set(values)) > 1 and not {values, turned} & known:
                known.add(values)
                yield _Base(formulas, values, where)


def _plain(numbers: Sequence[float | None], base: _Base) -> Iterator[Law]:
    """Roots, squares and the like."""
    for power, formula in base.formulas.items():
        values = tuple(value**power for value in base.values)
        if _follow(numbers, values):
            yield Law(f"{formula}, where {base.where}", values)


def _times_numbers(numbers: Sequence[float | None], base: _Base) -> Iterator[Law]:
    """Simple numbers times these."""
    for power, formula in base.formulas.items():
        values = tuple(value**power for value in base.values)
        first = next(number / value for number, value in zip(numbers, values, strict=True) if number is not None)
        words, factor = _simple(first) or ("", 0.0)
        scaled = tuple(factor * value for value in values)
        if words and _follow(numbers, scaled):
            yield Law(f"{words} · {formula}, where {base.where}", scaled)


def _any_powers(numbers: Sequence[float | None], base: _Base) -> Iterator[Law]:
    """Such as that of D ** 0.05, of which no more is told."""
    pairs = [(number, value) for number, value in zip(numbers, base.values, strict=True) if number is not None]
    number, furthest = max(pairs, key=lambda pair: abs(math.log(pair[1])))
    enough = len({value for _, value in pairs if value != 1}) > 1  # with one, any number is a power of it
    power = math.log(number) / math.log(furthest) if enough else math.inf
    if abs(power) <= LARGEST_POWER and _follow(numbers, powers := tuple(value**power for value in base.values)):
        yield Law(f"a power of {base.formulas[1.0]}, where {base.where}", powers)


def _follow(numbers: Sequence[float | None], values: Sequence[float]) -> bool:
    return all(number is None or _near(number, value) for number, value in zip(numbers, values, strict=True))


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= NEAR * abs(other)


def _simple(number: float) -> tuple[str, float] | None:
    """A number that is soon said: a whole one, its root, or one over these. Others might tell too much."""
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
    return words[0] if len(words) == 1 else f"{words[0]} (or what is as large in all of them)"


def _of_function(place: Sequence[Any]) -> str:
    """What is at this place of the inputs, for who has written the function."""
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
