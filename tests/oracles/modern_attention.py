"""The right results for `modern_attention`, by definitions in float64, and inputs of many sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from grader.model.exercise import Inputs

Array = np.ndarray

# definitions of exercise 36

# definitions of exercise 37

# definitions of exercise 38


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


# definitions of exercise 40


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


# definitions of exercise 42

# definitions of exercise 43

DEFINITIONS: dict[int | str, Callable[..., Any]] = {
    # 36
    # 37
    # 38
    39: yarn,
    # 40
    41: routed,
    "moe": mixed,
    # 42
    # 43
}


def inputs_39(N: int, D: int) -> Inputs:
    """Ends of the ramp that are neither near a whole number nor so far away that right codes differ."""
    while True:
        base, original = 5.0 + 200 * float(torch.rand(())), int(10 ** (1.2 + 3 * float(torch.rand(()))))
        turns = (32, 1) if N % 2 else (8 + N, D / 3)
        ends = [D * math.log(original / math.tau / each) / math.log(base) for each in turns]
        if all(0.05 < end % 1 < 0.95 for end in ends) and ends[0] < 2 * D - 1 and ends[1] > 0 and ends[0] < ends[1]:
            return 2 * D, base, 1 + N * float(torch.rand(())), original, *([] if N % 2 else turns)


def inputs_41(N: int, D: int) -> Inputs:
    logits, top_k = torch.randn(N, D), 1 + N % D
    return [(logits, top_k), (logits, top_k, False), (logits, top_k, N % 3 > 0, torch.randn(D) / 3)][D % 3]


def inputs_moe(N: int, D: int) -> Inputs:
    d, E = 1 + (N + D) % 4, 1 + D % 5
    x = torch.randn(*([2] if N % 2 else []), N, d)
    return x, torch.randn(d, E), torch.randn(E, d, d), 1 + N % E, *([1 + N // 3] if D % 2 else [])


INPUTS: dict[int | str, Callable[[int, int], Inputs]] = {
    # 36
    # 37
    # 38
    39: inputs_39,
    # 40
    41: inputs_41,
    "moe": inputs_moe,
    # 42
    # 43
}
LARGE: dict[int | str, Callable[[int, int], Inputs]] = {
    # 36
    # 37
    # 38
    # 39
    # 40
    41: lambda N, D: ((torch.rand(N, D).argsort(1) * 2e4 / D - 1e4), 1 + N % D),
    # 42
    # 43
}
# Their results are no pieces of models: a tensor and a number.
NUMBERS = (39,)
