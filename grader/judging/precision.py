"""Right numbers, of which digits were thrown away."""

from __future__ import annotations

import torch

Tensor = torch.Tensor


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


def has_16_bits(got: Tensor, want: Tensor) -> bool:
    """Whether the numbers are right, with the digits that 16 bits can hold."""
    near = bool(((got - want).abs() <= 0.05 * want.abs().max()).all())
    return near and any(torch.equal(got.to(dtype).double(), got) for dtype in (torch.float16, torch.bfloat16))
