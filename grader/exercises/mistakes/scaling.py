"""Scores that are scaled by something else, in the wrong place, or with the wrong sign."""

from __future__ import annotations

from typing import Any

from grader import Misconception


def sign_flipped(**change: Any) -> Misconception:
    return Misconception(
        "sign flipped",
        kind="wrong formula",
        credit=0.25,
        says="The scores have the wrong sign: a query should look most where its dot product is largest.",
        change=change,
    )


ROOT_OF_FOUR = Misconception(
    "divided by 2",
    kind="hard-coded",
    credit=0.5,
    says="Your scores are divided by 2 whatever D is; that is √D for 4 only. Take D from the shape of a query.",
    change={"scale": lambda scores, D, N: scores / 2},
)

MULTIPLIED_BY_ROOT_D = Misconception(
    "multiplied by √D",
    kind="scaling",
    credit=0.5,
    says="The scores that you use are multiplied by √D. They should be divided by it.",
    change={"scale": lambda scores, D, N: scores * D**0.5},
)
