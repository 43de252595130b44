"""Numbers compared at a first look: it finds soon what is worth being compared as answers are."""

from __future__ import annotations

from typing import Any

import torch

from grader.judging.answer_key import AnswerKey
from grader.judging.case_key import Held
from grader.judging.fitting import tensors_in
from grader.model.answer import Returned

ALIKE = 1e-4

Tensor = torch.Tensor


def all_numbers(value: Any) -> Tensor:
    """Those of all tensors in a value, one after the other."""
    tensors = [tensor.detach().cpu().double().reshape(-1) for tensor in tensors_in(value)]
    return torch.cat(tensors) if tensors else torch.empty(0, dtype=torch.float64)


def numbers_of(key: AnswerKey, held: Held, index: int) -> Tensor | None:
    """Those that come out with these misconceptions: of a class, the output that is computed first."""
    if key.exercise.glance:
        output = key.output(held, index)
        return all_numbers(output) if isinstance(output, Tensor) else None
    answer = key.answer(held, index)
    return all_numbers(answer.value) if isinstance(answer, Returned) else None


def near(some: Tensor, other: Tensor) -> Tensor:
    """Number by number, whether they are alike; so are NaN and NaN, and ∞ and ∞."""
    return (some == other) | ((some - other).abs() <= ALIKE * (1 + other.abs())) | (some.isnan() & other.isnan())


def alike(one: Tensor | None, other: Tensor | None) -> bool:
    """Whether all numbers are alike. None, where there are none, is like None."""
    if one is None or other is None or one.shape != other.shape:
        return one is other
    return bool(near(one, other).all())
