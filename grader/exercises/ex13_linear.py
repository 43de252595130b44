"""Exercise 13: self-attention with linear layers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from grader import MODULE, Case, ClassCase, Exercise, at, randn, wrong
from grader.kit.module_cases import SECOND_CALL, beside_numbers, draw_weights, far_below_zero
from grader.kit.module_readings import reader

from .attention_cases import projection_shapes
from .mistakes import attention

Tensor = torch.Tensor


class SelfAttention_v2(nn.Module):
    def __init__(self, d_in, d_out, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)  #: projections
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)  #: projections
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)  #: projections

    def forward(self, x):
        q = self.W_query(x)  # (T, d_out)  #: query
        k = self.W_key(x)  #: key
        v = self.W_value(x)  #: value

        scores = q @ k.T  # (T, T): row = query, column = key  #: scores
        scores = scores / math.sqrt(k.shape[-1])  #: scale
        weights = torch.softmax(scores, dim=-1)  #: normalize

        context = weights @ v  # (T, d_out)  #: mix
        return context  #: result


def sized(T: int, d_in: int, d_out: int, bias: bool = False, **options: Any) -> Callable[[torch.Generator], ClassCase]:
    def inputs(rng: torch.Generator) -> ClassCase:
        x = randn(rng, T, d_in)
        arguments = [d_in, d_out, *([True] if bias else [])]
        weights = draw_weights(rng, projection_shapes(d_in, d_out, bias))
        return ClassCase(arguments, weights, {"output": [x], SECOND_CALL: [x]}, **options)

    return inputs


# fmt: off
exercise = Exercise(
    number=13,
    assignment="causal_attention",
    title="Linear layers",
    solution=SelfAttention_v2,
    form=MODULE,
    read=reader(SelfAttention_v2),
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
    mistakes=[
        *attention.of_one_head("self.W_query(x)", "self.W_key(x)", "self.W_value(x)"),
        *attention.UNMASKED,
        *at("projections",
            wrong("always biased", ("bias=qkv_bias", "bias=True"),
                  "Your linear layers have a bias although qkv_bias is False. Give them bias=qkv_bias.",
                  credit=0.75, kind="input"),
            wrong("never biased", ("bias=qkv_bias", "bias=False"),
                  "Your linear layers have no bias when qkv_bias is True. Give them bias=qkv_bias.",
                  credit=0.75, kind="input")),
        attention.LAYERS_NOT_TRANSPOSED,
        wrong("biases without effect",
              {"query": "q = x @ self.W_query.weight.T", "key": "k = x @ self.W_key.weight.T",
               "value": "v = x @ self.W_value.weight.T"},
              "The biases of your layers have no effect. Call the layers: self.W_query(x) adds its own bias.",
              credit=0.75, kind="missing step"),
        attention.ONE_LAYER,
        *attention.of_modules("projections"),
    ],
)
# fmt: on
