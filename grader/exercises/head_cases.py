"""Cases for functions that are given queries, keys and values of several heads: exercises 28 and 35."""

from __future__ import annotations

import torch

Tensor = torch.Tensor


def along_a_line(rng: torch.Generator, *shape: int) -> Tensor:
    """Vectors (…, n, d) of lengths that differ, half of them the other way: their dot products reach ±10⁴.

    Far from each other, since float32 has hardly a digit of such scores behind the point.
    """
    *others, count, d = shape
    order = torch.rand(*others, count, generator=rng).argsort(-1).argsort(-1)
    lengths = (20 + 15 * order) * (1 - 2 * (torch.arange(count) % 2))  # (…, n)
    return lengths[..., None] * (0.8 + 0.4 * torch.rand(d, generator=rng))
