"""A picture of pairs that a student's code rotated: that keeps their lengths, and position 0 rotates nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from grader import MAX_SIDE, Picture
from grader.kit.pictures import numbers_in, places_in

Tensor = torch.Tensor

NEARLY = 1e-3


def pairs_turned(value: Any, inputs: Sequence[Any]) -> Picture | None:
    """A row for each word. Marks pairs whose lengths have changed, and changed entries at position 0."""
    x, positions = inputs[:2]
    if x.dim() != 2 or isinstance(inputs[-1], dict) or max(x.shape) > MAX_SIDE or x.dtype != torch.float32:
        return None
    if not isinstance(value, Tensor) or value.is_complex() or value.shape != x.shape:
        return None
    output, vectors = value.detach().cpu().double(), x.cpu().double()
    longer = ~((_lengths(output) - _lengths(vectors)).abs() <= NEARLY * _lengths(vectors).max())  # (T, d / 2); NaN, too
    turned = (positions.cpu() == 0)[:, None] & ~((output - vectors).abs() <= NEARLY * vectors.abs().max())  # (T, d)
    wrong = ["Turning a pair keeps its length, but the marked ones have new lengths."] if longer.any() else []
    wrong += ["A word at position 0 is not turned, so its entries stay the same."] if turned.any() else []
    marked = longer.repeat_interleave(2, dim=1) | turned
    return Picture(
        numbers=numbers_in(output),
        rows="word",
        columns="entry",
        first=0,
        marked=places_in(marked),
        wrong=tuple(wrong),
        right=() if longer.any() else ("Each pair has kept its length.",),
    )


def _lengths(vectors: Tensor) -> Tensor:
    pairs = vectors.reshape(len(vectors), -1, 2)  # (T, d) -> (T, d / 2, 2)
    lengths: Tensor = torch.linalg.vector_norm(pairs, dim=-1)
    return lengths
