"""A function that is a piece of a model: what it returns counts as it is, and gradients go through it.

A case whose last input is a dict asks for gradients in place of the result: `{"gradients": True}`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

WORDS = True


def put(entry: Any, inputs: Sequence[Any]) -> Any:
    """What one call returns, or the gradients of it."""
    if asks_for_gradients(inputs):
        return gradients(entry, inputs[:-1])
    return called(entry, inputs)


def called(entry: Any, inputs: Sequence[Any]) -> Any:
    """What one call returns. Code that cannot cope with float64 gets float32, so that its result has the wrong type."""
    if not any(_is_double(value) for value in inputs):
        return entry(*inputs)
    return or_else(entry, inputs, lambda: entry(*map(_single, inputs)))


def asks_for_gradients(inputs: Sequence[Any]) -> bool:
    return bool(inputs) and isinstance(inputs[-1], dict)


def gradients(entry: Any, arguments: Sequence[Any]) -> dict[str, Any]:
    """Those of a weighted sum of all numbers that come back, for each argument by its number; None where none comes.

    `ruined` says whether something on the way was changed in place that is needed on the way back.
    """
    leaves = {
        str(index): value.clone().requires_grad_() for index, value in enumerate(arguments) if _has_gradient(value)
    }
    given = [leaves[str(i)].clone() if str(i) in leaves else value for i, value in enumerate(arguments)]
    none: dict[str, Any] = {"gradients": dict.fromkeys(leaves), "ruined": False}
    result = or_else(entry, given, lambda: [entry(*arguments)][:0])
    numbers = [tensor.reshape(-1) for tensor in _tensors(result) if tensor.requires_grad]
    if not numbers:
        return none
    flat = torch.cat(numbers)
    factors = torch.arange(len(flat), device=flat.device, dtype=flat.dtype).cos()
    try:
        found = torch.autograd.grad((flat * factors).sum(), list(leaves.values()), allow_unused=True)
    except RuntimeError as error:
        return none | {"ruined": is_ruined(error)}
    return none | {"gradients": dict(zip(leaves, found, strict=True))}


def is_ruined(error: RuntimeError) -> bool:
    """Whether there are no gradients since something was changed in place that is needed on the way back."""
    return "inplace operation" in str(error)


def or_else(entry: Any, inputs: Sequence[Any], otherwise: Callable[[], Any]) -> Any:
    """What a call returns, or something else where it fails: unless that fails, too."""
    try:
        return entry(*inputs)
    except (NotImplementedError, TimeoutError):  # still to do, or stopped: what does not end is not asked again
        raise
    except Exception:
        return otherwise()


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    """All tensors in a value, in their order: a list of rows has the gradients of the matrix."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _has_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _is_double(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.dtype is torch.float64


def _single(value: Any) -> Any:
    return value.float() if _is_double(value) else value
