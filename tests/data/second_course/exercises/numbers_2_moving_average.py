"""Exercise 2 of numbers: the mean of each window."""

from __future__ import annotations

import numpy as np

from grader import Case, Exercise, Misconception

from .tables import Array, with_width


def reference(values: Array, width: int, *, divide: bool = True, mode: str = "valid") -> Array:
    sums = np.convolve(values, np.ones(width), mode=mode)  # type: ignore[call-overload]
    result: Array = sums / width if divide else sums
    return result


exercise = Exercise(
    number=2,
    assignment="numbers",
    title="Moving average",
    entry="moving_average",
    reference=reference,
    cases=[
        Case("three wide", catches="an even width", inputs=lambda rng: with_width(rng, 9, 3)),
        Case("four wide", catches="a width that is written down", inputs=lambda rng: with_width(rng, 8, 4)),
    ],
    misconceptions=[
        Misconception(
            "sums",
            kind="missing step",
            credit=0.5,
            says="What comes out is the sum of each window. Its mean is asked for.",
            change={"divide": False},
        ),
        Misconception(
            "beyond the ends",
            kind="wrong formula",
            credit=0.5,
            says="There are windows here that reach beyond the ends. Only those that lie inside count.",
            change={"mode": "same"},
        ),
    ],
)
