"""The common interface to platforms that take points from programs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from grader.errors import CourseError
from grader.pages.spreadsheet import number


@dataclass(frozen=True)
class There:
    """A student as the platform knows them."""

    id: str
    names: Mapping[str, str] = field(compare=False)  # by our names for them: username, email, idnumber, canvas_id


@dataclass(frozen=True)
class Grade:
    """The grade that one student is to get on the platform."""

    student: str
    id: str
    before: float | None
    points: float
    comment: str


# Platforms answer in JSON, which may be anything. These functions raise TypeError or ValueError if it is not what they
# expect.


def entries(found: object) -> list[Any]:
    """Check that an answer is a list: any other answer could be taken for an empty one."""
    if not isinstance(found, list):
        raise TypeError
    return found


def identity(found: object) -> str:
    """Check that a platform's id is a number, since it becomes part of an address."""
    if not re.fullmatch("[0-9]{1,20}", str(found)):
        raise ValueError
    return str(found)


def points_of(found: Any) -> float:
    points = float(found)
    if not math.isfinite(points):
        raise ValueError
    return points


def same(one: float, other: float) -> bool:
    """Whether points are the same, to two decimals."""
    return abs(one - other) < 0.005


def must_be_worth(platform: str, title: str, there: float | None, here: float) -> None:
    """Check that both have the same maximum, or our points would mean other grades there."""
    if there is None or not same(there, here):
        has = f"{number(there)} points" if there and there > 0 else "no points"
        raise CourseError(
            f"In {platform}, “{title}” has {has}; here, it has {number(here)}. Change that there, then run this again."
        )


class PlatformApi(Protocol):
    name: str
    at_once: int  # how many grades go in one request

    def look(self, max_points: float) -> None:
        """Look at the assignment there. CourseError is raised if it cannot take these points."""

    def people(self) -> list[There]: ...

    def points(self) -> dict[str, float | None]:
        """The points there now, by id; None if there are none yet. Anyone missing must not be changed."""

    def save(self, grades: Sequence[Grade]) -> None: ...
