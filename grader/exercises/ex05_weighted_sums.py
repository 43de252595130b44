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
              "Your result is divided by the number of words. The weights already sum to one, so do not divide."),
        wrong("weights transposed", {"before outputs": "all_attention_weights = torch.stack(all_attention_weights).T"},
              "Output i uses the weights that all queries give to key i. Use the weights of query i: weights[i][j].",
              kind="axis"),
        *at("add",
            wrong("values without weights", "output = output + value",
                  "Your outputs are sums of values without weights. Multiply each value by its weight, then add "
                  "up.", credit=0.0, kind="missing step"),
            wrong("plain average", "output = output + value / len(all_values)",
                  "Your outputs are the average of the values, whatever the weights. Multiply each value by its "
                  "weight, then add up.", credit=0.0, kind="missing step")),
        *at("before start",
            wrong("best value only", "weights = (weights == weights.max()).float()",
                  "Each output is just the value with the largest weight. Add up all values, each times its weight.",
                  credit=0.0),
            wrong("largest term only", "weights = weights * (weights == weights.max())",
                  "Each output is only the term with the largest weight. Add up all terms."),
            wrong("softmax once more", "weights = torch.softmax(weights, dim=0)",
                  "Your outputs look as if the weights had gone through softmax once more. They already sum to one: "
                  "use them unchanged.")),
        wrong("weights squared", {"add": "output = output + weight**2 * value"},
              "Each weight counts twice, as its square. Multiply each value by its weight only once."),
        *at("before start",
            wrong("first query's weights", "weights = all_attention_weights[0]",
                  "In your results, every query has the weights of the first one. Query i should have its own weights.",
                  kind="mix-up"),
            wrong("later words left out",
                  ["weights = [weights[n] for n in range(len(all_outputs) + 1)]",
                   "weights = weights[: len(all_outputs) + 1]"],
                  "Output i contains only the values 0 … i, as with a causal mask or range(i + 1). Add up all values, "
                  "each times its weight.", kind="mix-up"),
            wrong("last word left out", "weights = torch.cat([weights[:-1], torch.zeros_like(weights[:1])])",
                  "The last word does not count in your results. In a loop, range(N) already ends at N - 1.",
                  kind="missing step")),
        *at("add",
            wrong("own word only", "output = weights[len(all_outputs)] * all_values[len(all_outputs)]",
                  "Each output contains only the word's own value. Add up the values of all words, each times its "
                  "weight.", credit=0.25, kind="missing step"),
            wrong("values returned", "output = output + weight * all_values[len(all_outputs)]",
                  "Your outputs are the values themselves. Perhaps you multiply one value by all weights of a query: "
                  "each weight needs its own value.", credit=0.0, kind="mix-up"),
            wrong("last term only", "output = weight * value",
                  "Each output is only its last term, as if each step of a loop overwrote the one before. Add up all "
                  "terms.", credit=0.25, kind="missing step")),
        wrong("an output after each term", {"add": "output = output + weight * value\nall_outputs.append(output)",
                                            "collect": ""},
              "Your list has an output for each term of each sum. Collect a query's output only once, after all its "
              "terms are added.", kind="arrangement"),
        wrong("sum not reset", {"start": "", "after outputs": "output = torch.zeros_like(all_values[0])"},
              "Each query's sum continues the sum of the query before. Start from zero for every "
              "query.", kind="missing step"),
        wrong("one tensor for all outputs",
              {"after outputs": "output = torch.zeros_like(all_values[0])", "start": "",
               "add": "output += weight * value"},
              "All your outputs are one tensor, which every query adds to, as with [zeros] * N. Make a new tensor for "
              "each query.", kind="mix-up"),
        wrong("values reversed", {"before start": "weights = weights.flip(0)"},
              "The weights are applied to the values in reverse order. Weight j belongs to value j.", kind="mix-up"),
        wrong("last query for all", {"before result": "all_outputs = [all_outputs[-1]] * len(all_outputs)"},
              "All your outputs are the output of the last query. Perhaps your list holds the same tensor again and "
              "again: each query needs its own.", credit=0.25, kind="missing step"),
        wrong("value added", {"start": "output = all_values[len(all_outputs)]"},
              "Your outputs include the word's own value on top of the weighted sum. Return the weighted sum alone.",
              kind="mix-up"),
        wrong("not summed", {"start": "output = []", "add": "output.append(weight * value)"},
              "You return the weighted values one by one. Add them up for each "
              "query.", credit=0.25, kind="missing step"),
        wrong("sign flipped", {"add": "output = output - weight * value"},
              "The sign of your outputs is wrong, as if the terms were subtracted. Add them instead."),
        *at("result",
            wrong("row vectors", "return [output.T for output in all_outputs]",
                  "Your results are rows of shape (1, D). Return columns of shape (D, 1).",
                  kind="convention"),
            wrong("flat vectors", "return [output.flatten() for output in all_outputs]",
                  "Each of your results has lost a dimension: keep the shape (D, 1).",
                  kind="arrangement"),
            wrong("outputs side by side", "return torch.cat(all_outputs, dim=1)",
                  "You return a (D, N) matrix. Return a list with one (D, 1) tensor per query.", kind="arrangement"),
            wrong("everything summed up", "return sum(all_outputs)",
                  "You return one sum over all queries. Return one sum for every query."),
            wrong("last output only", "return all_outputs[-1]",
                  "Your result is the last output alone, as if each query overwrote the one before. Collect all "
                  "outputs in a list.", credit=0.25, kind="missing step"),
            wrong("first output only", "return all_outputs[0]",
                  "You return only the output of the first query. Collect all outputs, then return the list.",
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
