"""What is known of a platform that takes points from programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


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


class Platform(Protocol):
    name: str
    at_once: int  # how many grades go in one request

    def look(self, max_points: float) -> str:
        """What the assignment is called there. CourseError is raised if it cannot take these points."""

    def people(self) -> list[There]: ...

    def points(self) -> dict[str, float | None]:
        """What they have now, by id; None where there is nothing yet. Who is not in it must not be touched."""

    def save(self, grades: Sequence[Grade]) -> None: ...
