"""Exercise 7: self-attention in matrix form, one word per column."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, randn

from .mistakes import masks, projections, results, scaling, softmax, weighing

Tensor = torch.Tensor


def affine(W: Tensor, X: Tensor, b: Tensor) -> Tensor:
    return W @ X + b  # (D, D) @ (D, N) + (D, 1) -> (D, N)


def reference(
    X: Tensor,
    W_v: Tensor,
    W_q: Tensor,
    W_k: Tensor,
    b_v: Tensor,
    b_q: Tensor,
    b_k: Tensor,
    *,
    before: Callable[[Tensor, Tensor], Tensor] = lambda X, b: X,
    multiply: Callable[[Tensor, Tensor], Tensor] = lambda W, X: W @ X,
    add: Callable[[Tensor, Tensor], Tensor] = lambda WX, b: WX + b,
    weights: str = "qkv",
    biases: str = "qkv",
    score: Callable[[Tensor, Tensor], Tensor] = lambda Q, K: K.mT @ Q,
    scale: Callable[[Tensor, int, int], Tensor] = lambda scores, D, N: scores / D**0.5,
    normalise: Callable[[Tensor], Tensor] = lambda scores: torch.softmax(scores, dim=0),
    combine: Callable[[Tensor, Tensor], Tensor] = lambda V, A: V @ A,
    values: Callable[[Tensor, Tensor], Tensor] = lambda V, X: V,
    after: Callable[[Tensor, Tensor], Tensor] = lambda outputs, X: outputs,
) -> Any:
    W = {"q": W_q, "k": W_k, "v": W_v}
    b = {"q": b_q, "k": b_k, "v": b_v, "0": torch.zeros_like(b_q)}
    # (D, D) @ (D, N) + (D, 1) -> (D, N) each
    Q, K, V = (add(multiply(W[w], before(X, b[c])), b[c]) for w, c in zip(weights, biases, strict=True))
    N = X.shape[1]
    # The length of a query: D here, but half of it where exercise 8 calls this function for a head.
    A = normalise(scale(score(Q, K), len(Q), N))  # (N keys, N queries): a column for every query
    return after(combine(values(V, X), A), X)


def weights_instead(
    X: Tensor, _W_v: Tensor, W_q: Tensor, W_k: Tensor, _b_v: Tensor, b_q: Tensor, b_k: Tensor
) -> Tensor:
    return torch.softmax(affine(W_k, X, b_k).mT @ affine(W_q, X, b_q) / len(X) ** 0.5, dim=0)


def sized(D: int, N: int) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        # Small weights keep the scores near one, where softmax shows every mistake.
        weights = [randn(rng, D, D) / D**0.5 for _ in range(3)]
        biases = [randn(rng, D, 1) for _ in range(3)]
        return (randn(rng, D, N), *weights, *biases)

    return inputs


exercise = Exercise(
    number=7,
    assignment="self_attention",
    title="Matrix form",
    entry="scaled_dot_product_self_attention",
    reference=reference,
    explained_in={"scaling": "exercise-2"},
    scales={"scale": "the dot products of queries and keys"},
    cases=[
        Case(
            "the notebook's sizes",
            catches="the notebook's globals instead of the arguments",
            inputs=sized(4, 3),
        ),
        Case("more words than dimensions", catches="√N for √D, a wrong softmax axis", inputs=sized(3, 8)),
        Case("more dimensions than words", catches="a hard-coded √4 or √8, D for √D", inputs=sized(7, 2)),
        Case(
            "as many words as dimensions",
            catches="transposed results, whose shape is right",
            inputs=sized(5, 5),
        ),
    ],
    misconceptions=[
        Misconception(
            "without bias",
            kind="missing step",
            credit=0.5,
            says="Your results are those without biases. It should be Q = W_q X + b_q, and the same for K and V.",
            change={"add": lambda WX, b: WX},
        ),
        Misconception(
            "bias added before the matrix",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of W (X + b). The bias comes after the product: Q = W_q X + b_q.",
            change={"before": lambda X, b: X + b, "add": lambda WX, b: WX},
        ),
        Misconception(
            "bias subtracted",
            kind="wrong formula",
            credit=0.5,
            says="The biases should be added, not subtracted: Q = W_q X + b_q.",
            change={"add": lambda WX, b: WX - b},
        ),
        Misconception(
            "matrices transposed",
            kind="convention",
            credit=0.5,
            says="Your results are those of transposed matrices. With words as columns it is W @ X: W comes first, as "
            "it is.",
            change={"multiply": lambda W, X: W.mT @ X},
        ),
        Misconception(
            "parameters in q, k, v order",
            kind="mix-up",
            credit=0.5,
            says="Your results are those of mixed-up roles: the parameters come in the order v, q, k. Queries "
            "belong to "
            "W_q and b_q.",
            # The first matrix, W_v, is taken for the queries, the second, W_q, for the keys, W_k for the values.
            change={"weights": "vqk", "biases": "vqk"},
        ),
        Misconception(
            "biases exchanged",
            kind="mix-up",
            credit=0.5,
            says="The matrices are in their right places in your results, but the biases are not: b_q belongs to W_q, "
            "b_v to W_v.",
            change={"biases": "vqk"},
        ),
        # A forgotten b_k is no mistake that shows: it adds the same to all scores of a query, and softmax drops it.
        Misconception(
            "values without bias",
            kind="missing step",
            credit=0.75,
            says="The bias of the values is missing: V = W_v X + b_v.",
            change={"biases": "qk0"},
        ),
        Misconception(
            "queries without bias",
            kind="missing step",
            credit=0.75,
            says="The bias of the queries is missing: Q = W_q X + b_q.",
            change={"biases": "0kv"},
        ),
        projections.QUERY_PARAMETERS_FOR_EVERYTHING,
        Misconception(
            "keys as values",
            kind="mix-up",
            credit=0.5,
            says="Your results are weighted keys. The weights belong to the values, V = W_v X + b_v.",
            change={"weights": "qkk", "biases": "qkk"},
        ),
        Misconception(
            "keys with keys",
            kind="mix-up",
            credit=0.25,
            says="Your results are those of keys compared with keys. The scores are KᵀQ.",
            change={"weights": "kkv", "biases": "kkv"},
        ),
        Misconception(
            "queries with queries",
            kind="mix-up",
            credit=0.25,
            says="Your results are those of queries compared with queries. The scores are KᵀQ.",
            change={"weights": "qqv", "biases": "qqv"},
        ),
        projections.QUERIES_AND_KEYS_EXCHANGED,
        projections.DIMENSIONS_COMPARED,
        projections.FORMULA_FOR_ROWS,
        projections.FORMULA_FOR_ROWS_WITH_COLUMNS,
        Misconception(
            "not scaled",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are not scaled. Divide the scores by √D before softmax.",
            change={"scale": lambda scores, D, N: scores},
        ),
        Misconception(
            "divided by D",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by D. Divide by its square root, √D.",
            change={"scale": lambda scores, D, N: scores / D},
        ),
        Misconception(
            "divided by √N",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by √N, where N is the number of words. The scale is √D: X has "
            "shape (D, N).",
            change={"scale": lambda scores, D, N: scores / N**0.5},
        ),
        Misconception(
            "divided by N",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the number of words. The scale is √D: X has shape (D, N).",
            change={"scale": lambda scores, D, N: scores / N},
        ),
        scaling.MULTIPLIED_BY_ROOT_D,
        Misconception(
            "divided by 2",
            kind="hard-coded",
            credit=0.5,
            says="Your scores are divided by 2 whatever D is; that is √D for 4 only. Take D from the shape of X.",
            change={"scale": lambda scores, D, N: scores / 2},
        ),
        Misconception(
            "divided by √8",
            kind="hard-coded",
            credit=0.5,
            says="Your scores are divided by √8 whatever the sizes are. Take D from the shape of X.",
            change={"scale": lambda scores, D, N: scores / 8**0.5},
        ),
        scaling.sign_flipped(scale=lambda scores, D, N: -scores / D**0.5),
        scaling.scaled_after_softmax(
            scale=lambda scores, D, N: scores, after=lambda outputs, X: outputs / len(X) ** 0.5
        ),
        softmax.ALONG_ROWS,
        Misconception(
            "softmax over everything",
            kind="axis",
            credit=0.5,
            says="All your weights together sum to one, and not those of each query. Softmax is over each column "
            "(softmax_cols).",
            change={"normalise": softmax.over_everything},
        ),
        Misconception(
            "raw scores as weights",
            kind="missing step",
            credit=0.25,
            says="Your values are weighted by raw scores. The weights are the softmax_cols of the scores.",
            change={"normalise": lambda scores: scores},
        ),
        softmax.COLUMNS_NOT_NORMALISED,
        softmax.applied_twice(normalise=lambda scores: torch.softmax(torch.softmax(scores, 0), 0)),
        Misconception(
            "sigmoid",
            kind="wrong formula",
            credit=0.25,
            says="Your weights are the sigmoids of the scores. They should be the softmax, down the columns.",
            change={"normalise": torch.sigmoid},
        ),
        Misconception(
            "hard maximum",
            kind="wrong formula",
            credit=0.25,
            says="Each query takes only its best value. Softmax gives every value some weight.",
            change={"normalise": lambda scores: (scores == scores.max(0, keepdim=True).values).float()},
        ),
        masks.future_hidden(normalise=lambda scores: torch.softmax(masks.hide_later(scores.mT).mT, dim=0)),
        weighing.WEIGHTS_TRANSPOSED,
        Misconception(
            "plain average",
            kind="missing step",
            credit=0.0,
            says="Your results are the average of the values, whatever the weights. Multiply V by the weights.",
            change={"combine": lambda V, A: V.mean(dim=1, keepdim=True).expand_as(V)},
        ),
        Misconception(
            "words as values",
            kind="missing step",
            credit=0.5,
            says="Your results are weighted words X. Weigh the values, V = W_v X + b_v.",
            change={"values": lambda V, X: X},
        ),
        weighing.WORDS_ADDED,
        weighing.mean_instead_of_sum(after=lambda outputs, X: outputs / X.shape[1]),
        Misconception(
            "result and weights",
            kind="arrangement",
            credit=0.75,
            says="You return the weights as well. Return the outputs only.",
            answers=lambda *inputs: (reference(*inputs), weights_instead(*inputs)),
        ),
        results.TRANSPOSED,
        Misconception(
            "list of columns",
            kind="arrangement",
            credit=0.75,
            says="The numbers are right, but in a list of columns. Return one (D, N) tensor.",
            change={"after": lambda outputs, X: list(outputs.split(1, dim=1))},
        ),
        Misconception(
            "first word only",
            kind="missing step",
            credit=0.25,
            says="You return the output of the first word only. Return a column for every word.",
            change={"after": lambda outputs, X: outputs[:, :1]},
        ),
        Misconception(
            "weights returned",
            kind="missing step",
            credit=0.25,
            says="Your results are the attention weights. Multiply the values by them.",
            answers=weights_instead,
        ),
    ],
)
