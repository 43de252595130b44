"""What platforms give out: uploads, and who they say has made them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from grader.collecting.files import File, Listing
from grader.collecting.students import NAME, Key, Roster


@dataclass(frozen=True)
class Upload:
    """The files that one student submitted at one time, as far as the platform knows."""

    key: Key
    files: Sequence[File]
    place: str  # where it lies, as messages say it
    time: datetime | None = None  # in UTC
    notes: Sequence[str] = ()
    late: str = ""  # who says that it is late, if a platform does


@dataclass(frozen=True)
class Asked:
    """What is to be collected, and who may have submitted it."""

    assignment: str
    notebooks: Collection[str]  # the names of all notebooks of the course: people put them into names of files
    roster: Roster
    as_named: bool = False  # unknown students keep the name that the platform uses

    def knows(self, name: str) -> bool:
        """Whether a student has this name."""
        return self.as_named or bool(self.roster.called(Key.of(name, (NAME, name))))


class Platform(Protocol):
    name: str
    called: str  # in messages

    def fits(self, listing: Listing, /) -> int:
        """How many of the names on the first level could be written by the platform."""

    def uploads(self, listing: Listing, asked: Asked, /) -> list[Upload]:
        """All uploads in it, one for each student and time."""


Of = TypeVar("Of", bound=Hashable)


def grouped(listing: Listing, key_of: Callable[[str], Of]) -> dict[Of, list[File]]:
    groups: dict[Of, list[File]] = {}
    for file in listing.files:
        groups.setdefault(key_of(file.parts[0]), []).append(file)
    return groups


def inside(files: Iterable[File]) -> list[File]:
    """Files as seen from their folder on the first level; files that lie on that level stay there."""
    return [file.below(1) if len(file.parts) > 1 else file for file in files]


def unnamed(listing: Listing, files: Sequence[File], platform: str) -> Upload:
    top = files[0].parts[0]
    return Upload(
        Key.in_doubt(top, f"it is not named as {platform} names what it gives out"), files, listing.within(top)
    )
