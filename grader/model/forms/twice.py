"""A function that involves chance: it is called twice."""

from __future__ import annotations

from typing import Any

from grader.model.forms.function import Observation, observation
from grader.model.forms.parts import InParts


class TwiceSeen(Observation, frozen=True):
    """What two calls return, and what others show."""

    outputs: dict[str, Any]  # "first" and "second"
    zeros: list[int]  # how many each of some more calls returns
    third: Any  # what another call returns
    gradient: Any  # of the sum of that, for the first input
    ruined: bool  # whether a change in place has made it impossible

    def __post_init__(self) -> None:
        if self.outputs.keys() != {"first", "second"}:
            raise ValueError("the outputs are not those of two calls")


class Twice(InParts):
    """Two calls, to read what chance must and must not do."""

    name = "twice"

    def observed(self, value: object) -> TwiceSeen:
        """Two outputs of any kind, and more."""
        return observation(value, TwiceSeen)


TWICE = Twice()
