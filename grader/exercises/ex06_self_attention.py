"""Exercise 6: self-attention, all steps together."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader import Case, Exercise, Inputs, at, columns, wrong

from .ex02_scores import attention_scores
from .ex04_weights import attention_weights
from .ex05_weighted_sums import exercise as weighted
from .ex05_weighted_sums import weighted_sums
from .mistakes import mistakes_named, numbers_of_words, rows


def self_attention(all_queries, all_keys, all_values):
    all_scores = attention_scores(all_queries, all_keys)  #: scores
    all_weights = attention_weights(all_scores)  #: weights
    all_outputs = weighted_sums(all_weights, all_values)  #: sums
    return all_outputs  #: result


def scored(score: str) -> str:
    return f"all_scores = [[{score} for key in all_keys] for query in all_queries]"


def sized(N: int, D: int) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: tuple(columns(rng, N, D) for _ in range(3))


# fmt: off
exercise = Exercise(
    number=6,
    assignment="self_attention",
    title="Self-attention, all steps together",
    solution=self_attention,
    columns=rows.IN_A_LIST,
    explained_in={"scaling": "exercise-2", "axis": "exercise-4"},
    cases=[
        Case("the notebook's sizes", catches="the notebook's globals instead of the arguments", inputs=sized(3, 4)),
        Case("more words than dimensions", catches="√N for √D, a hard-coded N", inputs=sized(6, 2)),
        Case("more dimensions than words", catches="a hard-coded √4, D for √D", inputs=sized(2, 7)),
        *numbers_of_words.cases(lambda M, N: lambda rng: (columns(rng, M, 4), columns(rng, N, 4), columns(rng, N, 4))),
    ],
    mistakes=[
        wrong("each score twice",
              {"after scores": "all_scores = [[score for score in row for _ in range(2)] for row in all_scores]"},
              "Your results look as if the list of a query's scores held each score twice. Append it only once.",
              kind="arrangement"),
        *at("scores",
            wrong("not scaled", scored("torch.sum(query * key)"),
                  "The scores that you use are not scaled. Divide them by √D before softmax.", kind="scaling"),
            wrong("divided by D", scored("torch.sum(query * key) / len(query)"),
                  "The scores that you use are divided by D. Perhaps you scale twice: divide by √D only once.",
                  kind="scaling"),
            wrong("divided by √N", scored("torch.sum(query * key) / len(all_queries)**0.5"),
                  "The scores that you use are divided by √N, where N is the number of words. Divide by √D, where D is "
                  "the length of a query.", kind="scaling"),
            wrong("divided by N", scored("torch.sum(query * key) / len(all_queries)"),
                  "The scores that you use are divided by the number of words. Divide by √D, where D is the length of "
                  "a query.", kind="scaling"),
            wrong("multiplied by √D", scored("torch.sum(query * key) * len(query)**0.5"),
                  "The scores that you use are multiplied by √D. Divide by it instead.", kind="scaling"),
            wrong("divided by 2", scored("torch.sum(query * key) / 2"),
                  "Your scores are divided by 2, whatever D is. That is √D only if D is 4: take D from the shape of a "
                  "query.", kind="hard-coded", or_borrowed=True),
            wrong("sign flipped", scored("-torch.sum(query * key) / len(query)**0.5"),
                  "The scores have the wrong sign: a query should look most where its dot product is largest."),
            wrong("scaled in the wrong place",
                  scored("torch.sum(query * key)"),
                  "Your results look as if the scores were not scaled, and the outputs divided by √D instead. Scale "
                  "the scores, before softmax.", kind="scaling",
                  also={"after sums": "all_outputs = [output / len(output)**0.5 for output in all_outputs]"})),
        wrong("queries and keys exchanged", {"before scores": "all_queries, all_keys = all_keys, all_queries"},
              "Queries and keys are swapped. Each query asks, and the keys of all words answer.", kind="mix-up"),
        *at("before sums",
            wrong("keys as values", "all_values = all_keys",
                  "Your outputs are weighted sums of keys. Use the values instead.", kind="mix-up"),
            wrong("queries as values", "all_values = all_queries",
                  "Your outputs are weighted sums of queries. Use the values instead.", kind="mix-up")),
        *at("before scores",
            wrong("keys with keys", "all_queries = all_keys",
                  "Your results look as if keys were compared with keys. Compare each query with every key.",
                  kind="mix-up"),
            wrong("queries with queries", "all_keys = all_queries",
                  "Your results look as if queries were compared with queries. Compare each query with every key.",
                  kind="mix-up"),
            wrong("values for keys", "all_keys = all_values",
                  "Your results look as if queries were compared with values. Compare each query with every key, and "
                  "sum the values.", kind="mix-up")),
        *at("weights",
            wrong("softmax over queries",
                  "scores = torch.stack([torch.stack(scores) for scores in all_scores])\n"
                  "all_weights = list(torch.softmax(scores, dim=0))",
                  "Your weights are normalized over the queries for each key. Normalize them over the keys for each "
                  "query.", kind="axis"),
            wrong("softmax over everything",
                  "scores = torch.stack([torch.stack(scores) for scores in all_scores])\n"
                  "all_weights = list(torch.softmax(scores.flatten(), dim=0).reshape(scores.shape))",
                  "All your weights together sum to one. Take the softmax over the scores of each query "
                  "instead.", kind="axis"),
            wrong("raw scores as weights", "all_weights = [torch.stack(scores) for scores in all_scores]",
                  "Your values are weighted by raw scores. Take the softmax of each query's scores first.",
                  credit=0.25, kind="missing step"),
            wrong("not normalized", "all_weights = [torch.exp(torch.stack(scores)) for scores in all_scores]",
                  "Your weights do not sum to one: divide the exponentials by their sum.",
                  kind="missing step"),
            wrong("applied twice",
                  "all_weights = [torch.softmax(weights, dim=0) for weights in attention_weights(all_scores)]",
                  "Your weights look as if softmax had been applied twice. Once is enough."),
            wrong("without the exponential",
                  "all_weights = [torch.stack(scores) / sum(scores) for scores in all_scores]",
                  "Your weights are scores divided by their sum, without exp. Use the softmax of the scores "
                  "instead.", credit=0.25, kind="missing step"),
            wrong("sigmoid", "all_weights = [torch.sigmoid(torch.stack(scores)) for scores in all_scores]",
                  "Your weights are the sigmoids of the scores. Use the softmax instead."),
            wrong("hard maximum",
                  "all_weights = [(weights == weights.max()).float() for weights in attention_weights(all_scores)]",
                  "Each query takes only its best value. Add up all values, each times its softmax weight.")),
        wrong("future hidden",
              {"before weights":
                   "hidden = torch.full_like(all_scores[0][0], -torch.inf)\n"
                   "all_scores = [row[: n + 1] + [hidden] * len(row[n + 1 :]) for n, row in enumerate(all_scores)]"},
              "Later words are hidden in your results, as with a causal mask. Here, every word may look at every word.",
              kind="mix-up"),
        *at("after weights",
            wrong("weights transposed", "all_weights = torch.stack(all_weights).T",
                  "Your outputs look as if the weights were transposed. Output i needs the weights of query "
                  "i.", kind="axis"),
            wrong("last query's weights", "all_weights = [all_weights[-1]] * len(all_weights)",
                  "In your results, every query has the weights of the last one. Query i should have its own weights.",
                  kind="mix-up"),
            wrong("last word left out", "all_weights = [weights[:-1] for weights in all_weights]",
                  "The last word never counts in your results. In a loop, range(N) already ends at N - 1.",
                  kind="missing step"),
            wrong("plain average", "all_weights = [torch.ones_like(weights) / len(weights) for weights in all_weights]",
                  "Your outputs are the average of the values, whatever the weights. Multiply each value by its "
                  "weight, then add up.", credit=0.0, kind="missing step"),
            wrong("values without weights", "all_weights = [torch.ones_like(weights) for weights in all_weights]",
                  "Each of your outputs is the sum of all values, whatever the queries and keys. Multiply each value "
                  "by its weight, then add up.", credit=0.0, kind="missing step"),
            wrong("first query's weights", "all_weights = [all_weights[0]] * len(all_weights)",
                  "In your results, every query has the weights of the first one. Query i should have its own weights.",
                  kind="mix-up")),
        *at("after sums",
            wrong("mean instead of sum", "all_outputs = [output / len(all_values) for output in all_outputs]",
                  "Your result is divided by the number of words. The weights already sum to one, so do not divide."),
            wrong("sum not reset", "all_outputs = list(torch.stack(all_outputs).cumsum(dim=0))",
                  "Each query's sum continues the sum of the query before. Start from zero for every "
                  "query.", kind="missing step"),
            wrong("value added", "all_outputs = [output + value for output, value in zip(all_outputs, all_values)]",
                  "Your outputs include the word's own value on top of the weighted sum. Self-attention alone does not "
                  "add it.", kind="mix-up")),
        *at("result",
            wrong("weights returned", "return all_weights",
                  "Your results are the attention weights. Use them for a weighted sum of the values.",
                  credit=0.25, kind="missing step"),
            wrong("outputs and weights", "return all_outputs, all_weights",
                  "You return the weights as well. Return only the list of outputs.", credit=0.75, kind="arrangement"),
            *mistakes_named(weighted.mistakes,
                   "row vectors", "flat vectors", "outputs side by side", "everything summed up", "last output only",
                   "first output only", "last query left out")),
        *at("before scores",
            numbers_of_words.as_many_keys(
                "all_keys = [all_keys[n] for n in range(len(all_queries))]\n"
                "all_values = [all_values[n] for n in range(len(all_queries))]"),
            numbers_of_words.as_many_queries("all_queries = [all_queries[n] for n in range(len(all_keys))]")),
    ],
)
# fmt: on
