"""The right results for `modern_attention`, by definitions in float64, and inputs of many sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from grader.model.exercise import Inputs
from oracles import classes
from oracles.fast_attention import Array, softmax

# definitions of exercise 36

WITHOUT_SLOPES = (37, "alibi_slopes", 43)  # the other inputs of these need no gradients
OF_ANY_TYPE = ("alibi_slopes",)


def by_distance(queries: Array, keys: Array, values: Array, slopes: Array, causal: bool = True) -> Array:
    """Exercise 37, word by word."""
    (_, H, T, d), S = queries.shape, keys.shape[2]
    outputs = np.empty_like(queries)
    for h in range(H):
        for i in range(T):
            place = i + S - T
            near = [j for j in range(S) if j <= place or not causal]
            lost = np.array([slopes[h] * abs(place - j) for j in near])
            scores = np.einsum("bd,bsd->bs", queries[:, h, i], keys[:, h, near]) / math.sqrt(d) - lost
            outputs[:, h, i] = np.einsum("bs,bsd->bd", softmax(scores), values[:, h, near])
    return outputs


def slopes_of(heads: int) -> Array:
    """The second function of exercise 37, by exponents."""
    n = 1
    while 2 * n <= heads:
        n *= 2
    return np.array([2.0 ** (-8 * (h + 1) / n if h < n else -4 * (2 * (h - n) + 1) / n) for h in range(heads)])


# definitions of exercise 38

# definitions of exercise 39

# definitions of exercise 40

# definitions of exercise 41

# definitions of exercise 42


def of_the_chosen(
    queries: Array, keys: Array, values: Array, index_q: Array, index_k: Array, index_w: Array, top_k: int
) -> Array:
    """Exercise 43, query by query."""
    B, _, T, d = queries.shape
    outputs = np.empty_like(queries)
    for b in range(B):
        for t in range(T):
            products = np.maximum(index_k[b, : t + 1] @ index_q[b, :, t].T, 0)  # (t + 1, index heads)
            chosen = np.argsort(products @ index_w[b, t])[::-1][:top_k]
            scores = np.einsum("hd,hsd->hs", queries[b, :, t], keys[b][:, chosen]) / math.sqrt(d)
            outputs[b, :, t] = np.einsum("hs,hsd->hd", softmax(scores), values[b][:, chosen])
    return outputs


DEFINITIONS: dict[int | str, Callable[..., Any]] = {
    # 36
    37: by_distance,
    "alibi_slopes": slopes_of,
    # 38
    # 39
    # 40
    # 41
    # 42
    43: of_the_chosen,
}


def inputs_37(N: int, D: int) -> Inputs:
    H, S, d = 1 + D % 4, N + (N * D) % 3, 1 + (N + D) % 5
    B = 1 + N % 2
    queries, keys, values = torch.randn(B, H, N, d), torch.randn(B, H, S, d), torch.randn(B, H, S, d)
    return (queries, keys, values, torch.rand(H) + 0.1, *([False] if D % 3 == 0 else []))


def large_37(N: int, D: int) -> Inputs:
    queries, keys = (classes.lengths(N)[:, None] * (torch.rand(3) + 1) for _ in range(2))  # (N, 3)
    return queries.expand(1, 2, N, 3), keys.expand(1, 2, N, 3), torch.randn(1, 2, N, 3), torch.rand(2), D % 2 == 0


def indexed(B: int, T: int, D: int) -> Inputs:
    """Index scores are sums of whole numbers and of a different small part for each key: none are equal."""
    heads, e = 1 + D % 3, 1 + T % 3
    index_q, index_k, index_w = (torch.randint(-3, 4, shape) for shape in ((B, heads, T, e), (B, T, e), (B, T, heads)))
    first_q, first_w = torch.ones(B, 1, T, 1), torch.where(torch.rand(B, T, 1) < 0.5, -1.0, 1.0)
    index_q = torch.cat(
        [torch.cat([torch.zeros(B, 1, T, e), first_q], -1), torch.nn.functional.pad(index_q.float(), (0, 1))], dim=1
    )
    places = torch.stack([torch.randperm(T) for _ in range(B)])
    index_k = torch.cat([index_k, (1 + places[..., None]) / (2 * T)], dim=-1)
    return index_q, index_k, torch.cat([first_w, index_w], dim=-1)


def inputs_43(N: int, D: int) -> Inputs:
    B = 1 + N % 3
    three = (torch.randn(B, 1 + D % 3, N, 1 + (N + D) % 5) for _ in range(3))
    return (*three, *indexed(B, N, D), 1 + (N * D) % (N + 2))


def large_43(N: int, D: int) -> Inputs:
    queries, keys, values, *_ = large_37(N, D)
    return queries, keys, values, *indexed(1, N, D), 1 + D % N


INPUTS: dict[int | str, Callable[[int, int], Inputs]] = {
    # 36
    37: inputs_37,
    "alibi_slopes": lambda N, D: (N + 9 * (D - 2),),
    # 38
    # 39
    # 40
    # 41
    # 42
    43: inputs_43,
}
LARGE: dict[int | str, Callable[[int, int], Inputs]] = {
    # 36
    37: large_37,
    # 38
    # 39
    # 40
    # 41
    # 42
    43: large_43,
}
