"""The notebooks' own numbers, for misconceptions that use them instead of the arguments."""

from __future__ import annotations

import torch

N, D = 3, 4


def words() -> list[torch.Tensor]:
    """all_x: N columns of shape (D, 1)."""
    rng = torch.Generator().manual_seed(3)
    return [torch.randn(D, 1, generator=rng) for _ in range(N)]


def weights() -> list[torch.Tensor]:
    """W_q, W_k, W_v of shape (D, D), then b_q, b_k, b_v of shape (D, 1)."""
    rng = torch.Generator().manual_seed(0)
    return [torch.randn(D, columns, generator=rng) for columns in (D, D, D, 1, 1, 1)]


def sentence() -> torch.Tensor:
    """The six words of the second assignment, "Your journey starts with one step", a row (3,) each."""
    return torch.tensor(
        [
            [0.43, 0.15, 0.89],
            [0.55, 0.87, 0.66],
            [0.57, 0.85, 0.64],
            [0.22, 0.58, 0.33],
            [0.77, 0.25, 0.10],
            [0.05, 0.80, 0.55],
        ]
    )
