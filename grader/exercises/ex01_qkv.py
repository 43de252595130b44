"""Exercise 1: queries, keys and values."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader import Case, Exercise, Inputs, at, columns, randn, wrong

from . import notebook_data
from .mistakes import rows


def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    all_queries = [b_q + W_q @ x for x in all_x]  # N of (D, 1)  #: queries
    all_keys = [b_k + W_k @ x for x in all_x]  # N of (D, 1)  #: keys
    all_values = [b_v + W_v @ x for x in all_x]  # N of (D, 1)  #: values
    return all_queries, all_keys, all_values  #: result


def projected(query: str, key: str, value: str) -> dict[str, str]:
    return {
        "queries": f"all_queries = [{query} for x in all_x]",
        "keys": f"all_keys = [{key} for x in all_x]",
        "values": f"all_values = [{value} for x in all_x]",
    }


def given_words(device: torch.device) -> list[torch.Tensor]:
    return [word.to(device) for word in notebook_data.words()]


def given_weights(device: torch.device) -> list[torch.Tensor]:
    return [one.to(device) for one in notebook_data.weights()]


def sized(N: int, D: int) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        matrices = [randn(rng, D, D) for _ in range(3)]
        return (columns(rng, N, D), *matrices, *columns(rng, 3, D))

    return inputs


# fmt: off
exercise = Exercise(
    number=1,
    assignment="self_attention",
    title="Queries, keys, values",
    solution=compute_qkv,
    columns=rows.IN_A_LIST,
    cases=[
        Case("the notebook's sizes", catches="the notebook's globals instead of the arguments", inputs=sized(3, 4)),
        Case("more words than dimensions", catches="N and D exchanged, a hard-coded N", inputs=sized(7, 2)),
        Case("more dimensions than words", catches="a hard-coded D", inputs=sized(2, 5)),
    ],
    mistakes=[
        wrong("without bias", projected("W_q @ x", "W_k @ x", "W_v @ x"),
              "Your results are just W x, without the bias. Add it: q = b + W x.", kind="missing step"),
        wrong("bias subtracted", projected("W_q @ x - b_q", "W_k @ x - b_k", "W_v @ x - b_v"),
              "In your results, the bias is subtracted. Add it: q = b + W x."),
        wrong("bias added before the matrix", projected("W_q @ (x + b_q)", "W_k @ (x + b_k)", "W_v @ (x + b_v)"),
              "Your results are W (x + b). Add the bias after the product: q = b + W x."),
        wrong("bias multiplied", projected("b_q * (W_q @ x)", "b_k * (W_k @ x)", "b_v * (W_v @ x)"),
              "Your results are W x multiplied by the bias. Add the bias instead: q = b + W x."),
        wrong("matrix transposed", {"before queries": "W_q, W_k, W_v = W_q.T, W_k.T, W_v.T"},
              "Your results look as if the matrix were transposed. For column vectors, use W @ x, without a "
              "transpose.", kind="convention"),
        wrong("row vectors",
              {"before result": "all_queries, all_keys, all_values = "
                                "[[one.T for one in role] for role in (all_queries, all_keys, all_values)]"},
              "Your results are rows of shape (1, D). Here every word is a column: return shape (D, 1).",
              kind="convention"),
        wrong("row times matrix", projected("b_q.T + x.T @ W_q", "b_k.T + x.T @ W_k", "b_v.T + x.T @ W_v"),
              "Your results are based on xᵀ W. In this notebook, words are columns: use W @ x.", kind="convention"),
        wrong("flat vectors",
              {"before result": "all_queries, all_keys, all_values = "
                                "[[one.flatten() for one in role] for role in (all_queries, all_keys, all_values)]"},
              "Each of your results has lost a dimension: keep the shape (D, 1).",
              kind="arrangement"),
        wrong("entry-by-entry product", projected("b_q + W_q * x", "b_k + W_k * x", "b_v + W_v * x"),
              "Your results look like an entry-by-entry product. A matrix product is W @ x or torch.matmul(W, x).",
              in_code=("_ * _",),
              says_of_code="`*` multiplies entry by entry. A matrix product is W @ x or torch.matmul(W, x)."),
        wrong("values without bias", {"values": "all_values = [W_v @ x for x in all_x]"},
              "The bias of the values is missing: v = b_v + W_v x.", credit=0.75, kind="missing step"),
        wrong("keys without bias", {"keys": "all_keys = [W_k @ x for x in all_x]"},
              "The bias of the keys is missing: k = b_k + W_k x.", credit=0.75, kind="missing step"),
        wrong("queries without bias", {"queries": "all_queries = [W_q @ x for x in all_x]"},
              "The bias of the queries is missing: q = b_q + W_q x.", credit=0.75, kind="missing step"),
        wrong("keys with the queries' bias", {"keys": "all_keys = [b_q + W_k @ x for x in all_x]"},
              "Your keys have the bias of the queries. For keys, use W_k and b_k.", credit=0.75, kind="mix-up"),
        wrong("queries with the keys' bias", {"queries": "all_queries = [b_k + W_q @ x for x in all_x]"},
              "Your queries have the bias of the keys. For queries, use W_q and b_q.", credit=0.75, kind="mix-up"),
        wrong("values with the keys' bias", {"values": "all_values = [b_k + W_v @ x for x in all_x]"},
              "Your values have the bias of the keys. For values, use W_v and b_v.", credit=0.75, kind="mix-up"),
        wrong("values from the keys", {"values": "all_values = [b_v + W_v @ key for key in all_keys]"},
              "Your values are computed from the keys. Compute them from the words: v = b_v + W_v x.", kind="mix-up"),
        wrong("keys like queries", {"keys": "all_keys = [b_q + W_q @ x for x in all_x]"},
              "Your keys come from W_q and b_q, like the queries. For keys, use W_k and b_k.", kind="mix-up"),
        wrong("values like keys", {"values": "all_values = [b_k + W_k @ x for x in all_x]"},
              "Your values come from W_k and b_k, like the keys. For values, use W_v and b_v.", kind="mix-up"),
        wrong("one matrix for all three", projected("b_q + W_q @ x", "b_k + W_q @ x", "b_v + W_q @ x"),
              "Your queries, keys and values all come from W_q. Each role has its own matrix.", kind="mix-up"),
        wrong("one list under three names",
              {"queries": "all_queries = all_keys = all_values = []\n"
                          "for x in all_x:\n"
                          "    all_queries += [W_q @ x + b_q, W_k @ x + b_k, W_v @ x + b_v]",
               "keys": "", "values": ""},
              "Your three lists are one list under three names, so each holds queries, keys and values. Make three "
              "lists.", kind="mix-up"),
        wrong("one tensor per entry",
              {"result": "lists = all_queries, all_keys, all_values\n"
                         "return tuple([*torch.cat(each, dim=1)[..., None]] for each in lists)"},
              "Your lists have one tensor per entry, not one per word. Words are the columns of a (D, N) matrix: go "
              "through those.", kind="axis"),
        wrong("each made of the last",
              {"keys": "all_keys = [b_k + W_k @ q for q in all_queries]",
               "values": "all_values = [b_v + W_v @ k for k in all_keys]"},
              "Your keys are computed from the queries, and your values from the keys. Compute all three from the "
              "words.", kind="mix-up"),
        wrong("one bias for all three", projected("b_q + W_q @ x", "b_q + W_k @ x", "b_q + W_v @ x"),
              "Your queries, keys and values all have the bias b_q. Each role has its own bias.", kind="mix-up"),
        wrong("query parameters for everything", projected("b_q + W_q @ x", "b_q + W_q @ x", "b_q + W_q @ x"),
              "Your queries, keys and values all come from W_q and b_q. Keys need W_k and b_k, and values need W_v and "
              "b_v.", kind="mix-up"),
        *at("result",
            wrong("keys and values exchanged", "return all_queries, all_values, all_keys",
                  "Keys and values are swapped. Return (all_queries, all_keys, all_values), in this order.",
                  kind="mix-up"),
            wrong("queries and keys exchanged", "return all_keys, all_queries, all_values",
                  "Queries and keys are swapped. Return (all_queries, all_keys, all_values), in this order.",
                  kind="mix-up"),
            wrong("values first", "return all_values, all_queries, all_keys",
                  "The values come first in your result. The order is (all_queries, all_keys, all_values).",
                  kind="mix-up"),
            wrong("reverse order", "return all_values, all_keys, all_queries",
                  "Your result holds values, keys, queries. The order is (all_queries, all_keys, all_values).",
                  kind="mix-up"),
            wrong("grouped by word", "return list(zip(all_queries, all_keys, all_values))",
                  "You return one (query, key, value) per word. Return three lists instead, each with all words.",
                  kind="arrangement"),
            wrong("queries only", "return all_queries",
                  "You return only the queries. Return all_queries, all_keys and all_values.",
                  credit=0.25, kind="missing step"),
            wrong("words side by side",
                  "return torch.cat(all_queries, dim=1), torch.cat(all_keys, dim=1), torch.cat(all_values, dim=1)",
                  "You return (D, N) matrices with a word in each column. Return lists with one (D, 1) tensor per "
                  "word.", kind="arrangement")),
        *at("before queries",
            wrong("first word only", "all_x = [all_x[0]] * len(all_x)",
                  "Every entry of your lists is the result for the first word. Each word needs its own results.",
                  credit=0.25, kind="missing step"),
            wrong("one word's results only", "all_x = all_x[:1]",
                  "You return the results of one word only. Collect the results of all words, then return them.",
                  credit=0.25, kind="missing step"),
            wrong("last word left out", "all_x = all_x[:-1]",
                  "The last word is missing from your results. In a loop, range(N) already ends at N - 1.",
                  kind="missing step"),
            wrong("notebook's words", "all_x = given_words(W_q.device)",
                  "Your results are for the notebook's words. Take the words from the argument all_x.",
                  kind="borrowed"),
            wrong("notebook's weights", "W_q, W_k, W_v, b_q, b_k, b_v = given_weights(W_q.device)",
                  "Your results use the notebook's W_q, W_k, …. Take them from the arguments.", kind="borrowed")),
    ],
)
# fmt: on
