"""Recognize right numbers that have lost digits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from grader.judging import wording
from grader.model.answer import Answer, Returned
from grader.model.broken_rules import HALF_PRECISION, WHOLE
from grader.model.forms.function import Form
from grader.model.verdict import Reason

Tensor = torch.Tensor


def numbers_of(form: Form, answers: Sequence[Answer], expected: Sequence[Any]) -> tuple[Tensor, Tensor] | None:
    """All numbers of some answers, and the expected ones, if they can be paired."""
    actual_numbers: list[Tensor] = []
    expected_numbers: list[Tensor] = []
    for answer, expected_value in zip(answers, expected, strict=True):
        pairs = form.paired_numbers(answer.value, expected_value) if isinstance(answer, Returned) else None
        if pairs is None:
            return None
        for actual_tensor, expected_tensor in pairs:
            actual_numbers.append(actual_tensor.reshape(-1))
            expected_numbers.append(expected_tensor.reshape(-1))
    if not actual_numbers:
        return None
    return torch.cat(actual_numbers), torch.cat(expected_numbers)


def find_lost_digits(actual: Tensor, expected: Tensor, tolerance: float) -> tuple[Reason, str] | None:
    """Why digits are missing, as a reason and in a sentence, if they are."""
    decimals = find_decimals(actual, expected, tolerance)
    if decimals is not None:
        return Reason.ROUNDED, wording.rounded(decimals)
    if are_cut(actual, expected):
        return Reason.ROUNDED, wording.CUT
    if have_16_bits(actual, expected):
        return Reason.HALF_PRECISION, HALF_PRECISION
    return None


def find_decimals(actual: Tensor, expected: Tensor, tolerance: float) -> int | None:
    """The decimals to which numbers were rounded, if they were."""
    scale = expected.abs().max()
    for decimals in range(5):
        if 10.0**-decimals > scale / 2:  # hardly anything is left of the numbers
            continue
        are_rounded = torch.allclose(actual, actual.round(decimals=decimals), rtol=1e-6, atol=0)
        if are_rounded and bool(((actual - expected).abs() <= 0.51 * 10.0**-decimals + tolerance * scale).all()):
            return decimals
    return None


def are_cut(actual: Tensor, expected: Tensor) -> bool:
    """Whether only decimals are missing; numbers below one would have nothing left."""
    if not are_whole(actual) or not (actual != actual[0]).any():
        return False
    return bool(expected.abs().max() > 2) and bool(((expected - actual).abs() <= 1.0001).all())


def describe_whole_numbers(numbers: tuple[Tensor, Tensor] | None) -> list[str]:
    """A sentence if only whole numbers came back, wrongly. All zeros are more often a result never filled in."""
    if numbers is None:
        return []
    actual, expected = numbers
    return [WHOLE] if actual.any() and are_whole(actual) and not are_whole(expected) else []


def are_whole(numbers: Tensor) -> bool:
    return torch.equal(numbers, numbers.round())


def have_16_bits(actual: Tensor, expected: Tensor) -> bool:
    """Whether the numbers are right, with the digits that 16 bits can hold."""
    are_near = bool(((actual - expected).abs() <= 0.05 * expected.abs().max()).all())
    return are_near and any(torch.equal(actual.to(dtype).double(), actual) for dtype in (torch.float16, torch.bfloat16))
