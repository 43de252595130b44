"""The mistake to assume as many queries as keys: exercises 2, 4, 5 and 6."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader import Case, Inputs, Misconception, wrong

ASSUMED = "Your code is right only if there are as many queries as keys. Make it work for different numbers, too."


def cases(sized: Callable[[int, int], Callable[[torch.Generator], Inputs]]) -> list[Case]:
    """Cases with more keys than queries, and with fewer; `sized` takes these two numbers."""
    return [
        Case("more keys than queries", "loops over queries in place of keys", sized(3, 5), beside=ASSUMED),
        Case("more queries than keys", "loops over keys in place of queries", sized(5, 2), beside=ASSUMED),
    ]


def as_many_keys(line: str) -> Misconception:
    return wrong(
        "as many keys as queries assumed",
        line,
        "Your code assumes that there are as many keys as queries. There may be more keys, or fewer: count each list "
        "separately.",
        credit=0.75,
        kind="input",
    )


def as_many_queries(line: str) -> Misconception:
    return wrong(
        "as many queries as keys assumed",
        line,
        "Your code assumes that there are as many queries as keys. There may be more queries, or fewer: count each "
        "list separately.",
        credit=0.75,
        kind="input",
    )
