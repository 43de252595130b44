"""Exercise 2 of words: each word once, in the order in which they come."""

from grader import Case, Exercise, at, wrong


def unique(words):
    return list(dict.fromkeys(words))  #: once


exercise = Exercise(
    number=2,
    assignment="words",
    title="Each word once",
    solution=unique,
    cases=[
        Case("out of order", catches="sorting", inputs=lambda rng: (["pear", "fig", "pear", "apple", "fig"],)),
        Case("one that comes back", catches="looking at neighbours only", inputs=lambda rng: (["b", "b", "a", "b"],)),
    ],
    mistakes=at(
        "once",
        wrong(
            "sorted",
            "return sorted(set(words))",
            "The words come out in the order of the alphabet. They should keep the order in which they came.",
            kind="arrangement",
        ),
        wrong(
            "neighbours only",
            "from itertools import groupby\nreturn [word for word, _ in groupby(words)]",
            "Only words that follow each other are left out. A word that comes back later is there again.",
            credit=0.25,
        ),
    ),
)
