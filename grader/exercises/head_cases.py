"""Cases for functions of queries, keys and values with several heads: exercises 22 and 28 to 35."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader import Inputs, MemoryPromise, randn

Tensor = torch.Tensor

LONG = 8192  # words, whose table takes 256 MB
NO_TABLE = MemoryPromise(56 * 2**20, 4 * LONG * LONG)  # allows less than T × T bytes

PRIME = 307  # words: more than most fixed block sizes, and a prime, so that no size divides it
NOT_FILLED = (
    f"Your code is right for short texts, but not for one of {PRIME} words. If you work in blocks, the last one may be "
    "shorter: their size need not divide the length of a text."
)

OVERLONG = 140  # words, more than anyone would expect as the largest size
OF_ANY_LENGTH = (
    f"Your code is right for short texts, but not for one of {OVERLONG} words. A text may have any length, so make a "
    "mask as large as the text."
)


def along_a_line(rng: torch.Generator, *shape: int) -> Tensor:
    """Vectors (…, n, d) of different lengths along a line, half of them reversed: their dot products reach ±10⁴.

    They are far from each other, since float32 has few decimal places for such scores.
    """
    *batch, count, d = shape
    order = _orders(rng, *batch, count)
    lengths = (20 + 15 * order) * (1 - 2 * (torch.arange(count) % 2))  # (…, n)
    return lengths[..., None] * _direction(rng, d)


def of_large_scores(rng: torch.Generator, B: int, Hq: int, Hkv: int, T: int, S: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries (B, Hq, T, 4), keys and values (B, Hkv, S, 4) whose scores reach ±10⁴."""
    queries, keys = far_below_zero(rng, along_a_line(rng, B, Hq, T, 4), along_a_line(rng, B, Hkv, S, 4))
    return queries, keys, randn(rng, B, Hkv, S, 4)


def far_below_zero(rng: torch.Generator, queries: Tensor, keys: Tensor) -> tuple[Tensor, Tensor]:
    """Queries (…, H, T, d) and keys (…, H, S, d), with scores of about −10⁴ and no others in the first head.

    There, what is hidden by −1000 or −10⁴ is seen, and a maximum that begins with 0 is larger than all scores.
    """
    direction = _direction(rng, queries.shape[-1])
    direction = direction / direction.square().mean().sqrt() * 100 / queries.shape[-1] ** 0.25

    def with_first(heads: Tensor, sign: int) -> Tensor:
        """Lengths 1 % apart: float32 has hardly a digit of such scores behind the point."""
        lengths = 1.01 + 0.01 * _orders(rng, *heads[..., :1, :, 0].shape)
        return torch.cat([sign * lengths[..., None] * direction, heads[..., 1:, :, :]], dim=-3)

    return with_first(queries, -1), with_first(keys, 1)


def with_a_query_of_zeros(sample: Callable[[torch.Generator], Inputs]) -> Callable[[torch.Generator], Inputs]:
    """Make one query zero, so that its scores are 0: code must not treat these as hidden."""

    def inputs(rng: torch.Generator) -> Inputs:
        queries, *keys_and_values = sample(rng)
        zeros = torch.arange(queries.shape[-2]) == queries.shape[-2] // 2
        return queries.masked_fill(zeros[:, None], 0.0), *keys_and_values

    return inputs


def _orders(rng: torch.Generator, *shape: int) -> Tensor:
    """0, 1, 2, … in a random order, along the last axis."""
    return torch.rand(*shape, generator=rng).argsort(-1).argsort(-1)


def _direction(rng: torch.Generator, d: int) -> Tensor:
    return 0.8 + 0.4 * torch.rand(d, generator=rng)
