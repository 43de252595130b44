"""Exercise 2: attention scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, columns
from grader.exercises.mistakes import numbers_of_words, scaling
from grader.kit.pictures import scores

Tensor = torch.Tensor
Tensors = list[Tensor]
Scores = list[list[Tensor]]


def dot(query: Tensor, key: Tensor) -> Tensor:
    return (query * key).sum()  # (D, 1), (D, 1) -> ()


def reference(
    all_queries: Tensors,
    all_keys: Tensors,
    *,
    compare: Callable[[Tensor, Tensor], Tensor] = dot,
    scale: Callable[[Tensor, int, int], Tensor] = lambda score, D, N: score / D**0.5,
    first: str = "queries",
    second: str = "keys",
    arrange: Callable[[Scores], Any] = list,
) -> Any:
    N, D = len(all_queries), all_queries[0].shape[0]
    vectors = {"queries": all_queries, "keys": all_keys}
    return arrange([[scale(compare(q, k), D, N) for k in vectors[second]] for q in vectors[first]])


def softmaxed(scores: Scores) -> Any:
    return [list(torch.softmax(torch.stack(row), dim=0)) for row in scores]


def hide_future(scores: Scores) -> Any:
    hidden = torch.tensor(-torch.inf)
    return [[score if j <= i else hidden for j, score in enumerate(row)] for i, row in enumerate(scores)]


def cosine(query: Tensor, key: Tensor) -> Tensor:
    return torch.cosine_similarity(query, key, dim=0).sum()  # (D, 1), (D, 1) -> ()


def sized(N: int, D: int) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (columns(rng, N, D), columns(rng, N, D))


def first_keys(all_queries: Tensors, all_keys: Tensors) -> Any:
    return reference(all_queries, [all_keys[i] for i in range(len(all_queries))])


def first_queries(all_queries: Tensors, all_keys: Tensors) -> Any:
    return reference([all_queries[i] for i in range(len(all_keys))], all_keys)


exercise = Exercise(
    number=2,
    assignment="self_attention",
    title="Attention scores",
    entry="attention_scores",
    reference=reference,
    picture=scores,
    cases=[
        Case(
            "the notebook's sizes",
            catches="the notebook's globals instead of the arguments",
            inputs=sized(3, 4),
        ),
        Case("more words than dimensions", catches="√N for √D, a hard-coded N", inputs=sized(5, 2)),
        Case("more dimensions than words", catches="a hard-coded √4, D for √D", inputs=sized(2, 7)),
        *numbers_of_words.cases(lambda M, N: lambda rng: (columns(rng, M, 4), columns(rng, N, 4))),
    ],
    misconceptions=[
        Misconception(
            "not scaled",
            kind="scaling",
            credit=0.5,
            says="Your scores are not scaled. Divide each dot product by √D, where D is shape[0] of a query.",
            change={"scale": lambda score, D, N: score},
        ),
        Misconception(
            "divided by D",
            kind="scaling",
            credit=0.5,
            says="You divide by D. Divide by its square root, √D.",
            change={"scale": lambda score, D, N: score / D},
        ),
        Misconception(
            "divided by √N",
            kind="scaling",
            credit=0.5,
            says="You divide by √N, with the number of words. The scale is √D, with the length of a query.",
            change={"scale": lambda score, D, N: score / N**0.5},
        ),
        Misconception(
            "divided by N",
            kind="scaling",
            credit=0.5,
            says="You divide by the number of words. The scale is √D, with the length of a query.",
            change={"scale": lambda score, D, N: score / N},
        ),
        Misconception(
            "multiplied by √D",
            kind="scaling",
            credit=0.5,
            says="You multiply by √D. Divide by it: scaling makes large scores smaller.",
            change={"scale": lambda score, D, N: score * D**0.5},
        ),
        Misconception(
            "divided by D²",
            kind="scaling",
            credit=0.5,
            says="You divide by D². Divide by the square root of D.",
            change={"scale": lambda score, D, N: score / D**2},
        ),
        Misconception(
            "scaled twice",
            kind="scaling",
            credit=0.5,
            says="You divide by √D and then by D as well (a mean is a sum divided by D). Divide the sum by √D only.",
            change={"scale": lambda score, D, N: score / D**1.5},
        ),
        scaling.ROOT_OF_FOUR,
        Misconception(
            "√3 hard-coded",
            kind="hard-coded",
            credit=0.25,
            says="Your scores are divided by √3 whatever the sizes are. Divide by √D, from the shape of a query.",
            change={"scale": lambda score, D, N: score / 3**0.5},
        ),
        Misconception(
            "one list per key",
            kind="axis",
            credit=0.5,
            says="The outer list runs over keys. It must run over queries: result[i][j] belongs to query i and key j.",
            change={"arrange": lambda scores: [list(row) for row in zip(*scores, strict=True)]},
        ),
        Misconception(
            "one flat list",
            kind="arrangement",
            credit=0.5,
            says="You return one long list. Return a list for every query, with a score for every key in it.",
            change={"arrange": lambda scores: [score for row in scores for score in row]},
        ),
        Misconception(
            "own key only",
            kind="missing step",
            credit=0.25,
            says="You compare each query with its own word's key only. Compare it with the keys of all words.",
            change={"arrange": lambda scores: [row[i] for i, row in enumerate(scores)]},
        ),
        Misconception(
            "first query only",
            kind="missing step",
            credit=0.25,
            says="Every row holds the scores of the first query. Use the query of the current loop step.",
            change={"arrange": lambda scores: [scores[0]] * len(scores)},
        ),
        Misconception(
            "last key left out",
            kind="missing step",
            credit=0.5,
            says="Your inner loop stops before the last key: range(N) already ends at N - 1.",
            change={"arrange": lambda scores: [row[:-1] for row in scores]},
        ),
        Misconception(
            "softmax already applied",
            kind="mix-up",
            credit=0.5,
            says="You apply softmax already. That is a later exercise; return the scaled dot products.",
            change={"arrange": softmaxed},
        ),
        Misconception(
            "future hidden",
            kind="mix-up",
            credit=0.5,
            says="You hide later words (a causal mask). Here every query is compared with every key.",
            change={"arrange": hide_future},
        ),
        Misconception(
            "row never reset",
            kind="missing step",
            credit=0.5,
            says="All your rows are the same list, which goes on growing. Start a new list for every query.",
            change={"arrange": lambda scores: [[score for row in scores for score in row]] * len(scores)},
        ),
        Misconception(
            "last query only",
            kind="missing step",
            credit=0.25,
            says="Every row holds the scores of the last query: all rows are one and the same list.",
            change={"arrange": lambda scores: [scores[-1]] * len(scores)},
        ),
        Misconception(
            "sign flipped",
            kind="wrong formula",
            credit=0.25,
            says="The sign is wrong: a query and a key that point the same way have a positive score.",
            change={"compare": lambda q, k: -dot(q, k)},
        ),
        Misconception(
            "absolute value",
            kind="wrong formula",
            credit=0.25,
            says="You take the absolute value. Scores may be negative; keep the sign.",
            change={"compare": lambda q, k: dot(q, k).abs()},
        ),
        Misconception(
            "cosine similarity",
            kind="wrong formula",
            credit=0.25,
            says="You divide by the lengths of the vectors, which is the cosine. Use the plain dot product, then √D.",
            change={"compare": cosine},
        ),
        Misconception(
            "cosine similarity for the scaled score",
            kind="wrong formula",
            credit=0.25,
            says="You return the cosine of query and key. Use the dot product divided by √D.",
            change={"compare": cosine, "scale": lambda score, D, N: score},
        ),
        Misconception(
            "not summed",
            kind="missing step",
            credit=0.25,
            says="You multiply entry by entry and do not sum. A dot product is one number.",
            change={"compare": lambda q, k: q * k},
        ),
        Misconception(
            "outer product",
            kind="wrong formula",
            credit=0.25,
            says="q @ k.T is a (D, D) matrix, the outer product. The dot product is q.T @ k, one number.",
            change={"compare": lambda q, k: q @ k.mT},
        ),
        Misconception(
            "added instead of multiplied",
            kind="wrong formula",
            credit=0.25,
            says="You add query and key. Multiply their entries, then sum: that is the dot product.",
            change={"compare": lambda q, k: (q + k).sum()},
        ),
        Misconception(
            "distance",
            kind="wrong formula",
            credit=0.25,
            says="You measure the distance between query and key. The score is their dot product.",
            change={"compare": lambda q, k: (q - k).norm()},
        ),
        Misconception(
            "keys with keys",
            kind="mix-up",
            credit=0.25,
            says="You compare keys with keys. The first vector must be a query.",
            change={"first": "keys"},
        ),
        Misconception(
            "queries with queries",
            kind="mix-up",
            credit=0.25,
            says="You compare queries with queries. The second vector must be a key.",
            change={"second": "queries"},
        ),
        numbers_of_words.keys_counted_by_queries(first_keys),
        numbers_of_words.queries_counted_by_keys(first_queries),
    ],
)
