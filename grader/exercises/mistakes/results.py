"""Right numbers in the wrong arrangement, or not all of them."""

from __future__ import annotations

from typing import Any

from grader import Misconception


def squeezed(**change: Any) -> Misconception:
    return Misconception(
        "squeezed",
        kind="arrangement",
        credit=0.5,
        says="Your result has lost the dimensions of size 1, as with squeeze. One sentence is a batch, too.",
        change=change,
    )
