"""Exercise 2 of words: each word once, in the order in which they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby

from grader import Case, Exercise, Misconception


def reference(words: list[str], *, once: Callable[[list[str]], Iterable[str]] = dict.fromkeys) -> list[str]:
    return list(once(words))


exercise = Exercise(
    number=2,
    assignment="words",
    title="Each word once",
    entry="unique",
    reference=reference,
    cases=[
        Case("out of order", catches="sorting", inputs=lambda rng: (["pear", "fig", "pear", "apple", "fig"],)),
        Case("one that comes back", catches="looking at neighbours only", inputs=lambda rng: (["b", "b", "a", "b"],)),
    ],
    misconceptions=[
        Misconception(
            "sorted",
            kind="arrangement",
            credit=0.5,
            says="The words come out in the order of the alphabet. They should keep the order in which they came.",
            change={"once": lambda words: sorted(set(words))},
        ),
        Misconception(
            "neighbours only",
            kind="wrong formula",
            credit=0.25,
            says="Only words that follow each other are left out. A word that comes back later is there again.",
            change={"once": lambda words: [word for word, _ in groupby(words)]},
        ),
    ],
)
