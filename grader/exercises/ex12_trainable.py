"""Exercise 12: self-attention with trainable weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from grader import MODULE, Case, ClassCase, Exercise, randn, wrong
from grader.kit.module_cases import SECOND_CALL, beside_numbers, draw_weights, far_below_zero
from grader.kit.module_readings import reader

from .mistakes import attention

Tensor = torch.Tensor


class SelfAttention_v1(nn.Module):
    def __init__(self, d_in, d_out):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))  #: parameters
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))  #: parameters
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))  #: parameters

    def forward(self, x):
        q = x @ self.W_query  # (T, d_out)  #: query
        k = x @ self.W_key  #: key
        v = x @ self.W_value  #: value

        scores = q @ k.T  # (T, T): row = query, column = key  #: scores
        scores = scores / math.sqrt(k.shape[-1])  #: scale
        weights = torch.softmax(scores, dim=-1)  #: normalize

        context = weights @ v  # (T, d_out)  #: mix
        return context  #: result


def sized(T: int, d_in: int, d_out: int, **options: Any) -> Callable[[torch.Generator], ClassCase]:
    def inputs(rng: torch.Generator) -> ClassCase:
        weights = draw_weights(rng, dict.fromkeys(("W_query", "W_key", "W_value"), (d_in, d_out)))
        x = randn(rng, T, d_in)
        return ClassCase([d_in, d_out], weights, {"output": [x], SECOND_CALL: [x]}, **options)

    return inputs


# fmt: off
exercise = Exercise(
    number=12,
    assignment="causal_attention",
    title="Trainable weights",
    solution=SelfAttention_v1,
    form=MODULE,
    read=reader(SelfAttention_v1),
    cases=[
        Case("fewer features than words", catches="√d_in or √T for √d_out", inputs=sized(5, 3, 4, gradients=1)),
        Case("more features than words", catches="a hard-coded √2, lost gradients", inputs=sized(4, 7, 5, gradients=1)),
        Case("as many words as features", catches="transposed results and weights", inputs=sized(4, 4, 4, gradients=1)),
        Case("one output feature", catches="squeezed dimensions", inputs=sized(7, 2, 1)),
        Case("a single word", catches="squeezed dimensions", inputs=sized(1, 5, 3)),
        *beside_numbers(sized(4, 3, 5)),
        far_below_zero(sized(4, 3, 5)),
    ],
    mistakes=[
        *attention.of_one_head("x @ self.W_query", "x @ self.W_key", "x @ self.W_value"),
        *attention.UNMASKED,
        wrong("plain tensors", {"parameters": ("nn.Parameter(torch.rand(d_in, d_out))", "torch.rand(d_in, d_out)")},
              "Your weights are plain tensors, so no optimizer can find them. Wrap them in nn.Parameter.",
              credit=0.25, kind="missing step"),
        wrong("linear layers",
              {"parameters": ("nn.Parameter(torch.rand(d_in, d_out))", "nn.Linear(d_in, d_out, bias=False)"),
               "query": "q = self.W_query(x)", "key": "k = self.W_key(x)", "value": "v = self.W_value(x)"},
              "Your parameters belong to layers such as nn.Linear. Those come in exercise 13: make the weights "
              "nn.Parameter (d_in, d_out) here.", kind="convention"),
        wrong("parameters transposed",
              {"parameters": ("d_in, d_out", "d_out, d_in"), "query": "q = x @ self.W_query.T",
               "key": "k = x @ self.W_key.T", "value": "v = x @ self.W_value.T"},
              "Your parameters have shape (d_out, d_in). Make them (d_in, d_out), so that x @ W_query fits.",
              kind="convention"),
        wrong("not trainable",
              {"parameters": ("d_out))", "d_out), requires_grad=False)")},
              "Your parameters have requires_grad=False, so no optimizer changes them. Leave that out.",
              kind="gradient"),
        wrong("one parameter for all",
              {"parameters": "self.W_query = self.W_key = self.W_value = nn.Parameter(torch.rand(d_in, d_out))"},
              "W_query, W_key and W_value are one and the same parameter. Make three separate ones.", kind="mix-up"),
        *attention.of_modules("parameters"),
    ],
)
# fmt: on
