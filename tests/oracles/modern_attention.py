"""The right results for `modern_attention`, by definitions in float64, and inputs of many sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from grader.model.exercise import Inputs
from oracles import classes

Array = np.ndarray


def several(N: int, D: int) -> list[torch.Tensor]:
    """Queries, keys and values of several sizes, with as many keys as queries or more."""
    B, H, d = 1 + N % 2, 1 + D % 3, 1 + (N + D) % 5
    return [torch.randn(B, H, words, d) for words in (N, max(N, D), max(N, D))]


def with_sinks(queries: Array, keys: Array, values: Array, sinks: Array, causal: bool = False) -> Array:
    """Exercise 36, query by query."""
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    outputs = np.zeros_like(queries)
    for b, h, t in np.ndindex(*queries.shape[:3]):
        count = t + S - T + 1 if causal else S
        scores = [float(np.vdot(queries[b, h, t], key)) / math.sqrt(d) for key in keys[b, h, :count]]
        largest = max(*scores, float(sinks[h]))
        exp = [math.exp(score - largest) for score in scores]
        total = sum(exp) + math.exp(float(sinks[h]) - largest)
        outputs[b, h, t] = sum(e * value for e, value in zip(exp, values[b, h], strict=False)) / total
    return outputs


def inputs_36(N: int, D: int) -> Inputs:
    """In one of three, some heads have no sink."""
    queries, keys, values = several(N, D)
    sinks = 2 * torch.randn(queries.shape[1])
    if (N + D) % 3 == 0:
        sinks[::2] = -math.inf
    return (queries, keys, values, sinks, *([True] if D % 2 else []))


def large_36(N: int, D: int) -> Inputs:
    """Two heads, whose sinks are below and above all scores, or the other way round."""
    queries, keys = (classes.lengths(N)[:, None] * (torch.rand(3) + 1) for _ in range(2))  # (N, 3)
    sinks = torch.tensor([-3e4, 3e4] if D % 2 else [3e4, -math.inf])
    return queries.expand(1, 2, N, 3), keys.expand(1, 2, N, 3), torch.randn(1, 2, N, 3), sinks, D % 3 == 0


# definitions of exercise 37


def of_common_size(vectors: Array, weight: Array) -> Array:
    rows = [weight * x / math.sqrt(sum(x**2) / len(x) + 1e-6) for x in vectors.reshape(-1, len(weight))]
    return np.reshape(rows, vectors.shape)


def with_small_scores(
    queries: Array, keys: Array, values: Array, q_weight: Array, k_weight: Array, cap: float | None = None
) -> Array:
    """Exercise 38, query by query."""
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    q, k, outputs = of_common_size(queries, q_weight), of_common_size(keys, k_weight), np.zeros_like(queries)
    for b, h, t in np.ndindex(*queries.shape[:3]):
        scores = [float(np.vdot(q[b, h, t], key)) / math.sqrt(d) for key in k[b, h, : t + S - T + 1]]
        scores = scores if cap is None else [cap * math.tanh(score / cap) for score in scores]
        exp = [math.exp(score - max(scores)) for score in scores]
        outputs[b, h, t] = sum(e * value for e, value in zip(exp, values[b, h], strict=False)) / sum(exp)
    return outputs


def inputs_38(N: int, D: int) -> Inputs:
    queries, keys, values = several(N, D)
    size = 1e-3 if (N + D) % 4 == 3 else 1.0
    weights = (1 + torch.randn(queries.shape[-1]) / 2 for _ in range(2))
    return (size * queries, size * keys, values, *weights, *([0.5 * N] if D % 2 else []))


def large_38(N: int, D: int) -> Inputs:
    """Vectors of two entries in different directions, and large weights."""
    angles = (torch.randperm(N) + 0.5) * math.pi / N
    queries, keys = (torch.stack([x.cos(), x.sin()], dim=-1).expand(1, 2, N, 2) for x in (angles + 0.3 / N, angles))
    weights = (torch.full((2,), 80.0) for _ in range(2))
    return (-queries, keys, torch.randn(1, 2, N, 2), *weights, *([30.0] if D % 2 else []))


# definitions of exercise 39

# definitions of exercise 40

# definitions of exercise 41

# definitions of exercise 42

# definitions of exercise 43

DEFINITIONS: dict[int | str, Callable[..., Any]] = {
    36: with_sinks,
    # 37
    38: with_small_scores,
    # 39
    # 40
    # 41
    # 42
    # 43
}
INPUTS: dict[int | str, Callable[[int, int], Inputs]] = {
    36: inputs_36,
    # 37
    38: inputs_38,
    # 39
    # 40
    # 41
    # 42
    # 43
}
LARGE: dict[int | str, Callable[[int, int], Inputs]] = {
    36: large_36,
    # 37
    38: large_38,
    # 39
    # 40
    # 41
    # 42
    # 43
}
