"""The files of an upload, in folders, zips, or nested zips. Nothing that their names claim is trusted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from grader.classroom.folder_walk import MAX_LEVELS, MAX_PATH, NEVER_NEEDED, Segments
from grader.classroom.submitted_files import MAX_BYTES
from grader.sandbox.plain_text import one_line

MAX_NAME = 255  # bytes of a name on a disk
_JUNK = {name.casefold() for name in (*NEVER_NEEDED, ".DS_Store", "Thumbs.db", "desktop.ini")}


class Refused(Exception):
    """A file is not read; the text says why. What was unpacked until then still counts."""

    def __init__(self, why: str, unpacked: int = 0) -> None:
        super().__init__(why)
        self.unpacked = unpacked  # bytes, at most


class TooLarge(Refused):
    def __init__(self) -> None:
        super().__init__(f"it would bring the submission to more than {MAX_BYTES // 2**20} MB")


@dataclass(frozen=True)
class File:
    """A file that was found, and is read when needed."""

    parts: Segments  # a zip counts as a folder
    read: Callable[[int], bytes]  # at most so many bytes, else TooLarge is raised
    place: str  # where it is, for messages

    def below(self, levels: int) -> File:
        """This file, as seen from a folder so many levels further down."""
        return File(self.parts[levels:], self.read, self.place)


@dataclass
class Listing:
    """All files in a source."""

    called: str  # the name of the source
    files: Sequence[File]
    clones: frozenset[str] = frozenset()  # folders in it that are git clones
    owners: dict[str, str] = field(default_factory=dict)  # of its folders, by name: users of this machine

    @property
    def tops(self) -> list[str]:
        """The names on its first level."""
        return list(dict.fromkeys(file.parts[0] for file in self.files))

    def within(self, place: str) -> str:
        """The place of something in this source, for messages."""
        return f"{self.called}/{place}"

    def unwrapped(self) -> Listing:
        """The listing without the one folder that holds everything; unchanged if there is none."""
        if len(self.tops) != 1 or any(len(file.parts) < 2 for file in self.files):
            return self
        return Listing(self.called, [file.below(1) for file in self.files])


def refused(parts: Sequence[str], place: str, why: str) -> File:
    """A file that was found, but refuses to be read."""

    def read(_most: int) -> NoReturn:
        raise Refused(why)

    named = tuple(map(_as_shown, (part for part in parts if part not in ("", ".", ".."))))
    return File(named or ("?",), read, one_line(place))


def _as_shown(part: str) -> str:
    """A part of a path, printable, and cut to a length that leaves room for what platforms put before names."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in part[: 4 * MAX_NAME])


def why_not(parts: Sequence[str]) -> str:
    """What is wrong with a path; empty if it is fine."""
    if not parts or any(part in ("", ".", "..") for part in parts):
        return "its path leads elsewhere"
    if len(parts) > MAX_LEVELS or sum(len(part.encode(errors="replace")) + 1 for part in parts) > MAX_PATH:
        return "it is in too many nested folders"
    if not all(part.isprintable() and len(part.encode(errors="replace")) <= MAX_NAME for part in parts):
        return "its name is too long, or has characters that cannot be shown"
    return ""


def is_junk(parts: Sequence[str]) -> bool:
    """Whether a system or a tool left this file behind, and nobody meant to submit it."""
    return any(part.casefold() in _JUNK or part.startswith("._") for part in parts)
