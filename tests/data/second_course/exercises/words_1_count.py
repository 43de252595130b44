"""Exercise 1 of words: how often each word stands in a text."""

from __future__ import annotations

from collections.abc import Callable

from grader import Case, Exercise, Misconception


def reference(
    text: str, *, words: Callable[[str], list[str]] = lambda text: text.lower().split(), count: bool = True
) -> dict[str, int]:
    found = words(text)
    return {word: found.count(word) if count else 1 for word in found}


exercise = Exercise(
    number=1,
    assignment="words",
    title="Count words",
    entry="count_words",
    reference=reference,
    cases=[
        Case("capital letters", catches="words that are not made alike", inputs=lambda rng: ("A cat and a Cat sat",)),
        Case("two spaces", catches="empty words", inputs=lambda rng: ("to be  or not to be",)),
    ],
    misconceptions=[
        Misconception(
            "capital letters count",
            kind="missing step",
            credit=0.5,
            says="“A” and “a” are two words here. They should be one.",
            change={"words": str.split},
        ),
        Misconception(
            "split at each space",
            kind="wrong formula",
            credit=0.75,
            says="Where two spaces follow each other, there is an empty word between them here.",
            change={"words": lambda text: text.lower().split(" ")},
        ),
        Misconception(
            "never more than once",
            kind="missing step",
            credit=0.25,
            says="Each word is counted once, however often it is there.",
            change={"count": False},
        ),
    ],
)
