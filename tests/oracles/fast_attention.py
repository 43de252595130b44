"""The right results for `fast_attention`, by definitions in float64, and inputs of many sizes."""

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


def softmax(scores: Array) -> Array:
    exp = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(exp / exp.sum(axis=-1, keepdims=True))


def grouped(queries: Array, keys: Array, values: Array, causal: bool = False) -> Array:
    """Exercise 28, head by head."""
    T, S, d = queries.shape[2], keys.shape[2], queries.shape[3]
    group = queries.shape[1] // keys.shape[1]
    seen = np.tri(T, S, S - T) if causal else np.ones((T, S))
    outputs = []
    for h in range(queries.shape[1]):
        k, v = keys[:, h // group], values[:, h // group]
        scores = np.einsum("btd,bsd->bts", queries[:, h], k) / math.sqrt(d)
        outputs.append(softmax(np.where(seen == 1, scores, -np.inf)) @ v)
    return np.stack(outputs, axis=1)


def merged(m1: Array, l1: Array, o1: Array, m2: Array, l2: Array, o2: Array) -> tuple[Array, Array, Array]:
    """Exercise 31, row by row."""
    m, total, o = np.full_like(m1, -np.inf), np.zeros_like(l1), np.zeros_like(o1)
    for row in np.ndindex(m1.shape[:-1]):
        pieces = [piece for piece in ((m1[row], l1[row], o1[row]), (m2[row], l2[row], o2[row])) if piece[1] > 0]
        if pieces:
            m[row] = max(piece[0][0] for piece in pieces)
            weights = [np.exp(maximum - m[row]) * part for maximum, part, _ in pieces]
            total[row] = sum(weights)
            o[row] = sum(weight * piece[2] for weight, piece in zip(weights, pieces, strict=True)) / total[row]
    return m, total, o


def told_of_merged(*pieces: Array) -> Array:
    """The quantities whose gradients are checked: the logarithm of the sum over all scores, and the output."""
    m, total, o = merged(*pieces)
    return np.concatenate([(m + np.log(total)).reshape(-1), o.reshape(-1)])


def paged(query: Array, key_pages: Array, value_pages: Array, page_table: Any, lengths: Any) -> Array:
    """Exercise 35, word by word."""
    size, d = key_pages.shape[1], query.shape[-1]
    outputs = []
    for q, pages, length in zip(query, page_table, lengths, strict=True):
        places = [(pages[i // size], i % size) for i in range(length)]
        keys = np.stack([key_pages[place] for place in places])  # (S, H, d)
        values = np.stack([value_pages[place] for place in places])
        weights = softmax(np.einsum("hd,shd->hs", q, keys) / math.sqrt(d))
        outputs.append(np.einsum("hs,shd->hd", weights, values))
    return np.stack(outputs)


def windowed(queries: Array, keys: Array, values: Array, window: int) -> Array:
    """Exercise 30, query by query."""
    T, d = queries.shape[2:]
    outputs = []
    for t in range(T):
        seen = slice(max(0, t - window + 1), t + 1)
        weights = softmax(np.einsum("bhd,bhsd->bhs", queries[:, :, t], keys[:, :, seen]) / math.sqrt(d))
        outputs.append(np.einsum("bhs,bhsd->bhd", weights, values[:, :, seen]))
    return np.stack(outputs, axis=2)


def tiled(
    queries: Array,
    keys: Array,
    values: Array,
    _block_size: int,
    causal: bool = False,
) -> tuple[Array, Array]:
    """Exercise 32: the result must not depend on the size of blocks."""
    T, d = queries.shape[2:]
    scores = np.einsum("bhtd,bhsd->bhts", queries, keys) / math.sqrt(d)
    scores = np.where(np.tri(T) == 1, scores, -np.inf) if causal else scores
    m = scores.max(axis=-1, keepdims=True)
    return softmax(scores) @ values, (m + np.log(np.exp(scores - m).sum(axis=-1, keepdims=True)))[..., 0]


def way_back(queries: Array, keys: Array, values: Array, grad_output: Array) -> tuple[Array, ...]:
    """Exercise 33: the gradients from autograd."""
    inputs = [torch.tensor(one, requires_grad=True) for one in (queries, keys, values)]
    q, k, v = inputs
    output = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1) @ v
    found = torch.autograd.grad(output, inputs, torch.tensor(grad_output))
    return tuple(one.numpy() for one in found)


def linear(queries: Array, keys: Array, values: Array) -> Array:
    """Exercise 34, by a table of scores."""
    q, k = (np.where(x > 0, x + 1, np.exp(np.minimum(x, 0))) for x in (queries, keys))
    weights = np.einsum("bhtd,bhsd->bhts", q, k) * np.tri(queries.shape[2])
    return np.asarray(weights @ values / weights.sum(axis=-1, keepdims=True))


DEFINITIONS: dict[int | str, Callable[..., Any]] = {
    28: grouped,
    30: windowed,
    31: merged,
    32: tiled,
    33: way_back,
    34: linear,
    35: paged,
}
WITHOUT_SLOPES = (32, 33)  # no gradients are checked
SLOPES: dict[int | str, Callable[..., Array]] = {31: told_of_merged}


def inputs_28(N: int, D: int) -> Inputs:
    group, Hkv, S, d = 1 + N % 3, 1 + D % 3, max(N, D), 1 + (N + D) % 5
    queries, keys, values = (
        torch.randn(1 + N % 2, *shape) for shape in ((group * Hkv, N, d), (Hkv, S, d), (Hkv, S, d))
    )
    return (queries, keys, values, *([True] if D % 2 else []))


def refused_28(N: int, D: int) -> Inputs:
    queries, keys = torch.randn(1, D + 1, N, 2), torch.randn(1, D, N, 2)
    return (queries, keys, keys.clone(), {"refuses": True})


def inputs_31(N: int, D: int) -> Inputs:
    """In one of three, rows of both pieces may be empty. The sum of a piece of one key is 1."""
    given: list[torch.Tensor] = []
    rows = (N,) if N % 2 else (2, N)
    for _ in range(2):
        m, total, o = torch.randn(*rows, 1) * D / 2, 1 + torch.rand(*rows, 1) * D, torch.randn(*rows, D)
        total = total.masked_fill(torch.rand(*rows, 1) < 0.3, 1.0)
        m = m.round() if (N + D) % 3 == 1 else m  # a maximum may be 0
        empty = torch.rand(*rows, 1) < (0.4 if (N + D) % 3 == 0 else 0.0)
        given += [m.masked_fill(empty, -torch.inf), total.masked_fill(empty, 0.0), o.masked_fill(empty, 0.0)]
    return tuple(given)


def large_31(N: int, D: int) -> Inputs:
    m1, _, o1, _m2, _, o2 = inputs_31(N, D)
    levels = (classes.lengths(N)[:, None] * 80).expand_as(m1)
    return levels, torch.ones_like(m1), o1, levels.roll(1, -2), torch.ones_like(m1), o2


def three(N: int, D: int) -> list[torch.Tensor]:
    return [torch.randn(1 + N % 2, 1 + D % 3, N, 1 + (N + D) % 5) for _ in range(3)]


def inputs_30(N: int, D: int) -> Inputs:
    return (*three(N, D), 1 + (N * D) % (N + 2))


def large_30(N: int, D: int) -> Inputs:
    """In one of two heads, keys point the other way than queries of the same word: the first query has no score > 0."""
    queries, keys = (line.expand(1, 2, N, 3) for line in classes.two_lines(N))
    return queries, keys * torch.tensor([1.0, -1.0])[:, None, None], torch.randn(1, 2, N, 3), 1 + D % N


def inputs_32(N: int, D: int) -> Inputs:
    return (*three(N, D), 1 + (N * D) % (N + 2), *([True] if D % 2 else []))


def large_32(N: int, D: int) -> Inputs:
    return (*large_30(N, D), D % 2 == 0)


def inputs_33(N: int, D: int) -> Inputs:
    given = three(N, D)
    return (*given, torch.randn_like(given[0]))


def inputs_35(N: int, D: int) -> Inputs:
    choose = random.Random(10 * N + D)
    size, H, d = 1 + D % 4, 1 + N % 3, 1 + (N + D) % 4
    lengths = [choose.randint(1, 2 * N) for _ in range(1 + D % 3)]
    counts = [-(-length // size) for length in lengths]
    numbers = choose.sample(range(sum(counts) + 2), sum(counts) + 2)
    table = [[numbers.pop() for _ in range(count)] + [-1] * (max(counts) - count) for count in counts]
    keys, values = (torch.randn(sum(counts) + 2, size, H, d) for _ in range(2))
    return torch.randn(len(lengths), H, d), keys, values, torch.tensor(table), torch.tensor(lengths)


def large_28(N: int, D: int) -> Inputs:
    queries, keys = classes.two_lines(N)
    return queries.expand(1, 2, N, 3), keys.expand(1, 1, N, 3), torch.randn(1, 1, N, 3), D % 2 == 0


INPUTS: dict[int | str, Callable[[int, int], Inputs]] = {
    28: inputs_28,
    30: inputs_30,
    31: inputs_31,
    32: inputs_32,
    33: inputs_33,
    34: lambda N, D: tuple(three(N, D)),
    35: inputs_35,
}
LARGE: dict[int | str, Callable[[int, int], Inputs]] = {
    28: large_28,
    30: large_30,
    31: large_31,
    32: large_32,
}
REFUSED: dict[int | str, Callable[[int, int], Inputs]] = {28: refused_28}
