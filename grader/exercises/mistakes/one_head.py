"""Mistakes in modules of one head: exercises 12, 13 and 16."""

from __future__ import annotations

import torch

from grader import Misconception
from grader.exercises.mistakes import gradients, masks, scaling, softmax, weighing

# One head: exercises 12, 13 and 16.
SCALING_ROLES_AND_GRADIENTS = [
    Misconception(
        "not scaled",
        kind="scaling",
        credit=0.5,
        says="The scores that you use are not scaled. Divide the scores by √d_out, the root of the length of a key.",
        change={"scale": lambda scores, *_sizes: scores},
    ),
    Misconception(
        "scaled by √d_in",
        kind="scaling",
        credit=0.75,
        says="You divide by √d_in. Keys have d_out entries: divide by the root of that, keys.shape[-1] ** 0.5.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / d_in**0.5},
    ),
    Misconception(
        "scaled by √T",
        kind="scaling",
        credit=0.5,
        says="You divide by the root of the number of words. Divide by √d_out, the root of the length of a key.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / T**0.5},
    ),
    Misconception(
        "divided by T",
        kind="scaling",
        credit=0.5,
        says="You divide by the number of words. Divide by √d_out, the root of the length of a key.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / T},
    ),
    Misconception(
        "divided by d_out",
        kind="scaling",
        credit=0.5,
        says="You divide by d_out. Divide by its square root.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / d_out},
    ),
    Misconception(
        "√2 hard-coded",
        kind="hard-coded",
        credit=0.5,
        says="Your scores are divided by √2 whatever d_out is; that fits 2 only. Take it from keys.shape[-1].",
        change={"scale": lambda scores, *_sizes: scores / 2**0.5},
    ),
    Misconception(
        "multiplied by √d_out",
        kind="scaling",
        credit=0.5,
        says="You multiply the scores by √d_out. Divide by it.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores * d_out**0.5},
    ),
    scaling.sign_flipped(scale=lambda scores, d_in, d_out, T, *_more: -scores / d_out**0.5),
    weighing.QUERIES_AND_KEYS_EXCHANGED,
    Misconception(
        "keys as values",
        kind="mix-up",
        credit=0.5,
        says="You weigh the keys. The weights belong to the values, which come from W_value.",
        change={"roles": ("query", "key", "key")},
    ),
    Misconception(
        "queries as values",
        kind="mix-up",
        credit=0.5,
        says="You weigh the queries. The weights belong to the values, which come from W_value.",
        change={"roles": ("query", "key", "query")},
    ),
    Misconception(
        "queries as keys",
        kind="mix-up",
        credit=0.5,
        says="You compare queries with queries. Compare them with the keys, which come from W_key.",
        change={"roles": ("query", "query", "value")},
    ),
    Misconception(
        "keys and values exchanged",
        kind="mix-up",
        credit=0.5,
        says="W_key and W_value change places: keys are what queries are compared with, values are what is mixed.",
        change={"roles": ("query", "value", "key")},
    ),
    Misconception(
        "weights returned",
        kind="missing step",
        credit=0.25,
        says="You return the attention weights. Multiply them with the values.",
        change={"mix": lambda weights, v: weights},
    ),
    Misconception(
        "result transposed",
        kind="convention",
        credit=0.5,
        says="The numbers are right, but transposed. Words are rows: the result has shape (…, T, d_out).",
        change={"finish": lambda outputs: outputs.mT},
    ),
    gradients.EVERYTHING_DETACHED,
    gradients.VALUES_DETACHED,
    gradients.WEIGHTS_DETACHED,
    Misconception(
        "√8 hard-coded",
        kind="hard-coded",
        credit=0.5,
        says="Your scores are divided by √8 whatever the sizes are. Take the length of a key from keys.shape[-1].",
        change={"scale": lambda scores, *_sizes: scores / 8**0.5},
    ),
    Misconception(
        "half the length",
        kind="wrong formula",
        credit=0.5,
        says="You divide by half the length of a key. Perhaps you wrote ** 1 / 2, which is (… ** 1) / 2: write ** 0.5.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / (d_out / 2)},
    ),
    Misconception(
        "divided twice by half",
        kind="wrong formula",
        credit=0.5,
        says="You divide by the length of a key, and by 2: that is what ** 1 / 2 means. Write ** 0.5.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / d_out / 2},
    ),
    Misconception(
        "scaled after softmax",
        kind="scaling",
        credit=0.5,
        says="You divide by √d_out after the softmax. Divide the scores, before it.",
        change={
            "scale": lambda scores, *_sizes: scores,
            "mix": lambda weights, v: weights @ v / v.shape[-1] ** 0.5,
        },
    ),
    Misconception(
        "keys as queries",
        kind="mix-up",
        credit=0.5,
        says="You compare keys with keys. The queries come from W_query.",
        change={"roles": ("key", "key", "value")},
    ),
    Misconception(
        "queries in all roles",
        kind="mix-up",
        credit=0.25,
        says="You use W_query for keys and values, too. Keys come from W_key, values from W_value.",
        change={"roles": ("query", "query", "query")},
    ),
    Misconception(
        "values not projected",
        kind="missing step",
        credit=0.5,
        says="You weigh the inputs themselves. Weigh the values, which come from W_value.",
        change={"pass_on": lambda projected, role, x: x if role == "v" else projected},
    ),
]

# One head, where every word may look at every word: exercises 12 and 13.
WEIGHTS_WITHOUT_MASK = [
    Misconception(
        "softmax twice",
        kind="wrong formula",
        credit=0.5,
        says="You apply softmax twice. Once makes the weights of a query sum to one.",
        change={"normalise": lambda scores: torch.softmax(torch.softmax(scores, dim=-1), dim=-1)},
    ),
    Misconception(
        "softmax over queries",
        kind="axis",
        credit=0.5,
        says="Your softmax runs over the queries (dim=0). It must run over the keys: dim=-1.",
        change={"normalise": lambda scores: torch.softmax(scores, dim=0)},
    ),
    Misconception(
        "softmax over everything",
        kind="axis",
        credit=0.5,
        says="Your softmax runs over all scores at once. Each row must sum to one: dim=-1.",
        change={"normalise": softmax.over_everything},
    ),
    Misconception(
        "softmax missing",
        kind="missing step",
        credit=0.25,
        says="You weigh the values with raw scores. Apply softmax to the scores first.",
        change={"normalise": lambda scores: scores},
    ),
    Misconception(
        "divided by the sum",
        kind="wrong formula",
        credit=0.25,
        says="You divide the scores by their sum, as in exercise 9. Use softmax.",
        change={"normalise": lambda scores: scores / scores.sum(dim=-1, keepdim=True)},
    ),
    Misconception(
        "future hidden",
        kind="mix-up",
        credit=0.5,
        says="You hide later words. That comes in exercise 14; here every word may look at every word.",
        change={"normalise": lambda scores: torch.softmax(masks.hide_later(scores), dim=-1)},
    ),
    Misconception(
        "weights transposed",
        kind="axis",
        credit=0.5,
        says="The weights are transposed when they meet the values. Compute weights @ values.",
        change={"mix": lambda weights, v: weights.mT @ v},
    ),
    Misconception(
        "first word only",
        kind="missing step",
        credit=0.25,
        says="You return the context vector of one word. There is one for every word: shape (T, d_out).",
        change={"finish": lambda outputs: outputs[0]},
    ),
    Misconception(
        "words summed",
        kind="wrong formula",
        credit=0.25,
        says="You add up the context vectors of all words. Return one for every word: shape (T, d_out).",
        change={"finish": lambda outputs: outputs.sum(dim=0)},
    ),
]
