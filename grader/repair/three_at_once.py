"""Three misconceptions at once that explain all of a student's answers, where one or two do not.

A class has too many sets of three to try them all. There, an edit to the student's code removes one mistake, and the
edited answers show which two are left.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

import torch

from grader.judging.answer_key import AnswerKey, Hypothesis
from grader.judging.judging_time import JudgingTime
from grader.model.answer import Returned
from grader.model.exercise import Exercise
from grader.model.forms.parts import named
from grader.model.misconception import Misconception, can_combine
from grader.sandbox.nested import tensors_in

# A quick comparison of numbers finds what is worth a full comparison of answers.

ALIKE = 1e-4

Tensor = torch.Tensor


def all_numbers(value: object) -> Tensor:
    """The numbers of all tensors in a value, in a row."""
    tensors = [tensor.detach().cpu().double().reshape(-1) for tensor in tensors_in(value)]
    return torch.cat(tensors) if tensors else torch.empty(0, dtype=torch.float64)


def numbers_of(key: AnswerKey, held: Hypothesis, index: int) -> Tensor | None:
    """The numbers that these misconceptions give. For a class, those of the first output."""
    if key.exercise.glance:
        output = key[index].output(held)
        return all_numbers(output) if isinstance(output, Tensor) else None
    answer = key[index].answer(held)
    return all_numbers(answer.value) if isinstance(answer, Returned) else None


def near(some: Tensor, other: Tensor) -> Tensor:
    """Whether the numbers are alike, one by one. NaN is like NaN, and ∞ like ∞."""
    return (some == other) | ((some - other).abs() <= ALIKE * (1 + other.abs())) | (some.isnan() & other.isnan())


def alike(one: Tensor | None, other: Tensor | None) -> bool:
    """Whether all numbers are alike. None (no numbers) is like None."""
    if one is None or other is None or one.shape != other.shape:
        return one is other
    return bool(near(one, other).all())


# Which cases of a class show mistakes: some hide nearly all, as a single word does.

FEW = 8  # misconceptions, about, are enough to see which cases show many

_KNOWN: WeakKeyDictionary[Exercise, Mapping[str, int]] = WeakKeyDictionary()


def shown(key: AnswerKey, index: int, among: Sequence[Misconception] | None = None) -> list[Misconception]:
    """The misconceptions that change the numbers of a case."""
    right = numbers_of(key, (), index)
    among = key.exercise.mistakes if among is None else among
    return [one for one in among if not alike(right, numbers_of(key, (one,), index))]


def shown_by_case(exercise: Exercise) -> Mapping[str, int]:
    """How many of a few misconceptions each case shows, by its name. It hardly depends on the inputs."""
    if exercise not in _KNOWN:
        key = AnswerKey(exercise, list({case.case.name: case for case in exercise.sample()}.values()))
        few = exercise.mistakes[:: max(1, len(exercise.mistakes) // FEW)]
        _KNOWN[exercise] = {case.case.name: len(shown(key, index, few)) for index, case in enumerate(key.cases)}
    return _KNOWN[exercise]


MOST_SETS = 500  # up to this many, all sets are tried
MOST_PAIRS = 120  # that a third one is searched for


class ThreeAtOnce:
    """Sets of three misconceptions, compared by the numbers of one case."""

    def __init__(self, key: AnswerKey, index: int, time: JudgingTime, among: Sequence[Misconception]) -> None:
        self._key = key
        self._index = index
        self._time = time
        self._all = list(among)
        self._place = {one.key: site for site, one in enumerate(self._all)}  # far quicker than list.index

    def likely(self, answer: Returned, changed: Sequence[Returned]) -> Iterator[Hypothesis]:
        """The sets that give the student's answer. `changed` are answers of edited versions of the code."""
        got = self._numbers_of(answer)
        if not got.isfinite().any():  # many mistakes give NaN
            return
        few = [] if self._key.exercise.glance else list(itertools.islice(self._combinations(3), MOST_SETS + 1))
        are_all = bool(few) and len(few) <= MOST_SETS
        for held in few if are_all else self._with_a_third(self._left(changed)):
            self._time.check()
            if alike(self._numbers(held), got):
                yield held

    def _left(self, changed: Sequence[Returned]) -> list[Hypothesis]:
        """The pairs whose numbers an edited version gives."""
        answers = [of_changed for answer in changed if len(of_changed := self._numbers_of(answer))]
        by_length: dict[int, list[torch.Tensor]] = {}
        for of_changed in answers:
            by_length.setdefault(len(of_changed), []).append(of_changed)
        tables = {length: torch.stack(rows) for length, rows in by_length.items()}
        found: list[Hypothesis] = []
        for pair in self._combinations(2):
            self._time.check()
            numbers = self._numbers(pair)
            table = tables.get(len(numbers)) if numbers is not None else None
            if table is not None and numbers is not None and bool(near(table, numbers).all(1).any()):
                found.append(pair)
        return found[:MOST_PAIRS]

    def _with_a_third(self, pairs: Iterable[Hypothesis]) -> Iterator[Hypothesis]:
        known = set()
        for pair in pairs:
            for third in self._all:
                if all(can_combine(third, one) for one in pair):
                    held = tuple(sorted((*pair, third), key=lambda one: self._place[one.key]))
                    keys = tuple(mistake.key for mistake in held)
                    if keys not in known:
                        known.add(keys)
                        yield held

    def _combinations(self, count: int) -> Iterator[tuple[Misconception, ...]]:
        for held in itertools.combinations(self._all, count):
            if all(can_combine(*pair) for pair in itertools.combinations(held, 2)):
                yield held

    def _numbers(self, held: Hypothesis) -> torch.Tensor | None:
        return numbers_of(self._key, held, self._index)

    def _numbers_of(self, answer: Returned) -> torch.Tensor:
        """The numbers of a student's answer; there may be none."""
        if not self._key.exercise.glance:
            return all_numbers(answer.value)
        output = named(named(answer.value, "outputs"), "output")
        return all_numbers(output if isinstance(output, torch.Tensor) else None)
