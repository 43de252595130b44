"""Exercise 6: self-attention, all steps together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader.model.exercise import Case, Exercise, Inputs, Misconception, columns

Tensor = torch.Tensor
Tensors = list[Tensor]


def split_columns(outputs: Tensor) -> Tensors:
    return list(outputs.mT.unsqueeze(-1))  # (D, N) -> N times (D, 1)


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
    arrange: Callable[[Tensor], Any] = split_columns,
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


def without_last(A: Tensor) -> Tensor:
    return torch.cat([A[:, :-1], torch.zeros(len(A), 1)], dim=1)


def draw(N: int, D: int) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: tuple(columns(rng, N, D) for _ in range(3))


exercise = Exercise(
    number=6,
    assignment="self_attention",
    title="Self-attention, all steps together",
    entry="self_attention",
    reference=reference,
    explained_in={"scaling": "exercise-2", "axis": "exercise-4"},
    cases=[
        Case(
            "the notebook's sizes",
            catches="the notebook's globals instead of the arguments",
            inputs=draw(3, 4),
        ),
        Case("more words than dimensions", catches="√N for √D, a hard-coded N", inputs=draw(6, 2)),
        Case("more dimensions than words", catches="a hard-coded √4, D for √D", inputs=draw(2, 7)),
    ],
    misconceptions=[
        Misconception(
            "not scaled",
            kind="scaling",
            credit=0.5,
            says="You do not scale the scores. Divide them by √D before softmax.",
            change={"scale": lambda scores, D, N: scores},
        ),
        Misconception(
            "divided by D",
            kind="scaling",
            credit=0.5,
            says="You divide the scores by D: perhaps you scale twice. Divide by √D, once.",
            change={"scale": lambda scores, D, N: scores / D},
        ),
        Misconception(
            "divided by √N",
            kind="scaling",
            credit=0.5,
            says="You divide the scores by √N, with the number of words. Divide by √D, with the length of a query.",
            change={"scale": lambda scores, D, N: scores / N**0.5},
        ),
        Misconception(
            "divided by N",
            kind="scaling",
            credit=0.5,
            says="You divide the scores by the number of words. Divide by √D, with the length of a query.",
            change={"scale": lambda scores, D, N: scores / N},
        ),
        Misconception(
            "multiplied by √D",
            kind="scaling",
            credit=0.5,
            says="You multiply the scores by √D. Divide by it.",
            change={"scale": lambda scores, D, N: scores * D**0.5},
        ),
        Misconception(
            "√4 hard-coded",
            kind="hard-coded",
            credit=0.5,
            says="You always divide by 2, which is √D for the notebook's D = 4 only. Take D from the shape of a query.",
            change={"scale": lambda scores, D, N: scores / 2},
        ),
        Misconception(
            "sign flipped",
            kind="wrong formula",
            credit=0.25,
            says="The scores have the wrong sign: a query looks most where its dot product is largest.",
            change={"scale": lambda scores, D, N: -scores / D**0.5},
        ),
        Misconception(
            "scaled after softmax",
            kind="scaling",
            credit=0.5,
            says="You scale the weights after softmax. Scale the scores, before softmax.",
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
            says="You sum the keys. The weights belong to the values.",
            change={"roles": "qkk"},
        ),
        Misconception(
            "queries as values",
            kind="mix-up",
            credit=0.25,
            says="You sum the queries. The weights belong to the values.",
            change={"roles": "qkq"},
        ),
        Misconception(
            "keys with keys",
            kind="mix-up",
            credit=0.25,
            says="You compare keys with keys. Compare each query with every key.",
            change={"roles": "kkv"},
        ),
        Misconception(
            "queries with queries",
            kind="mix-up",
            credit=0.25,
            says="You compare queries with queries. Compare each query with every key.",
            change={"roles": "qqv"},
        ),
        Misconception(
            "values for keys",
            kind="mix-up",
            credit=0.25,
            says="You compare queries with values. Compare each query with every key, then sum the values.",
            change={"roles": "qvv"},
        ),
        Misconception(
            "softmax over queries",
            kind="axis",
            credit=0.5,
            says="Your softmax runs over the queries of one key. It must run over the keys of one query.",
            change={"normalise": lambda scores: torch.softmax(scores, dim=0)},
        ),
        Misconception(
            "softmax over everything",
            kind="axis",
            credit=0.5,
            says="Your softmax runs over all scores at once. Apply it to the scores of each query.",
            change={"normalise": lambda scores: torch.softmax(scores.flatten(), 0).reshape(scores.shape)},
        ),
        Misconception(
            "softmax missing",
            kind="missing step",
            credit=0.25,
            says="You weigh the values with raw scores. Apply softmax to the scores of each query first.",
            change={"normalise": lambda scores: scores},
        ),
        Misconception(
            "not normalised",
            kind="missing step",
            credit=0.25,
            says="Your weights do not sum to one: divide the exponentials by their sum.",
            change={"normalise": torch.exp},
        ),
        Misconception(
            "applied twice",
            kind="wrong formula",
            credit=0.5,
            says="You apply softmax twice. Once is enough.",
            change={"normalise": lambda scores: torch.softmax(torch.softmax(scores, 1), 1)},
        ),
        Misconception(
            "exponential forgotten",
            kind="missing step",
            credit=0.25,
            says="You divide scores by their sum without exp. Use softmax.",
            change={"normalise": lambda scores: scores / scores.sum(1, keepdim=True)},
        ),
        Misconception(
            "sigmoid",
            kind="wrong formula",
            credit=0.25,
            says="You use the sigmoid of the scores as weights. Use softmax.",
            change={"normalise": torch.sigmoid},
        ),
        Misconception(
            "hard maximum",
            kind="wrong formula",
            credit=0.25,
            says="Each query takes only its best value. Sum all values, each times its softmax weight.",
            change={"normalise": lambda scores: (scores == scores.max(1, keepdim=True).values).float()},
        ),
        Misconception(
            "future hidden",
            kind="mix-up",
            credit=0.5,
            says="You hide later words (a causal mask). Here every word may look at every word.",
            change={"normalise": lambda S: torch.softmax(S + torch.full_like(S, -torch.inf).triu(1), dim=1)},
        ),
        Misconception(
            "weights transposed",
            kind="axis",
            credit=0.5,
            says="The weights are transposed before the sum. Query i needs all weights of query i.",
            change={"weigh": lambda A: A.mT},
        ),
        Misconception(
            "last query's weights",
            kind="mix-up",
            credit=0.25,
            says="You use the weights of the last query for all. Use those of the current query.",
            change={"weigh": lambda A: A[-1:].expand_as(A)},
        ),
        Misconception(
            "last word left out",
            kind="missing step",
            credit=0.5,
            says="The last word never counts: range(N) already ends at N - 1.",
            change={"weigh": without_last},
        ),
        Misconception(
            "plain average",
            kind="missing step",
            credit=0.0,
            says="You average the values, whatever the weights. Multiply each value with its weight, then sum.",
            change={"weigh": lambda A: torch.full_like(A, 1 / len(A))},
        ),
        Misconception(
            "first query's weights",
            kind="mix-up",
            credit=0.25,
            says="You use the weights of the first query for all. Use those of the current query.",
            change={"weigh": lambda A: A[:1].expand_as(A)},
        ),
        Misconception(
            "mean instead of sum",
            kind="wrong formula",
            credit=0.5,
            says="You divide the sum by the number of words. The weights already sum to one; just sum.",
            change={"after": lambda outputs, V: outputs / outputs.shape[1]},
        ),
        Misconception(
            "sum never reset",
            kind="missing step",
            credit=0.5,
            says="The sum of one query goes on in the next. Start from zero for every query.",
            change={"after": lambda outputs, V: outputs.cumsum(dim=1)},
        ),
        Misconception(
            "value added",
            kind="mix-up",
            credit=0.5,
            says="You add the word's own value to its output. Self-attention alone has no such sum.",
            change={"after": lambda outputs, V: outputs + V},
        ),
        Misconception(
            "weights returned",
            kind="missing step",
            credit=0.25,
            says="You return the attention weights. Use them to weigh and sum the values.",
            answers=weights_instead,
        ),
        Misconception(
            "outputs and weights",
            kind="arrangement",
            credit=0.75,
            says="You return the weights as well. Return the list of outputs only.",
            answers=outputs_and_weights,
        ),
        Misconception(
            "row vectors",
            kind="convention",
            credit=0.5,
            says="The numbers are right, but as rows of shape (1, D). Return columns of shape (D, 1).",
            change={"arrange": lambda outputs: list(outputs.mT.unsqueeze(1))},
        ),
        Misconception(
            "flat vectors",
            kind="arrangement",
            credit=0.5,
            says="The numbers are right, but you dropped a dimension: each result must keep the shape (D, 1).",
            change={"arrange": lambda outputs: list(outputs.mT)},
        ),
        Misconception(
            "outputs side by side",
            kind="arrangement",
            credit=0.5,
            says="You return a (D, N) matrix. Return a list with one (D, 1) tensor for every query.",
            change={"arrange": lambda outputs: outputs},
        ),
        Misconception(
            "last output only",
            kind="missing step",
            credit=0.25,
            says="Each query overwrites the one before: you return the last output alone. Append to a list.",
            change={"arrange": lambda outputs: outputs[:, -1:]},
        ),
        Misconception(
            "first output only",
            kind="missing step",
            credit=0.25,
            says="You return the output of the first query only. Collect all outputs, then return the list.",
            change={"arrange": lambda outputs: outputs[:, :1]},
        ),
        Misconception(
            "last query left out",
            kind="missing step",
            credit=0.5,
            says="Your outer loop stops before the last query: range(N) already ends at N - 1.",
            change={"arrange": lambda outputs: split_columns(outputs)[:-1]},
        ),
    ],
)
