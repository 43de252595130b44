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

    def __init__(self, reason: str, unpacked_bytes: int = 0) -> None:
        super().__init__(reason)
        self.unpacked_bytes = unpacked_bytes  # at most


class TooLarge(Refused):
    def __init__(self) -> None:
        super().__init__(f"it would bring the submission to more than {MAX_BYTES // 2**20} MB")


@dataclass(frozen=True)
class File:
    """A file of a source, which is read when needed."""

    segments: Segments  # of its path; a zip counts as a folder
    read: Callable[[int], bytes]  # at most so many bytes, else TooLarge is raised
    path: str  # where it is, for messages

    def below(self, levels: int) -> File:
        """This file, as seen from a folder so many levels further down."""
        return File(self.segments[levels:], self.read, self.path)


@dataclass
class Listing:
    """All files in a source."""

    name: str  # of the source
    files: Sequence[File]
    clones: frozenset[str] = frozenset()  # folders in it that are git clones
    owners: dict[str, str] = field(default_factory=dict)  # of its folders, by name: users of this machine

    @property
    def tops(self) -> list[str]:
        """The names on its first level."""
        return list(dict.fromkeys(file.segments[0] for file in self.files))

    def path_of(self, name: str) -> str:
        """Where something in this source is, for messages."""
        return f"{self.name}/{name}"

    def unwrapped(self) -> Listing:
        """The listing without the one folder that holds everything; unchanged if there is none."""
        if len(self.tops) != 1 or any(len(file.segments) < 2 for file in self.files):
            return self
        return Listing(self.name, [file.below(1) for file in self.files])


def make_refused_file(segments: Sequence[str], path: str, reason: str) -> File:
    """A file that is listed, but refuses to be read."""

    def read(_max_bytes: int) -> NoReturn:
        raise Refused(reason)

    printable = tuple(_make_printable(segment) for segment in segments if segment not in ("", ".", ".."))
    return File(printable or ("?",), read, one_line(path))


def _make_printable(segment: str) -> str:
    """A segment of a path, printable, and cut to a length that leaves room for what platforms put before names."""
    letters = segment[: 4 * MAX_NAME]
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in letters)


def find_path_problem(segments: Sequence[str]) -> str:
    """What is wrong with a path; empty if it is fine."""
    if not segments or any(segment in ("", ".", "..") for segment in segments):
        return "its path leads elsewhere"
    sizes = [len(segment.encode(errors="replace")) for segment in segments]
    if len(segments) > MAX_LEVELS or sum(sizes) + len(sizes) > MAX_PATH:
        return "it is in too many nested folders"
    if max(sizes) > MAX_NAME or not all(segment.isprintable() for segment in segments):
        return "its name is too long, or has characters that cannot be shown"
    return ""


def is_junk(segments: Sequence[str]) -> bool:
    """Whether a system or a tool left this file behind, and nobody meant to submit it."""
    return any(segment.casefold() in _JUNK or segment.startswith("._") for segment in segments)
