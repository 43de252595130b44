"""Values within nested lists, tuples and dicts, on both sides of the channel and beside the notebooks of students."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch


def leaves(value: object) -> Iterator[object]:
    """All values in nested lists, tuples and dicts, in their order."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def tensors_in(value: object) -> Iterator[torch.Tensor]:
    """All tensors in a nested value, in their order."""
    return (leaf for leaf in leaves(value) if isinstance(leaf, torch.Tensor))


def first_numbers(value: object) -> torch.Tensor:
    """The first tensor with decimals, which has the type that a result must have: tokens say nothing of it."""
    return next(tensor for tensor in tensors_in(value) if tensor.is_floating_point())


def map_leaves(change: Callable[[Any], Any], value: object) -> Any:
    """A nested value with all in it changed but lists, tuples and dicts. Those of other classes are changed whole."""
    if type(value) is list or type(value) is tuple:
        return type(value)(map_leaves(change, item) for item in value)
    if type(value) is dict:
        return {key: map_leaves(change, item) for key, item in value.items()}
    return change(value)


def map_tensors(change: Callable[[torch.Tensor], torch.Tensor], value: object) -> Any:
    """A nested value with each of its tensors changed."""
    return map_leaves(lambda leaf: change(leaf) if isinstance(leaf, torch.Tensor) else leaf, value)


def in_double(tensor: torch.Tensor) -> torch.Tensor:
    """The same in float64, if it holds numbers with decimals."""
    return tensor.double() if tensor.is_floating_point() else tensor
