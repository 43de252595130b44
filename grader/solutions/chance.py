"""Give the random generators that all code shares a known state."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
import torch

_T = TypeVar("_T")


@contextlib.contextmanager
def same_chance() -> Iterator[None]:
    """Seed torch's own generator, from which modules draw parameters and dropout, and restore it afterwards."""
    generator = torch.default_generator
    state = generator.get_state()
    generator.manual_seed(0)  # torch.manual_seed would format a traceback for each kind of device not in use
    try:
        yield
    finally:
        generator.set_state(state)


@contextlib.contextmanager
def shared_generators(seed: int) -> Iterator[None]:
    """Seed all generators, for code that may use any of them, and restore them afterwards."""
    state_of_torch = torch.default_generator.get_state()
    state_of_numpy = np.random.get_state()
    state_of_python = random.getstate()
    torch.default_generator.manual_seed(seed)
    np.random.seed(seed % 2**32)
    random.seed(seed)
    try:
        yield
    finally:
        torch.default_generator.set_state(state_of_torch)
        np.random.set_state(state_of_numpy)
        random.setstate(state_of_python)


def compute_noting_draws(compute: Callable[[], _T]) -> tuple[_T, bool]:
    """Compute something; returns the value, and whether numbers were drawn from torch's own generator."""
    state = torch.default_generator.get_state()
    return compute(), not torch.equal(state, torch.default_generator.get_state())
