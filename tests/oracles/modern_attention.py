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
    queries, keys = classes.two_lines(N)
    sinks = torch.tensor([-3e4, 3e4] if D % 2 else [3e4, -math.inf])
    return queries.expand(1, 2, N, 3), keys.expand(1, 2, N, 3), torch.randn(1, 2, N, 3), sinks, D % 3 == 0


WITHOUT_SLOPES = (37, "alibi_slopes", 43)  # the other inputs of these need no gradients
OF_ANY_TYPE = ("alibi_slopes", 39)  # the results of these are no pieces of models


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


def yarn(dim: int, base: float, factor: float, original: int, beta_fast: float = 32, beta_slow: float = 1) -> list[Any]:
    """Exercise 39, pair by pair."""

    def place(turns: float) -> float:
        """The pair that turns so many times, from the logarithm of its wavelength to this base."""
        return dim / 2 * math.log(original / turns / math.tau, base)

    first, last = max(math.floor(place(beta_fast)), 0), min(math.ceil(place(beta_slow)), dim - 1)
    frequencies = []
    for pair in range(dim // 2):
        slow = float(np.interp(pair, [first, last], [0.0, 1.0]))
        frequencies.append((1 - slow + slow / factor) / base ** (2 * pair / dim))
    return [np.array(frequencies), 1 + math.log(factor) / 10]


def routed(logits: Array, top_k: int, normalize: bool = True, bias: Array | None = None) -> Array:
    """Exercise 41, token by token."""
    weights = np.zeros_like(logits)
    for row, numbers in zip(weights, logits, strict=True):
        exp = np.exp(numbers - numbers.max())
        shares = exp / exp.sum()
        best = sorted(range(len(row)), key=lambda e: -shares[e] - (0 if bias is None else bias[e]))[:top_k]
        row[best] = shares[best] / (shares[best].sum() if normalize and top_k > 1 else 1)
    return weights


def mixed(x: Array, router: Array, experts: Array, top_k: int, *settings: Any) -> Array:
    """Exercise 41: each token asks its experts, unless they are full."""
    capacity = next((one for one in settings if not isinstance(one, dict)), None)
    tokens, places = x.reshape(-1, x.shape[-1]), [0] * len(experts)
    results = np.zeros_like(tokens)
    for n, (token, weights) in enumerate(zip(tokens, routed(tokens @ router, top_k), strict=True)):
        for e in weights.nonzero()[0]:
            places[e] += 1
            if capacity is None or places[e] <= capacity:
                results[n] += weights[e] * (np.tanh(token @ experts[e]) + np.sin(token))
    return results.reshape(x.shape)


def delta_memory(
    queries: Array, keys: Array, values: Array, alpha: Array, beta: Array, state: Array | None = None
) -> tuple[Array, Array]:
    """Exercise 42, head by head: each word turns the state by a matrix, and adds its value."""
    B, H, T, d = keys.shape
    states = np.zeros((B, H, d, values.shape[-1])) if state is None else np.array(state)
    outputs = np.zeros((B, H, T, values.shape[-1]))
    for b, h, t in np.ndindex(B, H, T):
        q, k = (x[b, h, t] / math.sqrt((x[b, h, t] ** 2).sum()) for x in (queries, keys))
        turned = alpha[b, h, t] * (np.eye(d) - beta[b, h, t] * np.outer(k, k))
        states[b, h] = turned @ states[b, h] + beta[b, h, t] * np.outer(k, values[b, h, t])
        outputs[b, h, t] = q @ states[b, h]
    return outputs, states


def delta_memory_in_chunks(*inputs: Any) -> tuple[Array, Array]:
    """The second function of exercise 42: the result must not depend on the size of chunks."""
    return delta_memory(*inputs[:5], *inputs[6:])


def inputs_42(N: int, D: int) -> Inputs:
    """With a state for every second D."""
    B, H, d, d_v = 1 + N % 2, 1 + D % 3, 1 + (N + D) % 5, 1 + N * D % 4
    vectors = [torch.randn(B, H, N, size) for size in (d, d, d_v)]
    vectors[:2] = [x + 0.5 * x / x.norm(dim=-1, keepdim=True) for x in vectors[:2]]  # no eps matters
    gates = 0.5 + 0.5 * torch.rand(B, H, N), torch.rand(B, H, N)
    return (*vectors, *gates, *([torch.randn(B, H, d, d_v)] if D % 2 else []))


def inputs_of_chunks(N: int, D: int) -> Inputs:
    inputs = inputs_42(N, D)
    return (*inputs[:5], 1 + (N * D) % (N + 2), *inputs[5:])


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
    36: with_sinks,
    37: by_distance,
    "alibi_slopes": slopes_of,
    38: with_small_scores,
    39: yarn,
    41: routed,
    "moe": mixed,
    42: delta_memory,
    "gated_delta_chunks": delta_memory_in_chunks,
    43: of_the_chosen,
}


def inputs_37(N: int, D: int) -> Inputs:
    H, S, d = 1 + D % 4, N + (N * D) % 3, 1 + (N + D) % 5
    B = 1 + N % 2
    queries, keys, values = torch.randn(B, H, N, d), torch.randn(B, H, S, d), torch.randn(B, H, S, d)
    return (queries, keys, values, torch.rand(H) + 0.1, *([False] if D % 3 == 0 else []))


def large_37(N: int, D: int) -> Inputs:
    queries, keys = classes.two_lines(N)
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


def inputs_39(N: int, D: int) -> Inputs:
    """Ends of the ramp that are not near a whole number. One in three ramps ends beyond all pairs; some have many."""
    half = D * (30 if N == 9 else 1)
    while True:
        largest = 3 if (N + D) % 3 == 0 else 200
        base, original = 5.0 + largest * float(torch.rand(())), int(10 ** (1.2 + 3 * float(torch.rand(()))))
        turns = (32, 1) if N % 2 else (8 + N, D / 3)
        ends = [half * math.log(original / math.tau / each) / math.log(base) for each in turns]
        if all(0.05 < end % 1 < 0.95 for end in ends) and ends[0] < 2 * half - 1 and ends[1] > 0 and ends[0] < ends[1]:
            return 2 * half, base, 1 + N * float(torch.rand(())), original, *([] if N % 2 else turns)


def inputs_41(N: int, D: int) -> Inputs:
    logits, top_k = torch.randn(N, D), 1 + N % D
    return [(logits, top_k), (logits, top_k, False), (logits, top_k, N % 3 > 0, torch.randn(D) / 3)][D % 3]


def inputs_moe(N: int, D: int) -> Inputs:
    d, E = 1 + (N + D) % 4, 1 + D % 5
    x = torch.randn(*([2] if N % 2 else []), N, d)
    return x, torch.randn(d, E), torch.randn(E, d, d), 1 + N % E, *([1 + N // 3] if D % 2 else [])


INPUTS: dict[int | str, Callable[[int, int], Inputs]] = {
    36: inputs_36,
    37: inputs_37,
    "alibi_slopes": lambda N, D: (N + 9 * (D - 2),),
    38: inputs_38,
    39: inputs_39,
    41: inputs_41,
    "moe": inputs_moe,
    42: inputs_42,
    "gated_delta_chunks": inputs_of_chunks,
    43: inputs_43,
}
LARGE: dict[int | str, Callable[[int, int], Inputs]] = {
    36: large_36,
    37: large_37,
    38: large_38,
    41: lambda N, D: ((torch.rand(N, D).argsort(1) * 2e4 / D - 1e4), 1 + N % D),
    43: large_43,
}
