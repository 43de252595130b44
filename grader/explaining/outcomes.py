"""What may be said of a changed line: sentences that are true or false for all inputs that were tried, or neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch

from grader.explaining.harness import axes_with_unit_sums
from grader.explaining.observed import Observed, Pair, Place, Shape, Tensor, alike, numbers_of

ERROR = "It would stop with an error."
SAME = "The result would stay the same."
NUMBERS = "The result would have the same shape and different numbers, none of them NaN."
NAN = "The result would contain NaN."
FACTOR = "The result would be multiplied by the same factor everywhere."
GENERAL = frozenset([ERROR, SAME, NUMBERS, NAN, FACTOR])  # they can be said of any code

AT_THE_END = 10**6  # the line of the result, as a place
CLOSE = 1e-4
LARGE_ENOUGH = 1e-3  # for a ratio to mean something
FEWEST = 4  # numbers, so that a common factor is no accident

# What the places of an input are, of which place t of the result depends.
_PATTERNS: dict[str, str] = {
    "all": "for every s",
    "earlier": "exactly for s ≤ t",
    "later": "exactly for s ≥ t",
    "own": "only for s = t",
    "before": "exactly for s < t",
    "some later": "for some s > t, too",
}
PATTERN_NOW = "earlier"


class UnitSums(NamedTuple):
    """A name that sums to one along one axis, in the code as it is."""

    place: Place
    axis: int
    dimensions: int
    is_one_of_several: bool = False  # the name is assigned at other lines, too

    @property
    def in_words(self) -> str:
        line, name = self.place
        if line == AT_THE_END:
            return "The result"
        return f"`{name}` after line {line}" if self.is_one_of_several else f"`{name}`"

    @property
    def more_even(self) -> str:
        return f"{self.in_words} would be closer to uniform."

    @property
    def more_peaked(self) -> str:
        return f"{self.in_words} would be more peaked."

    @property
    def all_sentences(self) -> list[str]:
        return [*(sentence for sentence, _ in self.sentences()), self.more_even, self.more_peaked]

    def sentences(self) -> Iterator[tuple[str, list[int]]]:
        """What it could sum to instead, with the axes along which it would sum to one."""
        name = self.in_words
        if self.dimensions > 1:
            yield f"There would be no axis along which {name[0].lower()}{name[1:]} sums to one everywhere.", []
        else:
            yield f"{name} would no longer sum to one.", []
        for axis in range(self.dimensions):
            if axis != self.axis:
                yield f"{self.in_words} would sum to one along axis {axis} instead.", [axis]


class Positions(NamedTuple):
    """Places of an argument and of the result that belong together: each sees those up to itself."""

    pair: Pair
    argument: str
    result: str

    def sentence(self, pattern: str) -> str:
        return f"{self.result_at('t')} would depend on {self.argument_at('s')} {_PATTERNS[pattern]}."

    def argument_at(self, place: object) -> str:
        return f"`{self.argument}[{':, ' * self.pair.axis}{place}]`"

    def result_at(self, place: object) -> str:
        return f"`{self.result}[{':, ' * self.pair.result_axis}{place}]`"


@dataclass(frozen=True)
class Comparison:
    """Runs of the code as it is and with a changed line, on the same inputs."""

    before: Sequence[Observed]
    after: Sequence[Observed]
    is_about_scale: bool
    unit_sums: UnitSums | None  # the first at or after the changed line
    positions: Positions | None

    def claims(self, other_shapes: Iterable[Shape]) -> dict[str, bool | None]:
        """Sentences on what would happen, each with whether it is true; None if that is not certain.

        Empty if the runs differ in what happens at all.
        """
        outcomes = {_outcome(before, after) for before, after in self._runs()}
        if len(outcomes) != 1:
            return {}
        (outcome,) = outcomes
        claims: dict[str, bool | None] = {
            ERROR: outcome == "error",
            SAME: outcome == "same",
            NUMBERS: outcome == "numbers",
            NAN: _agreed(_has_nan(after) for after in self.after) if outcome == "shape" else False,
            FACTOR: False,
        }
        shapes = {after.shape for after in self.after if after.shape is not None and outcome == "shape"}
        for shape in {*other_shapes, *shapes}.difference(before.shape for before in self.before):
            claims[would_have(shape)] = shapes == {shape}
        if outcome == "numbers":
            claims |= self._of_numbers()
        elif outcome in ("error", "same"):
            claims |= dict.fromkeys(self._effects(), False)
        return claims

    def _effects(self) -> Iterator[str]:
        """What a changed line could do, where it stops with an error, or does nothing."""
        if self.positions is not None:
            for pattern in _PATTERNS:
                if pattern not in ("some later", PATTERN_NOW):
                    yield self.positions.sentence(pattern)
        is_reached = any(True for runs in self._runs() for _ in self.tensors_of_unit_sums(*runs))
        if self.unit_sums is not None and not (is_reached and self.after[0].error):
            yield from self.unit_sums.all_sentences

    def _runs(self) -> list[tuple[Observed, Observed]]:
        return list(zip(self.before, self.after, strict=True))

    def _of_numbers(self) -> dict[str, bool | None]:
        """What is true of other numbers in the same shape."""
        rows = [(numbers_of(before.result), numbers_of(after.result)) for before, after in self._runs()]
        pairs = [(before, after) for before, after in rows if before is not None and after is not None]
        if len(pairs) < len(rows) or any(before.shape != after.shape for before, after in pairs):
            return dict.fromkeys([NAN, NUMBERS, FACTOR])
        has_nan = [_has_nan(after) for after in self.after]
        if any(has_nan):
            return {NAN: _agreed(has_nan), NUMBERS: _agreed(not nan for nan in has_nan)}
        is_multiplied = _agreed(_is_multiplied(before, after) for before, after in pairs)
        return {FACTOR: is_multiplied} | self._of_unit_sums() | self._of_positions()

    def _of_unit_sums(self) -> dict[str, bool | None]:
        """Along which axes a name sums to one, that summed to one along one axis."""
        if self.unit_sums is None:
            return {}
        axis = self.unit_sums.axis
        pairs = [pair for runs in self._runs() for pair in self.tensors_of_unit_sums(*runs)]
        if not pairs or any(before.shape != after.shape for before, after in pairs):
            return {}
        all_axes = [axes_with_unit_sums(after) or [] for _, after in pairs]
        claims: dict[str, bool | None] = {}
        for sentence, other_axes in self.unit_sums.sentences():
            claims[sentence] = _agreed(axes == other_axes for axes in all_axes)
        if self.is_about_scale and all(axis in axes for axes in all_axes):
            directions = {_direction(before, after, axis) for before, after in pairs}
            is_clear = len(directions) == 1 and None not in directions
            claims[self.unit_sums.more_even] = directions == {"even"} if is_clear else None
            claims[self.unit_sums.more_peaked] = directions == {"uneven"} if is_clear else None
        return claims

    def tensors_of_unit_sums(self, before: Observed, after: Observed) -> Iterator[tuple[Tensor, Tensor]]:
        if self.unit_sums is None:
            return
        if self.unit_sums.place[0] == AT_THE_END:
            pairs = [(before.tensor, after.tensor)]
        else:
            tensors = before.tensors.get(self.unit_sums.place, ()), after.tensors.get(self.unit_sums.place, ())
            pairs = list(zip(*tensors, strict=False))
        for first, second in pairs:
            if first is not None and second is not None:
                yield first, second

    def _of_positions(self) -> dict[str, bool | None]:
        """Of which places of an input a place of the result depends."""
        patterns = {pattern_name(after.pattern) for after in self.after}
        if self.positions is None or len(patterns) != 1:
            return {}
        (pattern,) = patterns
        if pattern in ("", "none", PATTERN_NOW):
            return {}
        claims: dict[str, bool | None] = {}
        for name in _PATTERNS:
            if name == pattern or "some later" not in (name, pattern):  # that is true of others, too
                claims[self.positions.sentence(name)] = name == pattern
        return claims


def would_have(shape: Shape) -> str:
    return f"The result would have shape {shape_text(shape)}."


def shape_text(shape: Shape) -> str:
    return str(tuple(shape))


def _outcome(before: Observed, after: Observed) -> str:
    if after.error is not None:
        return "error"
    if after.is_like(before):
        return "same"
    if before.shape is not None and after.shape is not None and before.shape != after.shape:
        return "shape"
    first, second = before.tensor, after.tensor
    is_comparable = first is not None and second is not None and first.shape == second.shape
    is_other = is_comparable and type(before.result) is type(after.result) and not alike(first, second)
    return "numbers" if is_other else "something else"


def _agreed(truths: Iterable[bool]) -> bool | None:
    """What all inputs agree on; None if they do not."""
    different = set(truths)
    return different.pop() if len(different) == 1 else None


def _is_multiplied(before: Tensor, after: Tensor) -> bool:
    """Whether all numbers are multiplied by the same one, which is neither 1 nor 0 nor −1."""
    place = int(before.abs().argmax()) if before.numel() else 0
    if before.numel() < FEWEST or float(before[place]) == 0:
        return False
    factor = float(after[place] / before[place])
    is_special = any(abs(factor - ordinary) < LARGE_ENOUGH for ordinary in (-1, 0, 1))
    return not is_special and alike(factor * before, after)


def _has_nan(run: Observed) -> bool:
    numbers = numbers_of(run.result)
    return numbers is not None and bool(numbers.isnan().any())


def _direction(before: Tensor, after: Tensor, axis: int) -> str | None:
    """Whether weights have become more even, or more uneven; None if neither is true of all of them."""
    gain = _entropy(after, axis) - _entropy(before, axis)
    if bool((gain >= -CLOSE / 10).all() and (gain > LARGE_ENOUGH).any()):
        return "even"
    return "uneven" if bool((gain <= CLOSE / 10).all() and (gain < -LARGE_ENOUGH).any()) else None


def _entropy(weights: Tensor, axis: int) -> Tensor:
    shares = weights.double().clamp(min=1e-30)
    return -(shares * shares.log()).sum(axis)


def pattern_name(pattern: Tensor | None) -> str:
    """The pattern of which place of the result (row) changes with which place of an input; empty if it has no name."""
    if pattern is None or pattern.dim() != 2 or pattern.shape[0] != pattern.shape[1] or pattern.dtype != torch.bool:
        return ""
    all_places = torch.ones_like(pattern)
    earlier = all_places.tril()
    patterns = {
        "all": all_places,
        "earlier": earlier,
        "later": all_places.triu(),
        "own": earlier & all_places.triu(),
        "before": all_places.tril(-1),
        "none": ~all_places,
    }
    for name, expected in patterns.items():
        if pattern.equal(expected):
            return name
    sees_the_past = bool((pattern | ~earlier).all())
    return "some later" if sees_the_past else ""
