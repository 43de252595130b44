"""Read the content of an upload, with zips unpacked, in memory and within limits."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections import deque
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from grader.classroom.folder_walk import Segments
from grader.classroom.submitted_files import MAX_BYTES
from grader.collecting.files import File, Listing, Refused, TooLarge, is_junk, refused, why_not
from grader.errors import CourseError
from grader.sandbox.plain_text import one_line

# The members of a zip. Sizes, names and kinds are only claims by its author.

MAX_TABLE = 32 * 2**20  # bytes of the table of contents of a zip from a platform …
MAX_INNER_TABLE = 2**20  # … and of a zip in an upload
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_KINDS = (0, stat.S_IFREG, stat.S_IFDIR)  # neither links nor devices
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError, OverflowError)
_STARTS = (b"PK\3\4", b"PK\5\6")  # of a zip, and of an empty one


class _Guarded(io.BufferedReader):
    """A file that is read in pieces of limited size: zipfile would read a table as long as it claims to be."""

    def __init__(self, file: io.FileIO | io.BytesIO, most: int) -> None:
        super().__init__(file)
        self._most = most

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > self._most:
            raise zipfile.BadZipFile("too long")
        return super().read(size)


def is_zip(content: bytes) -> bool:
    return content.startswith(_STARTS)


def list_zip(path: Path, stack: ExitStack) -> Listing:
    """List all files of a zip on the disk, which `stack` closes."""
    try:
        file = stack.enter_context(_Guarded(io.FileIO(path), MAX_TABLE))
        return Listing(path.name, _members(stack.enter_context(zipfile.ZipFile(file)), ()))
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}. Fix that, then run this again.") from None
    except (*_DAMAGED, NotImplementedError):
        raise CourseError(
            f"{path} is not a zip file, or it is damaged. Download it again, or unpack it and use the folder."
        ) from None


def list_inner(content: bytes, parts: Segments, place: str) -> list[File]:
    """List the files of a zip in an upload. Refused is raised if it is not a zip."""
    try:
        return _members(zipfile.ZipFile(_Guarded(io.BytesIO(content), MAX_INNER_TABLE)), parts, place)
    except (*_DAMAGED, NotImplementedError):
        raise Refused("it is not a zip file, or it is damaged or has too many files") from None


def _members(archive: zipfile.ZipFile, above: Segments, place: str = "") -> list[File]:
    return [
        _file(archive, info, above, f"{place}/{info.filename}" if place else info.filename)
        for info in archive.infolist()
        if not info.is_dir() and not is_junk(_names(info))
    ]


def _names(info: zipfile.ZipInfo) -> list[str]:
    """Folders and name of a member; some zips from Windows have backslashes between them."""
    return info.filename.replace("\\", "/").split("/")


def _file(archive: zipfile.ZipFile, info: zipfile.ZipInfo, above: Segments, place: str) -> File:
    parts = (*above, *_names(info))
    if why := why_not(parts):
        return refused(parts, place, why)
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in _KINDS:
        return refused(parts, place, "it is a link" if kind == stat.S_IFLNK else "it is not a file")
    return File(parts, lambda most: _read(archive, info, most), place)


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    if info.flag_bits & 1:
        raise Refused("it is encrypted")
    if info.compress_type not in _METHODS:
        raise Refused("its compression method is not supported")
    if info.file_size > most:
        raise TooLarge
    try:
        with archive.open(info) as file:
            return file.read(most)  # never more than it claims to have
    except (*_DAMAGED, NotImplementedError):
        raise Refused("it is damaged", info.file_size) from None


MAX_FILES = 2000  # to look at in one upload
MAX_ZIPS = 3  # nested in each other
MAX_NOTES = 10
_ARCHIVES = (".rar", ".7z", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


@dataclass(frozen=True)
class HeldFile:
    """A file that was read."""

    parts: Segments
    place: str  # for messages
    content: bytes


@dataclass
class Contents:
    files: list[HeldFile] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # files that were not read, and why

    def refuse(self, place: str, why: str) -> None:
        if len(self.refused) < MAX_NOTES:
            self.refused.append(f"{one_line(place)}: {why}")
        elif len(self.refused) == MAX_NOTES:
            self.refused.append("and more")


def contents_of(files: Iterable[File]) -> Contents:
    """Read files: notebooks first, so that nothing else takes their room, and zips last."""
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
                contents.files.append(HeldFile(file.parts, file.place, content))
        except Refused as why:
            left -= why.unpacked
            contents.refuse(file.place, str(why))
    if waiting:
        contents.refuse(waiting[0][0].place, f"more than {MAX_FILES} files; from here on, they were skipped")
    return contents


def _turn(file: File) -> tuple[bool, bool, int, str]:
    name = file.parts[-1].lower()
    return ".ipynb" not in name, name.endswith(".zip"), len(file.parts), file.place


def _is_packed(file: File, content: bytes) -> bool:
    """Whether a file is a zip to unpack. Spreadsheets and saved tensors are zips, too, but stay packed."""
    name = file.parts[-1].lower()
    if name.endswith(_ARCHIVES):
        raise Refused("this kind of archive is not supported")
    if name.endswith(".zip") and not is_zip(content):
        raise Refused("it is not a zip file")
    return is_zip(content) and (name.endswith((".zip", ".ipynb")) or "." not in name)


def _unpacked(file: File, content: bytes, zips: int, most: int) -> list[File]:
    if zips == MAX_ZIPS:
        raise Refused(f"more than {MAX_ZIPS} zip files are nested")
    inner = list_inner(content, file.parts, file.place)
    if len(inner) > most:
        raise Refused(f"it would bring the submission to more than {MAX_FILES} files")
    return sorted(inner, key=_turn)
