"""Uploads as platforms give them out, with what they say about their students."""

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
    place: str  # where it is, for messages
    time: datetime | None = None  # in UTC
    notes: Sequence[str] = ()
    late: str = ""  # the platform that calls it late, if one does


@dataclass(frozen=True)
class Asked:
    """The assignment to collect, and the students who may have submitted it."""

    assignment: str
    notebooks: Collection[str]  # names of all the course's notebooks, which people put into names of files
    roster: Roster
    as_named: bool = False  # unknown students keep the platform's name

    def knows(self, name: str) -> bool:
        """Whether a student has this name."""
        return self.as_named or bool(self.roster.called(Key.of(name, (NAME, name))))


class Platform(Protocol):
    name: str
    called: str  # in messages

    def fits(self, listing: Listing, /) -> int:
        """The number of names on the first level that the platform could have written."""

    def uploads(self, listing: Listing, asked: Asked, /) -> list[Upload]:
        """List the uploads in a source, one for each student and time."""


Of = TypeVar("Of", bound=Hashable)


def grouped(listing: Listing, key_of: Callable[[str], Of]) -> dict[Of, list[File]]:
    groups: dict[Of, list[File]] = {}
    for file in listing.files:
        groups.setdefault(key_of(file.parts[0]), []).append(file)
    return groups


def inside(files: Iterable[File]) -> list[File]:
    """Files as seen from their first-level folder; files on that level stay unchanged."""
    return [file.below(1) if len(file.parts) > 1 else file for file in files]


def unnamed(listing: Listing, files: Sequence[File], platform: str) -> Upload:
    top = files[0].parts[0]
    return Upload(Key.in_doubt(top, f"its name is not one that {platform} writes"), files, listing.within(top))
