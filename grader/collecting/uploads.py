"""Uploads as platforms give them out, with what they say about their students."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from grader.collecting.files import File, Listing
from grader.collecting.students import NAME, Roster, StudentReference


@dataclass(frozen=True)
class Upload:
    """The files that one student submitted at one time, as far as the platform knows."""

    reference: StudentReference
    files: Sequence[File]
    source: str  # where it is, for messages
    time: datetime | None = None  # in UTC
    notes: Sequence[str] = ()
    late_platform: str = ""  # the platform that calls it late, if one does


@dataclass(frozen=True)
class CollectRequest:
    """The assignment to collect, and the students who may have submitted it."""

    assignment: str
    notebooks: Collection[str]  # names of all the course's notebooks, which people put into names of files
    roster: Roster
    as_named: bool = False  # unknown students keep the platform's name

    def has_student(self, name: str) -> bool:
        """Whether a student has this name."""
        return self.as_named or bool(self.roster.students_meant(StudentReference.of(name, (NAME, name))))


class Platform(Protocol):
    name: str
    label: str  # in messages

    def count_names(self, listing: Listing, /) -> int:
        """The number of names on the first level that the platform could have written."""

    def list_uploads(self, listing: Listing, request: CollectRequest, /) -> list[Upload]:
        """List the uploads in a source, one for each student and time."""


Group = TypeVar("Group", bound=Hashable)


def group_files(listing: Listing, group_of: Callable[[str], Group]) -> dict[Group, list[File]]:
    """The files of a listing in groups, by their names on the first level."""
    groups: dict[Group, list[File]] = {}
    for file in listing.files:
        groups.setdefault(group_of(file.segments[0]), []).append(file)
    return groups


def below_top(files: Iterable[File]) -> list[File]:
    """Files as seen from their first-level folder; files on that level stay unchanged."""
    return [file.below(1) if len(file.segments) > 1 else file for file in files]


def make_unnamed_upload(listing: Listing, files: Sequence[File], platform: str) -> Upload:
    top = files[0].segments[0]
    reference = StudentReference.in_doubt(top, f"its name is not one that {platform} writes")
    return Upload(reference, files, listing.path_of(top))
