"""Exercise 5: weighted sums of the values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, columns, randn

from .mistakes import numbers_of_words, results, weighing

Tensor = torch.Tensor
Tensors = list[Tensor]


def weigh_and_sum(A: Tensor, V: Tensor) -> Tensor:
    return V @ A.mT  # (D, N words) @ (N words, N queries) -> (D, N queries)


def reference(
    all_attention_weights: Tensors,
    all_values: Tensors,
    *,
    before: Callable[[Tensor], Tensor] = lambda A: A,
    combine: Callable[[Tensor, Tensor], Tensor] = weigh_and_sum,
    after: Callable[[Tensor], Tensor] = lambda outputs: outputs,
    arrange: Callable[[Tensor], Any] = results.split_columns,
) -> Any:
    A = torch.stack(all_attention_weights)  # (N queries, N words)
    V = torch.cat(all_values, dim=1)  # (D, N words)
    return arrange(after(combine(before(A), V)))


def best_only(A: Tensor) -> Tensor:
    return (A.max(dim=1, keepdim=True).values == A).float()


def best_value_weighted(A: Tensor) -> Tensor:
    return A * best_only(A)


def weighted_but_not_summed(all_attention_weights: Tensors, all_values: Tensors) -> Any:
    return [[w * v for w, v in zip(weights, all_values, strict=True)] for weights in all_attention_weights]


def sized(N: int, D: int) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (weights(rng, N, N), columns(rng, N, D))


def weights(rng: torch.Generator, M: int, N: int) -> Tensors:
    return list(torch.softmax(randn(rng, M, N), dim=1))


def first_keys(all_attention_weights: Tensors, all_values: Tensors) -> Any:
    count = range(len(all_attention_weights))
    few = [torch.stack([weights[i] for i in count]) for weights in all_attention_weights]
    return reference(few, [all_values[i] for i in count])


def first_queries(all_attention_weights: Tensors, all_values: Tensors) -> Any:
    return reference([all_attention_weights[i] for i in range(len(all_values))], all_values)


exercise = Exercise(
    number=5,
    assignment="self_attention",
    title="Weighted sums",
    entry="weighted_sums",
    reference=reference,
    cases=[
        Case(
            "the notebook's sizes",
            catches="the notebook's globals instead of the arguments",
            inputs=sized(3, 4),
        ),
        Case("more words than dimensions", catches="a hard-coded N", inputs=sized(6, 2)),
        Case("more dimensions than words", catches="a hard-coded D", inputs=sized(2, 5)),
        *numbers_of_words.cases(lambda M, N: lambda rng: (weights(rng, M, N), columns(rng, N, 4))),
    ],
    misconceptions=[
        weighing.mean_instead_of_sum(after=lambda outputs: outputs / outputs.shape[1]),
        Misconception(
            "weights transposed",
            kind="axis",
            credit=0.5,
            says="Query i has the weights of key i from all queries. Use all weights of query i: weights[i][j].",
            change={"before": lambda A: A.mT},
        ),
        Misconception(
            "values without weights",
            kind="missing step",
            credit=0.0,
            says="Your outputs are those of values without weights. Each value must be multiplied by its weight, then "
            "summed.",
            change={"before": torch.ones_like},
        ),
        weighing.plain_average(before=lambda A: torch.full_like(A, 1 / len(A))),
        Misconception(
            "best value only",
            kind="wrong formula",
            credit=0.25,
            says="Each output is the value with the largest weight. Sum all values, each times its weight.",
            change={"before": best_only},
        ),
        Misconception(
            "largest term only",
            kind="wrong formula",
            credit=0.25,
            says="Each output is only the term with the largest weight. Sum all terms.",
            change={"before": best_value_weighted},
        ),
        Misconception(
            "softmax once more",
            kind="wrong formula",
            credit=0.5,
            says="Your outputs are those of weights put through softmax once more. The weights already sum to one; use "
            "them as they are.",
            change={"before": lambda A: torch.softmax(A, dim=1)},
        ),
        Misconception(
            "weights squared",
            kind="wrong formula",
            credit=0.25,
            says="Each weight counts twice, as its square. Multiply each value by its weight once.",
            change={"before": torch.square},
        ),
        weighing.first_querys_weights(before=lambda A: A[:1].expand_as(A)),
        Misconception(
            "last word left out",
            kind="missing step",
            credit=0.5,
            says="The last word does not count in your results. In a loop, range(N) already ends at N - 1.",
            change={"before": weighing.without_last},
        ),
        Misconception(
            "own word only",
            kind="missing step",
            credit=0.25,
            says="Each output holds only the word's own value. Sum over the values of all words.",
            change={"before": lambda A: torch.diag(A.diagonal())},
        ),
        Misconception(
            "values returned",
            kind="mix-up",
            credit=0.0,
            says="Your outputs are the values: perhaps you multiply each value by all weights of its own query. The "
            "value must change with the weight.",
            change={"combine": lambda A, V: V * A.sum(dim=1)},
        ),
        Misconception(
            "last term only",
            kind="missing step",
            credit=0.25,
            says="Each output is its last term only, as when each step of a loop overwrites the one before. Add up all "
            "terms.",
            change={"combine": lambda A, V: V[:, -1:] * A[:, -1]},
        ),
        weighing.SUM_NEVER_RESET,
        Misconception(
            "values reversed",
            kind="mix-up",
            credit=0.25,
            says="The weights go to the values in reverse order. Weight j belongs to value j.",
            change={"before": lambda A: A.flip(1)},
        ),
        Misconception(
            "last query for all",
            kind="missing step",
            credit=0.25,
            says="All your outputs are the same as that of the last query: perhaps all entries are one and the same "
            "tensor.",
            change={"after": lambda outputs: outputs[:, -1:].expand_as(outputs)},
        ),
        Misconception(
            "value added",
            kind="mix-up",
            credit=0.5,
            says="Your outputs hold the word's own value on top of the sum. Return the weighted sum alone.",
            change={"combine": lambda A, V: V @ A.mT + V},
        ),
        Misconception(
            "not summed",
            kind="missing step",
            credit=0.25,
            says="You return the weighted values one by one. Sum them for every query.",
            answers=weighted_but_not_summed,
        ),
        Misconception(
            "sign flipped",
            kind="wrong formula",
            credit=0.25,
            says="The sign of your outputs is wrong, as when terms are subtracted. They should be added.",
            change={"after": torch.neg},
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
