"""Exercise 13: self-attention with linear layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from grader import Case, Exercise, Inputs, randn
from grader.kit.module_cases import SECOND_CALL, beside_numbers, draw_weights, far_below_zero, trial
from grader.kit.module_readings import reader
from grader.kit.module_references import glancing, observing
from grader.kit.module_steps import Linear
from grader.model.forms.module import MODULE

from .attention_cases import projection_shapes
from .mistakes import modules, one_head, projections

Tensor = torch.Tensor


class SelfAttention_v2(nn.Module):  # noqa: N801  as in the notebook
    """The reference, in steps that a misconception can change."""

    roles: Any = ("query", "key", "value")
    bias: Any = staticmethod(lambda asked: asked)
    project: Any = staticmethod(lambda linear, x: linear(x))
    pass_on: Any = staticmethod(lambda projected, _role, _x: projected)
    score: Any = staticmethod(lambda q, k: q @ k.mT)
    scale: Any = staticmethod(lambda scores, d_in, d_out, T: scores / d_out**0.5)
    normalise: Any = staticmethod(lambda scores: torch.softmax(scores, dim=-1))
    mix: Any = staticmethod(lambda weights, v: weights @ v)
    finish: Any = staticmethod(lambda outputs: outputs)
    begin: Any = staticmethod(lambda module: None)
    dtype: Any = staticmethod(lambda outputs: outputs)

    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False) -> None:
        super().__init__()
        self.sizes = (d_in, d_out)
        for name in ("query", "key", "value"):
            setattr(self, f"W_{name}", Linear(d_in, d_out, bias=self.bias(qkv_bias)))
        self.begin(self)

    def forward(self, x: Tensor) -> Any:
        projected = [self.project(getattr(self, f"W_{name}"), x) for name in self.roles]
        roles = zip("qkv", projected, strict=True)
        q, k, v = (self.pass_on(vectors, role, x) for role, vectors in roles)  # (T, d_out) each
        scores = self.scale(self.score(q, k), *self.sizes, len(x))  # (T, T)
        return self.dtype(self.finish(self.mix(self.normalise(scores), v)))  # (T, d_out)


def sized(T: int, d_in: int, d_out: int, bias: bool = False, **how: Any) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        x = randn(rng, T, d_in)
        arguments = [d_in, d_out, *([True] if bias else [])]
        weights = draw_weights(rng, projection_shapes(d_in, d_out, bias))
        return trial(arguments, weights, {"output": [x], SECOND_CALL: [x]}, **how)

    return inputs


reference = observing(SelfAttention_v2)

exercise = Exercise(
    number=13,
    assignment="causal_attention",
    title="Linear layers",
    entry="SelfAttention_v2",
    form=MODULE,
    glance=glancing(SelfAttention_v2),
    reference=reference,
    read=reader(reference),
    scales={"scale": "the dot products of queries and keys"},
    cases=[
        Case("fewer features than words", catches="√d_in or √T for √d_out", inputs=sized(5, 3, 4, gradients=1)),
        Case("more features than words", catches="a hard-coded √2, lost gradients", inputs=sized(4, 7, 5, gradients=1)),
        Case("as many words as features", catches="transposed results and weights", inputs=sized(4, 4, 4, gradients=1)),
        Case("with biases", catches="qkv_bias that is ignored", inputs=sized(3, 4, 2, bias=True, gradients=1)),
        Case("one output feature", catches="squeezed dimensions", inputs=sized(7, 2, 1)),
        Case("a single word", catches="squeezed dimensions", inputs=sized(1, 5, 3)),
        *beside_numbers(sized(4, 3, 5)),
        far_below_zero(sized(4, 3, 5)),
    ],
    misconceptions=[
        *one_head.SCALING_ROLES_AND_GRADIENTS,
        *one_head.WEIGHTS_WITHOUT_MASK,
        projections.ALWAYS_BIASED,
        projections.NEVER_BIASED,
        *modules.IN_MODULES,
    ],
)
