"""Exercise 33: the gradients of attention, by formulas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.arithmetic import ARITHMETIC
from grader.kit.pieces import asked, in_float64
from grader.model.forms.by_formulas import BY_FORMULAS

from .mistakes import heads, masks
from .mistakes.pieces import OF_ANY_TYPE, unchanged

Tensor = torch.Tensor
Change = Callable[[Tensor], Tensor]

LARGE = "Your code is right until scores become large: softmax must not overflow."


@dataclass(frozen=True)
class Sizes:
    """All that somebody may take the root of."""

    T: int
    d: int


def of_softmax(weights: Tensor, by_weights: Tensor) -> Tensor:
    """Gradients by the scores from those by the weights, and row by row."""
    return weights * (by_weights - (weights * by_weights).sum(-1, keepdim=True))


def backward(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    grad_output: Tensor,
    *,
    scale: Callable[[Tensor, Sizes], Tensor] = lambda scores, sizes: scores / sizes.d**0.5,
    normalise: Change = lambda scores: torch.softmax(scores, dim=-1),
    came: Change = unchanged,
    seen: Callable[[Tensor, Tensor], Tensor] = lambda k, v: v,
    by_scores: Callable[[Tensor, Tensor], Tensor] = of_softmax,
    of_queries: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda by_scores, q, k: by_scores @ k,
    of_keys: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda by_scores, q, k: by_scores.mT @ q,
    for_values: Callable[[Tensor, Tensor], Tensor] = lambda weights, by_scores: weights,
    of_values: Callable[[Tensor, Tensor], Tensor] = lambda weights, came: weights.mT @ came,
    scale_queries: Callable[[Tensor, Sizes], Tensor] = lambda gradient, sizes: gradient / sizes.d**0.5,
    scale_keys: Callable[[Tensor, Sizes], Tensor] = lambda gradient, sizes: gradient / sizes.d**0.5,
    after: Callable[[Tensor, Tensor, Tensor], Any] = lambda q, k, v: (q, k, v),
    dtype: Callable[[Any], Any] = unchanged,
) -> Any:
    sizes = Sizes(*queries.shape[-2:])
    weights = normalise(scale(queries @ keys.mT, sizes))  # (B, H, T, T)
    output = came(grad_output)  # (B, H, T, d)
    by_weights = output @ seen(keys, values).mT  # (B, H, T, T)
    found = by_scores(weights, by_weights)
    grad_queries = scale_queries(of_queries(found, queries, keys), sizes)
    grad_keys = scale_keys(of_keys(found, queries, keys), sizes)
    grad_values = of_values(for_values(weights, found), output)
    return dtype(after(grad_queries, grad_keys, grad_values))


def without(gradient: Tensor, _sizes: Sizes) -> Tensor:
    return gradient


def sized(B: int, H: int, T: int, d: int) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: tuple(randn(rng, B, H, T, d) for _ in range(4))


def large(rng: torch.Generator) -> Inputs:
    """Scores near 112 and near −112: all exponentials overflow, or vanish.

    In one sentence from query to query, so that no one number is good to subtract for all; in the other from key to
    key, so that the mean of a query's scores is too far below the largest.

    In multiples of 1/32, so that float32 has them exactly, and their differences are as large as ever. Not further
    from zero than need be: their logsumexp is rounded.
    """
    queries, keys = (torch.randint(-8, 9, (2, 2, 5, 4), generator=rng) / 4 for _ in range(2))
    queries[..., 0::2, 0], queries[..., 1::2, 0], keys[..., 0] = 112.0, -112.0, 2.0
    keys[1, :, 1::2, 0] = -2.0
    return queries, keys, randn(rng, 2, 2, 5, 4), randn(rng, 2, 2, 5, 4)


exercise = Exercise(
    number=33,
    assignment="fast_attention",
    title="The way back",
    entry="attention_backward",
    form=BY_FORMULAS,
    allowed=ARITHMETIC,
    reference=asked(backward),
    cases=[
        Case("two sentences", catches="a softmax that is not differentiated", inputs=sized(2, 2, 5, 4)),
        Case("more entries than words", catches="√T for √d", inputs=sized(1, 2, 3, 6)),
        Case("one word", catches="a gradient of a weight that is always 1", inputs=sized(2, 1, 1, 3)),
        Case("one feature", catches="squeezed dimensions", inputs=sized(1, 3, 4, 1)),
        Case("everything is four", catches="tables that are not transposed", inputs=sized(4, 4, 4, 4)),
        Case("one head", catches="sums over heads or sentences", inputs=sized(3, 1, 4, 2)),
        Case("many entries", catches="finite differences, which take minutes", inputs=sized(1, 1, 5, 8192)),
        Case("scores of ±112", catches="a softmax that overflows", inputs=large, beside=LARGE),
        in_float64(sized(2, 2, 4, 3)),
    ],
    misconceptions=[
        Misconception(
            "weights differentiated one by one",
            kind="missing step",
            credit=0.5,
            says="Your gradients of the scores are P times dP. A score changes the whole row of weights: subtract the "
            "sum of P · dP over the row from dP first.",
            change={"by_scores": lambda weights, by_weights: weights * by_weights},
        ),
        Misconception(
            "only the diagonal of softmax",
            kind="wrong formula",
            credit=0.5,
            says="Your gradients of the scores are P (1 − P) dP: what a score does to its own weight. It changes all "
            "weights of the row: P (dP − the sum of P · dP over the row).",
            change={"by_scores": lambda weights, by_weights: weights * (1 - weights) * by_weights},
        ),
        Misconception(
            "softmax not differentiated",
            kind="missing step",
            credit=0.25,
            says="In your results, the gradients of the weights are taken for those of the scores. Go back through "
            "softmax: P (dP − the sum of P · dP over the row).",
            change={"by_scores": lambda weights, by_weights: by_weights},
        ),
        Misconception(
            "not multiplied by the weights",
            kind="missing step",
            credit=0.5,
            says="Your gradients of the scores are dP − the sum of P · dP. Multiply the difference by P.",
            change={"by_scores": lambda weights, by_weights: by_weights - (weights * by_weights).sum(-1, keepdim=True)},
        ),
        Misconception(
            "sum of dP alone",
            kind="wrong formula",
            credit=0.5,
            says="In your gradients of the scores, the sum of dP over the row is subtracted. It should be that of P · "
            "dP.",
            change={"by_scores": lambda weights, by_weights: weights * (by_weights - by_weights.sum(-1, keepdim=True))},
        ),
        Misconception(
            "mean of dP alone",
            kind="wrong formula",
            credit=0.5,
            says="In your gradients of the scores, the mean of dP over the row is subtracted. It should be the sum of "
            "P · dP.",
            change={
                "by_scores": lambda weights, by_weights: weights * (by_weights - by_weights.mean(-1, keepdim=True))
            },
        ),
        Misconception(
            "mean of P · dP",
            kind="wrong formula",
            credit=0.5,
            says="In your gradients of the scores, the mean of P · dP over the row is subtracted. It should be the "
            "sum.",
            change={
                "by_scores": lambda weights, by_weights: (
                    weights * (by_weights - (weights * by_weights).mean(-1, keepdim=True))
                )
            },
        ),
        Misconception(
            "sum over queries",
            kind="axis",
            credit=0.5,
            says="In your results, the sum of P · dP goes over the queries of a key. It should go over the keys of a "
            "query: dim=-1.",
            change={
                "by_scores": lambda weights, by_weights: (
                    weights * (by_weights - (weights * by_weights).sum(-2, keepdim=True))
                )
            },
        ),
        Misconception(
            "sum over the table",
            kind="axis",
            credit=0.5,
            says="In your results, the sum of P · dP goes over the whole table. Each query should have a sum of its "
            "own: dim=-1, keepdim=True.",
            change={
                "by_scores": lambda weights, by_weights: (
                    weights * (by_weights - (weights * by_weights).sum((-2, -1), keepdim=True))
                )
            },
        ),
        Misconception(
            "added, not subtracted",
            kind="wrong formula",
            credit=0.5,
            says="The sum of P · dP is added to dP in your results. It should be subtracted.",
            change={
                "by_scores": lambda weights, by_weights: (
                    weights * (by_weights + (weights * by_weights).sum(-1, keepdim=True))
                )
            },
        ),
        Misconception(
            "the other sign",
            kind="wrong formula",
            credit=0.5,
            says="The gradients of queries and keys have the wrong sign: it should be P (dP − the sum of P · dP), in "
            "this order.",
            change={"by_scores": lambda weights, by_weights: -of_softmax(weights, by_weights)},
        ),
        Misconception(
            "gradients not scaled",
            kind="scaling",
            credit=0.5,
            says="The scores are divided by √d, and your gradients of queries and keys are not. Divide them, too.",
            change={"scale_queries": without, "scale_keys": without},
        ),
        Misconception(
            "gradient of the queries not scaled",
            kind="scaling",
            credit=0.5,
            says="Your gradient of the queries is not divided by √d.",
            change={"scale_queries": without},
        ),
        Misconception(
            "gradient of the keys not scaled",
            kind="scaling",
            credit=0.5,
            says="Your gradient of the keys is not divided by √d.",
            change={"scale_keys": without},
        ),
        Misconception(
            "gradients divided by d",
            kind="scaling",
            credit=0.5,
            says="Your gradients of queries and keys are divided by d, or twice by its root. Divide them by √d once.",
            change={
                "scale_queries": lambda gradient, sizes: gradient / sizes.d,
                "scale_keys": lambda gradient, sizes: gradient / sizes.d,
            },
        ),
        Misconception(
            "gradients multiplied by √d",
            kind="scaling",
            credit=0.5,
            says="Your gradients of queries and keys are multiplied by √d. Divide them: what multiplies a score "
            "multiplies its gradient, too, and that is 1/√d.",
            change={
                "scale_queries": lambda gradient, sizes: gradient * sizes.d**0.5,
                "scale_keys": lambda gradient, sizes: gradient * sizes.d**0.5,
            },
        ),
        Misconception(
            "nothing scaled",
            kind="scaling",
            credit=0.5,
            says="Your gradients are those of attention whose scores are not scaled. Divide the scores by √d, and the "
            "gradients of queries and keys.",
            change={"scale": without, "scale_queries": without, "scale_keys": without},
        ),
        Misconception(
            "scores not scaled",
            kind="scaling",
            credit=0.5,
            says="The weights are those of scores that are not scaled. Divide the scores by √d before softmax.",
            change={"scale": without},
        ),
        Misconception(
            "scaled by √T",
            kind="scaling",
            credit=0.5,
            says="Scores and gradients are divided by the root of the number of words. Divide by √d.",
            change={
                "scale": lambda scores, sizes: scores / sizes.T**0.5,
                "scale_queries": lambda gradient, sizes: gradient / sizes.T**0.5,
                "scale_keys": lambda gradient, sizes: gradient / sizes.T**0.5,
            },
        ),
        Misconception(
            "weights not transposed for values",
            kind="mix-up",
            credit=0.5,
            says="Your gradient of the values is P · dO. It should be Pᵀ · dO: a value gets something from every query "
            "that weighs it.",
            change={"of_values": lambda weights, came: weights @ came},
        ),
        Misconception(
            "gradients of scores for values",
            kind="mix-up",
            credit=0.5,
            says="Your gradient of the values is dSᵀ · dO, made with the gradients of the scores. It should be Pᵀ · "
            "dO, with the weights as they were before anything was written over them.",
            change={"for_values": lambda weights, by_scores: by_scores},
        ),
        Misconception(
            "not transposed for keys",
            kind="mix-up",
            credit=0.5,
            says="Your gradient of the keys is dS · Q. It should be dSᵀ · Q: a key gets something from every query.",
            change={"of_keys": lambda by_scores, q, k: by_scores @ q},
        ),
        Misconception(
            "transposed for queries",
            kind="mix-up",
            credit=0.5,
            says="Your gradient of the queries is dSᵀ · K. It should be dS · K.",
            change={"of_queries": lambda by_scores, q, k: by_scores.mT @ k},
        ),
        Misconception(
            "queries for keys",
            kind="mix-up",
            credit=0.5,
            says="Your gradient of the queries is made with the queries themselves. It should be dS · K.",
            change={"of_queries": lambda by_scores, q, k: by_scores @ q},
        ),
        Misconception(
            "keys for queries",
            kind="mix-up",
            credit=0.5,
            says="Your gradient of the keys is made with the keys themselves. It should be dSᵀ · Q.",
            change={"of_keys": lambda by_scores, q, k: by_scores.mT @ k},
        ),
        Misconception(
            "each with itself",
            kind="mix-up",
            credit=0.5,
            says="Your gradient of the queries is made with the queries, and that of the keys with the keys. They "
            "should be dS · K and dSᵀ · Q.",
            change={
                "of_queries": lambda by_scores, q, k: by_scores @ q,
                "of_keys": lambda by_scores, q, k: by_scores.mT @ k,
            },
        ),
        Misconception(
            "keys for values",
            kind="mix-up",
            credit=0.5,
            says="Your gradient of the weights is dO · Kᵀ. The weights are multiplied by the values: it should be dO · "
            "Vᵀ.",
            change={"seen": lambda k, v: k},
        ),
        Misconception(
            "grad_output without effect",
            kind="missing step",
            credit=0.25,
            says="Your gradients are those of the sum of all outputs: grad_output has no effect.",
            change={"came": torch.ones_like},
        ),
        Misconception(
            "softmax over queries",
            kind="axis",
            credit=0.25,
            says="The weights are those of a softmax over the queries. It should go over the keys: dim=-1.",
            change={"normalise": lambda scores: torch.softmax(scores, dim=-2)},
        ),
        Misconception(
            "softmax over heads",
            kind="axis",
            credit=0.25,
            says="The weights are those of a softmax over the heads. It should go over the keys: dim=-1.",
            change={"normalise": lambda scores: torch.softmax(scores, dim=1)},
        ),
        masks.future_hidden(normalise=lambda scores: torch.softmax(masks.hide_later(scores), dim=-1)),
        heads.softmax_not_shifted(normalise=heads.exponentials_shared),
        Misconception(
            "queries and keys exchanged",
            kind="arrangement",
            credit=0.5,
            says="You return the gradient of the keys first. The order is that of the arguments: queries, keys, "
            "values.",
            change={"after": lambda q, k, v: (k, q, v)},
        ),
        Misconception(
            "values first",
            kind="arrangement",
            credit=0.5,
            says="You return the gradients in the order values, keys, queries. The order is that of the arguments: "
            "queries, keys, values.",
            change={"after": lambda q, k, v: (v, k, q)},
        ),
        Misconception(
            "values before queries",
            kind="arrangement",
            credit=0.5,
            says="You return the gradient of the values first, then those of queries and keys. The order is that of "
            "the arguments: queries, keys, values.",
            change={"after": lambda q, k, v: (v, q, k)},
        ),
        *OF_ANY_TYPE,
    ],
)
