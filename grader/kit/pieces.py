"""Functions that are pieces of a model: cases for what is asked of them besides right numbers."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader.model.broken_rules import FLOAT64 as FLOAT64
from grader.model.broken_rules import LARGE as LARGE
from grader.model.broken_rules import other_type as other_type
from grader.model.exercise import Case, Inputs
from grader.sandbox.nested import in_double, map_tensors

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
        inputs=lambda rng: map_tensors(in_double, tuple(sample(rng))),
        beside=FLOAT64,
    )
