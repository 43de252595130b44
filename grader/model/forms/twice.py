"""A function that involves chance: it is called twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from grader.model.forms.function import Malformed
from grader.model.forms.parts import InParts


@dataclass(frozen=True)
class TwiceSeen:
    """What two calls return, and what others show."""

    outputs: Mapping[str, Any]  # "first" and "second"
    zeros: Sequence[int] = ()  # how many each of some more calls returns
    third: Any = None  # what another call returns
    gradient: Any = None  # of the sum of that, for the first input
    ruined: bool = False  # whether a change in place has made it impossible


class Twice(InParts):
    """Two calls, to read what chance must and must not do."""

    name = "twice"

    def observed(self, value: object) -> TwiceSeen:
        """Two outputs of any kind, and more."""
        match value:
            case {
                "outputs": {"first": _, "second": _, **others} as outputs,
                "zeros": list() as zeros,
                "third": third,
                "gradient": gradient,
                "ruined": bool() as ruined,
                **more,
            } if not others and not more and all(type(count) is int for count in zeros):
                return TwiceSeen(outputs, zeros, third, gradient, ruined)
        raise Malformed


TWICE = Twice()
