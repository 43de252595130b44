"""Mistakes in modules of one head: exercises 12, 13 and 16."""

from __future__ import annotations

import torch

from grader import Misconception

from . import gradients, masks, scaling, softmax, weighing

# In code: what is written for a root, and is none.
HALVED = ("_ ** 1 / 2",)
DIVIDED_TWICE = ("_ / _ ** 1 / 2",)

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
        says="The scores that you use are divided by √d_in. Keys have d_out entries: divide by the root of that, "
        "keys.shape[-1] ** 0.5.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / d_in**0.5},
    ),
    Misconception(
        "scaled by √T",
        kind="scaling",
        credit=0.5,
        says="The scores that you use are divided by the root of the number of words. Divide by √d_out, the "
        "root of the "
        "length of a key.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / T**0.5},
    ),
    Misconception(
        "divided by T",
        kind="scaling",
        credit=0.5,
        says="The scores that you use are divided by the number of words. Divide by √d_out, the root of the "
        "length of a "
        "key.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / T},
    ),
    Misconception(
        "divided by d_out",
        kind="scaling",
        credit=0.5,
        says="The scores that you use are divided by d_out. Divide by its square root.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / d_out},
    ),
    Misconception(
        "divided by √2",
        kind="hard-coded",
        credit=0.5,
        says="Your scores are divided by √2 whatever d_out is; that fits 2 only. Take it from keys.shape[-1].",
        change={"scale": lambda scores, *_sizes: scores / 2**0.5},
    ),
    Misconception(
        "multiplied by √d_out",
        kind="scaling",
        credit=0.5,
        says="The scores that you use are multiplied by √d_out. They should be divided by it.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores * d_out**0.5},
    ),
    scaling.sign_flipped(scale=lambda scores, d_in, d_out, T, *_more: -scores / d_out**0.5),
    weighing.QUERIES_AND_KEYS_EXCHANGED,
    Misconception(
        "keys as values",
        kind="mix-up",
        credit=0.5,
        says="Your results are weighted keys. The weights belong to the values, which come from W_value.",
        change={"roles": ("query", "key", "key")},
    ),
    Misconception(
        "queries as values",
        kind="mix-up",
        credit=0.5,
        says="Your results are weighted queries. The weights belong to the values, which come from W_value.",
        change={"roles": ("query", "key", "query")},
    ),
    Misconception(
        "queries as keys",
        kind="mix-up",
        credit=0.5,
        says="Your results are those of queries compared with queries. They should be compared with the keys, which "
        "come from W_key.",
        change={"roles": ("query", "query", "value")},
    ),
    Misconception(
        "keys and values exchanged",
        kind="mix-up",
        credit=0.5,
        says="W_key and W_value change places in your results: keys are what queries are compared with, values "
        "are what "
        "is mixed.",
        change={"roles": ("query", "value", "key")},
    ),
    Misconception(
        "weights returned",
        kind="missing step",
        credit=0.25,
        says="Your results are the attention weights. Multiply them by the values.",
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
        "divided by √8",
        kind="hard-coded",
        credit=0.5,
        says="Your scores are divided by √8 whatever the sizes are. Take the length of a key from keys.shape[-1].",
        change={"scale": lambda scores, *_sizes: scores / 8**0.5},
    ),
    Misconception(
        "half the length",
        kind="wrong formula",
        credit=0.5,
        says="The scores that you use are divided by half the length of a key. Divide by the root of it, ** 0.5.",
        in_code=HALVED,
        says_of_code="** 1 / 2 is (… ** 1) / 2, so you divide by half the length of a key. Write ** 0.5.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / (d_out / 2)},
    ),
    Misconception(
        "divided twice by half",
        kind="wrong formula",
        credit=0.5,
        says="The scores that you use are divided by the length of a key, and by 2. Divide by the root of it, ** 0.5.",
        in_code=DIVIDED_TWICE,
        says_of_code="/ … ** 1 / 2 divides by (… ** 1), and then by 2. Write ** 0.5.",
        change={"scale": lambda scores, d_in, d_out, T, *_more: scores / d_out / 2},
    ),
    Misconception(
        "scaled in the wrong place",
        kind="scaling",
        credit=0.5,
        says="Your results are those of scores that are not scaled, divided by √d_out at the end. Scale the scores, "
        "before softmax.",
        change={
            "scale": lambda scores, *_sizes: scores,
            "mix": lambda weights, v: weights @ v / v.shape[-1] ** 0.5,
        },
    ),
    Misconception(
        "keys as queries",
        kind="mix-up",
        credit=0.5,
        says="Your results are those of keys compared with keys. The queries come from W_query.",
        change={"roles": ("key", "key", "value")},
    ),
    Misconception(
        "queries in all roles",
        kind="mix-up",
        credit=0.25,
        says="Your results are those of W_query for keys and values, too. Keys come from W_key, values from W_value.",
        change={"roles": ("query", "query", "query")},
    ),
    Misconception(
        "values not projected",
        kind="missing step",
        credit=0.5,
        says="Your results are the inputs themselves, weighted. Weigh the values, which come from W_value.",
        change={"pass_on": lambda projected, role, x: x if role == "v" else projected},
    ),
]

# One head, where every word may look at every word: exercises 12 and 13.
WEIGHTS_WITHOUT_MASK = [
    Misconception(
        "dimensions compared",
        kind="convention",
        credit=0.25,
        says="Your results are those of scores that compare dimensions, not words. Words are rows: queries @ keys.T "
        "has shape (T, T).",
        change={"score": lambda q, k: q.mT @ k, "mix": lambda weights, v: v @ weights.mT},
    ),
    Misconception(
        "softmax twice",
        kind="wrong formula",
        credit=0.5,
        says="Your results are those of softmax applied twice. Once makes the weights of a query sum to one.",
        change={"normalise": lambda scores: torch.softmax(torch.softmax(scores, dim=-1), dim=-1)},
    ),
    Misconception(
        "softmax over queries",
        kind="axis",
        credit=0.5,
        says="Your weights are normalised over the queries (dim=0 of the scores). They must be over the keys: dim=-1.",
        change={"normalise": lambda scores: torch.softmax(scores, dim=0)},
    ),
    Misconception(
        "softmax over everything",
        kind="axis",
        credit=0.5,
        says="All your weights together sum to one. Each row must sum to one: dim=-1.",
        change={"normalise": softmax.over_everything},
    ),
    Misconception(
        "raw scores as weights",
        kind="missing step",
        credit=0.25,
        says="Your values are weighted by raw scores. The weights are the softmax of the scores.",
        change={"normalise": lambda scores: scores},
    ),
    Misconception(
        "divided by the sum",
        kind="wrong formula",
        credit=0.25,
        says="Your weights are scores divided by their sum, as in exercise 9. They should be the softmax.",
        change={"normalise": lambda scores: scores / scores.sum(dim=-1, keepdim=True)},
    ),
    Misconception(
        "future hidden",
        kind="mix-up",
        credit=0.5,
        says="Later words are hidden in your results. That comes in exercise 14; here every word may look at every "
        "word.",
        change={"normalise": lambda scores: torch.softmax(masks.hide_later(scores), dim=-1)},
    ),
    Misconception(
        "weights transposed",
        kind="axis",
        credit=0.5,
        says="Your results are those of transposed weights. It should be weights @ values, with a row for every query.",
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
        says="Your result is the sum of the context vectors of all words. Return one for every word: shape (T, d_out).",
        change={"finish": lambda outputs: outputs.sum(dim=0)},
    ),
]
