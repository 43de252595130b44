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
