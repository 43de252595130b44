"""Exercise 2: attention scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, columns
from grader.kit.pictures import scores

from .mistakes import numbers_of_words, scaling

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
            says="Your scores are divided by D, as in a mean. Divide them by its square root, √D.",
            change={"scale": lambda score, D, N: score / D},
        ),
        Misconception(
            "divided by √N",
            kind="scaling",
            credit=0.5,
            says="Your scores are divided by √N, where N is the number of words. The scale is √D, where D is the "
            "length of a query.",
            change={"scale": lambda score, D, N: score / N**0.5},
        ),
        Misconception(
            "divided by N",
            kind="scaling",
            credit=0.5,
            says="Your scores are divided by the number of words. The scale is √D, with the length of a query.",
            change={"scale": lambda score, D, N: score / N},
        ),
        Misconception(
            "multiplied by √D",
            kind="scaling",
            credit=0.5,
            says="Your scores are multiplied by √D. They should be divided by it: scaling makes large scores smaller.",
            change={"scale": lambda score, D, N: score * D**0.5},
        ),
        Misconception(
            "divided by D²",
            kind="scaling",
            credit=0.5,
            says="Your scores are divided by D². The scale is the square root of D.",
            change={"scale": lambda score, D, N: score / D**2},
        ),
        Misconception(
            "scaled twice",
            kind="scaling",
            credit=0.5,
            says="Your scores are divided by √D and by D as well (a mean is a sum divided by D). The scale is "
            "√D alone.",
            change={"scale": lambda score, D, N: score / D**1.5},
        ),
        scaling.ROOT_OF_FOUR,
        Misconception(
            "divided by √3",
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
            says="Your scores compare each query with its own word's key only. Every query is compared with the "
            "keys of "
            "all words.",
            change={"arrange": lambda scores: [row[i] for i, row in enumerate(scores)]},
        ),
        Misconception(
            "first query only",
            kind="missing step",
            credit=0.25,
            says="Every row holds the scores of the first query. Row i belongs to query i.",
            change={"arrange": lambda scores: [scores[0]] * len(scores)},
        ),
        Misconception(
            "last key left out",
            kind="missing step",
            credit=0.5,
            says="The scores of the last key are missing. In a loop, range(N) already ends at N - 1.",
            change={"arrange": lambda scores: [row[:-1] for row in scores]},
        ),
        Misconception(
            "softmax already applied",
            kind="mix-up",
            credit=0.5,
            says="Your results are those of softmax already. That is a later exercise; here they are scaled dot "
            "products.",
            change={"arrange": softmaxed},
        ),
        Misconception(
            "future hidden",
            kind="mix-up",
            credit=0.5,
            says="Later words are hidden in your scores, as by a causal mask. Here every query is compared with every "
            "key.",
            change={"arrange": hide_future},
        ),
        Misconception(
            "rows of all queries",
            kind="missing step",
            credit=0.5,
            says="All your rows are alike, and hold the scores of all queries. Every query needs a list of its own.",
            change={"arrange": lambda scores: [[score for row in scores for score in row]] * len(scores)},
        ),
        Misconception(
            "last query only",
            kind="missing step",
            credit=0.25,
            says="Every row holds the scores of the last query, as when all rows are one and the same list. Row i "
            "belongs to query i.",
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
            says="Your scores are absolute values. Scores may be negative: the sign counts.",
            change={"compare": lambda q, k: dot(q, k).abs()},
        ),
        Misconception(
            "cosine similarity",
            kind="wrong formula",
            credit=0.25,
            says="Your scores are cosines divided by √D. A score is the plain dot product divided by √D.",
            change={"compare": cosine},
        ),
        Misconception(
            "cosine similarity for the scaled score",
            kind="wrong formula",
            credit=0.25,
            says="Your scores are the cosines of query and key. A score is the dot product divided by √D.",
            change={"compare": cosine, "scale": lambda score, D, N: score},
        ),
        Misconception(
            "not summed",
            kind="missing step",
            credit=0.25,
            says="Your scores are products entry by entry that are not summed. A dot product is one number.",
            change={"compare": lambda q, k: q * k},
        ),
        Misconception(
            "outer product",
            kind="wrong formula",
            credit=0.25,
            says="Each of your scores is a (D, D) matrix, the outer product. The dot product, q.T @ k, is one number.",
            change={"compare": lambda q, k: q @ k.mT},
        ),
        Misconception(
            "added instead of multiplied",
            kind="wrong formula",
            credit=0.25,
            says="Your scores are those of adding query and key. A dot product multiplies their entries, then sums.",
            change={"compare": lambda q, k: (q + k).sum()},
        ),
        Misconception(
            "distance",
            kind="wrong formula",
            credit=0.25,
            says="Your scores are distances between query and key. The score is their dot product.",
            change={"compare": lambda q, k: (q - k).norm()},
        ),
        Misconception(
            "keys with keys",
            kind="mix-up",
            credit=0.25,
            says="Your scores compare keys with keys. The first vector must be a query.",
            change={"first": "keys"},
        ),
        Misconception(
            "queries with queries",
            kind="mix-up",
            credit=0.25,
            says="Your scores compare queries with queries. The second vector must be a key.",
            change={"second": "queries"},
        ),
        numbers_of_words.keys_counted_by_queries(first_keys),
        numbers_of_words.queries_counted_by_keys(first_queries),
    ],
)
