"""What is known of a platform that takes points from programs."""

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
    names: Mapping[str, str] = field(compare=False)  # by what we call it: username, email, idnumber, canvas_id


@dataclass(frozen=True)
class Grade:
    """What one student is to have there."""

    student: str
    id: str
    before: float | None
    points: float
    comment: str


# Platforms answer in JSON, which may hold anything. What follows raises TypeError or ValueError if it is something
# else.


def entries(found: object) -> list[Any]:
    """Several of something: else an answer that says something else would be taken for none."""
    if not isinstance(found, list):
        raise TypeError
    return found


def identity(found: object) -> str:
    """A number that the platform has for something: it becomes part of an address."""
    if not re.fullmatch("[0-9]{1,20}", str(found)):
        raise ValueError
    return str(found)


def points_of(found: Any) -> float:
    points = float(found)
    if not math.isfinite(points):
        raise ValueError
    return points


def same(one: float, other: float) -> bool:
    """Points have two decimals."""
    return abs(one - other) < 0.005


def must_be_worth(platform: str, title: str, there: float | None, here: float) -> None:
    """An assignment with other points would make other grades of ours."""
    if there is None or not same(there, here):
        has = f"{number(there)} points" if there and there > 0 else "no points"
        raise CourseError(
            f"In {platform}, “{title}” has {has}; here, it has {number(here)}. Change that there, and run this again."
        )


class PlatformApi(Protocol):
    name: str
    at_once: int  # how many grades go in one request

    def look(self, max_points: float) -> None:
        """CourseError is raised if the assignment there cannot take these points."""

    def people(self) -> list[There]: ...

    def points(self) -> dict[str, float | None]:
        """What they have now, by id; None where there is nothing yet. Who is not in it must not be touched."""

    def save(self, grades: Sequence[Grade]) -> None: ...
