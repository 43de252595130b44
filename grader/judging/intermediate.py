"""Whether changed code answers a case as a misconception does: then one mistake is found, and one is left."""

from __future__ import annotations

from typing import Any

import torch

from grader.judging.answer_key import AnswerKey
from grader.judging.first_look import all_numbers, near
from grader.model.answer import Returned


class Intermediate:
    """What all misconceptions answer, case by case."""

    def __init__(self, key: AnswerKey) -> None:
        self._key = key
        self._known: dict[int, dict[int, torch.Tensor]] = {}

    def is_of_a_misconception(self, value: Any, index: int) -> bool:
        got = all_numbers(value)
        wrong = self._answers(index).get(len(got)) if len(got) else None
        return wrong is not None and bool(near(wrong, got).all(1).any())  # (misconceptions, numbers)

    def _answers(self, index: int) -> dict[int, torch.Tensor]:
        """By how many numbers they have."""
        if index not in self._known:
            found: dict[int, list[torch.Tensor]] = {}
            for misconception in self._key.exercise.misconceptions:
                answer = self._key.answer((misconception,), index)
                if isinstance(answer, Returned):
                    numbers = all_numbers(answer.value)
                    found.setdefault(len(numbers), []).append(numbers)
            self._known[index] = {length: torch.stack(rows) for length, rows in found.items()}
        return self._known[index]
