"""Exercise 12: self-attention with trainable weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.module_cases import SECOND_CALL, beside_numbers, draw_weights, far_below_zero, trial
from grader.kit.module_readings import reader
from grader.kit.module_references import glancing, observing
from grader.model.forms.module import MODULE

from .mistakes import modules, one_head

Tensor = torch.Tensor


class SelfAttention_v1(nn.Module):  # noqa: N801  as in the notebook
    """The reference, in steps that a misconception can change."""

    roles: Any = ("query", "key", "value")
    make: Any = staticmethod(lambda d_in, d_out: nn.Parameter(torch.rand(d_in, d_out)))
    project: Any = staticmethod(lambda weight, x: x @ weight)
    pass_on: Any = staticmethod(lambda projected, _role, _x: projected)
    score: Any = staticmethod(lambda q, k: q @ k.mT)
    scale: Any = staticmethod(lambda scores, d_in, d_out, T: scores / d_out**0.5)
    normalise: Any = staticmethod(lambda scores: torch.softmax(scores, dim=-1))
    mix: Any = staticmethod(lambda weights, v: weights @ v)
    finish: Any = staticmethod(lambda outputs: outputs)
    begin: Any = staticmethod(lambda module: None)
    dtype: Any = staticmethod(lambda outputs: outputs)

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.sizes = (d_in, d_out)
        for name in ("query", "key", "value"):
            setattr(self, f"W_{name}", self.make(d_in, d_out))
        self.begin(self)

    def forward(self, x: Tensor) -> Any:
        projected = [self.project(getattr(self, f"W_{name}"), x) for name in self.roles]
        roles = zip("qkv", projected, strict=True)
        q, k, v = (self.pass_on(vectors, role, x) for role, vectors in roles)  # (T, d_out) each
        scores = self.scale(self.score(q, k), *self.sizes, len(x))  # (T, T)
        return self.dtype(self.finish(self.mix(self.normalise(scores), v)))  # (T, d_out)


def sized(T: int, d_in: int, d_out: int, **how: Any) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        weights = draw_weights(rng, dict.fromkeys(("W_query", "W_key", "W_value"), (d_in, d_out)))
        x = randn(rng, T, d_in)
        return trial([d_in, d_out], weights, {"output": [x], SECOND_CALL: [x]}, **how)

    return inputs


reference = observing(SelfAttention_v1)

exercise = Exercise(
    number=12,
    assignment="causal_attention",
    title="Trainable weights",
    entry="SelfAttention_v1",
    form=MODULE,
    glance=glancing(SelfAttention_v1),
    reference=reference,
    read=reader(reference),
    scales={"scale": "the dot products of queries and keys"},
    cases=[
        Case("fewer features than words", catches="√d_in or √T for √d_out", inputs=sized(5, 3, 4, gradients=1)),
        Case("more features than words", catches="a hard-coded √2, lost gradients", inputs=sized(4, 7, 5, gradients=1)),
        Case("as many words as features", catches="transposed results and weights", inputs=sized(4, 4, 4, gradients=1)),
        Case("one output feature", catches="squeezed dimensions", inputs=sized(7, 2, 1)),
        Case("a single word", catches="squeezed dimensions", inputs=sized(1, 5, 3)),
        *beside_numbers(sized(4, 3, 5)),
        far_below_zero(sized(4, 3, 5)),
    ],
    misconceptions=[
        *one_head.SCALING_ROLES_AND_GRADIENTS,
        *one_head.WEIGHTS_WITHOUT_MASK,
        Misconception(
            "plain tensors",
            kind="missing step",
            credit=0.25,
            says="Your weights are plain tensors, which no optimiser finds. Wrap them in nn.Parameter.",
            change={"make": lambda d_in, d_out: torch.rand(d_in, d_out)},
        ),
        Misconception(
            "linear layers",
            kind="convention",
            credit=0.5,
            says="Your parameters are those of layers, such as nn.Linear. That is exercise 13; here the weights are "
            "nn.Parameter (d_in, d_out).",
            change={
                "make": lambda d_in, d_out: nn.Linear(d_in, d_out, bias=False),
                "project": lambda linear, x: linear(x),
            },
        ),
        Misconception(
            "parameters transposed",
            kind="convention",
            credit=0.5,
            says="Your parameters have shape (d_out, d_in). Make them (d_in, d_out), so that x @ W_query fits.",
            change={
                "make": lambda d_in, d_out: nn.Parameter(torch.rand(d_out, d_in)),
                "project": lambda weight, x: x @ weight.mT,
            },
        ),
        Misconception(
            "not trainable",
            kind="gradient",
            credit=0.5,
            says="Your parameters have requires_grad=False, so no optimiser changes them. Leave that out.",
            change={"make": lambda d_in, d_out: nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)},
        ),
        *modules.IN_MODULES,
    ],
)
