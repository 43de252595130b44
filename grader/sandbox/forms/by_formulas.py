"""A function that computes gradients by formulas: where it is called, autograd notes nothing, and cannot be made to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from grader.sandbox.forms import exact

WORDS = True

OFF = "neither autograd nor a backward function of PyTorch's own: compute the gradients by formulas"


class WithoutAutograd(TorchFunctionMode):
    """Stops PyTorch's own backward functions, and all where autograd would note something, as inside of torch.func."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not torch.is_inference_mode_enabled() or "backward" in getattr(function, "__name__", ""):
            raise RuntimeError(OFF)
        return function(*args, **(kwargs or {}))


def put(entry: Any, inputs: Sequence[Any]) -> Any:
    """What one call returns whose inputs have no gradients, and cannot get any. What it changes is changed in ours."""
    with torch.inference_mode():
        given = [value.clone() for value in inputs]
        with WithoutAutograd():
            result = exact.called(entry, given)
    for value, now in zip(inputs, given, strict=True):
        value.data = now.clone()
    return result
