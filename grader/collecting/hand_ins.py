"""What platforms give out: hand-ins, and who they say has made them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from grader.collecting.files import File, Listing
from grader.collecting.students import Key


@dataclass(frozen=True)
class HandIn:
    """What one student has handed in at one time, as far as the platform tells."""

    key: Key
    files: Sequence[File]
    place: str  # where it lies, to be told
    time: datetime | None = None  # in UTC
    owner: str = ""  # the user of this machine to whom it belongs
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Asked:
    """What is collected."""

    assignment: str
    notebooks: Collection[str]  # the names of all notebooks of the course: people put them into names of files
    knows: Callable[[str], bool]  # whether a student is called so


class Platform(Protocol):
    name: str
    called: str  # to be told

    def recognises(self, listing: Listing, /) -> bool:
        """Whether a source looks as if it came from there."""

    def hand_ins(self, listing: Listing, asked: Asked, /) -> list[HandIn]:
        """What it holds, by student and time."""


def grouped(listing: Listing, key_of: Callable[[str], str]) -> dict[str, list[File]]:
    groups: dict[str, list[File]] = {}
    for file in listing.files:
        groups.setdefault(key_of(file.parts[0]), []).append(file)
    return groups


def unnamed(listing: Listing, files: Sequence[File], platform: str) -> HandIn:
    top = files[0].parts[0]
    return HandIn(Key.of("", shown=f"{top}, which is not named as {platform} names files"), files, listing.within(top))
