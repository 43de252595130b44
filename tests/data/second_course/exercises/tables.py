"""Inputs that the exercises about numbers share."""

from __future__ import annotations

import numpy as np
import torch

from grader import Inputs, randn

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def table(rng: torch.Generator, rows: int, columns: int) -> Array:
    """Numbers of another size, and around another mean, in each column."""
    numbers = randn(rng, rows, columns).double() * torch.arange(1, columns + 1) + 3
    return np.asarray(numbers.numpy())


def with_width(rng: torch.Generator, count: int, width: int) -> Inputs:
    return (np.asarray(randn(rng, count).double().numpy()), width)
