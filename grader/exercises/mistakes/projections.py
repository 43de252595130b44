"""Queries, keys and values that are made of the wrong matrices, or with the wrong biases."""

from __future__ import annotations

import torch

from grader import Misconception

QUERY_PARAMETERS_FOR_EVERYTHING = Misconception(
    "query parameters for everything",
    kind="mix-up",
    credit=0.25,
    says="Your results are those of W_q and b_q three times. Keys need W_k and b_k, values W_v and b_v.",
    change={"weights": "qqq", "biases": "qqq"},
)

QUERIES_AND_KEYS_EXCHANGED = Misconception(
    "queries and keys exchanged",
    kind="mix-up",
    credit=0.5,
    says="Queries and keys change places in your results, as with QᵀK. The scores are KᵀQ, with a column for every "
    "query.",
    change={"score": lambda Q, K: Q.mT @ K},
)

DIMENSIONS_COMPARED = Misconception(
    "dimensions compared",
    kind="convention",
    credit=0.25,
    says="Your results are those of scores that compare dimensions. Words should be compared: KᵀQ has shape (N, N).",
    change={"score": lambda Q, K: K @ Q.mT, "combine": lambda V, A: A @ V},
)

FORMULA_FOR_ROWS = Misconception(
    "dimensions compared, by the formula for rows",
    kind="convention",
    credit=0.25,
    says="Your results are those of the formula for words as rows, softmax(QKᵀ)V. Words are columns here, so it "
    "compares dimensions. KᵀQ has shape (N, N).",
    change={
        "score": lambda Q, K: Q @ K.mT,
        "normalise": lambda scores: torch.softmax(scores, dim=1),
        "combine": lambda V, A: A @ V,
    },
)

FORMULA_FOR_ROWS_WITH_COLUMNS = Misconception(
    "dimensions compared, by the formula for rows, down columns",
    kind="convention",
    credit=0.25,
    says="Your results are those of QKᵀ, normalised down its columns and multiplied by V. For words as columns, that "
    "compares dimensions. KᵀQ has shape (N, N).",
    change={"score": lambda Q, K: Q @ K.mT, "combine": lambda V, A: A @ V},
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
