"""Exercise 16: causal attention for batches, as a module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from grader import Case, Exercise, Inputs, Misconception
from grader.kit.module_cases import WORDS, beside_numbers, dropout_trial
from grader.kit.module_readings import picture_of_future, reader, wrong_mask
from grader.kit.module_references import glancing, observing
from grader.kit.module_steps import Linear
from grader.model.forms.module import MODULE

from . import attention_cases
from .mistakes import dropout, masks, modules, one_head, projections, weighing

Tensor = torch.Tensor


class CausalAttention(nn.Module):
    """The reference, in steps that a misconception can change."""

    roles: Any = ("query", "key", "value")
    bias: Any = staticmethod(lambda asked: asked)
    prepare: Any = staticmethod(lambda x: x)
    project: Any = staticmethod(lambda linear, x: linear(x))
    pass_on: Any = staticmethod(lambda projected, _role, _x: projected)
    score: Any = staticmethod(lambda q, k: q @ k.mT)
    scale: Any = staticmethod(lambda scores, d_in, d_out, T, context: scores / d_out**0.5)
    later: Any = staticmethod(lambda size, device: torch.ones(size, size, dtype=torch.bool, device=device).triu(1))
    crop: Any = staticmethod(lambda later, T: later[:T, :T])
    hide: Any = staticmethod(lambda scores, later: scores.masked_fill(later, -torch.inf))
    normalise: Any = staticmethod(lambda scores: torch.softmax(scores, dim=-1))
    hide_weights: Any = staticmethod(lambda weights, later: weights)
    rate: Any = staticmethod(lambda p: p)
    drop_raw: Any = staticmethod(lambda dropout, scores: scores)
    drop_scores: Any = staticmethod(lambda dropout, scores: scores)
    drop_weights: Any = staticmethod(lambda dropout, weights: dropout(weights))
    drop_values: Any = staticmethod(lambda dropout, v: v)
    drop_outputs: Any = staticmethod(lambda dropout, outputs: outputs)
    mix: Any = staticmethod(lambda weights, v: weights @ v)
    finish: Any = staticmethod(lambda outputs: outputs)
    keep_mask: Any = staticmethod(lambda module, mask: module.register_buffer("mask", mask))
    begin: Any = staticmethod(lambda module: None)
    dtype: Any = staticmethod(lambda outputs: outputs)

    def __init__(self, d_in: int, d_out: int, context_length: int, dropout: float, qkv_bias: bool = False) -> None:
        super().__init__()
        self.sizes = (d_in, d_out, context_length)
        for name in ("query", "key", "value"):
            setattr(self, f"W_{name}", Linear(d_in, d_out, bias=self.bias(qkv_bias)))
        self.dropout = nn.Dropout(self.rate(dropout))
        self.keep_mask(self, torch.ones(context_length, context_length).triu(1))
        self.begin(self)

    def forward(self, x: Tensor) -> Any:
        d_in, d_out, context = self.sizes
        x = self.prepare(x)
        T = x.shape[1]
        later = self.crop(self.later(context, x.device), T)  # (T, T)
        projected = [self.project(getattr(self, f"W_{name}"), x) for name in self.roles]
        roles = zip("qkv", projected, strict=True)
        q, k, v = (self.pass_on(vectors, role, x) for role, vectors in roles)  # (B, T, d_out) each
        scores = self.drop_raw(self.dropout, self.scale(self.score(q, k), d_in, d_out, T, context))  # (B, T, T)
        scores = self.hide(scores, later)
        weights = self.hide_weights(self.normalise(self.drop_scores(self.dropout, scores)), later)
        outputs = self.mix(self.drop_weights(self.dropout, weights), self.drop_values(self.dropout, v))  # (B, T, d_out)
        return self.dtype(self.finish(self.drop_outputs(self.dropout, outputs)))


def sized(
    B: int, T: int, d_in: int, d_out: int, context: int, *, dropout: float = 0.0, bias: bool = False, **how: Any
) -> Callable[[torch.Generator], Inputs]:
    shapes = attention_cases.projection_shapes(d_in, d_out, bias)
    return attention_cases.texts([d_in, d_out, context, dropout], shapes, B, T, bias=bias, **how)


def with_dropout(rng: torch.Generator) -> Inputs:
    p = attention_cases.some_rate(rng)

    def weights(for_scores: Callable[[], Tensor], for_values: Callable[[], Tensor]) -> dict[str, Tensor]:
        return {name: make() for name, make in attention_cases.by_name(for_scores, for_values).items()}

    return dropout_trial(rng, lambda d_in, d_out: [d_in, d_out, WORDS + 2, p], weights)


def wrong_buffer(seen: Any, _d_in: int, _d_out: int, context: int, *_others: Any) -> str:
    return wrong_mask(seen, context)


reference = observing(CausalAttention)

exercise = Exercise(
    number=16,
    assignment="causal_attention",
    title="Causal attention",
    entry="CausalAttention",
    form=MODULE,
    glance=glancing(CausalAttention),
    reference=reference,
    picture=picture_of_future,
    explained_in={"scaling": "exercise-12"},
    read=reader(reference, causal=True, mask=wrong_buffer),
    scales={"scale": "the dot products of queries and keys"},
    cases=[
        Case(
            "one sentence",
            catches="missing gradients, √d_in or √T for √d_out",
            inputs=sized(1, 5, 3, 4, 5, gradients=1),
        ),
        Case(
            "several sentences",
            catches="sentences that are mixed, softmax over the batch",
            inputs=sized(3, 4, 5, 2, 4, gradients=1),
        ),
        Case(
            "as many sentences as words",
            catches="a softmax over sentences that has the right shape",
            inputs=sized(4, 4, 2, 3, 4),
        ),
        Case(
            "shorter than the context",
            catches="a mask that is not cut to the text",
            inputs=sized(2, 3, 4, 6, 8, gradients=1),
        ),
        Case("a single word", catches="squeezed dimensions", inputs=sized(2, 1, 3, 5, 4)),
        Case("one output feature", catches="squeezed dimensions", inputs=sized(2, 6, 4, 1, 7)),
        Case("with biases", catches="qkv_bias that is ignored", inputs=sized(2, 5, 3, 2, 6, bias=True, gradients=1)),
        Case(
            "in training, with a rate of 0",
            catches="a rate that is not the argument",
            inputs=sized(2, 4, 3, 5, 4, train=True, gradients=1),
        ),
        Case("not in training", catches="dropout that is always active", inputs=sized(2, 5, 4, 3, 5, dropout=0.5)),
        Case("in training", catches="dropout that is missing, elsewhere, or not scaled", inputs=with_dropout),
        *beside_numbers(sized(2, 5, 3, 4, 6)),
    ],
    misconceptions=[
        *masks.IN_MODULES,
        *dropout.IN_MODULES,
        *one_head.SCALING_ROLES_AND_GRADIENTS,
        Misconception(
            "scaled by √context_length",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by √context_length. Divide by √d_out, the root of the "
            "length of a "
            "key.",
            change={"scale": lambda scores, d_in, d_out, T, context: scores / context**0.5},
        ),
        masks.FUTURE_NOT_HIDDEN,
        masks.PAST_HIDDEN,
        masks.OWN_WORD_HIDDEN,
        masks.NEXT_WORD_SEEN,
        Misconception(
            "zeros for −∞",
            kind="wrong formula",
            credit=0.25,
            says="Hidden scores count as (nearly) 0 in your results, and softmax makes exp(0) = 1 of each. Set them to "
            "−∞.",
            change={"hide": lambda scores, later: scores.masked_fill(later, 0.0)},
        ),
        masks.MASKED_AFTER_SOFTMAX,
        masks.NO_NUMBERS,
        masks.NO_NUMBERS_AFTER_SOFTMAX,
        masks.SOFTMAX_TWICE,
        Misconception(
            "scores averaged over the batch",
            kind="mix-up",
            credit=0.25,
            says="The sentences of a batch share their weights. Each sentence should have its own.",
            change={"score": lambda q, k: (q @ k.mT).mean(dim=0, keepdim=True).expand(len(q), -1, -1)},
        ),
        Misconception(
            "softmax over queries",
            kind="axis",
            credit=0.25,
            says="Your weights are normalised over the queries (dim=1 of the scores). They must be over the keys: "
            "dim=-1.",
            change={"normalise": lambda scores: torch.softmax(scores, dim=1)},
        ),
        Misconception(
            "softmax over the batch",
            kind="axis",
            credit=0.25,
            says="Your weights are normalised over the sentences of the batch (dim=0). They must be over the keys: "
            "dim=-1.",
            change={"normalise": lambda scores: torch.softmax(scores, dim=0)},
        ),
        masks.SOFTMAX_MISSING,
        weighing.first_sentences_weights(normalise=lambda scores: torch.softmax(scores[:1], dim=-1).expand_as(scores)),
        projections.ALWAYS_BIASED,
        projections.NEVER_BIASED,
        masks.MASK_NOT_KEPT,
        dropout.BEFORE_SOFTMAX,
        dropout.ON_MASKED_SCORES,
        *modules.IN_MODULES,
        masks.renormalised_after_softmax(hide=lambda scores, *_hidden: scores, hide_weights=masks.shared_anew),
    ],
)
