"""Cases for functions that are given queries, keys and values of several heads: exercises 28 to 35."""

from __future__ import annotations

import torch

from grader.model.memory import MemoryPromise

Tensor = torch.Tensor

LONG = 8192  # words, whose table takes 256 MB
NO_TABLE = MemoryPromise(56 * 2**20, 4 * LONG * LONG)  # less is allowed than T × T of even one byte each


def along_a_line(rng: torch.Generator, *shape: int) -> Tensor:
    """Vectors (…, n, d) of lengths that differ, half of them the other way: their dot products reach ±10⁴.

    Far from each other, since float32 has hardly a digit of such scores behind the point.
    """
    *others, count, d = shape
    order = torch.rand(*others, count, generator=rng).argsort(-1).argsort(-1)
    lengths = (20 + 15 * order) * (1 - 2 * (torch.arange(count) % 2))  # (…, n)
    return lengths[..., None] * (0.8 + 0.4 * torch.rand(d, generator=rng))
