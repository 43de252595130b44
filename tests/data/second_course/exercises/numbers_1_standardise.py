"""Exercise 1 of numbers: columns with mean 0 and standard deviation 1."""

from __future__ import annotations

from grader import Case, Exercise, Misconception

from .tables import Array, table


def reference(numbers: Array, *, axis: int | None = 0, minus_mean: bool = True, over: str = "std") -> Array:
    keep = axis is not None
    centred = numbers - numbers.mean(axis, keepdims=keep) if minus_mean else numbers  # (rows, columns)
    size = numbers.std(axis, keepdims=keep) if over == "std" else numbers.var(axis, keepdims=keep)
    result: Array = centred / size
    return result


exercise = Exercise(
    number=1,
    assignment="numbers",
    title="Standardise",
    entry="standardise",
    reference=reference,
    cases=[
        Case("more rows than columns", catches="another axis", inputs=lambda rng: (table(rng, 7, 3),)),
        Case("more columns than rows", catches="the same", inputs=lambda rng: (table(rng, 4, 6),)),
    ],
    misconceptions=[
        Misconception(
            "along the rows",
            kind="axis",
            credit=0.5,
            says="Each row has mean 0 and standard deviation 1 in what comes out. Each column should have.",
            change={"axis": 1},
        ),
        Misconception(
            "over the whole table",
            kind="axis",
            credit=0.5,
            says="The table as a whole has mean 0 and standard deviation 1 in what comes out. Each column should have.",
            change={"axis": None},
        ),
        Misconception(
            "mean kept",
            kind="missing step",
            credit=0.5,
            says="The columns have standard deviation 1, but not mean 0: their means are to be taken off first.",
            change={"minus_mean": False},
        ),
        Misconception(
            "divided by the variance",
            kind="wrong formula",
            credit=0.5,
            says="What comes out is divided by the variance of each column. Its square root is asked for.",
            change={"over": "var"},
        ),
    ],
)
