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

# definitions of exercise 39

# definitions of exercise 40

# definitions of exercise 41


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


# definitions of exercise 43

DEFINITIONS: dict[int | str, Callable[..., Any]] = {
    # 36
    # 37
    # 38
    # 39
    # 40
    # 41
    # 42
    # 43
}
INPUTS: dict[int | str, Callable[[int, int], Inputs]] = {
    # 36
    # 37
    # 38
    # 39
    # 40
    # 41
    # 42
    # 43
}
LARGE: dict[int | str, Callable[[int, int], Inputs]] = {
    # 36
    # 37
    # 38
    # 39
    # 40
    # 41
    # 42
    # 43
}
