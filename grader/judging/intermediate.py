"""Whether changed code answers a case as a misconception does: then one mistake is found, and one is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from grader.judging.answer_key import AnswerKey, Held
from grader.judging.fitting import tensors_in
from grader.model.answer import Returned
from grader.model.exercise import Misconception

ALIKE = 1e-4  # this is only a first look


class Intermediate:
    """What all misconceptions answer, case by case."""

    def __init__(self, key: AnswerKey) -> None:
        self._key = key
        self._known: dict[int, dict[int, torch.Tensor]] = {}
        self._shown: dict[int, Sequence[Misconception]] = {}

    def is_of_a_misconception(self, value: Any, index: int) -> bool:
        got = _numbers(value)
        wrong = self._answers(index).get(len(got)) if len(got) else None
        if wrong is None:
            return False
        near = (wrong == got) | ((wrong - got).abs() <= ALIKE * (1 + got.abs()))  # (misconceptions, numbers)
        return bool((near | (wrong.isnan() & got.isnan())).all(1).any())

    def shown(self, index: int) -> Sequence[Misconception]:
        """The misconceptions that a case shows."""
        if index not in self._shown:
            right = self._numbers((), index)
            known = self._key.exercise.misconceptions
            self._shown[index] = [one for one in known if not _alike(right, self._numbers((one,), index))]
        return self._shown[index]

    def _numbers(self, held: Held, index: int) -> torch.Tensor | None:
        """Those of the first output."""
        if self._key.exercise.glance:
            output = self._key.output(held, index)
            return _numbers([output]) if isinstance(output, torch.Tensor) else None
        answer = self._key.answer(held, index)
        return _numbers(answer.value) if isinstance(answer, Returned) else None

    def _answers(self, index: int) -> dict[int, torch.Tensor]:
        """By how many numbers they have."""
        if index not in self._known:
            found: dict[int, list[torch.Tensor]] = {}
            for misconception in self._key.exercise.misconceptions:
                answer = self._key.answer((misconception,), index)
                if isinstance(answer, Returned):
                    numbers = _numbers(answer.value)
                    found.setdefault(len(numbers), []).append(numbers)
            self._known[index] = {length: torch.stack(rows) for length, rows in found.items()}
        return self._known[index]


def _alike(one: torch.Tensor | None, other: torch.Tensor | None) -> bool:
    if one is None or other is None or one.shape != other.shape:
        return one is other
    return torch.allclose(one, other, rtol=ALIKE, atol=ALIKE, equal_nan=True)


def _numbers(value: Any) -> torch.Tensor:
    """All numbers of its tensors, one after the other."""
    tensors = [tensor.detach().cpu().double().reshape(-1) for tensor in tensors_in(value)]
    return torch.cat(tensors) if tensors else torch.empty(0, dtype=torch.float64)
