"""Exercise 4: attention weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Inputs, at, randn, wrong
from grader.kit.pictures import weights

from .mistakes import numbers_of_words


def softmax(items):
    """As a solution of exercise 3 may have it."""
    return torch.softmax(torch.as_tensor(items), dim=0)


def attention_weights(all_attention_scores):
    all_scores = [torch.stack(scores) for scores in all_attention_scores]  # one (number of keys,) per query  #: scores
    all_weights = [softmax(scores) for scores in all_scores]  #: weights
    return all_weights  #: result


def sized(N: int) -> Callable[[torch.Generator], Inputs]:
    """Scores with a spread of two, so that rows and columns differ clearly."""
    return lambda rng: ([list(row) for row in 2 * randn(rng, N, N)],)


def each_score(convert: Callable[[Any], Any]) -> Callable[[Inputs], Inputs]:
    return lambda inputs: ([[convert(score) for score in row] for row in inputs[0]],)


# fmt: off
exercise = Exercise(
    number=4,
    assignment="self_attention",
    title="Attention weights",
    solution=attention_weights,
    picture=weights,
    cases=[
        Case("the notebook's size", catches="the notebook's globals instead of the argument", inputs=sized(3)),
        Case("two words", catches="a hard-coded size", inputs=sized(2)),
        Case("six words", catches="softmax along the wrong axis, left-out rows", inputs=sized(6)),
        *numbers_of_words.cases(lambda M, N: lambda rng: ([list(row) for row in 2 * randn(rng, M, N)],)),
    ],
    # Exercise 2 may return scores as numbers or as (1, 1) matrices, and a student's code may expect either.
    other_forms=[each_score(lambda score: score.reshape(1, 1)), each_score(float)],
    first_form=each_score(lambda score: torch.as_tensor(score).reshape(())),
    mistakes=[
        *at("weights",
            wrong("softmax over queries", "all_weights = list(torch.softmax(torch.stack(all_scores), dim=0))",
                  "Your weights are normalized over the queries for each key. Normalize them over the keys for each "
                  "query.", kind="axis"),
            wrong("softmax over queries, one list per key",
                  "all_weights = list(torch.softmax(torch.stack(all_scores), dim=0).T)",
                  "Your result has one list per key, normalized over queries. Return one tensor per query, normalized "
                  "over keys.", kind="axis"),
            wrong("softmax over everything",
                  "scores = torch.stack(all_scores)\n"
                  "all_weights = list(softmax(scores.flatten()).reshape(scores.shape))",
                  "All your weights together sum to one. Make the weights of each query sum to one.", kind="axis")),
        wrong("scores returned", {"scores": "", "weights": "", "result": "return all_attention_scores"},
              "Your results are the scores, unchanged. Return a tensor of softmax weights for every query.",
              credit=0.0, kind="missing step"),
        *at("weights",
            wrong("raw scores as weights", "all_weights = all_scores",
                  "Your results are scores, not softmax weights. Take the softmax of each query's scores.",
                  credit=0.0, kind="missing step"),
            wrong("not normalized", "all_weights = [torch.exp(scores) for scores in all_scores]",
                  "Your values are positive, but those of a query do not sum to one. Divide them by their sum.",
                  kind="missing step"),
            wrong("without the exponential", "all_weights = [scores / scores.sum() for scores in all_scores]",
                  "Your weights are scores divided by their sum, without exp. Use the softmax of the scores "
                  "instead.", credit=0.25, kind="missing step"),
            wrong("sigmoid", "all_weights = [torch.sigmoid(scores) for scores in all_scores]",
                  "Your weights are the sigmoids of the scores. Use the softmax over the scores of each query "
                  "instead."),
            wrong("logarithm", "all_weights = [torch.log_softmax(scores, dim=0) for scores in all_scores]",
                  "Your results are the logarithms of the weights, as from log_softmax. Return the weights "
                  "themselves."),
            wrong("hard maximum", "all_weights = [(scores == scores.max()).float() for scores in all_scores]",
                  "All your weight is on the best key. Softmax gives every key some weight.", credit=0.0),
            wrong("uniform", "all_weights = [torch.ones_like(scores) / len(scores) for scores in all_scores]",
                  "All your weights are equal. Use the softmax of the scores, so that the weights depend on "
                  "them.", credit=0.0),
            wrong("applied twice", "all_weights = [softmax(softmax(scores)) for scores in all_scores]",
                  "Your weights look as if softmax had been applied twice. Once is enough.")),
        *at("before weights",
            wrong("sign flipped", "all_scores = [-scores for scores in all_scores]",
                  "The largest score gets the smallest weight. Take the softmax of the scores, not of their "
                  "negatives."),
            wrong("scaled again", "all_scores = [scores / len(scores)**0.5 for scores in all_scores]",
                  "Your weights look as if the scores had been divided by √N. They are already scaled: use them "
                  "unchanged.", kind="scaling"),
            wrong("divided by the count", "all_scores = [scores / len(scores) for scores in all_scores]",
                  "Your weights look as if the scores had been divided by the number of words. Use the scores "
                  "unchanged.", kind="scaling"),
            wrong("future hidden",
                  "hidden = [torch.full_like(row[n + 1 :], -torch.inf) for n, row in enumerate(all_scores)]\n"
                  "all_scores = [torch.cat([row[: n + 1], hidden[n]]) for n, row in enumerate(all_scores)]",
                  "Later words are hidden in your results, as with a causal mask. Here, every word may look at every "
                  "word.", kind="mix-up")),
        *at("result",
            wrong("one list per key", "return list(torch.stack(all_weights).T)",
                  "Your result is transposed: its outer list runs over keys. Make it run over queries.",
                  kind="arrangement"),
            wrong("one flat list", "return torch.cat(all_weights)",
                  "You return all weights in one row. Return a list with one tensor per query.", kind="arrangement"),
            wrong("lists instead of tensors", "return [weights.tolist() for weights in all_weights]",
                  "Your result has lists of numbers. Return one tensor per query.", credit=0.75, kind="arrangement"),
            wrong("first query only", "return [all_weights[0]] * len(all_weights)",
                  "Every row holds the weights of the first query. Row i belongs to query i.",
                  credit=0.25, kind="missing step"),
            wrong("one query's weights only", "return all_weights[0]",
                  "You return the weights of one query only. Collect the weights of all queries, then return the list.",
                  credit=0.25, kind="missing step"),
            wrong("first query's list", "return all_weights[:1]",
                  "Your list holds the weights of one query only. Collect the weights of all queries.",
                  credit=0.25, kind="missing step"),
            wrong("last query left out", "return all_weights[:-1]",
                  "The last query is missing from your results. In a loop, range(N) already ends at N - 1.",
                  kind="missing step")),
        *at("before scores",
            numbers_of_words.as_many_keys(
                "M = len(all_attention_scores)\n"
                "all_attention_scores = [[scores[n] for n in range(M)] for scores in all_attention_scores]"),
            numbers_of_words.as_many_queries(
                "N = len(all_attention_scores[0])\n"
                "all_attention_scores = [all_attention_scores[n] for n in range(N)]")),
    ],
)
# fmt: on
