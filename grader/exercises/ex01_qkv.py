"""Exercise 1: queries, keys and values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, columns, randn

from . import notebook_data
from .mistakes import projections, results

Tensor = torch.Tensor
Tensors = list[Tensor]


def reference(
    all_x: Tensors,
    W_q: Tensor,
    W_k: Tensor,
    W_v: Tensor,
    b_q: Tensor,
    b_k: Tensor,
    b_v: Tensor,
    *,
    before: Callable[[Tensor, Tensor], Tensor] = lambda x, b: x,
    multiply: Callable[[Tensor, Tensor], Tensor] = lambda W, x: W @ x,
    add: Callable[[Tensor, Tensor], Tensor] = lambda Wx, b: Wx + b,
    shape: Callable[[Tensor], Tensor] = lambda vector: vector,
    weights: str = "qkv",
    biases: str = "qkv",
    words: Callable[[Tensors], Tensors] = list,
    arrange: Callable[[tuple[Tensors, Tensors, Tensors]], Any] = tuple,
) -> Any:
    W = {"q": W_q, "k": W_k, "v": W_v}
    b = {"q": b_q, "k": b_k, "v": b_v, "0": torch.zeros_like(b_q)}

    def role(w: str, c: str) -> Tensors:  # (D, D) @ (D, 1) + (D, 1) for each word
        return [shape(add(multiply(W[w], before(x, b[c])), b[c])) for x in words(all_x)]

    queries, keys, values = (role(w, c) for w, c in zip(weights, biases, strict=True))
    return arrange((queries, keys, values))


def reads_notebook_words(all_x: Tensors, *parameters: Tensor) -> Any:
    return reference([word.to(all_x[0].device) for word in notebook_data.words()], *parameters)


def reads_notebook_weights(all_x: Tensors, *_parameters: Tensor) -> Any:
    return reference(all_x, *(one.to(all_x[0].device) for one in notebook_data.weights()))


def sized(N: int, D: int) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        matrices = [randn(rng, D, D) for _ in range(3)]
        return (columns(rng, N, D), *matrices, *columns(rng, 3, D))

    return inputs


exercise = Exercise(
    number=1,
    assignment="self_attention",
    title="Queries, keys, values",
    entry="compute_qkv",
    reference=reference,
    cases=[
        Case(
            "the notebook's sizes",
            catches="the notebook's globals instead of the arguments",
            inputs=sized(3, 4),
        ),
        Case("more words than dimensions", catches="N and D exchanged, a hard-coded N", inputs=sized(7, 2)),
        Case("more dimensions than words", catches="a hard-coded D", inputs=sized(2, 5)),
    ],
    misconceptions=[
        Misconception(
            "without bias",
            kind="missing step",
            credit=0.5,
            says="Your results are W x alone, without the bias: q = b + W x.",
            change={"add": lambda Wx, b: Wx},
        ),
        Misconception(
            "bias subtracted",
            kind="wrong formula",
            credit=0.5,
            says="The bias should be added, not subtracted: q = b + W x.",
            change={"add": lambda Wx, b: Wx - b},
        ),
        Misconception(
            "bias added before the matrix",
            kind="wrong formula",
            credit=0.5,
            says="Your results are W (x + b). The bias comes after the product: q = b + W x.",
            change={"before": lambda x, b: x + b, "add": lambda Wx, b: Wx},
        ),
        Misconception(
            "bias multiplied",
            kind="wrong formula",
            credit=0.25,
            says="Your results are W x multiplied by the bias. It should be added: q = b + W x.",
            change={"add": lambda Wx, b: Wx * b},
        ),
        Misconception(
            "matrix transposed",
            kind="convention",
            credit=0.5,
            says="Your results are those of the transposed matrix. With column vectors it is W @ x: W comes first, as "
            "it is.",
            change={"multiply": lambda W, x: W.mT @ x},
        ),
        Misconception(
            "row vectors",
            kind="convention",
            credit=0.5,
            says="The numbers are right, but as rows of shape (1, D). Here every word is a column of shape (D, 1).",
            change={"shape": lambda vector: vector.mT},
        ),
        Misconception(
            "row times matrix",
            kind="convention",
            credit=0.25,
            says="Your results are those of xᵀ W. In this notebook words are columns, and the product is W @ x.",
            change={"multiply": lambda W, x: W.mT @ x, "shape": lambda vector: vector.mT},
        ),
        results.flat_vectors(shape=lambda vector: vector.reshape(-1)),
        Misconception(
            "entry by entry product",
            kind="wrong formula",
            credit=0.25,
            says="Your results are those of a product entry by entry. A matrix product is W @ x or torch.matmul(W, x).",
            in_code=("_ * _",),
            says_of_code="`*` multiplies entry by entry. A matrix product is W @ x or torch.matmul(W, x).",
            change={"multiply": lambda W, x: W * x},
        ),
        Misconception(
            "values without bias",
            kind="missing step",
            credit=0.75,
            says="The bias of the values is missing: v = b_v + W_v x.",
            change={"biases": "qk0"},
        ),
        Misconception(
            "keys without bias",
            kind="missing step",
            credit=0.75,
            says="The bias of the keys is missing: k = b_k + W_k x.",
            change={"biases": "q0v"},
        ),
        Misconception(
            "queries without bias",
            kind="missing step",
            credit=0.75,
            says="The bias of the queries is missing: q = b_q + W_q x.",
            change={"biases": "0kv"},
        ),
        Misconception(
            "keys like queries",
            kind="mix-up",
            credit=0.5,
            says="Your keys are those of W_q and b_q, like the queries. Keys belong to W_k and b_k.",
            change={"weights": "qqv", "biases": "qqv"},
        ),
        Misconception(
            "values like keys",
            kind="mix-up",
            credit=0.5,
            says="Your values are those of W_k and b_k, like the keys. Values belong to W_v and b_v.",
            change={"weights": "qkk", "biases": "qkk"},
        ),
        Misconception(
            "one matrix for all three",
            kind="mix-up",
            credit=0.25,
            says="Your queries, keys and values are all those of W_q. Each role has a matrix of its own.",
            change={"weights": "qqq"},
        ),
        Misconception(
            "one bias for all three",
            kind="mix-up",
            credit=0.5,
            says="Your queries, keys and values all have the bias b_q. Each role has a bias of its own.",
            change={"biases": "qqq"},
        ),
        projections.QUERY_PARAMETERS_FOR_EVERYTHING,
        Misconception(
            "keys and values exchanged",
            kind="mix-up",
            credit=0.5,
            says="Keys and values are exchanged. Return (all_queries, all_keys, all_values) in this order.",
            change={"arrange": lambda qkv: (qkv[0], qkv[2], qkv[1])},
        ),
        Misconception(
            "queries and keys exchanged",
            kind="mix-up",
            credit=0.5,
            says="Queries and keys are exchanged. Return (all_queries, all_keys, all_values) in this order.",
            change={"arrange": lambda qkv: (qkv[1], qkv[0], qkv[2])},
        ),
        Misconception(
            "values first",
            kind="mix-up",
            credit=0.5,
            says="The values come first in your result. The order is (all_queries, all_keys, all_values).",
            change={"arrange": lambda qkv: (qkv[2], qkv[0], qkv[1])},
        ),
        Misconception(
            "reverse order",
            kind="mix-up",
            credit=0.5,
            says="Your result holds values, keys, queries. The order is (all_queries, all_keys, all_values).",
            change={"arrange": lambda qkv: (qkv[2], qkv[1], qkv[0])},
        ),
        Misconception(
            "grouped by word",
            kind="arrangement",
            credit=0.5,
            says="You return one (query, key, value) per word. Return three lists, each over all words.",
            change={"arrange": lambda qkv: list(zip(*qkv, strict=True))},
        ),
        Misconception(
            "queries only",
            kind="missing step",
            credit=0.25,
            says="You return the queries only. Return all_queries, all_keys and all_values.",
            change={"arrange": lambda qkv: qkv[0]},
        ),
        Misconception(
            "words side by side",
            kind="arrangement",
            credit=0.5,
            says="You return (D, N) matrices with a word in each column. Return lists with one (D, 1) tensor per word.",
            change={"arrange": lambda qkv: tuple(torch.cat(part, dim=1) for part in qkv)},
        ),
        Misconception(
            "first word only",
            kind="missing step",
            credit=0.25,
            says="Every entry is that of the first word. Each word has results of its own.",
            change={"words": lambda all_x: [all_x[0]] * len(all_x)},
        ),
        Misconception(
            "one word's results only",
            kind="missing step",
            credit=0.25,
            says="Your result is that of one word alone. Collect the results of all words, then return them.",
            change={"words": lambda all_x: all_x[:1]},
        ),
        Misconception(
            "last word left out",
            kind="missing step",
            credit=0.5,
            says="The last word is missing from your results. In a loop, range(N) already ends at N - 1.",
            change={"words": lambda all_x: all_x[:-1]},
        ),
        Misconception(
            "notebook's words",
            kind="borrowed",
            credit=0.25,
            says="Your results are those of the notebook's words. Take the words from the argument all_x.",
            answers=reads_notebook_words,
        ),
        Misconception(
            "notebook's weights",
            kind="borrowed",
            credit=0.25,
            says="Your results are those of the notebook's W_q, W_k, …. Take them from the arguments.",
            answers=reads_notebook_weights,
        ),
    ],
)
