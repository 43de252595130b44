"""Exercise 8: self-attention with two heads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, randn

from .mistakes import masks, projections, results, scaling, softmax, weighing

Tensor = torch.Tensor
Parameters = dict[str, Tensor]


def reference(
    X: Tensor,
    W_v1: Tensor,
    W_q1: Tensor,
    W_k1: Tensor,
    b_v1: Tensor,
    b_q1: Tensor,
    b_k1: Tensor,
    W_v2: Tensor,
    W_q2: Tensor,
    W_k2: Tensor,
    b_v2: Tensor,
    b_q2: Tensor,
    b_k2: Tensor,
    W_c: Tensor,
    *,
    add: Callable[[Tensor, Tensor], Tensor] = lambda WX, b: WX + b,
    roles: tuple[str, str] = ("q1 k1 v1", "q2 k2 v2"),
    biases: tuple[str, str] = ("q1 k1 v1", "q2 k2 v2"),
    score: Callable[[Tensor, Tensor], Tensor] = lambda Q, K: K.mT @ Q,
    scale: Callable[[Tensor, int, int, int], Tensor] = lambda scores, d, D, N: scores / d**0.5,
    normalise: Callable[[Tensor], Tensor] = lambda scores: torch.softmax(scores, dim=0),
    combine: Callable[[Tensor, Tensor], Tensor] = lambda V, A: V @ A,
    join: Callable[[Tensor, Tensor], Tensor] = lambda one, two: torch.cat([one, two], dim=0),
    recombine: Callable[[Tensor, Tensor], Tensor] = lambda W_c, heads: W_c @ heads,
    after: Callable[[Tensor, Tensor], Any] = lambda outputs, X: outputs,
) -> Any:
    W = {"v1": W_v1, "q1": W_q1, "k1": W_k1, "v2": W_v2, "q2": W_q2, "k2": W_k2}
    b = {"v1": b_v1, "q1": b_q1, "k1": b_k1, "v2": b_v2, "q2": b_q2, "k2": b_k2, "0": torch.zeros_like(b_v1)}
    D, N = X.shape
    heads = []
    for names, constants in zip(roles, biases, strict=True):
        # (d, D) @ (D, N) + (d, 1) -> (d, N) each, with d = D / 2
        Q, K, V = (add(W[w] @ X, b[c]) for w, c in zip(names.split(), constants.split(), strict=True))
        A = normalise(scale(score(Q, K), len(Q), D, N))  # (N keys, N queries): a column for every query
        heads.append(combine(V, A))
    return after(recombine(W_c, join(*heads)), X)  # (D, D) @ (D, N)


def both(roles: tuple[str, str]) -> dict[str, tuple[str, str]]:
    """Whoever takes the wrong matrix takes its bias, too."""
    return {"roles": roles, "biases": roles}


def interleave(one: Tensor, two: Tensor) -> Tensor:
    return torch.stack([one, two], dim=1).reshape(2 * len(one), -1)


def sized(D: int, N: int) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        d = D // 2
        head_parameters = []
        for _ in range(2):
            # Small weights keep the scores near one, where softmax shows every mistake.
            head_parameters += [randn(rng, d, D) / D**0.5 for _ in range(3)]
            head_parameters += [randn(rng, d, 1) for _ in range(3)]
        return (randn(rng, D, N), *head_parameters, randn(rng, D, D))

    return inputs


exercise = Exercise(
    number=8,
    assignment="self_attention",
    title="Two heads",
    entry="multihead_scaled_self_attention",
    reference=reference,
    explained_in={"not scaled": "exercise-7", "softmax along rows": "exercise-7"},
    scales={"scale": "the dot products of queries and keys"},
    cases=[
        Case(
            "the notebook's sizes",
            catches="the notebook's globals instead of the arguments",
            inputs=sized(8, 6),
        ),
        Case("more words than dimensions", catches="√N for √d, a wrong softmax axis", inputs=sized(6, 7)),
        Case("more dimensions than words", catches="a hard-coded √4 or √8, √D for √d", inputs=sized(10, 3)),
        Case(
            "as many words as dimensions",
            catches="transposed results, whose shape is right",
            inputs=sized(4, 4),
        ),
    ],
    misconceptions=[
        Misconception(
            "scaled by √D",
            kind="scaling",
            credit=0.75,
            says="The scores that you use are divided by √D with the full D. Each head's queries have size D/2: divide "
            "by the root of that.",
            change={"scale": lambda scores, d, D, N: scores / D**0.5},
        ),
        Misconception(
            "not scaled",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are not scaled. Divide the scores of each head by the root of the head size.",
            change={"scale": lambda scores, d, D, N: scores},
        ),
        Misconception(
            "divided by the head size",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the head size. Divide by its square root.",
            change={"scale": lambda scores, d, D, N: scores / d},
        ),
        Misconception(
            "divided by D",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by D. Divide by the square root of the head size, D/2.",
            change={"scale": lambda scores, d, D, N: scores / D},
        ),
        Misconception(
            "divided by √N",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by √N, where N is the number of words. Divide by the root of the "
            "head size.",
            change={"scale": lambda scores, d, D, N: scores / N**0.5},
        ),
        Misconception(
            "divided by N",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the number of words. Divide by the root of the head size.",
            change={"scale": lambda scores, d, D, N: scores / N},
        ),
        Misconception(
            "divided by √2",
            kind="scaling",
            credit=0.5,
            says="Your scores are divided by √2 whatever the sizes are. Divide by the root of the head size.",
            change={"scale": lambda scores, d, D, N: scores / 2**0.5},
        ),
        Misconception(
            "divided by 2",
            kind="hard-coded",
            credit=0.5,
            says="Your scores are divided by 2 whatever the head size is; that fits 4 only. Take it from the shapes.",
            change={"scale": lambda scores, d, D, N: scores / 2},
        ),
        Misconception(
            "divided by √8",
            kind="hard-coded",
            credit=0.5,
            says="Your scores are divided by √8 whatever the sizes are. Take the head size from the shapes.",
            change={"scale": lambda scores, d, D, N: scores / 8**0.5},
        ),
        Misconception(
            "multiplied by the root",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are multiplied by the root of the head size. They should be divided by it.",
            change={"scale": lambda scores, d, D, N: scores * d**0.5},
        ),
        scaling.sign_flipped(scale=lambda scores, d, D, N: -scores / d**0.5),
        Misconception(
            "without bias",
            kind="missing step",
            credit=0.5,
            says="Your results are those without biases. It should be Q₁ = W_q1 X + b_q1, and the same for the others.",
            change={"add": lambda WX, b: WX},
        ),
        Misconception(
            "bias subtracted",
            kind="wrong formula",
            credit=0.5,
            says="The biases should be added, not subtracted.",
            change={"add": lambda WX, b: WX - b},
        ),
        # A forgotten b_k is no mistake that shows: it adds the same to all scores of a query, and softmax drops it.
        Misconception(
            "values without bias",
            kind="missing step",
            credit=0.75,
            says="The biases of the values are missing: V₁ = W_v1 X + b_v1, and the same for head 2.",
            change={"biases": ("q1 k1 0", "q2 k2 0")},
        ),
        Misconception(
            "queries without bias",
            kind="missing step",
            credit=0.75,
            says="The biases of the queries are missing: Q₁ = W_q1 X + b_q1, and the same for head 2.",
            change={"biases": ("0 k1 v1", "0 k2 v2")},
        ),
        Misconception(
            "first head's biases twice",
            kind="mix-up",
            credit=0.75,
            says="In your results, head 2 has the biases of head 1. It should have its own b_q2, b_k2 and b_v2.",
            change={"biases": ("q1 k1 v1", "q1 k1 v1")},
        ),
        Misconception(
            "first head twice",
            kind="mix-up",
            credit=0.5,
            says="Both halves of your result are those of head 1. The second should have its own: W_q2, W_k2, W_v2 and "
            "biases.",
            change=both(("q1 k1 v1", "q1 k1 v1")),
        ),
        Misconception(
            "second head twice",
            kind="mix-up",
            credit=0.5,
            says="Both halves of your result are those of head 2. The first should have its own: W_q1, W_k1, W_v1 and "
            "biases.",
            change=both(("q2 k2 v2", "q2 k2 v2")),
        ),
        Misconception(
            "heads in the wrong order",
            kind="mix-up",
            credit=0.5,
            says="Head 2 lies on top of head 1. Stack head 1 first, then head 2.",
            change=both(("q2 k2 v2", "q1 k1 v1")),
        ),
        Misconception(
            "keys crossed",
            kind="mix-up",
            credit=0.5,
            says="In your results, each head has the keys of the other. A head should use its own queries, keys and "
            "values.",
            change=both(("q1 k2 v1", "q2 k1 v2")),
        ),
        Misconception(
            "values crossed",
            kind="mix-up",
            credit=0.5,
            says="In your results, each head has the values of the other. A head should use its own queries, keys and "
            "values.",
            change=both(("q1 k1 v2", "q2 k2 v1")),
        ),
        Misconception(
            "first head's values twice",
            kind="mix-up",
            credit=0.5,
            says="In your results, head 2 has the values of head 1. It should have its own W_v2 and b_v2.",
            change=both(("q1 k1 v1", "q2 k2 v1")),
        ),
        Misconception(
            "first head's keys twice",
            kind="mix-up",
            credit=0.5,
            says="In your results, the scores of head 2 are those with W_k1. Head 2 should have its own W_k2 and b_k2.",
            change=both(("q1 k1 v1", "q2 k1 v2")),
        ),
        Misconception(
            "first head's queries twice",
            kind="mix-up",
            credit=0.5,
            says="In your results, head 2 has the queries of head 1. It should have its own W_q2 and b_q2.",
            change=both(("q1 k1 v1", "q1 k2 v2")),
        ),
        Misconception(
            "first head's weights twice",
            kind="mix-up",
            credit=0.5,
            says="The values of head 2 are weighted by the attention of head 1. It needs its own, from W_q2 and W_k2.",
            change=both(("q1 k1 v1", "q1 k1 v2")),
        ),
        Misconception(
            "parameters in q, k, v order",
            kind="mix-up",
            credit=0.5,
            says="Your results are those of mixed-up roles: the parameters of a head come in the order v, q, k.",
            change=both(("v1 q1 k1", "v2 q2 k2")),
        ),
        Misconception(
            "keys as values",
            kind="mix-up",
            credit=0.5,
            says="Your results are weighted keys. The weights belong to the values.",
            change=both(("q1 k1 k1", "q2 k2 k2")),
        ),
        projections.QUERIES_AND_KEYS_EXCHANGED,
        projections.DIMENSIONS_COMPARED,
        projections.FORMULA_FOR_ROWS,
        projections.FORMULA_FOR_ROWS_WITH_COLUMNS,
        softmax.ALONG_ROWS,
        Misconception(
            "softmax over everything",
            kind="axis",
            credit=0.5,
            says="All weights of a head together sum to one, and not those of each query. Softmax is over each column.",
            change={"normalise": softmax.over_everything},
        ),
        Misconception(
            "raw scores as weights",
            kind="missing step",
            credit=0.25,
            says="Your values are weighted by raw scores. The weights of a head are the softmax of its scores.",
            change={"normalise": lambda scores: scores},
        ),
        softmax.COLUMNS_NOT_NORMALISED,
        softmax.SIGMOID,
        masks.future_hidden(normalise=lambda scores: torch.softmax(masks.hide_later(scores.mT).mT, dim=0)),
        weighing.WEIGHTS_TRANSPOSED,
        Misconception(
            "heads interleaved",
            kind="arrangement",
            credit=0.5,
            says="Rows of the two heads alternate. Put all rows of head 1 on top of all rows of head 2.",
            change={"join": interleave},
        ),
        Misconception(
            "heads added",
            kind="wrong formula",
            credit=0.25,
            says="Your result is that of adding up the heads. Stack them vertically: head 1 on top of head 2.",
            change={"join": lambda one, two: (one + two).repeat(2, 1)},
        ),
        Misconception(
            "head 2 in the place of head 1",
            kind="mix-up",
            credit=0.25,
            says="The rows of head 1 hold what head 2 returns, and those of head 2 are zero. Each head should have its "
            "own.",
            change={"join": lambda one, two: torch.cat([two, torch.zeros_like(one)], dim=0)},
        ),
        Misconception(
            "second head empty",
            kind="missing step",
            credit=0.25,
            says="The rows of head 2 are zero in your result. Stack the output of head 2 below that of head 1.",
            change={"join": lambda one, two: torch.cat([one, torch.zeros_like(two)], dim=0)},
        ),
        Misconception(
            "without W_c",
            kind="missing step",
            credit=0.5,
            says="Your result is that of the stacked heads, before W_c. The product with W_c recombines them.",
            change={"recombine": lambda W_c, heads: heads},
        ),
        Misconception(
            "W_c transposed",
            kind="convention",
            credit=0.5,
            says="Your result is that of the transpose of W_c. It should be W_c @ heads.",
            change={"recombine": lambda W_c, heads: W_c.mT @ heads},
        ),
        Misconception(
            "W_c entry by entry",
            kind="wrong formula",
            credit=0.25,
            says="Your result is that of a product with W_c entry by entry. The matrix product is W_c @ heads.",
            in_code=("W_c * _", "_ * W_c"),
            says_of_code="`*` multiplies W_c entry by entry. The matrix product is W_c @ heads.",
            change={"recombine": lambda W_c, heads: W_c * heads},
        ),
        Misconception(
            "heads joined without W_c, added",
            kind="missing step",
            credit=0.25,
            says="Your result is the sum of the heads, without W_c. Stack them vertically, then multiply by W_c.",
            change={"join": lambda one, two: one + two, "recombine": lambda W_c, heads: heads},
        ),
        Misconception(
            "second head only",
            kind="missing step",
            credit=0.25,
            says="Your result is head 2 alone. Stack both heads, then multiply by W_c.",
            change={"join": lambda one, two: two, "recombine": lambda W_c, heads: heads},
        ),
        Misconception(
            "first head only",
            kind="missing step",
            credit=0.25,
            says="Your result is head 1 alone. Stack both heads, then multiply by W_c.",
            change={"join": lambda one, two: one, "recombine": lambda W_c, heads: heads},
        ),
        weighing.WORDS_ADDED,
        Misconception(
            "heads averaged",
            kind="wrong formula",
            credit=0.5,
            says="Your result is divided by the number of heads. Stacking and W_c are all there is.",
            change={"after": lambda outputs, X: outputs / 2},
        ),
        results.TRANSPOSED,
        Misconception(
            "returned per head",
            kind="arrangement",
            credit=0.5,
            says="You return the halves of the result in a list. Return one (D, N) tensor.",
            change={"after": lambda outputs, X: list(outputs.chunk(2, dim=0))},
        ),
    ],
)
