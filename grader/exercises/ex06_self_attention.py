"""Exercise 6: self-attention, all steps together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, columns

from .mistakes import masks, numbers_of_words, results, scaling, softmax, weighing

Tensor = torch.Tensor
Tensors = list[Tensor]


def reference(
    all_queries: Tensors,
    all_keys: Tensors,
    all_values: Tensors,
    *,
    roles: str = "qkv",
    scale: Callable[[Tensor, int, int], Tensor] = lambda scores, D, N: scores / D**0.5,
    normalise: Callable[[Tensor], Tensor] = lambda scores: torch.softmax(scores, dim=1),
    weigh: Callable[[Tensor], Tensor] = lambda A: A,
    after: Callable[[Tensor, Tensor], Tensor] = lambda outputs, V: outputs,
    arrange: Callable[[Tensor], Any] = results.split_columns,
) -> Any:
    vectors = {"q": all_queries, "k": all_keys, "v": all_values}
    Q, K, V = (torch.cat(vectors[role], dim=1) for role in roles)  # (D, N) each
    D, N = Q.shape
    A = normalise(scale(Q.mT @ K, D, N))  # (N queries, N keys)
    return arrange(after(V @ weigh(A).mT, V))


def weights_instead(all_queries: Tensors, all_keys: Tensors, _all_values: Tensors) -> Tensors:
    Q, K = torch.cat(all_queries, dim=1), torch.cat(all_keys, dim=1)
    return list(torch.softmax(Q.mT @ K / len(Q) ** 0.5, dim=1))


def outputs_and_weights(all_queries: Tensors, all_keys: Tensors, all_values: Tensors) -> Any:
    return reference(all_queries, all_keys, all_values), weights_instead(all_queries, all_keys, all_values)


def sized(N: int, D: int) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: tuple(columns(rng, N, D) for _ in range(3))


def first_keys(all_queries: Tensors, all_keys: Tensors, all_values: Tensors) -> Any:
    keys, values = ([vectors[i] for i in range(len(all_queries))] for vectors in (all_keys, all_values))
    return reference(all_queries, keys, values)


def first_queries(all_queries: Tensors, all_keys: Tensors, all_values: Tensors) -> Any:
    return reference([all_queries[i] for i in range(len(all_keys))], all_keys, all_values)


exercise = Exercise(
    number=6,
    assignment="self_attention",
    title="Self-attention, all steps together",
    entry="self_attention",
    reference=reference,
    explained_in={"scaling": "exercise-2", "axis": "exercise-4"},
    scales={"scale": "the dot products of queries and keys"},
    cases=[
        Case(
            "the notebook's sizes",
            catches="the notebook's globals instead of the arguments",
            inputs=sized(3, 4),
        ),
        Case("more words than dimensions", catches="√N for √D, a hard-coded N", inputs=sized(6, 2)),
        Case("more dimensions than words", catches="a hard-coded √4, D for √D", inputs=sized(2, 7)),
        *numbers_of_words.cases(lambda M, N: lambda rng: (columns(rng, M, 4), columns(rng, N, 4), columns(rng, N, 4))),
    ],
    misconceptions=[
        Misconception(
            "not scaled",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are not scaled. Divide them by √D before softmax.",
            change={"scale": lambda scores, D, N: scores},
        ),
        Misconception(
            "divided by D",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by D: perhaps you scale twice. Divide by √D, once.",
            change={"scale": lambda scores, D, N: scores / D},
        ),
        Misconception(
            "divided by √N",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by √N, where N is the number of words. Divide by √D, where D is "
            "the length of a query.",
            change={"scale": lambda scores, D, N: scores / N**0.5},
        ),
        Misconception(
            "divided by N",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the number of words. Divide by √D, where D is the length of a "
            "query.",
            change={"scale": lambda scores, D, N: scores / N},
        ),
        scaling.MULTIPLIED_BY_ROOT_D,
        scaling.ROOT_OF_FOUR,
        scaling.sign_flipped(scale=lambda scores, D, N: -scores / D**0.5),
        Misconception(
            "scaled in the wrong place",
            kind="scaling",
            credit=0.5,
            says="Your results are those of scores that are not scaled, divided by √D at the end. Scale the scores, "
            "before softmax.",
            change={
                "scale": lambda scores, D, N: scores,
                "after": lambda outputs, V: outputs / len(outputs) ** 0.5,
            },
        ),
        Misconception(
            "queries and keys exchanged",
            kind="mix-up",
            credit=0.5,
            says="Queries and keys are exchanged. Each query asks, and the keys of all words answer.",
            change={"roles": "kqv"},
        ),
        Misconception(
            "keys as values",
            kind="mix-up",
            credit=0.5,
            says="Your outputs are weighted sums of keys. The weights belong to the values.",
            change={"roles": "qkk"},
        ),
        Misconception(
            "queries as values",
            kind="mix-up",
            credit=0.25,
            says="Your outputs are weighted sums of queries. The weights belong to the values.",
            change={"roles": "qkq"},
        ),
        Misconception(
            "keys with keys",
            kind="mix-up",
            credit=0.25,
            says="Your results are those of keys compared with keys. Each query is compared with every key.",
            change={"roles": "kkv"},
        ),
        Misconception(
            "queries with queries",
            kind="mix-up",
            credit=0.25,
            says="Your results are those of queries compared with queries. Each query is compared with every key.",
            change={"roles": "qqv"},
        ),
        Misconception(
            "values for keys",
            kind="mix-up",
            credit=0.25,
            says="Your results are those of queries compared with values. Each query is compared with every key, and "
            "values are summed.",
            change={"roles": "qvv"},
        ),
        softmax.OVER_QUERIES,
        Misconception(
            "softmax over everything",
            kind="axis",
            credit=0.5,
            says="All your weights together sum to one, and not those of each query. Softmax is over the scores of one "
            "query.",
            change={"normalise": softmax.over_everything},
        ),
        Misconception(
            "raw scores as weights",
            kind="missing step",
            credit=0.25,
            says="Your values are weighted by raw scores. The weights of a query are the softmax of its scores.",
            change={"normalise": lambda scores: scores},
        ),
        Misconception(
            "not normalised",
            kind="missing step",
            credit=0.25,
            says="Your weights do not sum to one: divide the exponentials by their sum.",
            change={"normalise": torch.exp},
        ),
        softmax.applied_twice(normalise=lambda scores: torch.softmax(torch.softmax(scores, 1), 1)),
        softmax.SCORES_DIVIDED_BY_THEIR_SUM,
        softmax.SIGMOID,
        Misconception(
            "hard maximum",
            kind="wrong formula",
            credit=0.25,
            says="Each query takes only its best value. Sum all values, each times its softmax weight.",
            change={"normalise": lambda scores: (scores == scores.max(1, keepdim=True).values).float()},
        ),
        masks.future_hidden(normalise=lambda scores: torch.softmax(masks.hide_later(scores), dim=1)),
        Misconception(
            "weights transposed",
            kind="axis",
            credit=0.5,
            says="Your outputs are those of transposed weights. Query i needs all weights of query i.",
            change={"weigh": lambda A: A.mT},
        ),
        Misconception(
            "last query's weights",
            kind="mix-up",
            credit=0.25,
            says="In your results, every query has the weights of the last. Query i should have weights of its own.",
            change={"weigh": lambda A: A[-1:].expand_as(A)},
        ),
        Misconception(
            "last word left out",
            kind="missing step",
            credit=0.5,
            says="The last word never counts in your results. In a loop, range(N) already ends at N - 1.",
            change={"weigh": weighing.without_last},
        ),
        weighing.plain_average(weigh=lambda A: torch.full_like(A, 1 / len(A))),
        weighing.first_querys_weights(weigh=lambda A: A[:1].expand_as(A)),
        weighing.mean_instead_of_sum(after=lambda outputs, V: outputs / outputs.shape[1]),
        weighing.SUM_NEVER_RESET,
        Misconception(
            "value added",
            kind="mix-up",
            credit=0.5,
            says="Your outputs hold the word's own value on top of the sum. Self-attention alone has no such term.",
            change={"after": lambda outputs, V: outputs + V},
        ),
        Misconception(
            "weights returned",
            kind="missing step",
            credit=0.25,
            says="Your results are the attention weights. Use them to weigh and sum the values.",
            answers=weights_instead,
        ),
        Misconception(
            "outputs and weights",
            kind="arrangement",
            credit=0.75,
            says="You return the weights as well. Return the list of outputs only.",
            answers=outputs_and_weights,
        ),
        results.ROW_VECTORS,
        results.flat_vectors(arrange=lambda outputs: list(outputs.mT)),
        results.SIDE_BY_SIDE,
        results.EVERYTHING_SUMMED_UP,
        results.LAST_OUTPUT_ONLY,
        results.FIRST_OUTPUT_ONLY,
        results.LAST_QUERY_LEFT_OUT,
        numbers_of_words.keys_counted_by_queries(first_keys),
        numbers_of_words.queries_counted_by_keys(first_queries),
    ],
)
