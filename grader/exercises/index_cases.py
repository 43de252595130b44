"""Inputs of an indexer whose choice is clear: exercise 43."""

from __future__ import annotations

import math

import torch

from grader import MemoryPromise, randn

Tensor = torch.Tensor

# Scores of all heads take 96 MB, and index scores, which have none, only 4 MB: several tables of these may be made.
HEADS, LONG = 24, 1024
NO_TABLE = MemoryPromise(
    64 * 2**20,
    4 * HEADS * LONG * LONG,
    broken="Your code builds a table of scores of H × T × T, or uses too much memory in some other way.",
)
CLEAR = 1e-4  # how much better the least chosen key is than the best other one, as a part of the largest product


def indexer(rng: torch.Generator, B: int, heads: int, T: int, e: int, top_k: int) -> tuple[Tensor, Tensor, Tensor]:
    """Index queries (B, heads, T, e), keys (B, T, e) and weights (B, T, heads) without ties, such as zeros after ReLU.

    The products of the first index head are above 0 and differ, and those of the others have both signs.
    """
    index_k = randn(rng, B, T, e)
    index_k[..., 0] = 0.5 + 2 * torch.rand(B, T, generator=rng).argsort(-1) / T
    index_q, index_w = torch.zeros(B, heads, T, e), torch.zeros(B, T, heads)
    clear = torch.zeros(B, T, dtype=torch.bool)
    while not clear.all():
        new_q, new_w = randn(rng, B, heads, T, e), randn(rng, B, T, heads)
        new_q[:, 0] = (0.5 + torch.rand(B, T, 1, generator=rng)) * (torch.arange(e) == 0)
        new_w[..., 0] += 0.5 * new_w[..., 0].sign()
        index_q, index_w = index_q.where(clear[:, None, :, None], new_q), index_w.where(clear[..., None], new_w)
        clear = is_clear(index_q, index_k, index_w, top_k)
    return index_q, index_k, index_w


def is_clear(index_q: Tensor, index_k: Tensor, index_w: Tensor, top_k: int) -> Tensor:
    """For each query, whether rounding cannot change what is chosen (B, T)."""
    products = torch.relu(index_q.double() @ index_k.double()[:, None].mT)  # (B, heads, T, T)
    scores = (products * index_w.double().mT[..., None]).sum(1)
    T = scores.shape[-1]
    reads_all = torch.arange(T) < top_k  # queries that read all keys up to their own
    if top_k >= T:
        return reads_all.expand(scores.shape[:2])
    ordered = scores.masked_fill(torch.ones(T, T).triu(1) > 0, -math.inf).sort(descending=True).values
    return reads_all | (ordered[..., top_k - 1] - ordered[..., top_k] > CLEAR * products.amax((1, 3)))
