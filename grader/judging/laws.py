"""One number for each case, such as a factor: the law that it follows, read from the sizes of the cases.

A law is told only where it is the only one that fits: of two that fit, nobody knows which one is meant.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.judging.fitting import LARGE, MOST_SIZES
from grader.judging.found_in_inputs import by_place
from grader.model.exercise import Exercise, SampledCase

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
