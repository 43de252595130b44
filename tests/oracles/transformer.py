"""The right results for the functions of `transformer`, by definitions in float64, and inputs of many sizes."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from grader.model.exercise import Inputs
from oracles import classes

Array = np.ndarray


def positions(length: int, d_model: int, base: float = 10000.0) -> Array:
    """Exercise 20, number by number."""
    table = np.zeros((length, d_model))
    for t in range(length):
        for i in range(d_model // 2):
            angle = t / base ** (2 * i / d_model)
            table[t, 2 * i], table[t, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return table


def turned(x: Array, places: list[int], base: float = 10000.0) -> Array:
    """Exercise 21: each pair is a complex number, multiplied by one of length 1."""
    d = x.shape[-1]
    result = np.zeros_like(x)
    for t, place in enumerate(places):
        for i in range(d // 2):
            pair = (x[..., t, 2 * i] + 1j * x[..., t, 2 * i + 1]) * np.exp(1j * place * base ** (-2 * i / d))
            result[..., t, 2 * i], result[..., t, 2 * i + 1] = pair.real, pair.imag
    return result


def padded(queries: Array, keys: Array, values: Array, lengths: list[int], causal: bool = False) -> Array:
    """Exercise 22, query by query, over the keys that each sees."""
    B, H, T, d = queries.shape
    outputs = np.zeros((B, H, T, values.shape[-1]))
    for b, h, t in np.ndindex(B, H, T):
        seen = min(lengths[b], t + 1) if causal else lengths[b]
        if seen:
            scores = keys[b, h, :seen] @ queries[b, h, t] / math.sqrt(d)
            exp = np.exp(scores - scores.max())
            outputs[b, h, t] = exp @ values[b, h, :seen] / exp.sum()
    return outputs


def loss(logits: Array, tokens: list[list[int]], pad: int | None = None) -> Array:
    """The second function of exercise 25, token by token."""
    each = []
    for b, t in np.ndindex(logits.shape[0], logits.shape[1] - 1):
        scores, target = logits[b, t], tokens[b][t + 1]
        if target != pad:
            each.append(scores.max() + np.log(np.exp(scores - scores.max()).sum()) - scores[target])
    return np.array(sum(each) / len(each))


DEFINITIONS: dict[int | str, Callable[..., Any]] = {
    20: positions,
    21: turned,
    22: padded,
    "next_token_loss": loss,
}


def inputs_20(N: int, D: int) -> Inputs:
    return (1 if N == D else N + 3 * (D % 3), 2 * D, *([float(D + 3)] if N % 2 else []))


def inputs_21(N: int, D: int) -> Inputs:
    places = torch.randperm(60)[:N].sort().values if D % 2 else torch.arange(N) + 7 * D
    shape = [(N, 2 * D), (2, N, 2 * D), (D % 3 + 1, 2, N, 2 * D)][(N + D) % 3]
    return (torch.randn(shape), places, *([float(D + 2)] if N % 2 else []))


def inputs_22(N: int, D: int) -> Inputs:
    """Some sentences are empty."""
    choose, B, H, causal = random.Random(10 * N + D), 1 + N % 3, 1 + D % 2, D % 3 == 0
    keys = N if causal else 1 + (N * D) % 7
    lengths = [choose.randint(0, keys) for _ in range(B)]
    given = torch.randn(B, H, N, D), torch.randn(B, H, keys, D), torch.randn(B, H, keys, 1 + (N + D) % 4)
    return (*given, torch.tensor(lengths), *([True] if causal else []))


def large_22(N: int, D: int) -> Inputs:
    queries, keys = classes.two_lines(N)
    lengths = torch.tensor([N, max(N - 2, 1)])
    return queries.expand(2, 1, N, 3), keys.expand(2, 1, N, 3), torch.randn(2, 1, N, 3), lengths, D % 2 == 0


def inputs_loss(N: int, D: int) -> Inputs:
    """Texts without padding, with padding at the end, or with a `pad` that does not occur."""
    logits, tokens, pad = 2 * torch.randn(1 + D % 3, N, D + 2), torch.randint(D + 2, (1 + D % 3, N)), N % (D + 2)
    if (N + D) % 3 == 0:
        return logits, tokens
    tokens = torch.where(tokens == pad, (tokens + 1) % (D + 2), tokens)
    if (N + D) % 3 == 1:
        tokens[-1, max(N - 2, 2) :] = pad
    return logits, tokens, pad


def large_loss(N: int, D: int) -> Inputs:
    logits, *others = inputs_loss(N, D)
    order = torch.randperm(logits.numel()).reshape(logits.shape)  # far from each other
    return (2e4 * order / logits.numel() - 1e4, *others)


INPUTS: dict[int | str, Callable[[int, int], Inputs]] = {
    20: inputs_20,
    21: inputs_21,
    22: inputs_22,
    "next_token_loss": inputs_loss,
}


def long_20(N: int, D: int) -> Inputs:
    return (510 + N % 3, 14 + 2 * (D % 3))


def far_21(N: int, D: int) -> Inputs:
    """Positions in the thousands, some with numbers of 16 bits."""
    dtype = (torch.float16, torch.bfloat16, torch.float32)[D % 3]
    return torch.randn(N, 8).to(dtype), torch.arange(N) + 4001 + D


LARGE: dict[int | str, Callable[[int, int], Inputs]] = {
    20: long_20,
    21: far_21,
    22: large_22,
    "next_token_loss": large_loss,
}
# Tolerances relative to the largest number: sines of large angles have few exact digits, as have 16 bits.
ROUGHLY: dict[int | str, float] = {20: 1e-3, 21: 1e-3}
SIXTEEN_BITS = {torch.float16: 2e-2, torch.bfloat16: 8e-2}
