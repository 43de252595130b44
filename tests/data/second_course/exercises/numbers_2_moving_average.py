"""Exercise 2 of numbers: the mean of each window."""

import numpy as np

from grader import Case, Exercise, wrong

from .tables import with_width


def moving_average(values, width):
    starts = range(len(values) - width + 1)
    return np.array([values[start : start + width].mean() for start in starts])  #: means


exercise = Exercise(
    number=2,
    assignment="numbers",
    title="Moving average",
    solution=moving_average,
    cases=[
        Case("three wide", catches="an even width", inputs=lambda rng: with_width(rng, 9, 3), numpy=True),
        Case("four wide", catches="a width that is written down", inputs=lambda rng: with_width(rng, 8, 4), numpy=True),
    ],
    mistakes=[
        wrong(
            "sums",
            {"means": ("mean", "sum")},
            "What comes out is the sum of each window. Its mean is asked for.",
            kind="missing step",
        ),
        wrong(
            "beyond the ends",
            {"means": "return np.convolve(values, np.ones(width), mode='same') / width"},
            "There are windows here that reach beyond the ends. Only those that lie inside count.",
        ),
    ],
)
