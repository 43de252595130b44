"""Exercise 13: self-attention with linear layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from grader.exercises.attention_mistakes import SCALING_ROLES_AND_GRADIENTS, WEIGHTS_WITHOUT_MASK
from grader.kit.module_cases import SECOND_CALL, draw_weights, trial
from grader.kit.module_readings import reading
from grader.kit.module_references import glancing, observing
from grader.model.exercise import Case, Exercise, Inputs, Misconception, randn
from grader.model.forms.module import MODULE

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

    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False) -> None:
        super().__init__()
        self.sizes = (d_in, d_out)
        for name in ("query", "key", "value"):
            setattr(self, f"W_{name}", nn.Linear(d_in, d_out, bias=self.bias(qkv_bias)))

    def forward(self, x: Tensor) -> Any:
        projected = [self.project(getattr(self, f"W_{name}"), x) for name in self.roles]
        q, k, v = (self.pass_on(one, role, x) for one, role in zip(projected, "qkv", strict=True))  # (T, d_out) each
        scores = self.scale(self.score(q, k), *self.sizes, len(x))  # (T, T)
        return self.finish(self.mix(self.normalise(scores), v))  # (T, d_out)


def draw(T: int, d_in: int, d_out: int, bias: bool = False, **how: Any) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        names = ("W_query", "W_key", "W_value")
        shapes: dict[str, list[int]] = {f"{name}.weight": [d_out, d_in] for name in names}
        shapes |= {f"{name}.bias": [d_out] for name in names} if bias else {}
        x = randn(rng, T, d_in)
        arguments = [d_in, d_out, *([True] if bias else [])]
        return trial(arguments, draw_weights(rng, shapes), {"output": [x], SECOND_CALL: [x]}, **how)

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
    read=reading(reference),
    cases=[
        Case("fewer features than words", catches="√d_in or √T for √d_out", inputs=draw(5, 3, 4, gradients=1)),
        Case("more features than words", catches="a hard-coded √2, lost gradients", inputs=draw(4, 7, 5, gradients=1)),
        Case("as many words as features", catches="transposed results and weights", inputs=draw(4, 4, 4, gradients=1)),
        Case("with biases", catches="qkv_bias that is ignored", inputs=draw(3, 4, 2, bias=True, gradients=1)),
        Case("one output feature", catches="squeezed dimensions", inputs=draw(7, 2, 1)),
        Case("a single word", catches="squeezed dimensions", inputs=draw(1, 5, 3)),
    ],
    misconceptions=[
        *SCALING_ROLES_AND_GRADIENTS,
        *WEIGHTS_WITHOUT_MASK,
        Misconception(
            "always biased",
            kind="input",
            credit=0.75,
            says="Your linear layers have a bias although qkv_bias is False. Give them bias=qkv_bias.",
            change={"bias": lambda _asked: True},
        ),
        Misconception(
            "never biased",
            kind="input",
            credit=0.75,
            says="Your linear layers have no bias when qkv_bias is True. Give them bias=qkv_bias.",
            change={"bias": lambda _asked: False},
        ),
    ],
)
