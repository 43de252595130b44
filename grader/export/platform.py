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
class PlatformStudent:
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


def checked_list(answer: object) -> list[Any]:
    """Check that an answer is a list: any other answer could be taken for an empty one."""
    if not isinstance(answer, list):
        raise TypeError
    return answer


def checked_id(answer: object) -> str:
    """Check that a platform's id is a number, since it becomes part of an address."""
    if not re.fullmatch("[0-9]{1,20}", str(answer)):
        raise ValueError
    return str(answer)


def checked_points(answer: Any) -> float:
    points = float(answer)
    if not math.isfinite(points):
        raise ValueError
    return points


def are_same(one: float, other: float) -> bool:
    """Whether points are the same, to two decimals."""
    return abs(one - other) < 0.005


def check_max_points(platform: str, title: str, platform_points: float | None, max_points: float) -> None:
    """Check that both have the same maximum, or our points would mean other grades there."""
    if platform_points is None or not are_same(platform_points, max_points):
        worth = f"{number(platform_points)} points" if platform_points and platform_points > 0 else "no points"
        raise CourseError(
            f"In {platform}, “{title}” has {worth}; here, it has {number(max_points)}. Change that there, then run "
            "this again."
        )


class PlatformApi(Protocol):
    name: str
    at_once: int  # how many grades go in one request

    def check_assignment(self, max_points: float) -> None:
        """Look at the assignment there. CourseError is raised if it cannot take these points."""

    def people(self) -> list[PlatformStudent]: ...

    def points(self) -> dict[str, float | None]:
        """The points there now, by id; None if there are none yet. Anyone missing must not be changed."""

    def save(self, grades: Sequence[Grade]) -> None: ...
