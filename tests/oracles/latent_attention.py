"""The right results for the class of exercise 40, by definitions in float64, and inputs of many sizes."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from grader.model.exercise import Inputs

Tensor = torch.Tensor
Weights = Mapping[str, Tensor]


def with_latents(
    arguments: Sequence[int],
    weights: Weights,
    x: Tensor,
    _sizes: Sequence[int],
    _way: str = "forward",
    wanted: str = "outputs",
    cache: Tensor | None = None,
    _aside: Tensor | None = None,
) -> Tensor:
    """The same for both methods and all chunks: as if the text came at once, after what is cached."""
    _d_model, heads, head_dim, rank, _rope_dim = arguments
    B, T, _ = x.shape
    before = 0 if cache is None else cache.shape[1]
    latents, rotary = (x @ weights["down.weight"].mT).tensor_split([rank], dim=-1)
    new = torch.cat([latents, turned(rotary, before)], dim=-1)
    known = new if cache is None else torch.cat([cache, new], dim=1)  # (B, S, rank + rope_dim)
    if wanted == "cache":
        return known

    queries = (x @ weights["q.weight"].mT).reshape(B, T, heads, -1)
    up = weights["up.weight"].reshape(heads, 2, head_dim, rank)
    outputs = torch.zeros(B, T, heads, head_dim, dtype=x.dtype)
    for h in range(heads):
        content, rope = queries[:, :, h].tensor_split([head_dim], dim=-1)
        query = torch.cat([content, turned(rope, before)], dim=-1)  # (B, T, head_dim + rope_dim)
        keys, values = (known[..., :rank] @ part.mT for part in up[h])
        keys = torch.cat([keys, known[..., rank:]], dim=-1)  # (B, S, head_dim + rope_dim)
        for t in range(T):
            count = before + t + 1
            scores = torch.einsum("be,bse->bs", query[:, t], keys[:, :count]) / math.sqrt(keys.shape[-1])
            outputs[:, t, h] = torch.einsum("bs,bse->be", scores.softmax(dim=-1), values[:, :count])
    return outputs.reshape(B, T, -1) @ weights["out.weight"].mT


def turned(x: Tensor, first: int) -> Tensor:
    """Rotary vectors (B, T, rope_dim) of words from this position on: entry i belongs to entry i + rope_dim / 2."""
    half = x.shape[-1] // 2
    result = torch.empty_like(x)
    for t in range(x.shape[1]):
        for i in range(half):
            angle = (first + t) / 10_000 ** (i / half)
            real, imaginary = x[:, t, i], x[:, t, i + half]
            result[:, t, i] = real * math.cos(angle) - imaginary * math.sin(angle)
            result[:, t, i + half] = real * math.sin(angle) + imaginary * math.cos(angle)
    return result


def case_40(choose: random.Random) -> Inputs:
    B, T, d_model, heads, head_dim, rank, before = (choose.randint(1, 4) for _ in range(7))
    rope_dim, first = 2 * choose.randint(1, 3), choose.randint(1, T)
    shapes = {"q": (heads * (head_dim + rope_dim), d_model), "down": (rank + rope_dim, d_model)}
    shapes |= {"up": (heads * 2 * head_dim, rank), "out": (d_model, heads * head_dim)}
    x, cache, chunks = torch.randn(B, T, d_model), torch.randn(B, before, rank + rope_dim), [first, *[1] * (T - first)]
    way = choose.choice(["forward", "absorbed"])
    calls: dict[str, list[Any]] = {
        "first": [x, chunks, way],
        "second": [x, [1] * T, "forward", "outputs", cache, torch.randn(B, 2, d_model)],
        "third": [x, list(chunks), "absorbed", "outputs", cache],
        "fourth": [x, [T], "forward, then absorbed", "cache", cache],
        "fifth": [torch.randn(B, T, d_model), list(chunks), "forward, then absorbed"],
    }
    weights = {f"{name}.weight": torch.randn(shape) / shape[-1] ** 0.5 for name, shape in shapes.items()}
    return [d_model, heads, head_dim, rank, rope_dim], weights, calls, {"train": False, "gradients": 1}
