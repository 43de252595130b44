"""Queries, keys and values that are made of the wrong matrices, or with the wrong biases."""

from __future__ import annotations

from grader import Misconception

QUERY_PARAMETERS_FOR_EVERYTHING = Misconception(
    "query parameters for everything",
    kind="mix-up",
    credit=0.25,
    says="Your results are those of W_q and b_q three times. Keys need W_k and b_k, values W_v and b_v.",
    change={"weights": "qqq", "biases": "qqq"},
)

ALWAYS_BIASED = Misconception(
    "always biased",
    kind="input",
    credit=0.75,
    says="Your linear layers have a bias although qkv_bias is False. Give them bias=qkv_bias.",
    change={"bias": lambda _asked: True},
)

NEVER_BIASED = Misconception(
    "never biased",
    kind="input",
    credit=0.75,
    says="Your linear layers have no bias when qkv_bias is True. Give them bias=qkv_bias.",
    change={"bias": lambda _asked: False},
)
