"""The numbers given in the notebook, for misconceptions that read them instead of the arguments."""

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
