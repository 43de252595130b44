"""Exercise 1 of words: how often each word stands in a text."""

from grader import Case, Exercise, at, wrong


def count_words(text):
    counts = {}
    for word in text.lower().split():  #: words
        counts[word] = counts.get(word, 0) + 1  #: count
    return counts


exercise = Exercise(
    number=1,
    assignment="words",
    title="Count words",
    solution=count_words,
    cases=[
        Case("capital letters", catches="words that are not made alike", inputs=lambda rng: ("A cat and a Cat sat",)),
        Case("two spaces", catches="empty words", inputs=lambda rng: ("to be  or not to be",)),
    ],
    mistakes=[
        *at(
            "words",
            wrong(
                "capital letters count",
                (".lower()", ""),
                "“A” and “a” are two words here. They should be one.",
                kind="missing step",
            ),
            wrong(
                "split at each space",
                ("split()", 'split(" ")'),
                "Where two spaces follow each other, there is an empty word between them here.",
                credit=0.75,
            ),
        ),
        wrong(
            "never more than once",
            {"count": "counts[word] = 1"},
            "Each word is counted once, however often it is there.",
            credit=0.25,
            kind="missing step",
        ),
    ],
)
