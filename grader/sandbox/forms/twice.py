"""A function that chance has a part in: it is called twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

WORDS = True


def put(entry: Any, inputs: Sequence[Any]) -> dict[str, Any]:
    """What two calls return."""
    return twice(entry, *inputs)


def twice(function: Any, *inputs: Any) -> dict[str, Any]:
    """What two calls return; the second one must not change what the first one gave."""
    first = function(*inputs)
    first = first.clone() if isinstance(first, torch.Tensor) else first
    return {"outputs": {"first": first, "second": function(*inputs)}}
