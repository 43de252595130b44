"""Queries, keys and values that are made of the wrong matrices, or with the wrong biases."""

from __future__ import annotations

from grader import Misconception

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
