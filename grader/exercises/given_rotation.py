"""The rotation by position that the notebook on modern attention provides."""

from __future__ import annotations

import torch

Tensor = torch.Tensor


def rotate(x: Tensor, positions: Tensor, base: float = 10000.0) -> Tensor:
    """Like the notebook's: turn pairs of entries of x (…, T, d), where entry i belongs to entry i + d / 2."""
    half = x.shape[-1] // 2
    rates = base ** (-torch.arange(half, dtype=torch.float64, device=x.device) / half)  # (d / 2)
    angles = (positions[:, None] * rates).to(x.dtype)  # (T, d / 2)
    turned = torch.complex(*x.chunk(2, dim=-1)) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], dim=-1)
