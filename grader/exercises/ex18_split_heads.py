"""Exercise 18: one projection, split into heads of causal attention."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from grader import Case, Exercise, Inputs, Misconception
from grader.kit.module_cases import WORDS, beside_numbers, dropout_trial, impossible
from grader.kit.module_readings import picture_of_future, reader
from grader.kit.module_references import glancing, observing
from grader.kit.module_steps import Linear
from grader.model.forms.module import MODULE

from . import attention_cases
from .ex16_causal_attention import wrong_buffer
from .mistakes import dropout, gradients, masks, modules, split_heads, weighing

Tensor = torch.Tensor


@dataclass(frozen=True)
class Sizes:
    """All that somebody may take the root of."""

    d_in: int
    d_out: int
    heads: int
    head_dim: int
    context: int
    T: int


class MultiHeadAttention(nn.Module):
    """The reference, in steps that a misconception can change."""

    roles: Any = ("query", "key", "value")
    bias: Any = staticmethod(lambda asked: asked)
    out_bias: Any = staticmethod(lambda asked: True)
    out_sizes: Any = staticmethod(lambda d_out, head_dim: (d_out, d_out))
    per_head: Any = staticmethod(lambda d_out, heads: d_out)
    several: Any = staticmethod(lambda new: [new(), new(), new()])
    number: Any = staticmethod(lambda heads, head_dim: heads)
    prepare: Any = staticmethod(lambda x: x)
    project: Any = staticmethod(lambda linear, x: linear(x))
    pass_on: Any = staticmethod(lambda projected, _role, _x: projected)
    # reshape, not unflatten, which takes a hundred times as long to say that something does not fit
    split: Any = staticmethod(lambda x, heads: x.reshape(*x.shape[:-1], heads, -1).transpose(1, 2))
    score: Any = staticmethod(lambda q, k: q @ k.mT)
    scale: Any = staticmethod(lambda scores, sizes: scores / sizes.head_dim**0.5)
    later: Any = staticmethod(lambda size, device: torch.ones(size, size, dtype=torch.bool, device=device).triu(1))
    crop: Any = staticmethod(lambda later, T: later[:T, :T])
    drop_raw: Any = staticmethod(lambda dropout, scores: scores)
    longest: Any = staticmethod(lambda context: context)
    hide: Any = staticmethod(lambda scores, later, sizes: scores.masked_fill(later, -torch.inf))
    normalise: Any = staticmethod(lambda scores: torch.softmax(scores, dim=-1))
    hide_weights: Any = staticmethod(lambda weights, later: weights)
    change_weights: Any = staticmethod(lambda weights, sizes: weights)
    rate: Any = staticmethod(lambda p: p)
    drop_scores: Any = staticmethod(lambda dropout, scores: scores)
    drop_weights: Any = staticmethod(lambda dropout, weights: dropout(weights))
    drop_values: Any = staticmethod(lambda dropout, v: v)
    drop_outputs: Any = staticmethod(lambda dropout, outputs: outputs)
    mix: Any = staticmethod(lambda weights, v: weights @ v)
    merge: Any = staticmethod(lambda outputs: outputs.transpose(1, 2).flatten(2))
    out: Any = staticmethod(lambda out_proj, merged: out_proj(merged))
    normalise_result: Any = staticmethod(lambda module, outputs: outputs)
    finish: Any = staticmethod(lambda outputs: outputs)
    keep_mask: Any = staticmethod(lambda module, mask: module.register_buffer("mask", mask))
    keep_out: Any = staticmethod(lambda module, linear: setattr(module, "out_proj", linear))
    fits: Any = staticmethod(lambda d_out, heads: d_out % heads == 0)
    begin: Any = staticmethod(lambda module: None)
    dtype: Any = staticmethod(lambda outputs: outputs)

    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ) -> None:
        super().__init__()
        if not self.fits(d_out, num_heads):
            raise ValueError("d_out must be divisible by num_heads")
        head_dim = d_out // num_heads
        context_length = self.longest(context_length)
        self.sizes = (d_in, d_out, num_heads, head_dim, context_length)
        width = self.per_head(d_out, num_heads)
        layers = self.several(lambda: Linear(d_in, width, bias=self.bias(qkv_bias)))
        self.W_query, self.W_key, self.W_value = layers
        d_before, d_after = self.out_sizes(d_out, head_dim)
        self.keep_out(self, Linear(d_before, d_after, bias=self.out_bias(qkv_bias)))
        self.dropout = nn.Dropout(self.rate(dropout))
        self.keep_mask(self, torch.ones(context_length, context_length).triu(1))
        self.begin(self)

    def forward(self, x: Tensor) -> Any:
        x = self.prepare(x)
        sizes = Sizes(*self.sizes, T=x.shape[1])
        later = self.crop(self.later(sizes.context, x.device), sizes.T)  # (T, T)
        number = self.number(sizes.heads, sizes.head_dim)
        projected = [self.project(getattr(self, f"W_{name}"), x) for name in self.roles]  # (B, T, d_out) each
        passed_on = (self.pass_on(vectors, role, x) for vectors, role in zip(projected, "qkv", strict=True))
        q, k, v = (self.split(vectors, number) for vectors in passed_on)  # (B, num_heads, T, head_dim) each
        scores = self.hide(
            self.drop_raw(self.dropout, self.scale(self.score(q, k), sizes)), later, sizes
        )  # (B, num_heads, T, T)
        weights = self.hide_weights(self.normalise(self.drop_scores(self.dropout, scores)), later)
        weights = self.drop_weights(self.dropout, self.change_weights(weights, sizes))
        outputs = self.mix(weights, self.drop_values(self.dropout, v))  # (B, num_heads, T, head_dim)
        merged = self.drop_outputs(self.dropout, self.merge(outputs))  # (B, T, d_out)
        outputs = self.normalise_result(self, self.out(getattr(self, "out_proj", None), merged))  # (B, T, d_out)
        return self.dtype(self.finish(outputs))


def hide_in_first(scores: Tensor, later: Tensor, _sizes: Sizes) -> Tensor:
    """In the first head alone."""
    return torch.cat([scores[:, :1].masked_fill(later, -torch.inf), scores[:, 1:]], dim=1)


def hide_in_first_sentence(scores: Tensor, later: Tensor, _sizes: Sizes) -> Tensor:
    return torch.cat([scores[:1].masked_fill(later, -torch.inf), scores[1:]])


def with_large_numbers(scores: Tensor, later: Tensor, _sizes: Sizes) -> Tensor:
    """Where all that is summed over is hidden, softmax makes NaN of −∞, and even weights of a large number."""
    return scores.masked_fill(later, -1e9)


def shapes(d_in: int, d_out: int, _heads: int, bias: bool) -> dict[str, list[int]]:
    """Of all parameters, by name."""
    of_projections = attention_cases.projection_shapes(d_in, d_out, bias)
    return of_projections | {"out_proj.weight": [d_out, d_out], "out_proj.bias": [d_out]}


sized = attention_cases.texts_for_heads(shapes)


def with_dropout(rng: torch.Generator) -> Inputs:
    p, heads = attention_cases.some_rate(rng), 2

    def weights(for_scores: Callable[[], Tensor], for_values: Callable[[], Tensor]) -> dict[str, Tensor]:
        made = attention_cases.by_name(for_scores, for_values)
        projections = {name: torch.cat([make() for _ in range(heads)]) for name, make in made.items()}
        d_out = len(projections["W_value.weight"])
        return projections | {"out_proj.weight": torch.eye(d_out), "out_proj.bias": torch.zeros(d_out)}

    return dropout_trial(rng, lambda d_in, d_head: [d_in, heads * d_head, WORDS + 2, p, heads], weights)


reference = observing(MultiHeadAttention)

exercise = Exercise(
    number=18,
    assignment="multi_head_attention",
    title="Split into heads",
    entry="MultiHeadAttention",
    form=MODULE,
    glance=glancing(MultiHeadAttention),
    reference=reference,
    picture=picture_of_future,
    explained_in=dict.fromkeys(
        ("words mixed up in splitting", "words mixed up in merging", "heads interleaved"), "why-view-alone"
    ),
    read=reader(reference, causal=True, mask=wrong_buffer),
    scales={"scale": "the dot products of queries and keys"},
    cases=[
        Case(
            "one sentence",
            catches="missing gradients, √d_in or √d_out for √head_dim",
            inputs=sized(1, 5, 3, 8, 2, 5, gradients=1),
        ),
        Case(
            "several sentences",
            catches="sentences that are mixed, a split without transpose",
            inputs=sized(3, 4, 5, 6, 3, 4, gradients=1),
        ),
        Case(
            "as many sentences as words",
            catches="a softmax over sentences that has the right shape",
            inputs=sized(4, 4, 2, 6, 2, 4),
        ),
        Case(
            "as many heads as words",
            catches="words and heads that are exchanged without an error",
            inputs=sized(2, 4, 3, 12, 4, 4),
        ),
        Case("a longer text", catches="a mask for six words", inputs=sized(2, 8, 4, 6, 2, 9)),
        Case(
            "shorter than the context",
            catches="a mask that is not cut to the text",
            inputs=sized(2, 3, 4, 10, 2, 8, gradients=1),
        ),
        Case("outputs as long as inputs", catches="missing projections", inputs=sized(2, 5, 6, 6, 2, 7)),
        Case("a single word", catches="squeezed dimensions", inputs=sized(2, 1, 3, 6, 3, 4)),
        Case("one feature in each head", catches="squeezed dimensions", inputs=sized(2, 6, 4, 3, 3, 7)),
        Case("one head", catches="a number of heads that is not the argument", inputs=sized(2, 4, 3, 5, 1, 6)),
        Case("with biases", catches="qkv_bias that is ignored", inputs=sized(2, 5, 3, 4, 2, 6, bias=True, gradients=1)),
        Case(
            "in training, with a rate of 0",
            catches="a rate that is not the argument",
            inputs=sized(2, 4, 3, 6, 2, 4, train=True, gradients=1),
        ),
        Case("not in training", catches="dropout that is always active", inputs=sized(2, 5, 4, 9, 3, 5, dropout=0.5)),
        Case("in training", catches="dropout that is missing, elsewhere, or not scaled", inputs=with_dropout),
        Case(
            "features that cannot be split",
            catches="a check of d_out and num_heads that is missing",
            inputs=lambda rng: impossible([4, 7, 5, 0.0, 2]),
        ),
        Case(
            "more heads than features",
            catches="a check of d_out and num_heads that is missing",
            inputs=lambda rng: impossible([6, 3, 5, 0.0, 6]),
        ),
        *beside_numbers(sized(2, 5, 3, 6, 2, 6)),
    ],
    misconceptions=[
        *split_heads.IN_MODULES,
        split_heads.SENTENCES_MIXED_UP_IN_MERGING,
        split_heads.result_normalised("out_proj", lambda module: module.sizes[1]),
        *masks.IN_MODULES,
        *dropout.IN_MODULES,
        Misconception(
            "scaled by √d_out",
            kind="scaling",
            credit=0.75,
            says="The scores that you use are divided by √d_out. The keys of one head have head_dim entries: divide by "
            "the root of that.",
            change={"scale": lambda scores, sizes: scores / sizes.d_out**0.5},
        ),
        Misconception(
            "scaled by √d_in",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by √d_in. The keys of one head have head_dim entries: divide by "
            "the root of that.",
            change={"scale": lambda scores, sizes: scores / sizes.d_in**0.5},
        ),
        Misconception(
            "scaled by √num_heads",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by √num_heads. Divide by √head_dim: after the transpose, "
            "head_dim is keys.shape[-1].",
            change={"scale": lambda scores, sizes: scores / sizes.heads**0.5},
        ),
        Misconception(
            "scaled by √T",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the root of the number of words. Divide by √head_dim.",
            change={"scale": lambda scores, sizes: scores / sizes.T**0.5},
        ),
        Misconception(
            "divided by T",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the number of words. Divide by √head_dim.",
            change={"scale": lambda scores, sizes: scores / sizes.T},
        ),
        Misconception(
            "scaled by √context_length",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by √context_length. Divide by √head_dim.",
            change={"scale": lambda scores, sizes: scores / sizes.context**0.5},
        ),
        Misconception(
            "divided by √8",
            kind="hard-coded",
            credit=0.5,
            says="Your scores are divided by √8 whatever the sizes are. Divide by √head_dim: keys.shape[-1] ** 0.5.",
            change={"scale": lambda scores, sizes: scores / 8**0.5},
        ),
        weighing.QUERIES_AND_KEYS_EXCHANGED,
        Misconception(
            "keys as values",
            kind="mix-up",
            credit=0.5,
            says="Your results are weighted keys. The weights belong to the values, W_value(x).",
            change={"roles": ("query", "key", "key")},
        ),
        Misconception(
            "queries as values",
            kind="mix-up",
            credit=0.5,
            says="Your results are weighted queries. The weights belong to the values, W_value(x).",
            change={"roles": ("query", "key", "query")},
        ),
        Misconception(
            "queries as keys",
            kind="mix-up",
            credit=0.5,
            says="Your results are those of queries compared with queries. They should be compared with the keys, "
            "W_key(x).",
            change={"roles": ("query", "query", "value")},
        ),
        Misconception(
            "keys and values exchanged",
            kind="mix-up",
            credit=0.5,
            says="Keys and values change places in your results: queries should be compared with W_key(x), and "
            "W_value(x) should be weighed.",
            change={"roles": ("query", "value", "key")},
        ),
        Misconception(
            "values not projected",
            kind="missing step",
            credit=0.5,
            says="Your results are x itself, weighted. Weigh the values, W_value(x).",
            change={"pass_on": lambda projected, role, x: x if role == "v" else projected},
        ),
        Misconception(
            "words mixed up in splitting",
            kind="arrangement",
            credit=0.25,
            says="Your results are those of (B, T, d_out) viewed as (B, num_heads, T, head_dim), which mixes words up. "
            "View as (B, T, num_heads, head_dim), then take the result of transpose(1, 2).",
            change={"split": split_heads.viewed},
        ),
        Misconception(
            "words mixed up in merging",
            kind="arrangement",
            credit=0.25,
            says="Your results are those of heads merged while they stand before the words, which mixes words up. Take "
            "the result of transpose(1, 2), and then contiguous().view(B, T, d_out) of that.",
            change={"merge": lambda outputs: outputs.reshape(outputs.shape[0], outputs.shape[2], -1)},
        ),
        Misconception(
            "heads interleaved",
            kind="arrangement",
            credit=0.5,
            says="Features are dealt out to the heads in turns. Head 0 takes the first head_dim features: view as "
            "(B, T, num_heads, head_dim), in this order.",
            change={"split": lambda x, heads: x.reshape(*x.shape[:-1], -1, heads).permute(0, 3, 1, 2)},
        ),
        Misconception(
            "features interleaved in merging",
            kind="arrangement",
            credit=0.5,
            says="The features of the heads take turns in your result. All those of head 0 come first: transpose(1, "
            "2), then view(B, T, d_out).",
            change={"merge": lambda outputs: outputs.permute(0, 2, 3, 1).flatten(2)},
        ),
        Misconception(
            "words and heads exchanged",
            kind="axis",
            credit=0.25,
            says="In your results, the heads of one word look at each other. Scores and values should have the shape "
            "(B, num_heads, T, …), as returned by transpose(1, 2).",
            change={
                "split": lambda x, heads: x.reshape(*x.shape[:-1], heads, -1),
                "merge": lambda outputs: outputs.flatten(2),
            },
        ),
        Misconception(
            "num_heads and head_dim exchanged",
            kind="mix-up",
            credit=0.5,
            says="Your results are those of head_dim heads with num_heads features. View as (B, T, num_heads, "
            "head_dim).",
            change={"number": lambda heads, head_dim: head_dim},
        ),
        Misconception(
            "one head",
            kind="input",
            credit=0.25,
            says="Your results are those of one head over all features, scaled by √d_out. The features should be split "
            "among num_heads heads.",
            change={
                "number": lambda heads, head_dim: 1,
                "scale": lambda scores, sizes: scores / sizes.d_out**0.5,
            },
        ),
        Misconception(
            "one head, scaled by √head_dim",
            kind="input",
            credit=0.25,
            says="Your results are those of one head over all features. They should be split among num_heads heads.",
            change={"number": lambda heads, head_dim: 1},
        ),
        Misconception(
            "two heads",
            kind="hard-coded",
            credit=0.5,
            says="Your results are those of two heads, whatever num_heads is. The features should be split among "
            "num_heads heads.",
            change={
                "number": lambda heads, head_dim: 2,
                "scale": lambda scores, sizes: scores / (sizes.d_out // 2) ** 0.5,
            },
        ),
        Misconception(
            "one layer for all",
            kind="mix-up",
            credit=0.25,
            says="W_query, W_key and W_value are one and the same layer. Make three of them.",
            change={"several": lambda new: [new()] * 3},
        ),
        masks.FUTURE_NOT_HIDDEN,
        masks.PAST_HIDDEN,
        Misconception(
            "mask inverted",
            kind="mix-up",
            credit=0.25,
            says="What should be seen is hidden in your results: the past and the word itself. −∞ belongs above the "
            "diagonal only.",
            change={"hide": lambda scores, later, sizes: scores.masked_fill(~later, -torch.inf)},
        ),
        masks.OWN_WORD_HIDDEN,
        masks.NEXT_WORD_SEEN,
        split_heads.zeros_for_infinity(credit=0.25),
        split_heads.minus_one_for_infinity(credit=0.25),
        split_heads.minus_one_after_scaling(credit=0.25),
        masks.MASKED_AFTER_SOFTMAX,
        masks.NO_NUMBERS,
        masks.NO_NUMBERS_AFTER_SOFTMAX,
        Misconception(
            "context length 6",
            kind="hard-coded",
            credit=0.5,
            says="Your module works for six words and no more. Its mask should have the size context_length.",
            change={"longest": lambda _context: 6},
        ),
        Misconception(
            "mask on the first head only",
            kind="missing step",
            credit=0.25,
            says="The future is hidden from the first head only. The same mask is for all of them.",
            change={"hide": hide_in_first},
        ),
        Misconception(
            "mask on the first sentence only",
            kind="missing step",
            credit=0.25,
            says="The future is hidden in the first sentence of the batch only. The same mask is for all of them.",
            change={"hide": hide_in_first_sentence},
        ),
        Misconception(
            "softmax over queries",
            kind="axis",
            credit=0.25,
            says="Your weights are normalised over the queries (dim=2 of the scores). They must be over the keys: "
            "dim=-1.",
            change={"normalise": lambda scores: torch.softmax(scores, dim=2)},
        ),
        *(
            Misconception(
                f"softmax over {what}{how}",
                kind="axis",
                credit=0.25,
                says=f"Your weights are normalised over {of} (dim={dim} of the scores). "
                "They must be over the keys: dim=-1.",
                change={"normalise": split_heads.softmax_over(dim), **hiding},
            )
            for what, of, dim in (("heads", "the heads", 1), ("the batch", "the sentences of the batch", 0))
            for how, hiding in (("", {}), (", without NaN", {"hide": with_large_numbers}))
        ),
        masks.SOFTMAX_MISSING,
        Misconception(
            "last word only",
            kind="missing step",
            credit=0.25,
            says="You return the last word of each sentence. The result has shape (B, T, d_out).",
            change={"finish": lambda outputs: outputs[:, -1]},
        ),
        Misconception(
            "result transposed",
            kind="convention",
            credit=0.5,
            says="The numbers are right, but words and features are exchanged. Return shape (B, T, d_out).",
            change={"finish": lambda outputs: outputs.mT},
        ),
        Misconception(
            "out_proj missing",
            kind="missing step",
            credit=0.5,
            says="Your module holds no out_proj. Make it in __init__, nn.Linear(d_out, d_out), and apply it last.",
            change={"keep_out": split_heads.not_kept, "out": lambda out_proj, merged: merged},
        ),
        Misconception(
            "out_proj without effect",
            kind="missing step",
            credit=0.5,
            says="Your result is that of the merged heads: out_proj has no part in it. Return what self.out_proj(…) "
            "makes of them.",
            change={"out": lambda out_proj, merged: merged},
        ),
        Misconception(
            "out_proj applied twice",
            kind="wrong formula",
            credit=0.5,
            says="Your result is that of out_proj applied twice. Once is enough.",
            change={"out": lambda out_proj, merged: out_proj(out_proj(merged))},
        ),
        Misconception(
            "out_proj without its bias",
            kind="missing step",
            credit=0.75,
            says="Your out_proj has no bias. It should always have one: nn.Linear(d_out, d_out).",
            change={"out_bias": lambda _asked: False},
        ),
        Misconception(
            "qkv_bias for out_proj",
            kind="input",
            credit=0.75,
            says="Your out_proj has a bias only if qkv_bias is True. It should always have one: nn.Linear(d_out, "
            "d_out).",
            change={"out_bias": lambda asked: asked},
        ),
        Misconception(
            "out_proj before merging",
            kind="arrangement",
            credit=0.5,
            says="Your out_proj has the size of one head. Merge the heads first, then project d_out features to d_out.",
            change={"out_sizes": lambda d_out, head_dim: (head_dim, head_dim)},
        ),
        Misconception(
            "out_proj transposed",
            kind="arrangement",
            credit=0.5,
            says="Your result is that of the weight of out_proj without its transpose. Call self.out_proj(…).",
            change={"out": lambda out_proj, merged: merged @ out_proj.weight + out_proj.bias},
        ),
        Misconception(
            "out_proj detached",
            kind="gradient",
            credit=0.5,
            says="No gradient reaches out_proj. Call self.out_proj(…), without .data or detach.",
            change={
                "out": lambda out_proj, merged: nn.functional.linear(merged, out_proj.weight.data, out_proj.bias.data)
            },
        ),
        Misconception(
            "projections of head_dim",
            kind="mix-up",
            credit=0.25,
            says="Your projections have head_dim features, for one head. Make them nn.Linear(d_in, d_out), then split.",
            change={"per_head": lambda d_out, heads: d_out // heads},
        ),
        Misconception(
            "projections of num_heads · d_out",
            kind="mix-up",
            credit=0.5,
            says="Your projections have num_heads · d_out features. Here all heads together should have d_out: "
            "nn.Linear(d_in, d_out), then split.",
            change={"per_head": lambda d_out, heads: d_out * heads},
        ),
        Misconception(
            "divisibility not enforced",
            kind="missing step",
            credit=0.75,
            says="Your class accepts a d_out that num_heads does not divide. It must stop with an error in __init__.",
            change={"fits": lambda d_out, heads: True},
        ),
        Misconception(
            "always biased",
            kind="input",
            credit=0.75,
            says="Your projections have a bias although qkv_bias is False. Give them bias=qkv_bias.",
            change={"bias": lambda _asked: True},
        ),
        Misconception(
            "never biased",
            kind="input",
            credit=0.75,
            says="Your projections have no bias when qkv_bias is True. Give them bias=qkv_bias.",
            change={"bias": lambda _asked: False},
        ),
        Misconception(
            "heads detached",
            kind="gradient",
            credit=0.5,
            says="Gradients reach out_proj alone. Neither detach nor .data belongs before it.",
            change={"merge": lambda outputs: outputs.transpose(1, 2).flatten(2).detach()},
        ),
        Misconception(
            "input detached",
            kind="gradient",
            credit=0.5,
            says="No gradient reaches the input. Use x as it is: without detach, .data or a copy.",
            change={"prepare": lambda x: x.detach()},
        ),
        gradients.VALUES_DETACHED,
        Misconception(
            "keys detached",
            kind="gradient",
            credit=0.5,
            says="No gradient reaches W_key. Neither detach nor .data belongs on the path of the keys.",
            change={"pass_on": gradients.detached("k")},
        ),
        gradients.WEIGHTS_DETACHED,
        masks.MASK_NOT_KEPT,
        Misconception(
            "rate 1 − p",
            kind="wrong formula",
            credit=0.5,
            says="Weights are dropped with probability 1 − dropout. The argument is the rate itself.",
            change={"rate": lambda p: 1 - p},
        ),
        dropout.BEFORE_SOFTMAX,
        dropout.ON_MASKED_SCORES,
        *modules.IN_MODULES,
        masks.renormalised_after_softmax(hide=lambda scores, *_hidden: scores, hide_weights=masks.shared_anew),
    ],
)
