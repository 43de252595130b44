"""Functions that are pieces of a model: cases for what is asked of them besides right numbers."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.model.compare import Difference, Kind
from grader.model.exercise import Case, Inputs

LARGE = "Your code is right for small scores, but not for large ones. It must work up to ±10⁴, without NaN."
FLOAT64 = "Your code is right for float32 inputs, but not for float64: its result must have the dtype of the inputs."

Sample = Callable[[torch.Generator], Inputs]


def as_pieces(sample: Sample) -> list[Case]:
    """Cases of gradients, and of float64, for a way to draw inputs."""
    return [
        Case(
            "gradients",
            catches="detach, item, no_grad, and tensors changed in place that are needed on the way back",
            inputs=lambda rng: (*sample(rng), {"gradients": True}),
            beside="The numbers are right, but gradients must flow through your function, too.",
        ),
        in_float64(sample),
    ]


def in_float64(sample: Sample) -> Case:
    """A case of inputs in float64."""
    return Case(
        "float64 inputs",
        catches="a result of another type than the input",
        inputs=lambda rng: tuple(map(as_double, sample(rng))),
        beside=FLOAT64,
    )


def as_double(value: object) -> object:
    """A tensor of numbers in float64."""
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def other_type(got: object, want: torch.Tensor) -> str:
    """A sentence if the numbers of a tensor have another type than those of `want`; or else empty."""
    if not isinstance(got, torch.Tensor) or got.dtype == want.dtype:
        return ""
    given, expected = (str(tensor.dtype).removeprefix("torch.") for tensor in (got, want))
    return Difference(Kind.DTYPE, forms=(given, expected)).sentence("result")
