"""Exercise 5: weighted sums of the values."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader import Case, Exercise, Inputs, at, columns, randn, wrong

from .mistakes import numbers_of_words, rows


def weighted_sums(all_attention_weights, all_values):
    all_outputs = []  #: outputs
    for weights in all_attention_weights:
        output = torch.zeros_like(all_values[0])  # (D, 1)  #: start
        for weight, value in zip(weights, all_values):
            output = output + weight * value  # scalar · (D, 1)  #: add
        all_outputs.append(output)  #: collect
    return all_outputs  #: result


def sized(N: int, D: int) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (weights(rng, N, N), columns(rng, N, D))


def weights(rng: torch.Generator, M: int, N: int) -> list[torch.Tensor]:
    return list(torch.softmax(randn(rng, M, N), dim=1))


# fmt: off
exercise = Exercise(
    number=5,
    assignment="self_attention",
    title="Weighted sums",
    solution=weighted_sums,
    columns=rows.IN_A_LIST,
    cases=[
        Case("the notebook's sizes", catches="the notebook's globals instead of the arguments", inputs=sized(3, 4)),
        Case("more words than dimensions", catches="a hard-coded N", inputs=sized(6, 2)),
        Case("more dimensions than words", catches="a hard-coded D", inputs=sized(2, 5)),
        *numbers_of_words.cases(lambda M, N: lambda rng: (weights(rng, M, N), columns(rng, N, 4))),
    ],
    mistakes=[
        wrong("mean instead of sum", {"before collect": "output = output / len(all_values)"},
              "Your result is divided by the number of words. The weights already sum to one."),
        wrong("weights transposed", {"before outputs": "all_attention_weights = torch.stack(all_attention_weights).T"},
              "Query i has the weights of key i from all queries. Use all weights of query i: weights[i][j].",
              kind="axis"),
        *at("add",
            wrong("values without weights", "output = output + value",
                  "Your outputs are those of values without weights. Each value must be multiplied by its weight, then "
                  "summed.", credit=0.0, kind="missing step"),
            wrong("plain average", "output = output + value / len(all_values)",
                  "Your outputs are the average of the values, whatever the weights. Each value must be multiplied by "
                  "its weight, then summed.", credit=0.0, kind="missing step")),
        *at("before start",
            wrong("best value only", "weights = (weights == weights.max()).float()",
                  "Each output is the value with the largest weight. Sum all values, each times its weight."),
            wrong("largest term only", "weights = weights * (weights == weights.max())",
                  "Each output is only the term with the largest weight. Sum all terms."),
            wrong("softmax once more", "weights = torch.softmax(weights, dim=0)",
                  "Your outputs are those of weights put through softmax once more. The weights already sum to one; "
                  "use them as they are.")),
        wrong("weights squared", {"add": "output = output + weight**2 * value"},
              "Each weight counts twice, as its square. Multiply each value by its weight once."),
        *at("before start",
            wrong("first query's weights", "weights = all_attention_weights[0]",
                  "In your results, every query has the weights of the first. Query i should have weights of its own.",
                  kind="mix-up"),
            wrong("last word left out", "weights = torch.cat([weights[:-1], torch.zeros_like(weights[:1])])",
                  "The last word does not count in your results. In a loop, range(N) already ends at N - 1.",
                  kind="missing step")),
        *at("add",
            wrong("own word only", "output = weights[len(all_outputs)] * all_values[len(all_outputs)]",
                  "Each output holds only the word's own value. Sum over the values of all words.",
                  credit=0.25, kind="missing step"),
            wrong("values returned", "output = output + weight * all_values[len(all_outputs)]",
                  "Your outputs are the values: perhaps you multiply each value by all weights of its own query. The "
                  "value must change with the weight.", credit=0.0, kind="mix-up"),
            wrong("last term only", "output = weight * value",
                  "Each output is its last term only, as when each step of a loop overwrites the one before. Add up "
                  "all terms.", credit=0.25, kind="missing step")),
        wrong("an output after each term", {"add": "output = output + weight * value\nall_outputs.append(output)",
                                            "collect": ""},
              "Your list has an output for each term of each sum. Collect a query's output once, when all its terms "
              "are added.", kind="arrangement"),
        wrong("sums that go on", {"start": "", "after outputs": "output = torch.zeros_like(all_values[0])"},
              "The sum of one query goes on in the next. Start from zero for every query.", kind="missing step"),
        wrong("values reversed", {"before start": "weights = weights.flip(0)"},
              "The weights go to the values in reverse order. Weight j belongs to value j.",
              kind="mix-up"),
        wrong("last query for all", {"before result": "all_outputs = [all_outputs[-1]] * len(all_outputs)"},
              "All your outputs are the same as that of the last query: perhaps all entries are one and the same "
              "tensor.", credit=0.25, kind="missing step"),
        wrong("value added", {"start": "output = all_values[len(all_outputs)]"},
              "Your outputs hold the word's own value on top of the sum. Return the weighted sum alone.",
              kind="mix-up"),
        wrong("not summed", {"start": "output = []", "add": "output.append(weight * value)"},
              "You return the weighted values one by one. Sum them for every query.", credit=0.25, kind="missing step"),
        wrong("sign flipped", {"add": "output = output - weight * value"},
              "The sign of your outputs is wrong, as when terms are subtracted. They should be added."),
        *at("result",
            wrong("row vectors", "return [output.T for output in all_outputs]",
                  "The numbers are right, but as rows of shape (1, D). Return columns of shape (D, 1).",
                  kind="convention"),
            wrong("flat vectors", "return [output.flatten() for output in all_outputs]",
                  "The numbers are right, but a dimension is lost: each result must keep the shape (D, 1).",
                  kind="arrangement"),
            wrong("outputs side by side", "return torch.cat(all_outputs, dim=1)",
                  "You return a (D, N) matrix. Return a list with one (D, 1) tensor for every query.",
                  kind="arrangement"),
            wrong("everything summed up", "return sum(all_outputs)",
                  "You return one sum over all queries. Return one sum for every query."),
            wrong("last output only", "return all_outputs[-1]",
                  "Your result is the last output alone, as when each query overwrites the one before. Collect all "
                  "outputs in a list.", credit=0.25, kind="missing step"),
            wrong("first output only", "return all_outputs[0]",
                  "You return the output of the first query only. Collect all outputs, then return the list.",
                  credit=0.25, kind="missing step"),
            wrong("last query left out", "return all_outputs[:-1]",
                  "The output of the last query is missing. In a loop, range(N) already ends at N - 1.",
                  kind="missing step")),
        *at("before outputs",
            numbers_of_words.as_many_keys(
                "M = len(all_attention_weights)\n"
                "all_attention_weights = [[weights[n] for n in range(M)] for weights in all_attention_weights]"),
            numbers_of_words.as_many_queries(
                "all_attention_weights = [all_attention_weights[n] for n in range(len(all_values))]")),
    ],
)
# fmt: on
