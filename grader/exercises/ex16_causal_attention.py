"""Exercise 16: causal attention for batches, as a module."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from grader import MODULE, Case, ClassCase, Exercise, ModuleSeen, at, wrong
from grader.kit.module_cases import WORDS, about_minus_ten_thousand, beside_numbers, dropout_trial
from grader.kit.module_readings import picture_of_future, reader, wrong_mask

from . import attention_cases
from .ex13_linear import exercise as linear
from .mistakes import attention, mistakes_named

Tensor = torch.Tensor


class CausalAttention(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)  #: projections
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)  #: projections
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)  #: projections
        self.dropout = nn.Dropout(dropout)  #: rate
        mask = torch.ones(context_length, context_length).triu(diagonal=1)  #: size
        self.register_buffer("mask", mask)  #: buffer

    def forward(self, x):
        T = x.shape[1]  #: sizes
        q = self.W_query(x)  # (B, T, d_out)  #: query
        k = self.W_key(x)  #: key
        v = self.W_value(x)  #: value

        scores = q @ k.transpose(1, 2)  # (B, T, T): row = query, column = key  #: scores
        scores = scores / math.sqrt(k.shape[-1])  #: scale
        mask = self.mask[:T, :T] == 1  # later words  #: crop
        scores = scores.masked_fill(mask, -math.inf)  #: hide
        weights = torch.softmax(scores, dim=-1)  #: normalize
        weights = self.dropout(weights)  #: drop

        context = weights @ v  # (B, T, d_out)  #: mix
        return context  #: result


def sized(
    B: int, T: int, d_in: int, d_out: int, context: int, *, dropout: float = 0.0, bias: bool = False, **options: Any
) -> Callable[[torch.Generator], ClassCase]:
    shapes = attention_cases.projection_shapes(d_in, d_out, bias)
    return attention_cases.texts([d_in, d_out, context, dropout], shapes, B, T, bias=bias, **options)


def with_dropout(rng: torch.Generator) -> ClassCase:
    p = attention_cases.some_rate(rng)

    def weights(for_scores: Callable[[], Tensor], for_values: Callable[[], Tensor]) -> dict[str, Tensor]:
        return {name: make() for name, make in attention_cases.by_name(for_scores, for_values).items()}

    return dropout_trial(rng, lambda d_in, d_out: [d_in, d_out, WORDS + 2, p], weights)


def wrong_buffer(module_seen: ModuleSeen, _d_in: int, _d_out: int, context: int, *_arguments: Any) -> str:
    return wrong_mask(module_seen, context)


# fmt: off
exercise = Exercise(
    number=16,
    assignment="causal_attention",
    title="Causal attention",
    solution=CausalAttention,
    form=MODULE,
    picture=picture_of_future,
    explained_in={"scaling": "exercise-12"},
    read=reader(CausalAttention, causal=True, mask=wrong_buffer),
    cases=[
        Case("one sentence", catches="missing gradients, √d_in or √T for √d_out",
             inputs=sized(1, 5, 3, 4, 5, gradients=1)),
        Case("several sentences", catches="sentences that are mixed, softmax over the batch",
             inputs=sized(3, 4, 5, 2, 4, gradients=1)),
        Case("as many sentences as words", catches="a softmax over sentences that has the right shape",
             inputs=sized(4, 4, 2, 3, 4)),
        Case("as many features out as in", catches="weights of layers that are not transposed",
             inputs=sized(2, 3, 4, 4, 5)),
        Case("shorter than the context", catches="a mask that is not cut to the text",
             inputs=sized(2, 3, 4, 6, 8, gradients=1)),
        Case("a single word", catches="squeezed dimensions", inputs=sized(2, 1, 3, 5, 4)),
        Case("one output feature", catches="squeezed dimensions", inputs=sized(2, 6, 4, 1, 7)),
        Case("with biases", catches="qkv_bias that is ignored", inputs=sized(2, 5, 3, 2, 6, bias=True, gradients=1)),
        Case("in training, with a rate of 0", catches="a rate that is not the argument",
             inputs=sized(2, 4, 3, 5, 4, train=True, gradients=1)),
        Case("not in training", catches="dropout that is always active", inputs=sized(2, 5, 4, 3, 5, dropout=0.5)),
        Case("in training", catches="dropout that is missing, elsewhere, or not scaled", inputs=with_dropout),
        *beside_numbers(sized(2, 5, 3, 4, 6)),
        about_minus_ten_thousand(sized(2, 5, 3, 4, 6), head_dim=4),
    ],
    mistakes=[
        *attention.MASKED,
        *attention.DROPOUT,
        *attention.of_one_head("self.W_query(x)", "self.W_key(x)", "self.W_value(x)"),
        wrong("scaled by √context_length", {"scale": "scores = scores / math.sqrt(len(self.mask))"},
              "The scores that you use are divided by √context_length. Divide by √d_out: keys have d_out entries.",
              kind="scaling"),
        *attention.FUTURE,
        *attention.OWN_WORD,
        wrong("zeros for −∞", {"hide": "scores = scores.masked_fill(mask, 0)"},
              "In your results, hidden scores count as 0, or nearly 0, and softmax turns each into exp(0) = 1. Set "
              "them to −∞."),
        attention.LAYERS_NOT_TRANSPOSED,
        *attention.HIDDEN_LATE,
        *attention.HIDDEN_BY_VALUE,
        attention.HIDDEN_BY_A_NUMBER,
        wrong("softmax twice", {"normalize": "weights = torch.softmax(torch.softmax(scores, dim=-1), dim=-1)"},
              "Your results look as if softmax had been applied twice. The second one gives hidden words some weight "
              "again. Apply it once."),
        wrong("scores averaged over the batch",
              {"scores": "scores = (q @ k.transpose(1, 2)).mean(dim=0, keepdim=True).expand(len(q), -1, -1)"},
              "The sentences of a batch share their weights. Each sentence should have its own.",
              kind="mix-up"),
        *at("normalize",
            wrong("softmax over queries", "weights = torch.softmax(scores, dim=1)",
                  "Your weights are normalized over the queries (dim=1 of the scores). Normalize over the keys: "
                  "dim=-1.", kind="axis"),
            wrong("softmax over the batch", "weights = torch.softmax(scores, dim=0)",
                  "Your weights are normalized over the sentences of the batch (dim=0). Normalize over the keys: "
                  "dim=-1.", kind="axis")),
        attention.SOFTMAX_MISSING,
        wrong("first sentence's weights for all",
              {"normalize": "weights = torch.softmax(scores[:1], dim=-1).expand_as(scores)"},
              "In your results, all sentences of a batch have the weights of the first. Each sentence should have its "
              "own.", kind="mix-up"),
        *at("projections",
            *mistakes_named(linear.mistakes, "always biased", "never biased")),
        attention.MASK_NOT_KEPT,
        *attention.DROPPED_SCORES,
        *attention.of_modules("buffer"),
        attention.RENORMALIZED,
    ],
)
# fmt: on
