"""A function that chance has a part in: it is called twice, and then some more times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from grader.sandbox.forms.exact import called, is_ruined, or_else

WORDS = True
MORE = 6  # calls of which only the number of zeros is noted


def put(entry: Any, inputs: Sequence[Any]) -> dict[str, Any]:
    """What two calls return, and more about others."""
    return twice(entry, *inputs)


def twice(function: Any, *inputs: Any) -> dict[str, Any]:
    """What two calls return; the second one must not change what the first one gave.

    Only the first one gets the inputs themselves: what it makes of them is no business of the others.
    """
    kept = _copies(inputs)
    return {
        "outputs": {"first": _copied(called(function, inputs)), "second": called(function, _copies(kept))},
        "zeros": [_zeros(called(function, _copies(kept))) for _ in range(MORE)],
        **_third(function, kept),
    }


def _copies(values: Sequence[Any]) -> list[Any]:
    return [_copied(value) for value in values]


def _copied(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


def _zeros(result: Any) -> int:
    return int((result == 0).sum()) if isinstance(result, torch.Tensor) else 0


def _third(function: Any, inputs: Sequence[Any]) -> dict[str, Any]:
    """What another call returns, and the gradient of its sum for the first input: None where none comes."""
    leaf = inputs[0].clone().requires_grad_()
    result = or_else(function, [leaf.clone(), *inputs[1:]], lambda: None)
    seen: dict[str, Any] = {"third": None, "gradient": None, "ruined": False}
    if not isinstance(result, torch.Tensor):
        return seen
    seen["third"] = result
    if result.requires_grad:
        try:
            (seen["gradient"],) = torch.autograd.grad(result.sum(), [leaf], allow_unused=True)
        except RuntimeError as error:
            seen["ruined"] = is_ruined(error)
    return seen
