"""A function that computes gradients by formulas: where it is called, autograd notes nothing, and cannot be made to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from grader.sandbox.forms import exact

WORDS = True


def put(entry: Any, inputs: Sequence[Any]) -> Any:
    """What one call returns whose inputs have no gradients, and cannot get any."""
    with torch.inference_mode():
        return exact.called(entry, [value.clone() for value in inputs])
