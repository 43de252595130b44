"""Which cases of a class tell something: some hide nearly all mistakes, as a single word does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from grader.judging.answer_key import AnswerKey
from grader.model.exercise import Exercise, Misconception
from grader.repair.first_look import alike, numbers_of

FEW = 8  # misconceptions, about, tell which cases show much

_KNOWN: WeakKeyDictionary[Exercise, Mapping[str, int]] = WeakKeyDictionary()


def shown(key: AnswerKey, index: int, among: Sequence[Misconception] | None = None) -> list[Misconception]:
    """The misconceptions that a case shows."""
    right = numbers_of(key, (), index)
    among = key.exercise.mistakes if among is None else among
    return [one for one in among if not alike(right, numbers_of(key, (one,), index))]


def shown_by_case(exercise: Exercise) -> Mapping[str, int]:
    """How many of a few of them each case shows, by its name: with whatever inputs, it is much the same."""
    if exercise not in _KNOWN:
        key = AnswerKey(exercise, list({case.case.name: case for case in exercise.sample()}.values()))
        few = exercise.mistakes[:: max(1, len(exercise.mistakes) // FEW)]
        _KNOWN[exercise] = {case.case.name: len(shown(key, index, few)) for index, case in enumerate(key.cases)}
    return _KNOWN[exercise]
