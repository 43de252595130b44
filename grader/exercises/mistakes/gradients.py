"""Gradients that are cut off on their way through a module."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader import Misconception

Tensor = torch.Tensor


def detached(*roles: str) -> Callable[[Tensor, str, Tensor], Tensor]:
    return lambda projected, role, _x: projected.detach() if role in roles else projected


EVERYTHING_DETACHED = Misconception(
    "everything detached",
    kind="gradient",
    credit=0.5,
    says="No gradient comes through, as when something like no_grad or detach is around the computation. The result "
    "must be computed from the weights by operations that keep gradients.",
    change={"finish": lambda outputs: outputs.detach()},
)

VALUES_DETACHED = Misconception(
    "values detached",
    kind="gradient",
    credit=0.5,
    says="No gradient reaches W_value. Neither detach nor .data belongs on the path of the values.",
    change={"pass_on": detached("v")},
)

WEIGHTS_DETACHED = Misconception(
    "weights detached",
    kind="gradient",
    credit=0.5,
    says="No gradient reaches W_query and W_key. Neither detach nor .data belongs on the path of scores and weights.",
    change={"pass_on": detached("q", "k")},
)
