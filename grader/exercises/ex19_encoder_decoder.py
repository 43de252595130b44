"""Exercise 19: attention from one sequence to another, with a mask for padding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.module_cases import OTHERS_CHANGED, SECOND_CALL, beside_numbers, draw_weights, impossible, trial
from grader.kit.module_readings import reader
from grader.kit.module_references import glancing, observing
from grader.kit.module_steps import Linear
from grader.model.forms.module import MODULE

from .mistakes import gradients, masks, modules, split_heads, weighing

Tensor = torch.Tensor

LAYERS = ("values", "keys", "queries", "fc_out")


@dataclass(frozen=True)
class Sizes:
    """All that somebody may take the root of."""

    embed_size: int
    heads: int
    head_dim: int
    S: int
    T: int


class SelfAttention(nn.Module):
    """The reference, in steps that a misconception can change."""

    layers: Any = ("values", "keys", "queries")
    inputs: Any = staticmethod(lambda values, keys, query: (values, keys, query))
    biased: Any = ()
    width: Any = staticmethod(lambda embed_size, heads: embed_size)
    in_width: Any = staticmethod(lambda embed_size, heads: embed_size)
    out_width: Any = staticmethod(lambda embed_size, heads: embed_size)
    several: Any = staticmethod(lambda new: [new(), new(), new()])
    number: Any = staticmethod(lambda heads, head_dim: heads)
    project: Any = staticmethod(lambda linear, x: linear(x))
    pass_on: Any = staticmethod(lambda projected, _role, _x: projected)
    lengths: Any = staticmethod(lambda S, T: (S, S, T))
    # reshape, not unflatten, which takes a hundred times as long to say that something does not fit
    split: Any = staticmethod(lambda x, heads: x.reshape(*x.shape[:-1], heads, -1).transpose(1, 2))
    score: Any = staticmethod(lambda q, k: q @ k.mT)
    scale: Any = staticmethod(lambda scores, sizes: scores / sizes.head_dim**0.5)
    hidden: Any = staticmethod(lambda mask, scores: mask == 0)
    hide: Any = staticmethod(lambda scores, hidden, sizes: scores.masked_fill(hidden, -1e20))
    unmasked: Any = staticmethod(lambda scores: scores)
    hide_anyway: Any = staticmethod(lambda scores: scores)
    normalise: Any = staticmethod(lambda scores: torch.softmax(scores, dim=-1))
    hide_weights: Any = staticmethod(lambda weights, hidden: weights)
    change_weights: Any = staticmethod(lambda weights, sizes: weights)
    mix: Any = staticmethod(lambda weights, v: torch.einsum("nhqk,nhkd->nhqd", weights, v))
    merge: Any = staticmethod(lambda outputs: outputs.transpose(1, 2).flatten(2))
    out: Any = staticmethod(lambda fc_out, merged: fc_out(merged))
    add: Any = staticmethod(lambda outputs, query: outputs)
    normalise_result: Any = staticmethod(lambda module, outputs: outputs)
    finish: Any = staticmethod(lambda outputs: outputs)
    keep_out: Any = staticmethod(lambda module, linear: setattr(module, "fc_out", linear))
    fits: Any = staticmethod(lambda embed_size, heads: embed_size % heads == 0)
    begin: Any = staticmethod(lambda module: None)
    dtype: Any = staticmethod(lambda outputs: outputs)

    def __init__(self, embed_size: int, heads: int) -> None:
        super().__init__()
        if not self.fits(embed_size, heads):
            raise ValueError("embed_size must be divisible by heads")
        self.sizes = (embed_size, heads, embed_size // heads)
        widths = (self.in_width(embed_size, heads), self.width(embed_size, heads))
        self.values, self.keys, self.queries = self.several(lambda: Linear(*widths, bias="values" in self.biased))
        out_sizes = (self.out_width(embed_size, heads), self.out_width(embed_size, heads))
        self.keep_out(self, Linear(*out_sizes, bias="fc_out" in self.biased))
        self.begin(self)

    def forward(self, values: Tensor, keys: Tensor, query: Tensor, mask: Tensor | None = None) -> Any:
        sizes = Sizes(*self.sizes, S=keys.shape[1], T=query.shape[1])
        number = self.number(sizes.heads, sizes.head_dim)
        given = self.inputs(values, keys, query)
        projected = [self.project(getattr(self, name), x) for name, x in zip(self.layers, given, strict=True)]
        passed_on = (self.pass_on(*step) for step in zip(projected, "vkq", given, strict=True))
        right_length = map(with_length, passed_on, self.lengths(sizes.S, sizes.T))
        v, k, q = (self.split(vectors, number) for vectors in right_length)  # (N, heads, length, head_dim) each
        scores = self.hide_anyway(self.scale(self.score(q, k), sizes))  # (N, heads, T, S)
        hidden = None if mask is None else self.hidden(mask, scores)
        scores = self.unmasked(scores) if hidden is None else self.hide(scores, hidden, sizes)
        weights = self.normalise(scores)
        if hidden is not None:
            weights = self.hide_weights(weights, hidden)
        merged = self.merge(self.mix(self.change_weights(weights, sizes), v))  # (N, T, embed_size)
        outputs = self.add(self.out(getattr(self, "fc_out", None), merged), query)  # (N, T, embed_size)
        return self.dtype(self.finish(self.normalise_result(self, outputs)))


def with_length(x: Tensor, length: int) -> Tensor:
    return x if x.shape[1] == length else x.reshape(len(x), length, x.shape[-1])


def hide_in_first_head(scores: Tensor, hidden: Tensor, _sizes: Sizes) -> Tensor:
    return torch.cat([scores[:, :1].masked_fill(hidden[:, :1], -1e20), scores[:, 1:]], dim=1)


def with_infinity(scores: Tensor, hidden: Tensor, _sizes: Sizes) -> Tensor:
    """Where all that is summed over is hidden, softmax makes NaN of it; a large number it makes even weights of."""
    return scores.masked_fill(hidden, -torch.inf)


def causal(scores: Tensor) -> Tensor:
    later = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
    return scores.masked_fill(later, -torch.inf)


def unmasked(_rng: torch.Generator, _N: int, _heads: int, _T: int, _S: int) -> None:
    return None


def padding(dtype: torch.dtype) -> Callable[[torch.Generator, int, int, int, int], Tensor]:
    """(N, 1, 1, S): sentences of different lengths. Some words are seen and some hidden, also when it is inverted."""

    def mask(_rng: torch.Generator, N: int, _heads: int, _T: int, S: int) -> Tensor:
        lengths = torch.linspace(max(1, S // 2), S - 1, N).long()
        return (torch.arange(S) < lengths[:, None]).to(dtype)[:, None, None, :]

    return mask


def scattered(
    dtype: torch.dtype, *, for_heads: bool = False
) -> Callable[[torch.Generator, int, int, int, int], Tensor]:
    """(N, 1 or heads, T, S): any word may be hidden, but each query sees at least one and misses at least one."""

    def mask(rng: torch.Generator, N: int, heads: int, T: int, S: int) -> Tensor:
        shape = (N, heads if for_heads else 1, T)
        order = torch.rand(*shape, S, generator=rng).argsort(dim=-1)
        seen = torch.randint(1, S, (*shape, 1), generator=rng)
        return (order < seen).to(dtype)

    return mask


def for_all(rng: torch.Generator, _N: int, _heads: int, T: int, S: int) -> Tensor:
    """(1, 1, T, S): the same for all sentences."""
    return scattered(torch.bool)(rng, 1, 1, T, S)


def sized(
    N: int,
    T: int,
    S: int,
    embed_size: int,
    heads: int,
    make_mask: Callable[[torch.Generator, int, int, int, int], Tensor | None],
    **how: Any,
) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        weights = draw_weights(rng, {f"{name}.weight": [embed_size, embed_size] for name in LAYERS})
        sequences = [randn(rng, N, length, embed_size) for length in (S, S, T)]
        mask = make_mask(rng, N, heads, T, S)
        if N > 2:
            sequences[1][:, 0] = 0  # a word whose scores are 0, which must not be taken for hidden ones
        calls: dict[str, list[Any]] = {"output": [*sequences, mask], SECOND_CALL: [*sequences, mask]}
        if N > 1:
            others = [torch.cat([sequence[:1], randn(rng, *sequence[1:].shape)]) for sequence in sequences]
            calls[OTHERS_CHANGED] = [*others, mask]
        if mask is not None:
            calls["output for one sentence more, without a mask"] = [torch.cat([each, each[:1]]) for each in sequences]
        return trial([embed_size, heads], weights, calls, **how)

    return inputs


def with_large_padding(rng: torch.Generator) -> Inputs:
    """Hidden words whose scores would be the largest by far, for about half of the queries."""
    arguments, weights, calls, _how = sized(2, 4, 5, 6, 3, padding(torch.bool))(rng)
    values, keys, query, mask = calls["output"]
    keys = torch.where(mask[:, 0, 0, :, None], keys, 300 * keys)  # (N, S, embed_size)
    return trial(arguments, weights, {"output": [values, keys, query, mask]})


whole, boolean = torch.int64, torch.bool
reference = observing(SelfAttention)

exercise = Exercise(
    number=19,
    assignment="multi_head_attention",
    title="Encoder and decoder",
    entry="SelfAttention",
    form=MODULE,
    glance=glancing(SelfAttention),
    reference=reference,
    read=reader(reference, like=2),
    scales={"scale": "the dot products of queries and keys"},
    cases=[
        Case(
            "one sentence",
            catches="missing gradients, √embed_size for √head_dim",
            inputs=sized(1, 5, 3, 8, 2, unmasked, gradients=3),
        ),
        Case(
            "several sentences",
            catches="sentences that are mixed, sequences that are mixed up",
            inputs=sized(3, 4, 5, 6, 3, unmasked, gradients=3),
        ),
        Case(
            "padded sentences",
            catches="a mask that is ignored, inverted, or applied after softmax",
            inputs=sized(3, 2, 6, 10, 2, padding(whole), gradients=3),
        ),
        Case(
            "a mask of true and false",
            catches="masks that are used as numbers",
            inputs=sized(2, 3, 7, 6, 2, padding(boolean)),
        ),
        Case(
            "a mask for each query",
            catches="a mask that hides queries",
            inputs=sized(2, 4, 6, 9, 3, scattered(whole), gradients=3),
        ),
        Case(
            "a mask of true and false for each query",
            catches="masks that are used as numbers",
            inputs=sized(2, 5, 3, 4, 2, scattered(boolean)),
        ),
        Case(
            "a mask for each head",
            catches="a mask that is cut or viewed",
            inputs=sized(2, 2, 4, 12, 3, scattered(whole, for_heads=True)),
        ),
        Case(
            "one mask for all sentences",
            catches="a mask that is cut up by sentences",
            inputs=sized(3, 4, 5, 6, 2, for_all),
            beside="Your code is right, except for a mask of shape (1, 1, T, S), which is the same for all sentences. "
            "Any shape should do that fits (N, H, T, S) by itself.",
        ),
        Case(
            "one length for all",
            catches="lengths that are mixed up without an error",
            inputs=sized(2, 5, 5, 6, 2, scattered(whole), gradients=3),
        ),
        Case(
            "as many sentences, heads and words",
            catches="a softmax over the wrong dimension that has the right shape",
            inputs=sized(3, 3, 3, 12, 3, padding(whole)),
        ),
        Case("a single query", catches="squeezed dimensions", inputs=sized(2, 1, 4, 6, 3, padding(whole))),
        Case("a single key", catches="squeezed dimensions", inputs=sized(2, 3, 1, 4, 2, unmasked)),
        Case("one feature in each head", catches="squeezed dimensions", inputs=sized(2, 3, 4, 5, 5, scattered(whole))),
        Case(
            "one head",
            catches="a number of heads that is not the argument",
            inputs=sized(2, 4, 3, 7, 1, padding(whole)),
        ),
        Case(
            "in training",
            catches="dropout that is active all the time",
            inputs=sized(2, 3, 5, 8, 4, padding(whole), train=True),
        ),
        Case(
            "features that cannot be split",
            catches="a check of embed_size and heads that is missing",
            inputs=lambda rng: impossible([7, 2]),
        ),
        Case(
            "more heads than features",
            catches="a check of embed_size and heads that is missing",
            inputs=lambda rng: impossible([3, 6]),
        ),
        Case(
            "what stands under padding",
            catches="words that are hidden after the softmax only, and then renormalised",
            inputs=with_large_padding,
            beside="Your code is right until a hidden word would have the largest score by far: then what is seen has "
            "no weight left. Hide words before the softmax, and its largest number is that of what is seen.",
        ),
        *beside_numbers(sized(2, 4, 5, 6, 3, padding(boolean))),
    ],
    misconceptions=[
        *split_heads.IN_MODULES,
        split_heads.SENTENCES_MIXED_UP_IN_MERGING,
        split_heads.result_normalised("fc_out", lambda module: module.sizes[0]),
        Misconception(
            "scaled by √embed_size",
            kind="scaling",
            credit=0.75,
            says="The scores that you use are divided by √embed_size. The keys of one head have head_dim entries: "
            "divide by the root of that.",
            change={"scale": lambda scores, sizes: scores / sizes.embed_size**0.5},
        ),
        Misconception(
            "scaled by √heads",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the root of the number of heads. Divide by √head_dim.",
            change={"scale": lambda scores, sizes: scores / sizes.heads**0.5},
        ),
        Misconception(
            "scaled by √S",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the root of the number of keys. Divide by √head_dim.",
            change={"scale": lambda scores, sizes: scores / sizes.S**0.5},
        ),
        Misconception(
            "scaled by √T",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the root of the number of queries. Divide by √head_dim.",
            change={"scale": lambda scores, sizes: scores / sizes.T**0.5},
        ),
        Misconception(
            "divided by T",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the number of queries. Divide by √head_dim.",
            change={"scale": lambda scores, sizes: scores / sizes.T},
        ),
        Misconception(
            "divided by √8",
            kind="hard-coded",
            credit=0.5,
            says="Your scores are divided by √8 whatever the sizes are. Divide by √head_dim.",
            change={"scale": lambda scores, sizes: scores / 8**0.5},
        ),
        weighing.QUERIES_AND_KEYS_EXCHANGED,
        Misconception(
            "keys weighed",
            kind="mix-up",
            credit=0.5,
            says="Your results are weighted keys. The weights belong to the projected values.",
            change={
                "layers": ("keys", "keys", "queries"),
                "inputs": lambda values, keys, query: (keys, keys, query),
            },
        ),
        Misconception(
            "values made of the keys",
            kind="mix-up",
            credit=0.5,
            says="Your values are those of self.values applied to keys. Apply it to values.",
            change={"inputs": lambda values, keys, query: (keys, keys, query)},
        ),
        Misconception(
            "keys made of the values",
            kind="mix-up",
            credit=0.5,
            says="Your keys are those of self.keys applied to values. Apply it to keys.",
            change={"inputs": lambda values, keys, query: (values, values, query)},
        ),
        Misconception(
            "keys made of the query",
            kind="mix-up",
            credit=0.25,
            says="Your keys are those of self.keys applied to query. Apply it to keys.",
            change={"inputs": lambda values, keys, query: (values, query, query), "lengths": lambda S, T: (S, T, T)},
        ),
        Misconception(
            "queries made of the keys",
            kind="mix-up",
            credit=0.25,
            says="Your queries are those of self.queries applied to keys. Apply it to query.",
            change={"inputs": lambda values, keys, query: (values, keys, keys), "lengths": lambda S, T: (S, S, S)},
        ),
        Misconception(
            "everything made of the query",
            kind="mix-up",
            credit=0.25,
            says="In your results, values and keys are made from query. They come from the other sequence: use the "
            "arguments.",
            change={"inputs": lambda values, keys, query: (query, query, query), "lengths": lambda S, T: (T, T, T)},
        ),
        Misconception(
            "everything made of the values",
            kind="mix-up",
            credit=0.25,
            says="In your results, keys and queries are made from values. Use the arguments keys and query.",
            change={"inputs": lambda values, keys, query: (values, values, values), "lengths": lambda S, T: (S, S, S)},
        ),
        Misconception(
            "values and keys exchanged",
            kind="mix-up",
            credit=0.5,
            says="Values and keys change places in your results: forward(values, keys, query, mask) gets them in this "
            "order.",
            change={
                "inputs": lambda values, keys, query: (keys, values, query),
            },
        ),
        Misconception(
            "layers of values and keys exchanged",
            kind="mix-up",
            credit=0.5,
            says="Your results are those of self.values for the keys, and of self.keys for the values. Exchange them.",
            change={"layers": ("keys", "values", "queries")},
        ),
        Misconception(
            "layers of keys and queries exchanged",
            kind="mix-up",
            credit=0.5,
            says="Your results are those of self.keys for the query, and of self.queries for the keys. Exchange them.",
            change={"layers": ("values", "queries", "keys")},
        ),
        Misconception(
            "keys and values both weighed as keys",
            kind="mix-up",
            credit=0.5,
            says="Your keys and values are both those of self.keys. The values have a layer of their own, self.values.",
            change={"layers": ("keys", "keys", "queries")},
        ),
        Misconception(
            "self.values for all",
            kind="mix-up",
            credit=0.25,
            says="Your keys, values and queries are all those of self.values. Keys and queries have layers of their "
            "own.",
            change={"layers": ("values", "values", "values")},
        ),
        Misconception(
            "arguments in the order query, keys, values",
            kind="mix-up",
            credit=0.25,
            says="Your results are right with query as the first argument of forward. Its arguments are (values, keys, "
            "query, mask), in this order.",
            change={"inputs": lambda values, keys, query: (query, keys, values), "lengths": lambda S, T: (T, S, S)},
        ),
        Misconception(
            "one length for all",
            kind="input",
            credit=0.5,
            says="Your code needs as many keys as queries. Take each length from its own sequence.",
            change={"lengths": lambda S, T: (T, T, T)},
        ),
        Misconception(
            "values not projected",
            kind="missing step",
            credit=0.5,
            says="Your results are those of values as they come. Weigh self.values(values).",
            change={"pass_on": lambda projected, role, x: x if role == "v" else projected},
        ),
        Misconception(
            "nothing projected",
            kind="missing step",
            credit=0.25,
            says="Your results are those of values, keys and query as they come. Each has a layer that projects it "
            "first.",
            change={"pass_on": lambda projected, role, x: x},
        ),
        Misconception(
            "words mixed up in splitting",
            kind="arrangement",
            credit=0.25,
            says="Your results are those of (N, length, embed_size) reshaped to (N, heads, length, head_dim), which "
            "mixes words up. Reshape to (N, length, heads, head_dim), then exchange the two in the middle.",
            change={"split": split_heads.viewed},
        ),
        Misconception(
            "words mixed up in merging",
            kind="arrangement",
            credit=0.25,
            says="Your results are those of heads merged while they stand before the words, which mixes words "
            "up. First "
            "bring (N, heads, T, head_dim) to (N, T, heads, head_dim).",
            change={"merge": lambda outputs: outputs.reshape(outputs.shape[0], outputs.shape[2], -1)},
        ),
        Misconception(
            "heads interleaved",
            kind="arrangement",
            credit=0.5,
            says="Features are dealt out to the heads in turns. Head 0 takes the first head_dim features: reshape to "
            "(N, length, heads, head_dim), in this order.",
            change={"split": lambda x, heads: x.reshape(*x.shape[:-1], -1, heads).permute(0, 3, 1, 2)},
        ),
        Misconception(
            "features interleaved in merging",
            kind="arrangement",
            credit=0.5,
            says="The features of the heads take turns in your result. All those of head 0 come first: nqhd, then "
            "reshape.",
            change={"merge": lambda outputs: outputs.permute(0, 2, 3, 1).flatten(2)},
        ),
        Misconception(
            "words and heads exchanged",
            kind="axis",
            credit=0.25,
            says="In your results, the heads of one word look at each other. Scores should have shape (N, heads, T, "
            "S): nqhd,nkhd->nhqk.",
            change={
                "split": lambda x, heads: x.reshape(*x.shape[:-1], heads, -1),
                "merge": lambda outputs: outputs.flatten(2),
            },
        ),
        Misconception(
            "heads and head_dim exchanged",
            kind="mix-up",
            credit=0.5,
            says="Your results are those of head_dim heads with `heads` features. Reshape to (N, length, heads, "
            "head_dim).",
            change={"number": lambda heads, head_dim: head_dim},
        ),
        Misconception(
            "one head",
            kind="input",
            credit=0.25,
            says="Your results are those of one head over all features, scaled by √embed_size. The features should be "
            "split among the heads.",
            change={
                "number": lambda heads, head_dim: 1,
                "scale": lambda scores, sizes: scores / sizes.embed_size**0.5,
            },
        ),
        Misconception(
            "one head, scaled by √head_dim",
            kind="input",
            credit=0.25,
            says="Your results are those of scores summed over all features, as in a single head. Keep the "
            "heads apart: "
            "nqhd,nkhd->nhqk.",
            change={"number": lambda heads, head_dim: 1},
        ),
        Misconception(
            "eight heads",
            kind="hard-coded",
            credit=0.25,
            says="Your results are those of eight heads, whatever heads is. Take their number from the argument.",
            change={
                "number": lambda heads, head_dim: 8,
                "scale": lambda scores, sizes: scores / (sizes.embed_size // 8) ** 0.5,
            },
        ),
        Misconception(
            "weights transposed",
            kind="axis",
            credit=0.25,
            says="Your results are those of transposed weights. Row i belongs to query i: nhqk,nkhd->nqhd.",
            change={"mix": lambda weights, v: weights.mT @ v},
        ),
        Misconception(
            "one layer for all",
            kind="mix-up",
            credit=0.25,
            says="values, keys and queries are one and the same layer. Make three of them.",
            change={"several": lambda new: [new()] * 3},
        ),
        Misconception(
            "weights and values summed",
            kind="wrong formula",
            credit=0.25,
            says="Your results are those of summing the weights before they meet the values. In einsum, keys and "
            "values must have the same letter: nhqk,nkhd->nqhd.",
            change={"mix": lambda weights, v: weights.sum(-1, keepdim=True) * v.sum(2, keepdim=True)},
        ),
        Misconception(
            "products of sums",
            kind="wrong formula",
            credit=0.25,
            says="Your results are those of summing features before queries and keys meet. In einsum, features must "
            "have the same letter in both: nqhd,nkhd->nhqk.",
            change={"score": lambda q, k: q.sum(-1)[..., :, None] * k.sum(-1)[..., None, :]},
        ),
        Misconception(
            "as without a mask",
            kind="missing step",
            credit=0.5,
            says="Your result does not depend on the mask. Where it is 0, the scores that softmax gets must be −∞.",
            change={"hide": lambda scores, hidden, sizes: scores},
        ),
        Misconception(
            "mask inverted",
            kind="mix-up",
            credit=0.5,
            says="What should be seen is hidden in your results. Hide keys where mask == 0.",
            change={"hidden": lambda mask, scores: mask != 0},
        ),
        Misconception(
            "masked after softmax",
            kind="missing step",
            credit=0.5,
            says="Your results are those of softmax over all keys, with zeros put in afterwards, so weights no longer "
            "sum to one. Mask the scores before softmax.",
            change={"hide": lambda scores, hidden, sizes: scores, "hide_weights": masks.without},
        ),
        Misconception(
            "−∞ after softmax",
            kind="mix-up",
            credit=0.25,
            says="Your results are those of hidden weights filled with −1e20 after softmax. Fill the scores, "
            "before it.",
            change={
                "hide": lambda scores, hidden, sizes: scores,
                "hide_weights": lambda weights, hidden: weights.masked_fill(hidden, -1e20),
            },
        ),
        split_heads.zeros_for_infinity(credit=0.5),
        split_heads.minus_one_for_infinity(credit=0.5),
        split_heads.minus_one_after_scaling(credit=0.5),
        Misconception(
            "+∞ for −∞",
            kind="wrong formula",
            credit=0.5,
            says="Hidden scores count as a large number in your results, so that nothing else is seen. Set them to −∞.",
            change={"hide": lambda scores, hidden, sizes: scores.masked_fill(hidden, 1e20)},
        ),
        masks.NO_NUMBERS,
        masks.NO_NUMBERS_AFTER_SOFTMAX,
        Misconception(
            "queries hidden",
            kind="axis",
            credit=0.5,
            says="Queries are hidden in your results. The last dimension of the mask belongs to the keys: (N, 1, 1, S) "
            "or (N, 1, T, S).",
            change={"hidden": lambda mask, scores: mask.mT == 0},
        ),
        Misconception(
            "mask added to the scores",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of the mask added to the scores. Set them to −∞ where it is 0.",
            change={"hide": lambda scores, hidden, sizes: scores + (~hidden) / sizes.head_dim**0.5},
        ),
        Misconception(
            "mask added to the scores, after scaling",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of the mask added to the scores. Set them to −∞ where it is 0.",
            change={"hide": lambda scores, hidden, sizes: scores + ~hidden},
        ),
        Misconception(
            "mask on the first head only",
            kind="missing step",
            credit=0.5,
            says="Only the first head is masked in your results. The same mask is for all of them.",
            change={"hide": hide_in_first_head},
        ),
        Misconception(
            "first head's mask for all",
            kind="mix-up",
            credit=0.5,
            says="In your results, all heads have the mask of the first. There may be one for each: (N, heads, T, S).",
            change={"hidden": lambda mask, scores: mask[:, :1] == 0},
        ),
        Misconception(
            "first sentence's mask for all",
            kind="mix-up",
            credit=0.5,
            says="In your results, all sentences of the batch have the mask of the first. Each should have its own.",
            change={"hidden": lambda mask, scores: mask[:1] == 0},
        ),
        Misconception(
            "causal mask added",
            kind="mix-up",
            credit=0.25,
            says="Later words are hidden on top of the mask in your results. Here nothing should be hidden except "
            "where mask == 0.",
            change={"hide_anyway": causal, "hide": with_infinity},
        ),
        Misconception(
            "causal mask always, never the given one",
            kind="mix-up",
            credit=0.25,
            says="Later words are hidden in your results, and the mask has no part in them. Hide keys where mask == 0, "
            "and nothing else.",
            change={"hide_anyway": causal, "hide": lambda scores, hidden, sizes: scores},
        ),
        Misconception(
            "causal mask for the given one",
            kind="mix-up",
            credit=0.25,
            says="When there is a mask, later words are hidden instead. Hide keys where mask == 0, and nothing else.",
            change={"hide": lambda scores, hidden, sizes: causal(scores)},
        ),
        Misconception(
            "causal without a mask",
            kind="mix-up",
            credit=0.5,
            says="In your results, later words are hidden when there is no mask. Then nothing should be hidden.",
            change={"unmasked": causal},
        ),
        *(
            Misconception(
                f"softmax over {what}{nan}",
                kind="axis",
                credit=0.25,
                says=f"Your weights are normalised over {of} (dim={dim} of the scores). "
                "They must be over the keys: dim=3.",
                change={"normalise": split_heads.softmax_over(dim), **hiding},
            )
            for what, of, dim in (
                ("queries", "the queries", 2),
                ("heads", "the heads", 1),
                ("the batch", "the sentences of the batch", 0),
            )
            for nan, hiding in (("", {}), (", with NaN", {"hide": with_infinity}))
        ),
        masks.SOFTMAX_MISSING,
        Misconception(
            "raw scores as weights, with −1e20",
            kind="missing step",
            credit=0.25,
            says="Your values are weighted by raw scores, of which the hidden ones are huge. The weights are the "
            "softmax of them.",
            change={
                "hide": lambda scores, hidden, sizes: scores.masked_fill(hidden, -1e20 / sizes.head_dim**0.5),
                "normalise": lambda scores: scores,
            },
        ),
        Misconception(
            "first sentence only",
            kind="missing step",
            credit=0.25,
            says="You return one sentence of the batch. The result has shape (N, T, embed_size).",
            change={"finish": lambda outputs: outputs[0]},
        ),
        Misconception(
            "result transposed",
            kind="convention",
            credit=0.5,
            says="The numbers are right, but words and features are exchanged. Return shape (N, T, embed_size).",
            change={"finish": lambda outputs: outputs.mT},
        ),
        Misconception(
            "query added",
            kind="mix-up",
            credit=0.5,
            says="Your result has the query added to it (a residual connection). That belongs to the block around "
            "attention: return what fc_out makes.",
            change={"add": lambda outputs, query: outputs + query},
        ),
        Misconception(
            "fc_out missing",
            kind="missing step",
            credit=0.5,
            says="Your module holds no fc_out. Make it in __init__, without bias, and apply it last.",
            change={"keep_out": split_heads.not_kept, "out": lambda fc_out, merged: merged},
        ),
        Misconception(
            "fc_out without effect",
            kind="missing step",
            credit=0.5,
            says="Your result is that of the merged heads: fc_out has no part in it. Return what self.fc_out(…) makes "
            "of them.",
            change={"out": lambda fc_out, merged: merged},
        ),
        Misconception(
            "fc_out applied twice",
            kind="wrong formula",
            credit=0.5,
            says="Your result is that of fc_out applied twice. Once is enough.",
            change={"out": lambda fc_out, merged: fc_out(fc_out(merged))},
        ),
        Misconception(
            "fc_out transposed",
            kind="arrangement",
            credit=0.5,
            says="Your result is that of the weight of fc_out without its transpose. Call self.fc_out(…).",
            change={"out": lambda fc_out, merged: merged @ fc_out.weight},
        ),
        Misconception(
            "fc_out before merging",
            kind="arrangement",
            credit=0.5,
            says="Your fc_out has the size of one head. Merge the heads first, then project embed_size features.",
            change={"out_width": lambda embed_size, heads: embed_size // heads},
        ),
        Misconception(
            "fc_out detached",
            kind="gradient",
            credit=0.5,
            says="No gradient reaches fc_out. Call self.fc_out(…), without .data or detach.",
            change={"out": lambda fc_out, merged: merged @ fc_out.weight.data.T},
        ),
        Misconception(
            "layers of one head",
            kind="mix-up",
            credit=0.5,
            says="Your layers project head_dim features, the same way in each head. Make them embed_size to "
            "embed_size, apply them first, and then split.",
            change={
                "in_width": lambda embed_size, heads: embed_size // heads,
                "width": lambda embed_size, heads: embed_size // heads,
            },
        ),
        Misconception(
            "embed_size features in each head",
            kind="mix-up",
            credit=0.5,
            says="Your layers make embed_size features for each head. Together, the heads should have embed_size.",
            change={"width": lambda embed_size, heads: embed_size * heads},
        ),
        Misconception(
            "divisibility not enforced",
            kind="missing step",
            credit=0.75,
            says="Your class accepts an embed_size that heads does not divide. It must stop with an error in __init__.",
            change={"fits": lambda embed_size, heads: True},
        ),
        Misconception(
            "biased projections",
            kind="input",
            credit=0.75,
            says="Your projections have a bias. Here they should have none: nn.Linear(…, bias=False).",
            change={"biased": LAYERS[:3]},
        ),
        Misconception(
            "fc_out with a bias",
            kind="input",
            credit=0.75,
            says="Your fc_out has a bias. Here it should have none: nn.Linear(…, bias=False).",
            change={"biased": LAYERS[3:]},
        ),
        Misconception(
            "bias everywhere",
            kind="input",
            credit=0.75,
            says="Your layers have a bias. Here they should have none: nn.Linear(…, bias=False).",
            change={"biased": LAYERS},
        ),
        Misconception(
            "values detached",
            kind="gradient",
            credit=0.5,
            says="No gradient reaches values. Neither detach nor .data belongs on their path.",
            change={"pass_on": gradients.detached("v")},
        ),
        Misconception(
            "keys detached",
            kind="gradient",
            credit=0.5,
            says="No gradient reaches keys. Neither detach nor .data belongs on their path.",
            change={"pass_on": gradients.detached("k")},
        ),
        Misconception(
            "queries detached",
            kind="gradient",
            credit=0.5,
            says="No gradient reaches query. Neither detach nor .data belongs on the path of the queries.",
            change={"pass_on": gradients.detached("q")},
        ),
        Misconception(
            "weights detached",
            kind="gradient",
            credit=0.5,
            says="No gradient reaches keys and query. Neither detach nor .data belongs on the path of scores and "
            "weights.",
            change={"pass_on": gradients.detached("q", "k")},
        ),
        *modules.IN_MODULES,
    ],
)
