"""What platforms give out: hand-ins, and who they say has made them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from grader.collecting.files import File, Listing
from grader.collecting.students import NAME, Key, Roster


@dataclass(frozen=True)
class Upload:
    """What one student has handed in at one time, as far as the platform tells."""

    key: Key
    files: Sequence[File]
    place: str  # where it lies, to be told
    time: datetime | None = None  # in UTC
    notes: Sequence[str] = ()
    late: str = ""  # who says that it is late, if a platform does


@dataclass(frozen=True)
class Asked:
    """What is collected."""

    assignment: str
    notebooks: Collection[str]  # the names of all notebooks of the course: people put them into names of files
    roster: Roster
    as_named: bool = False  # whoever is not known is called as the platform does

    def knows(self, name: str) -> bool:
        """Whether a student is called so."""
        return self.as_named or bool(self.roster.called(Key.of(name, (NAME, name))))


class Platform(Protocol):
    name: str
    called: str  # to be told

    def fits(self, listing: Listing, /) -> int:
        """How many of the names on its first level are such as the platform writes."""

    def uploads(self, listing: Listing, asked: Asked, /) -> list[Upload]:
        """What it holds, by student and time."""


Of = TypeVar("Of", bound=Hashable)


def grouped(listing: Listing, key_of: Callable[[str], Of]) -> dict[Of, list[File]]:
    groups: dict[Of, list[File]] = {}
    for file in listing.files:
        groups.setdefault(key_of(file.parts[0]), []).append(file)
    return groups


def inside(files: Iterable[File]) -> list[File]:
    """As seen from the folder on the first level; what lies there itself stays as it is."""
    return [file.below(1) if len(file.parts) > 1 else file for file in files]


def unnamed(listing: Listing, files: Sequence[File], platform: str) -> Upload:
    top = files[0].parts[0]
    return Upload(
        Key.in_doubt(top, f"it is not named as {platform} names what it gives out"), files, listing.within(top)
    )
