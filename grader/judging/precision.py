"""Right numbers, of which digits were thrown away."""

from __future__ import annotations

import torch

from grader.judging import sentences
from grader.model.verdict import Reason

Tensor = torch.Tensor


def what_is_lost(got: Tensor, want: Tensor, tolerance: float) -> tuple[Reason, str] | None:
    """Why digits are missing, as a reason and in a sentence, if they are."""
    decimals = decimals_left(got, want, tolerance)
    if decimals is not None:
        return Reason.ROUNDED, sentences.rounded(decimals)
    if is_rounded_down(got, want):
        return Reason.ROUNDED, sentences.ROUNDED_DOWN
    return (Reason.HALF_PRECISION, sentences.HALF_PRECISION) if has_16_bits(got, want) else None


def decimals_left(got: Tensor, want: Tensor, tolerance: float) -> int | None:
    """To how many decimals the numbers were rounded, if they were."""
    scale = want.abs().max()
    for decimals in range(5):
        if 10.0**-decimals > scale / 2:  # hardly anything is left of the numbers
            continue
        if torch.allclose(got, got.round(decimals=decimals), rtol=1e-6, atol=0) and bool(
            ((got - want).abs() <= 0.51 * 10.0**-decimals + tolerance * scale).all()
        ):
            return decimals
    return None


def is_rounded_down(got: Tensor, want: Tensor) -> bool:
    """Whether they are the next smaller whole numbers, and more than one."""
    return (
        torch.equal(got, got.round())
        and bool((got != got[0]).any())
        and bool(((want - got - 0.5).abs() <= 0.5001).all())
    )


def has_16_bits(got: Tensor, want: Tensor) -> bool:
    """Whether the numbers are right, with the digits that 16 bits can hold."""
    near = bool(((got - want).abs() <= 0.05 * want.abs().max()).all())
    return near and any(torch.equal(got.to(dtype).double(), got) for dtype in (torch.float16, torch.bfloat16))
