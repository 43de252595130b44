"""Ask again with values in the notebook's variables that fit the case: if all is right then, nothing else was wrong."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from grader.judging.another_way import AskAgain
from grader.judging.answer_key import AnswerKey
from grader.judging.judge import is_right
from grader.judging.judging_time import JudgingTime
from grader.model.exercise import Exercise, SampledCase

MAX_NAMES = 3
MOST = 150  # ways to lend; with sizes first, two names are through with them before

Path = tuple[Any, ...]


def is_right_with_lent_values(
    exercise: Exercise,
    cases: Sequence[SampledCase],
    ask: AskAgain,
    names: Sequence[str],
    device: str,
    time: JudgingTime,
) -> bool:
    """Whether there is something in the inputs that each name can stand for, such that all answers are right."""
    if not 0 < len(names) <= MAX_NAMES:
        return False
    cases = [case for case in cases if not case.case.beside]  # one name cannot fit two numbers of words
    # The first case by itself: hardly any way to lend gets beyond it. What is right depends on nothing that is lent.
    keys = [AnswerKey(exercise, some) for some in (cases[:1], cases[1:])]
    for chosen in itertools.islice(itertools.product(found_in_all(cases), repeat=len(names)), MOST):
        lent = [
            replace(case, lent=dict(zip(names, of_case, strict=True)))
            for case, of_case in zip(cases, zip(*chosen, strict=True), strict=True)
        ]
        asked = zip(keys, (lent[:1], lent[1:]), strict=True)
        if all(is_right(key, ask(some), device, time) for key, some in asked):
            return True
    return False


def found_in_all(cases: Sequence[SampledCase]) -> list[tuple[Any, ...]]:
    """What is found at the same place in all cases, in each of them: sizes, and then what has them."""
    by_place = [dict(_parts(case.inputs)) for case in cases]
    places = [place for place in by_place[0] if all(place in found for found in by_place)]
    values = [tuple(found[place] for found in by_place) for place in places]
    sizes = list(dict.fromkeys(value for value in values if all(type(size) is int for size in value)))
    return sizes + [value for value in values if any(type(size) is not int for size in value)]


def _parts(value: Any, place: Path = ()) -> Iterator[tuple[Path, Any]]:
    """All sizes in a value, and its tensors and lists, by where they are. Of a list, the first item stands for all."""
    match value:
        case torch.Tensor():
            yield place, value
            yield from (((*place, "size", dimension), size) for dimension, size in enumerate(value.shape))
        case bool() | float() | str() | None:
            return
        case int():
            yield place, value
        case Mapping():
            for name, item in value.items():
                yield from _parts(item, (*place, name))
        case [first, *_] if place and isinstance(value, list):
            yield place, value
            yield (*place, "length"), len(value)
            yield from _parts(first, (*place, 0))
        case list() | tuple():
            for index, item in enumerate(value):
                yield from _parts(item, (*place, index))
