"""Which three misconceptions at once explain all of a student's answers, where one or two do not.

Where there are too many to try all of them, as in a class, two are looked for that are left when the student's code
is changed in one spot, and the third is what was changed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import torch

from grader.judging.answer_key import AnswerKey
from grader.judging.case_key import Held
from grader.judging.judging_time import JudgingTime
from grader.model.answer import Returned
from grader.model.exercise import Misconception, can_combine
from grader.repair.first_look import alike, all_numbers, near, numbers_of

MOST_SETS = 500  # that are all tried
MOST_PAIRS = 120  # for which a third one is looked for


class ThreeAtOnce:
    """Sets of three of some misconceptions, by what comes out in one case."""

    def __init__(self, key: AnswerKey, index: int, time: JudgingTime, among: Sequence[Misconception]) -> None:
        self._key = key
        self._index = index
        self._time = time
        self._all = list(among)

    def likely(self, answer: Returned, changed: Sequence[Returned]) -> Iterator[Held]:
        """Those that give the student's answer. `changed` is what the student's code answers with changes."""
        got = self._numbers_of(answer)
        if not got.isfinite().any():  # NaN is what many make
            return
        few = [] if self._key.exercise.glance else list(itertools.islice(self._combinations(3), MOST_SETS + 1))
        are_all = bool(few) and len(few) <= MOST_SETS
        for held in few if are_all else self._with_a_third(self._left(changed)):
            self._time.look()
            if alike(self._numbers(held), got):
                yield held

    def _left(self, changed: Sequence[Returned]) -> list[Held]:
        """The pairs that are left in changed code."""
        answers = [of_changed for answer in changed if len(of_changed := self._numbers_of(answer))]
        by_length: dict[int, list[torch.Tensor]] = {}
        for of_changed in answers:
            by_length.setdefault(len(of_changed), []).append(of_changed)
        tables = {length: torch.stack(rows) for length, rows in by_length.items()}
        found: list[Held] = []
        for pair in self._combinations(2):
            self._time.look()
            numbers = self._numbers(pair)
            table = tables.get(len(numbers)) if numbers is not None else None
            if table is not None and numbers is not None and bool(near(table, numbers).all(1).any()):
                found.append(pair)
        return found[:MOST_PAIRS]

    def _with_a_third(self, pairs: Iterable[Held]) -> Iterator[Held]:
        known = set()
        for pair in pairs:
            for third in self._all:
                if all(can_combine(third, one) for one in pair):
                    held = tuple(sorted((*pair, third), key=self._all.index))
                    names = tuple(one.name for one in held)
                    if names not in known:
                        known.add(names)
                        yield held

    def _combinations(self, count: int) -> Iterator[tuple[Misconception, ...]]:
        for held in itertools.combinations(self._all, count):
            if all(can_combine(*pair) for pair in itertools.combinations(held, 2)):
                yield held

    def _numbers(self, held: Held) -> torch.Tensor | None:
        return numbers_of(self._key, held, self._index)

    def _numbers_of(self, answer: Returned) -> torch.Tensor:
        """The same of what a student's code returned; there may be none."""
        if not self._key.exercise.glance:
            return all_numbers(answer.value)
        outputs = answer.value.get("outputs") if isinstance(answer.value, dict) else None
        output = outputs.get("output") if isinstance(outputs, dict) else None
        return all_numbers(output if isinstance(output, torch.Tensor) else None)
