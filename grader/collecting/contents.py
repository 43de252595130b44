"""What a hand-in holds, zips in it unpacked, in memory and within bounds."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from grader.classroom.handed_in import MAX_BYTES
from grader.collecting.files import File, Parts, Refused
from grader.collecting.zips import is_zip, list_inner
from grader.sandbox.plain_text import one_line

MAX_FILES = 2000  # that are looked at in one hand-in
MAX_ZIPS = 3  # in one another
MAX_NOTES = 10
_ARCHIVES = (".rar", ".7z", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


@dataclass(frozen=True)
class Held:
    """A file that was read."""

    parts: Parts
    place: str  # to be told
    content: bytes


@dataclass
class Contents:
    files: list[Held] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # what was not read, and why

    def refuse(self, place: str, why: str) -> None:
        if len(self.refused) < MAX_NOTES:
            self.refused.append(f"{one_line(place)}: {why}")
        elif len(self.refused) == MAX_NOTES:
            self.refused.append("and more")


def contents_of(files: Iterable[File]) -> Contents:
    """Notebooks are read first, so that nothing beside them takes their room, and zips last."""
    contents = Contents()
    waiting = deque((file, 0) for file in sorted(files, key=_turn))
    left = MAX_BYTES
    for _ in range(MAX_FILES):
        if not waiting:
            return contents
        file, zips = waiting.popleft()
        try:
            content = file.read(left)
            left -= len(content)
            if _is_packed(file, content):
                waiting.extend((one, zips + 1) for one in _unpacked(file, content, zips, MAX_FILES - len(waiting)))
            else:
                contents.files.append(Held(file.parts, file.place, content))
        except Refused as why:
            left -= why.unpacked
            contents.refuse(file.place, str(why))
    if waiting:
        contents.refuse(waiting[0][0].place, f"more than {MAX_FILES} files; what comes here is not read")
    return contents


def _turn(file: File) -> tuple[bool, bool, int, str]:
    name = file.parts[-1].lower()
    return ".ipynb" not in name, name.endswith(".zip"), len(file.parts), file.place


def _is_packed(file: File, content: bytes) -> bool:
    """Tables and saved tensors are zips, too, and stay as they are."""
    name = file.parts[-1].lower()
    if name.endswith(_ARCHIVES):
        raise Refused("an archive of a kind that is not unpacked here")
    if name.endswith(".zip") and not is_zip(content):
        raise Refused("it is no zip")
    return is_zip(content) and (name.endswith((".zip", ".ipynb")) or "." not in name)


def _unpacked(file: File, content: bytes, zips: int, most: int) -> list[File]:
    if zips == MAX_ZIPS:
        raise Refused(f"more than {MAX_ZIPS} zips lie in one another")
    inner = list_inner(content, file.parts, file.place)
    if len(inner) > most:
        raise Refused(f"with it, the hand-in has more than {MAX_FILES} files")
    return sorted(inner, key=_turn)
