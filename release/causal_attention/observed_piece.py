"""A function that is a piece of a model: what it returns counts as it is, and gradients go through it.

A case whose last input is a dict asks for something else in place of the result: `{"gradients": True}` for gradients,
`{"refuses": True}` for the ValueError with which a function refuses arguments that do not fit.
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

COUNTED_CALLS = 6  # for which only the number of zeros is noted


def put_once(function: Function, inputs: Inputs) -> object:
    """Return the result of one call, or its gradients."""
    if asks_for_gradients(inputs):
        return gradients(function, inputs[:-1])
    return result_of(function, inputs)


def put_or_refused(function: Function, inputs: Inputs) -> Any:
    """Return the result of one call, its gradients, or how it refuses its arguments."""
    if asks_for_gradients(inputs) and "refuses" in inputs[-1]:
        return {"error": _refusal(function, inputs[:-1])}
    return put_once(function, inputs)


def put_for_a_softmax(function: Function, inputs: Inputs) -> object:
    """Return the result of one call (a maximum, a sum of exponentials, and an output), or its gradients.

    Gradients are asked of the output and of the logarithm of the sum over all scores. Neither depends on which number
    was subtracted from the scores, so code may let gradients through the maximum or not. An empty piece has the sum 0,
    and no logarithm.
    """

    def result(*arguments: object) -> list[Tensor]:
        maximum, total, output = function(*arguments)
        return [maximum + total.masked_fill(total == 0, 1.0).log(), output]

    return gradients(result, inputs[:-1]) if asks_for_gradients(inputs) else put_once(function, inputs)


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


def _refusal(function: Function, arguments: Inputs) -> str:
    """How a call ends: with the error that is asked for, with another one, or not with an error."""
    try:
        function(*arguments)
    except (NotImplementedError, TimeoutError):  # still to do, or stopped
        raise
    except ValueError:
        return "ValueError"
    except Exception:
        return "another"
    return ""


# Functions with randomness.


def put_twice(function: Function, inputs: Inputs) -> Observed:
    """Call it twice and note both results, and then some more times. A call must not change an earlier result.

    Only the first call gets the inputs themselves, so that its changes do not reach the others.
    """
    copies = _copies(inputs)
    return {
        "outputs": {"first": copy_tensor(result_of(function, inputs)), "second": result_of(function, _copies(copies))},
        "zeros": [_zeros(result_of(function, _copies(copies))) for _ in range(COUNTED_CALLS)],
        **_third(function, copies),
    }


def _copies(values: Inputs) -> Inputs:
    return [copy_tensor(value) for value in values]


def _zeros(result: object) -> int:
    return int((result == 0).sum()) if isinstance(result, Tensor) else 0


def _third(function: Function, inputs: Inputs) -> Observed:
    """The result of another call, and the gradient of its sum with respect to the first input, or None."""
    leaf = inputs[0].clone().requires_grad_()
    result = _or_else(function, [leaf.clone(), *inputs[1:]], lambda: None)
    observed: Observed = {"third": None, "gradient": None, "ruined": False}
    if not isinstance(result, Tensor):
        return observed
    observed["third"] = result
    if result.requires_grad:
        try:
            (observed["gradient"],) = torch.autograd.grad(result.sum(), [leaf], allow_unused=True)
        except RuntimeError as error:
            observed["ruined"] = is_ruined(error)
    return observed
