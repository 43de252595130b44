"""Three misconceptions at once that explain all of a student's answers, where one or two do not.

A class has too many sets of three to try them all. There, an edit to the student's code removes one mistake, and the
edited answers show which two are left.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

import torch

from grader.judging.answer_key import AnswerKey, Hypothesis, key_of
from grader.judging.judging_time import JudgingTime
from grader.model.answer import Returned
from grader.model.exercise import Exercise
from grader.model.forms.parts import named
from grader.model.misconception import Misconception, can_combine
from grader.sandbox.nested import tensors_in

# A quick comparison of numbers finds what is worth a full comparison of answers.

TOLERANCE = 1e-4

Tensor = torch.Tensor


def all_numbers(value: object) -> Tensor:
    """The numbers of all tensors in a value, in a row."""
    tensors = [tensor.detach().cpu().double().reshape(-1) for tensor in tensors_in(value)]
    return torch.cat(tensors) if tensors else torch.empty(0, dtype=torch.float64)


def numbers_with(hypothesis: Hypothesis, key: AnswerKey, index: int) -> Tensor | None:
    """The numbers that these misconceptions give. For a class, those of the first output."""
    if key.exercise.glance:
        output = key[index].output(hypothesis)
        return all_numbers(output) if isinstance(output, Tensor) else None
    answer = key[index].answer(hypothesis)
    return all_numbers(answer.value) if isinstance(answer, Returned) else None


def near(some: Tensor, other: Tensor) -> Tensor:
    """Whether the numbers are alike, one by one. NaN is like NaN, and ∞ like ∞."""
    are_close = (some - other).abs() <= TOLERANCE * (1 + other.abs())
    return (some == other) | are_close | (some.isnan() & other.isnan())


def are_alike(one: Tensor | None, other: Tensor | None) -> bool:
    """Whether all numbers are alike. None (no numbers) is like None."""
    if one is None or other is None or one.shape != other.shape:
        return one is other
    return _ends_alike(one, other) and bool(near(one, other).all())


def _ends_alike(numbers: Tensor, expected: Tensor) -> bool:
    """Whether the last numbers are `near`, which is soon known, and tells most apart."""
    if not len(numbers):
        return True
    last, expected_last = float(numbers[-1]), float(expected[-1])
    is_close = abs(last - expected_last) <= TOLERANCE * (1 + abs(expected_last))
    return last == expected_last or is_close or (math.isnan(last) and math.isnan(expected_last))


def _is_any_row_near(table: Tensor, numbers: Tensor) -> bool:
    """Whether a row of the table is `near` the numbers. Most rows are ruled out by their last number."""
    rows = table[near(table[:, -1], numbers[-1])]
    return len(rows) > 0 and bool(near(rows, numbers).all(1).any())


# Which cases of a class show mistakes: some hide nearly all, as a single word does.

SAMPLE = 8  # misconceptions, about, are enough to see which cases show many

_COUNTS: WeakKeyDictionary[Exercise, Mapping[str, int]] = WeakKeyDictionary()


def shown_misconceptions(
    key: AnswerKey, index: int, candidates: Sequence[Misconception] | None = None
) -> list[Misconception]:
    """The misconceptions that change the numbers of a case."""
    right_numbers = numbers_with((), key, index)
    shown: list[Misconception] = []
    for misconception in key.exercise.mistakes if candidates is None else candidates:
        if not are_alike(right_numbers, numbers_with((misconception,), key, index)):
            shown.append(misconception)
    return shown


def count_shown_by_case(exercise: Exercise) -> Mapping[str, int]:
    """How many of a few misconceptions each case shows, by its name. It hardly depends on the inputs."""
    if exercise not in _COUNTS:
        key = AnswerKey(exercise, list({case.case.name: case for case in exercise.sample()}.values()))
        sample = exercise.mistakes[:: max(1, len(exercise.mistakes) // SAMPLE)]
        counts: dict[str, int] = {}
        for index, case in enumerate(key.cases):
            counts[case.case.name] = len(shown_misconceptions(key, index, sample))
        _COUNTS[exercise] = counts
    return _COUNTS[exercise]


MOST_SETS = 500  # up to this many, all sets are tried
MOST_PAIRS = 120  # that a third one is searched for


class ThreeAtOnce:
    """Sets of three misconceptions, compared by the numbers of one case."""

    def __init__(self, key: AnswerKey, index: int, time: JudgingTime, candidates: Sequence[Misconception]) -> None:
        self._key = key
        self._index = index
        self._time = time
        self._candidates = list(candidates)
        # Far quicker than list.index.
        self._positions = {candidate.key: position for position, candidate in enumerate(self._candidates)}

    def hypotheses(self, answer: Returned, edited_answers: Sequence[Returned]) -> Iterator[Hypothesis]:
        """The sets that give the student's answer. The others are those of edited versions of the code."""
        numbers = self._numbers_of(answer)
        if not numbers.isfinite().any():  # many mistakes give NaN
            return
        all_sets: list[Hypothesis] = []
        if not self._key.exercise.glance:
            all_sets = list(itertools.islice(self._combinations(3), MOST_SETS + 1))
        are_few = 0 < len(all_sets) <= MOST_SETS
        for hypothesis in all_sets if are_few else self._add_a_third(self._find_pairs(edited_answers)):
            self._time.check()
            if are_alike(self._numbers_with(hypothesis), numbers):
                yield hypothesis

    def _find_pairs(self, edited_answers: Sequence[Returned]) -> list[Hypothesis]:
        """The pairs whose numbers an edited version gives."""
        rows_by_length: dict[int, list[Tensor]] = {}
        for answer in edited_answers:
            row = self._numbers_of(answer)
            if len(row):
                rows_by_length.setdefault(len(row), []).append(row)
        tables = {length: torch.stack(rows) for length, rows in rows_by_length.items()}
        pairs: list[Hypothesis] = []
        for pair in self._combinations(2):
            self._time.check()
            numbers = self._numbers_with(pair)
            table = tables.get(len(numbers)) if numbers is not None else None
            if table is not None and numbers is not None and _is_any_row_near(table, numbers):
                pairs.append(pair)
            if len(pairs) == MOST_PAIRS:
                break
        return pairs

    def _add_a_third(self, pairs: Iterable[Hypothesis]) -> Iterator[Hypothesis]:
        visited = set()
        for pair in pairs:
            for third in self._candidates:
                if all(can_combine(third, member) for member in pair):
                    hypothesis = sorted((*pair, third), key=lambda member: self._positions[member.key])
                    if key_of(hypothesis) not in visited:
                        visited.add(key_of(hypothesis))
                        yield tuple(hypothesis)

    def _combinations(self, count: int) -> Iterator[Hypothesis]:
        for hypothesis in itertools.combinations(self._candidates, count):
            if all(can_combine(*pair) for pair in itertools.combinations(hypothesis, 2)):
                yield hypothesis

    def _numbers_with(self, hypothesis: Hypothesis) -> Tensor | None:
        return numbers_with(hypothesis, self._key, self._index)

    def _numbers_of(self, answer: Returned) -> Tensor:
        """The numbers of a student's answer; there may be none."""
        if not self._key.exercise.glance:
            return all_numbers(answer.value)
        output = named(named(answer.value, "outputs"), "output")
        return all_numbers(output if isinstance(output, Tensor) else None)
