"""A named exercise of words: a date as three numbers, or nothing."""

from __future__ import annotations

import re

from grader import Case, Exercise, Misconception


def reference(
    text: str, *, order: tuple[int, int, int] = (0, 1, 2), whole: bool = True, nothing: tuple[int, ...] | None = None
) -> tuple[int, ...] | None:
    match = (re.fullmatch if whole else re.search)(r"(\d{4})-(\d{2})-(\d{2})", text)
    if match is None:
        return nothing
    parts = [int(part) for part in match.groups()]
    return tuple(parts[place] for place in order)


exercise = Exercise(
    name="parse-date",
    assignment="words",
    title="Read a date",
    entry="parse_date",
    reference=reference,
    cases=[
        Case("a date", catches="another order", inputs=lambda rng: ("2026-11-23",)),
        Case("no date", catches="an error where None is asked for", inputs=lambda rng: ("tomorrow",)),
        Case("in a sentence", catches="a date that is found anywhere", inputs=lambda rng: ("on 2027-01-02, noon",)),
    ],
    misconceptions=[
        Misconception(
            "day first",
            kind="arrangement",
            credit=0.5,
            says="The day comes first in what is returned. The order is year, month, day.",
            change={"order": (2, 1, 0)},
        ),
        Misconception(
            "found anywhere",
            kind="wrong formula",
            credit=0.5,
            says="A date is read out of a longer text, too. Only a text that is a date as a whole is one.",
            change={"whole": False},
        ),
        Misconception(
            "zeros for no date",
            kind="convention",
            credit=0.75,
            says="For a text that is no date, three zeros come out. None is asked for.",
            change={"nothing": (0, 0, 0)},
        ),
    ],
)
