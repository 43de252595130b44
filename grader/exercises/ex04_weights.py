"""Exercise 4: attention weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.pictures import weights

from .mistakes import masks, numbers_of_words, softmax

Tensor = torch.Tensor


def row_by_row(scores: Tensor) -> Tensor:
    return torch.softmax(scores, dim=1)  # (N queries, N keys)


def reference(
    all_attention_scores: list[list[Tensor]],
    *,
    before: Callable[[Tensor], Tensor] = lambda scores: scores,
    normalise: Callable[[Tensor], Tensor] = row_by_row,
    arrange: Callable[[Tensor], Any] = list,
) -> Any:
    device = getattr(all_attention_scores[0][0], "device", None)  # numbers are on none
    scores = torch.tensor([[float(score) for score in row] for row in all_attention_scores], device=device)
    return arrange(normalise(before(scores)))


def sized(N: int) -> Callable[[torch.Generator], Inputs]:
    """Scores with a spread of two, so that rows and columns differ clearly."""
    return lambda rng: ([list(row) for row in 2 * randn(rng, N, N)],)


def each_score(convert: Callable[[Tensor], Any]) -> Callable[[Inputs], Inputs]:
    return lambda inputs: ([[convert(score) for score in row] for row in inputs[0]],)


def first_keys(rows: list[list[Tensor]]) -> Any:
    return reference([[row[i] for i in range(len(rows))] for row in rows])


def first_queries(rows: list[list[Tensor]]) -> Any:
    return reference([rows[i] for i in range(len(rows[0]))])


exercise = Exercise(
    number=4,
    assignment="self_attention",
    title="Attention weights",
    entry="attention_weights",
    reference=reference,
    picture=weights,
    cases=[
        Case("the notebook's size", catches="the notebook's globals instead of the argument", inputs=sized(3)),
        Case("two words", catches="a hard-coded size", inputs=sized(2)),
        Case("six words", catches="softmax along the wrong axis, left-out rows", inputs=sized(6)),
        *numbers_of_words.cases(lambda M, N: lambda rng: ([list(row) for row in 2 * randn(rng, M, N)],)),
    ],
    # Exercise 2 may give its scores as numbers or as (1, 1) matrices; whichever a student's code expects is fine.
    other_forms=[each_score(lambda score: score.reshape(1, 1)), each_score(float)],
    misconceptions=[
        softmax.OVER_QUERIES,
        Misconception(
            "softmax over queries, one list per key",
            kind="axis",
            credit=0.5,
            says="Your result has one list per key, normalised over queries. It has one tensor per query, normalised "
            "over keys.",
            change={"normalise": lambda scores: torch.softmax(scores, dim=0).mT},
        ),
        Misconception(
            "softmax over everything",
            kind="axis",
            credit=0.5,
            says="All your weights together sum to one. The weights of every single query must sum to one.",
            change={"normalise": softmax.over_everything},
        ),
        Misconception(
            "scores returned",
            kind="missing step",
            credit=0.0,
            says="Your results are the scores as they came. Return a tensor of softmax weights for every query.",
            answers=lambda scores: scores,
        ),
        Misconception(
            "raw scores as weights",
            kind="missing step",
            credit=0.0,
            says="Your results are scores, not softmax weights. Each query has the softmax of its scores.",
            change={"normalise": lambda scores: scores},
        ),
        Misconception(
            "not normalised",
            kind="missing step",
            credit=0.25,
            says="Your values are positive but those of a query do not sum to one. Divide by their sum.",
            change={"normalise": torch.exp},
        ),
        softmax.SCORES_DIVIDED_BY_THEIR_SUM,
        Misconception(
            "sigmoid",
            kind="wrong formula",
            credit=0.25,
            says="Your weights are the sigmoids of the scores. They should be the softmax over the scores of a query.",
            change={"normalise": torch.sigmoid},
        ),
        Misconception(
            "logarithm",
            kind="wrong formula",
            credit=0.5,
            says="Your results are the logarithms of weights, as from log_softmax. Return the weights.",
            change={"normalise": lambda scores: torch.log_softmax(scores, dim=1)},
        ),
        Misconception(
            "hard maximum",
            kind="wrong formula",
            credit=0.25,
            says="All your weight is on the best key. Softmax gives every key some weight.",
            change={"normalise": lambda scores: (scores == scores.max(1, keepdim=True).values).float()},
        ),
        Misconception(
            "uniform",
            kind="wrong formula",
            credit=0.0,
            says="All your weights are equal. They must depend on the scores, through softmax.",
            change={"normalise": lambda scores: torch.full_like(scores, 1 / len(scores))},
        ),
        softmax.applied_twice(normalise=lambda scores: torch.softmax(torch.softmax(scores, 1), 1)),
        Misconception(
            "sign flipped",
            kind="wrong formula",
            credit=0.5,
            says="The largest score gets the smallest weight. Use softmax of the scores, not of their negatives.",
            change={"before": torch.neg},
        ),
        Misconception(
            "scaled again",
            kind="scaling",
            credit=0.5,
            says="Your weights are those of scores divided by √N. The scores are already scaled; use them as they are.",
            change={"before": lambda scores: scores / len(scores) ** 0.5},
        ),
        Misconception(
            "divided by the count",
            kind="scaling",
            credit=0.5,
            says="Your weights are those of scores divided by the number of words. Use the scores as they are.",
            change={"before": lambda scores: scores / len(scores)},
        ),
        masks.future_hidden(before=masks.hide_later),
        Misconception(
            "one list per key",
            kind="arrangement",
            credit=0.5,
            says="Your result is transposed: its outer list runs over keys. It must run over queries.",
            change={"arrange": lambda weights: list(weights.mT)},
        ),
        Misconception(
            "one flat list",
            kind="arrangement",
            credit=0.5,
            says="You return all weights in one row. Return a list with one tensor for every query.",
            change={"arrange": lambda weights: weights.flatten()},
        ),
        Misconception(
            "lists instead of tensors",
            kind="arrangement",
            credit=0.75,
            says="The numbers are right, but as lists. Return one tensor for every query.",
            change={"arrange": lambda weights: weights.tolist()},
        ),
        Misconception(
            "first query only",
            kind="missing step",
            credit=0.25,
            says="Every row holds the weights of the first query. Row i belongs to query i.",
            change={"arrange": lambda weights: [weights[0]] * len(weights)},
        ),
        Misconception(
            "one query's weights only",
            kind="missing step",
            credit=0.25,
            says="You return the weights of one query only. Collect them for all queries, then return the list.",
            change={"arrange": lambda weights: weights[0]},
        ),
        Misconception(
            "first query's list",
            kind="missing step",
            credit=0.25,
            says="Your list holds the weights of one query only. Collect them for all queries.",
            change={"arrange": lambda weights: [weights[0]]},
        ),
        Misconception(
            "last query left out",
            kind="missing step",
            credit=0.5,
            says="The last query is missing from your results. In a loop, range(N) already ends at N - 1.",
            change={"arrange": lambda weights: list(weights)[:-1]},
        ),
        numbers_of_words.keys_counted_by_queries(first_keys),
        numbers_of_words.queries_counted_by_keys(first_queries),
    ],
)
