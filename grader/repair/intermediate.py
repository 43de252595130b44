"""Whether changed code answers as a misconception does: then one mistake is found, and one is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from grader.judging.answer_key import AnswerKey
from grader.model.answer import Answer, Returned
from grader.model.exercise import Misconception
from grader.repair.three import alike, all_numbers, near


class Intermediate:
    """What all misconceptions answer, case by case."""

    def __init__(self, key: AnswerKey) -> None:
        self._key = key
        self._known: dict[int, dict[int, tuple[list[Misconception], torch.Tensor]]] = {}

    def explain(self, answers: Sequence[Answer], first: int) -> bool:
        """Whether one of those that answer so in one case does in all."""
        answer = answers[first]
        likely = self.like(answer.value, first) if isinstance(answer, Returned) else []
        return any(all(self._answers_so(one, answer, index) for index, answer in enumerate(answers)) for one in likely)

    def like(self, value: Any, index: int) -> list[Misconception]:
        """Those that answer so in a case."""
        got = all_numbers(value)
        misconceptions, numbers = self._answers(index).get(len(got), ([], None))
        if numbers is None or not len(got):
            return []
        same = near(numbers, got).all(1).tolist()  # (misconceptions, numbers)
        return [one for one, is_same in zip(misconceptions, same, strict=True) if is_same]

    def _answers_so(self, misconception: Misconception, answer: Answer, index: int) -> bool:
        wrong = self._key.answer((misconception,), index)
        if not isinstance(wrong, Returned) or not isinstance(answer, Returned):
            return type(wrong) is type(answer)
        return alike(all_numbers(wrong.value), all_numbers(answer.value))

    def _answers(self, index: int) -> dict[int, tuple[list[Misconception], torch.Tensor]]:
        """By how many numbers they have."""
        if index not in self._known:
            found: dict[int, list[tuple[Misconception, torch.Tensor]]] = {}
            for misconception in self._key.exercise.mistakes:
                answer = self._key.answer((misconception,), index)
                if isinstance(answer, Returned):
                    numbers = all_numbers(answer.value)
                    found.setdefault(len(numbers), []).append((misconception, numbers))
            self._known[index] = {
                length: ([one for one, _ in rows], torch.stack([numbers for _, numbers in rows]))
                for length, rows in found.items()
            }
        return self._known[index]
