"""Cases shared by modules of attention: exercises 13 and 16 to 19."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from grader import ClassCase, randn
from grader.kit.module_cases import draw_weights, twice_and_changed

Tensor = torch.Tensor
Shapes = Mapping[str, Sequence[int]]
# Draws a mask for N sentences, some heads, T queries and S keys.
MakeMask = Callable[[torch.Generator, int, int, int, int], Tensor | None]


def projection_shapes(d_in: int, d_out: int, bias: bool) -> dict[str, list[int]]:
    """The shapes of the parameters for queries, keys and values, by name."""
    names = ("W_query", "W_key", "W_value")
    weights = {f"{name}.weight": [d_out, d_in] for name in names}
    return weights | ({f"{name}.bias": [d_out] for name in names} if bias else {})


def texts(
    arguments: Sequence[Any], shapes: Shapes, B: int, T: int, *, bias: bool, **options: Any
) -> Callable[[torch.Generator], ClassCase]:
    """B texts of T words each, for modules made with (d_in, d_out, context_length, …)."""
    d_in, _d_out, context, *_ = arguments

    def inputs(rng: torch.Generator) -> ClassCase:
        weights = draw_weights(rng, shapes)
        x = randn(rng, B, T, d_in)
        if B > 2:
            x[:, 1] = 0  # without biases, its scores are 0; code must not treat these as hidden
        calls = twice_and_changed(rng, x, context)
        return ClassCase([*arguments, *([True] if bias else [])], weights, calls, **options)

    return inputs


def texts_for_heads(shapes: Callable[[int, int, int, bool], Shapes]) -> Callable[..., Callable[..., ClassCase]]:
    """Like `texts`, for modules with several heads; `shapes` takes d_in, d_out, the number of heads, and bias."""

    def sized(
        B: int,
        T: int,
        d_in: int,
        d_out: int,
        heads: int,
        context: int,
        *,
        dropout: float = 0.0,
        bias: bool = False,
        **options: Any,
    ) -> Callable[[torch.Generator], ClassCase]:
        arguments = [d_in, d_out, context, dropout, heads]
        return texts(arguments, shapes(d_in, d_out, heads, bias), B, T, bias=bias, **options)

    return sized


def some_rate(rng: torch.Generator) -> float:
    return 0.1 + 0.1 * float(torch.rand((), generator=rng))  # far from 0.5


def by_name(for_scores: Callable[[], Tensor], for_values: Callable[[], Tensor]) -> dict[str, Callable[[], Tensor]]:
    """The functions that draw each weight of a head in a case about dropout: see `dropout_trial`."""
    return {"W_query.weight": for_scores, "W_key.weight": for_scores, "W_value.weight": for_values}


def unmasked(_rng: torch.Generator, _N: int, _heads: int, _T: int, _S: int) -> None:
    return None


def padding(dtype: torch.dtype) -> MakeMask:
    """(N, 1, 1, S): sentences of different lengths. Some words are seen and some hidden, even if it is inverted."""

    def mask(_rng: torch.Generator, N: int, _heads: int, _T: int, S: int) -> Tensor:
        lengths = torch.linspace(max(1, S // 2), S - 1, N).long()
        return (torch.arange(S) < lengths[:, None]).to(dtype)[:, None, None, :]

    return mask


def scattered(dtype: torch.dtype, *, for_heads: bool = False) -> MakeMask:
    """(N, 1 or heads, T, S): any word may be hidden, but each query sees at least one and misses at least one."""

    def mask(rng: torch.Generator, N: int, heads: int, T: int, S: int) -> Tensor:
        shape = (N, heads if for_heads else 1, T)
        order = torch.rand(*shape, S, generator=rng).argsort(dim=-1)
        visible_counts = torch.randint(1, S, (*shape, 1), generator=rng)
        return (order < visible_counts).to(dtype)

    return mask


def for_all(rng: torch.Generator, _N: int, _heads: int, T: int, S: int) -> Tensor | None:
    """(1, 1, T, S): one mask for all sentences."""
    return scattered(torch.bool)(rng, 1, 1, T, S)
