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
    pairs: list[tuple[Tensor, Tensor]] = []
    for answer, wanted in zip(answers, expected, strict=True):
        paired = form.paired_numbers(answer.value, wanted) if isinstance(answer, Returned) else None
        if paired is None:
            return None
        pairs += paired
    if not pairs:
        return None
    got, want = (torch.cat([numbers.reshape(-1) for numbers in side]) for side in zip(*pairs, strict=True))
    return got, want


def what_is_lost(got: Tensor, want: Tensor, tolerance: float) -> tuple[Reason, str] | None:
    """Why digits are missing, as a reason and in a sentence, if they are."""
    decimals = decimals_left(got, want, tolerance)
    if decimals is not None:
        return Reason.ROUNDED, wording.rounded(decimals)
    if is_cut(got, want):
        return Reason.ROUNDED, wording.CUT
    return (Reason.HALF_PRECISION, HALF_PRECISION) if has_16_bits(got, want) else None


def decimals_left(got: Tensor, want: Tensor, tolerance: float) -> int | None:
    """The decimals to which numbers were rounded, if they were."""
    scale = want.abs().max()
    for decimals in range(5):
        if 10.0**-decimals > scale / 2:  # hardly anything is left of the numbers
            continue
        if torch.allclose(got, got.round(decimals=decimals), rtol=1e-6, atol=0) and bool(
            ((got - want).abs() <= 0.51 * 10.0**-decimals + tolerance * scale).all()
        ):
            return decimals
    return None


def is_cut(got: Tensor, want: Tensor) -> bool:
    """Whether only decimals are missing; numbers below one would have nothing left."""
    return (
        are_whole(got)
        and bool((got != got[0]).any())
        and bool(want.abs().max() > 2)
        and bool(((want - got).abs() <= 1.0001).all())
    )


def said_of_whole_numbers(numbers: tuple[Tensor, Tensor] | None) -> list[str]:
    """A sentence if only whole numbers came back, wrongly. All zeros are more often a result never filled in."""
    if numbers is None or not numbers[0].any():
        return []
    return [WHOLE] if are_whole(numbers[0]) and not are_whole(numbers[1]) else []


def are_whole(numbers: Tensor) -> bool:
    return torch.equal(numbers, numbers.round())


def has_16_bits(got: Tensor, want: Tensor) -> bool:
    """Whether the numbers are right, with the digits that 16 bits can hold."""
    near = bool(((got - want).abs() <= 0.05 * want.abs().max()).all())
    return near and any(torch.equal(got.to(dtype).double(), got) for dtype in (torch.float16, torch.bfloat16))
