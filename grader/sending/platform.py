"""What is known of a platform that takes points from programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from grader.errors import CourseError
from grader.pages.spreadsheet import number


@dataclass(frozen=True)
class There:
    """A student as the platform knows them."""

    id: str
    names: Mapping[str, str] = field(compare=False)  # by what we call it: username, email, idnumber


@dataclass(frozen=True)
class Grade:
    """What one student is to have there."""

    student: str
    id: str
    before: float | None
    points: float
    comment: str


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


class Platform(Protocol):
    name: str
    at_once: int  # how many grades go in one request

    def look(self, max_points: float) -> None:
        """CourseError is raised if the assignment there cannot take these points."""

    def people(self) -> list[There]: ...

    def points(self) -> dict[str, float | None]:
        """What they have now, by id; None where there is nothing yet. Who is not in it must not be touched."""

    def save(self, grades: Sequence[Grade]) -> None: ...
