"""A named exercise of words: a date as three numbers, or nothing."""

import re

from grader import Case, Exercise, wrong


def parse_date(text):
    match = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", text)  #: match
    return tuple(int(part) for part in match.groups()) if match else None  #: parts


exercise = Exercise(
    name="parse-date",
    assignment="words",
    title="Read a date",
    solution=parse_date,
    cases=[
        Case("a date", catches="another order", inputs=lambda rng: ("2026-11-23",)),
        Case("no date", catches="an error where None is asked for", inputs=lambda rng: ("tomorrow",)),
        Case("in a sentence", catches="a date that is found anywhere", inputs=lambda rng: ("on 2027-01-02, noon",)),
    ],
    mistakes=[
        wrong(
            "day first",
            {"parts": ("match.groups()", "match.groups()[::-1]")},
            "The day comes first in what is returned. The order is year, month, day.",
            kind="arrangement",
        ),
        wrong(
            "found anywhere",
            {"match": ("fullmatch", "search")},
            "A date is read out of a longer text, too. Only a text that is a date as a whole is one.",
        ),
        wrong(
            "zeros for no date",
            {"parts": ("None", "(0, 0, 0)")},
            "For a text that is no date, three zeros come out. None is asked for.",
            credit=0.75,
            kind="convention",
        ),
    ],
)
