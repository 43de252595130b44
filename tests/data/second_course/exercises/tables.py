"""Inputs that the exercises about numbers share."""

from __future__ import annotations

import numpy as np

from grader import Inputs


def table(rng: np.random.Generator, rows: int, columns: int) -> Inputs:
    """Numbers of another size, and around another mean, in each column."""
    return (rng.normal(size=(rows, columns)) * np.arange(1, columns + 1) + 3,)


def with_width(rng: np.random.Generator, count: int, width: int) -> Inputs:
    return (rng.normal(size=count), width)
