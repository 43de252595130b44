"""Exercise 1 of numbers: columns with mean 0 and standard deviation 1."""

from grader import Case, Exercise, at, wrong

from .tables import table


def standardise(numbers):
    centred = numbers - numbers.mean(axis=0)  #: centre
    return centred / numbers.std(axis=0)  #: divide


exercise = Exercise(
    number=1,
    assignment="numbers",
    title="Standardise",
    solution=standardise,
    cases=[
        Case("more rows than columns", catches="another axis", inputs=lambda rng: table(rng, 7, 3), numpy=True),
        Case("more columns than rows", catches="the same", inputs=lambda rng: table(rng, 4, 6), numpy=True),
    ],
    mistakes=[
        wrong(
            "along the rows",
            {
                "centre": "centred = numbers - numbers.mean(axis=1, keepdims=True)",
                "divide": "return centred / numbers.std(axis=1, keepdims=True)",
            },
            "Each row has mean 0 and standard deviation 1 in what comes out. Each column should have.",
            kind="axis",
        ),
        wrong(
            "over the whole table",
            {"centre": ("axis=0", ""), "divide": ("axis=0", "")},
            "The table as a whole has mean 0 and standard deviation 1 in what comes out. Each column should have.",
            kind="axis",
        ),
        wrong(
            "mean kept",
            {"centre": "centred = numbers"},
            "The columns have standard deviation 1, but not mean 0: their means are to be taken off first.",
            kind="missing step",
        ),
        *at(
            "divide",
            wrong(
                "divided by the variance",
                ("std", "var"),
                "What comes out is divided by the variance of each column. Its square root is asked for.",
            ),
        ),
    ],
)
