"""The files of an upload, in folders, in zips, or in zips in zips. Nothing that their names claim is believed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from grader.classroom.submitted_files import MAX_BYTES, MAX_LEVELS, MAX_PLACE, NEVER_NEEDED
from grader.sandbox.plain_text import one_line

MAX_NAME = 255  # bytes of a name that a disk takes
_JUNK = {name.casefold() for name in (*NEVER_NEEDED, ".DS_Store", "Thumbs.db", "desktop.ini")}

Parts = tuple[str, ...]  # folders, and the name; a zip counts as a folder


class Refused(Exception):
    """Something that is not read; the text says why. What was unpacked until then counts all the same."""

    def __init__(self, why: str, unpacked: int = 0) -> None:
        super().__init__(why)
        self.unpacked = unpacked  # bytes, at most


class TooLarge(Refused):
    def __init__(self) -> None:
        super().__init__(f"with it, the submission has more than {MAX_BYTES // 2**20} MB")


@dataclass(frozen=True)
class File:
    """A file that was found, and is read when it is asked for."""

    parts: Parts
    read: Callable[[int], bytes]  # no more than so many bytes, else TooLarge is raised
    place: str  # where it lies, as messages say it

    def below(self, levels: int) -> File:
        """The same file, as seen from a folder so many levels further down."""
        return File(self.parts[levels:], self.read, self.place)


@dataclass
class Listing:
    """All files in a source."""

    called: str  # the name of the source
    files: Sequence[File]
    clones: frozenset[str] = frozenset()  # folders in it that are clones of git
    owners: dict[str, str] = field(default_factory=dict)  # of its folders, by name: users of this machine

    @property
    def tops(self) -> list[str]:
        """The names on its first level."""
        return list(dict.fromkeys(file.parts[0] for file in self.files))

    def within(self, place: str) -> str:
        """Where something lies, as messages say it."""
        return f"{self.called}/{place}"

    def unwrapped(self) -> Listing:
        """Without the one folder in which all of it lies; the same if there is no such folder."""
        if len(self.tops) != 1 or any(len(file.parts) < 2 for file in self.files):
            return self
        return Listing(self.called, [file.below(1) for file in self.files])


def refused(parts: Sequence[str], place: str, why: str) -> File:
    """A file that was found and will not be read."""

    def read(_most: int) -> NoReturn:
        raise Refused(why)

    named = tuple(map(_as_shown, (part for part in parts if part not in ("", ".", ".."))))
    return File(named or ("?",), read, one_line(place))


def _as_shown(part: str) -> str:
    """Long enough for what a platform writes in front of a student's own name, and made printable."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in part[: 4 * MAX_NAME])


def why_not(parts: Sequence[str]) -> str:
    """What is wrong with a path; empty if nothing is."""
    if not parts or any(part in ("", ".", "..") for part in parts):
        return "its path leads elsewhere"
    if len(parts) > MAX_LEVELS or sum(len(part.encode(errors="replace")) + 1 for part in parts) > MAX_PLACE:
        return "it lies too deep"
    if not all(part.isprintable() and len(part.encode(errors="replace")) <= MAX_NAME for part in parts):
        return "its name is too long, or has characters that cannot be shown"
    return ""


def is_junk(parts: Sequence[str]) -> bool:
    """Whether systems or tools have left it behind, so that nobody meant to submit it."""
    return any(part.casefold() in _JUNK or part.startswith("._") for part in parts)
