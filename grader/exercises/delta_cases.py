"""Cases for functions of queries, keys, values and two gates: exercise 42. Some also get the size of chunks."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader import Inputs, randn

Tensor = torch.Tensor
Sample = Callable[[torch.Generator], Inputs]

WORDS = 149  # words: more than most fixed sizes, and a prime
OF_ANY_LENGTH = f"Your code is right for short texts, but not for one of {WORDS} words. A text may have any length."


def vectors(rng: torch.Generator, *shape: int) -> Tensor:
    """Vectors of lengths 0.7 to 2.5, so that an eps of 10⁻⁶ does not matter, nor where it is added."""
    directions = torch.nn.functional.normalize(randn(rng, *shape), dim=-1)
    return directions * between(rng, 0.7, 2.5, *shape[:-1], 1)


def between(rng: torch.Generator, least: float, most: float, *shape: int) -> Tensor:
    return least + (most - least) * torch.rand(*shape, generator=rng)


def sized(B: int, H: int, T: int, d: int, d_v: int, *chunk: int) -> Sample:
    """Gates are neither 0 nor 1. No product of alphas is so small that float32 loses it."""
    least = 0.4 if T < WORDS else 0.9

    def inputs(rng: torch.Generator) -> Inputs:
        queries, keys, values = vectors(rng, B, H, T, d), vectors(rng, B, H, T, d), randn(rng, B, H, T, d_v)
        return queries, keys, values, between(rng, least, 0.97, B, H, T), between(rng, 0.2, 0.9, B, H, T), *chunk

    return inputs


def with_state(B: int, H: int, T: int, d: int, d_v: int, *chunk: int) -> Sample:
    """A text that continues another one."""
    return lambda rng: (*sized(B, H, T, d, d_v, *chunk)(rng), randn(rng, B, H, d, d_v))


def gated(sample: Sample, alpha: float | None, beta: float | None) -> Sample:
    """The same with one number for all alphas, or all betas."""

    def inputs(rng: torch.Generator) -> Inputs:
        queries, keys, values, alphas, betas, *settings = sample(rng)
        alphas = alphas if alpha is None else torch.full_like(alphas, alpha)
        betas = betas if beta is None else torch.full_like(betas, beta)
        return queries, keys, values, alphas, betas, *settings

    return inputs


def erased(B: int, H: int, T: int, d: int, d_v: int, *chunk: int) -> Sample:
    """Nothing decays, and each word replaces what was there."""
    return gated(with_state(B, H, T, d, d_v, *chunk), 1.0, 1.0)


def forgetting(B: int, H: int, T: int, d: int, d_v: int, *chunk: int) -> Sample:
    """Nothing is written."""
    return gated(with_state(B, H, T, d, d_v, *chunk), None, 0.0)


def along_a_line(B: int, H: int, T: int, d: int, d_v: int, *chunk: int) -> Sample:
    """All keys and queries of a sentence have nearly one direction, so each word meets what others have left."""

    def inputs(rng: torch.Generator) -> Inputs:
        queries, keys, *other_inputs = with_state(B, H, T, d, d_v, *chunk)(rng)
        line = 2 * torch.nn.functional.normalize(randn(rng, B, H, 1, d), dim=-1)  # never undone by the small part
        return *((0.3 * each + line) * between(rng, 0.7, 1.5, B, H, T, 1) for each in (queries, keys)), *other_inputs

    return inputs


def longest(B: int, H: int, T: int, d: int, d_v: int, *chunk: int) -> Sample:
    """Queries and keys a thousand times as long."""

    def inputs(rng: torch.Generator) -> Inputs:
        queries, keys, *other_inputs = sized(B, H, T, d, d_v, *chunk)(rng)
        return 1e3 * queries, 1e3 * keys, *other_inputs

    return inputs
