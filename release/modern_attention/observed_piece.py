"""A function that is a piece of a model: what it returns counts as it is, and gradients go through it.

A case whose last input is a dict, `{"gradients": True}`, asks for gradients in place of the result.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import torch

from nested import tensors_in

Tensor = torch.Tensor
Function: TypeAlias = Callable[..., Any]  # a student's, or our own
Inputs: TypeAlias = Sequence[Any]  # of a case
Options: TypeAlias = Mapping[str, Any]  # of a case: what is asked for besides the result
Observed: TypeAlias = dict[str, Any]  # what was seen, by what it is


def put_once(function: Function, inputs: Inputs) -> object:
    """Return the result of one call, or its gradients."""
    if asks_for_gradients(inputs):
        return gradients(function, inputs[:-1])
    return result_of(function, inputs)


def result_of(function: Function, inputs: Inputs) -> object:
    """Return the result of one call. Code that cannot cope with float64 gets float32: its result has the wrong type."""
    if not any(map(_is_double, inputs)):
        return function(*inputs)

    def call_in_single() -> object:
        return function(*(value.float() if _is_double(value) else value for value in inputs))

    return _or_else(function, inputs, call_in_single)


def asks_for_gradients(inputs: Inputs) -> bool:
    return bool(inputs) and isinstance(inputs[-1], dict)


def gradients(function: Function, arguments: Inputs) -> Observed:
    """The gradients of a weighted sum of all numbers in a result, by the number of the argument; None if there is none.

    `ruined` says whether something that they need was changed in place.
    """
    leaves = {
        str(index): value.clone().requires_grad_()
        for index, value in enumerate(arguments)
        if isinstance(value, Tensor) and value.is_floating_point()
    }
    tracked = [leaves[str(i)].clone() if str(i) in leaves else value for i, value in enumerate(arguments)]
    none: Observed = {"gradients": dict.fromkeys(leaves), "ruined": False}
    result = _or_else(function, tracked, lambda: [function(*arguments)][:0])
    # A list of rows has the gradients of the matrix.
    numbers = [tensor.reshape(-1) for tensor in tensors_in(result) if tensor.requires_grad]
    if not numbers:
        return none
    flat = torch.cat(numbers)
    factors = torch.arange(len(flat), device=flat.device, dtype=flat.dtype).cos()
    try:
        tensors = torch.autograd.grad((flat * factors).sum(), list(leaves.values()), allow_unused=True)
    except RuntimeError as error:
        return none | {"ruined": is_ruined(error)}
    return none | {"gradients": dict(zip(leaves, tensors, strict=True))}


def refusal(function: Function, arguments: Inputs) -> str:
    """How a call refuses its arguments: with a "ValueError", with "another" error, or not at all, which is ""."""
    try:
        function(*arguments)
    except (NotImplementedError, TimeoutError):  # still to do, or stopped
        raise
    except ValueError:
        return "ValueError"
    except Exception:
        return "another"
    return ""


def is_ruined(error: RuntimeError) -> bool:
    """Whether there are no gradients because something they need was changed in place."""
    return "inplace operation" in str(error)


def copy_tensor(value: object) -> Any:
    """A copy of a tensor; any other value as it is."""
    return value.clone() if isinstance(value, Tensor) else value


def _or_else(function: Function, inputs: Inputs, otherwise: Callable[[], object]) -> object:
    """Return the result of a call, or of `otherwise` if the call fails."""
    try:
        return function(*inputs)
    except (NotImplementedError, TimeoutError):  # still to do, or stopped: endless code is not called again
        raise
    except Exception:
        return otherwise()


def _is_double(value: object) -> bool:
    return isinstance(value, Tensor) and value.dtype is torch.float64
