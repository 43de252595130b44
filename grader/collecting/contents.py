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
from grader.collecting.files import File, Listing, Refused, TooLarge, find_path_problem, is_junk, make_refused_file
from grader.errors import CourseError
from grader.sandbox.plain_text import one_line

# The members of a zip. Sizes, names and kinds are only claims by its author.

MAX_TABLE = 32 * 2**20  # bytes of the table of contents of a zip from a platform …
MAX_INNER_TABLE = 2**20  # … and of a zip in an upload
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_KINDS = (0, stat.S_IFREG, stat.S_IFDIR)  # neither links nor devices
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError, OverflowError)
_STARTS = (b"PK\3\4", b"PK\5\6")  # of a zip, and of an empty one


class _LimitedReader(io.BufferedReader):
    """A file that is read in pieces of limited size: zipfile would read a table as long as it claims to be."""

    def __init__(self, file: io.FileIO | io.BytesIO, max_bytes: int) -> None:
        super().__init__(file)
        self._max_bytes = max_bytes

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > self._max_bytes:
            raise zipfile.BadZipFile("too long")
        return super().read(size)


def is_zip(content: bytes) -> bool:
    return content.startswith(_STARTS)


def list_zip(path: Path, stack: ExitStack) -> Listing:
    """List all files of a zip on the disk, which `stack` closes."""
    try:
        file = stack.enter_context(_LimitedReader(io.FileIO(path), MAX_TABLE))
        archive = stack.enter_context(zipfile.ZipFile(file))
        return Listing(path.name, _list_members(archive, ()))
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}. Fix that, then run this again.") from None
    except (*_DAMAGED, NotImplementedError):
        raise CourseError(
            f"{path} is not a zip file, or it is damaged. Download it again, or unpack it and use the folder."
        ) from None


def list_inner(content: bytes, above: Segments, path: str) -> list[File]:
    """List the files of a zip in an upload. Refused is raised if it is not a zip."""
    try:
        return _list_members(zipfile.ZipFile(_LimitedReader(io.BytesIO(content), MAX_INNER_TABLE)), above, path)
    except (*_DAMAGED, NotImplementedError):
        raise Refused("it is not a zip file, or it is damaged or has too many files") from None


def _list_members(archive: zipfile.ZipFile, above: Segments, path: str = "") -> list[File]:
    files = []
    for info in archive.infolist():
        names = info.filename.replace("\\", "/").split("/")  # some zips from Windows have backslashes
        if not info.is_dir() and not is_junk(names):
            member_path = f"{path}/{info.filename}" if path else info.filename
            files.append(_make_file(archive, info, (*above, *names), member_path))
    return files


def _make_file(archive: zipfile.ZipFile, info: zipfile.ZipInfo, segments: Segments, path: str) -> File:
    problem = find_path_problem(segments)
    if problem:
        return make_refused_file(segments, path, problem)
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in _KINDS:
        return make_refused_file(segments, path, "it is a link" if kind == stat.S_IFLNK else "it is not a file")
    return File(segments, lambda max_bytes: _read_member(archive, info, max_bytes), path)


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, max_bytes: int) -> bytes:
    if info.flag_bits & 1:
        raise Refused("it is encrypted")
    if info.compress_type not in _METHODS:
        raise Refused("its compression method is not supported")
    if info.file_size > max_bytes:
        raise TooLarge
    try:
        with archive.open(info) as file:
            return file.read(max_bytes)  # never more than it claims to have
    except (*_DAMAGED, NotImplementedError):
        raise Refused("it is damaged", info.file_size) from None


MAX_FILES = 2000  # to look at in one upload
MAX_ZIPS = 3  # nested in each other
MAX_NOTES = 10
_ARCHIVES = (".rar", ".7z", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


@dataclass(frozen=True)
class UploadedFile:
    """A file that was read."""

    segments: Segments
    path: str  # where it is, for messages
    content: bytes

    @property
    def name(self) -> str:
        return self.segments[-1]

    @property
    def shown_path(self) -> str:
        return one_line(self.path)


@dataclass
class Contents:
    files: list[UploadedFile] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)  # files that were not read, and why

    def refuse(self, path: str, reason: str) -> None:
        if len(self.refusals) < MAX_NOTES:
            self.refusals.append(f"{one_line(path)}: {reason}")
        elif len(self.refusals) == MAX_NOTES:
            self.refusals.append("and more")


def read_contents(files: Iterable[File]) -> Contents:
    """Read files: notebooks first, so that nothing else takes their room, and zips last."""
    contents = Contents()
    queue = deque((file, 0) for file in sorted(files, key=_reading_order))
    bytes_left = MAX_BYTES
    for _ in range(MAX_FILES):
        if not queue:
            return contents
        file, depth = queue.popleft()
        try:
            content = file.read(bytes_left)
            bytes_left -= len(content)
            if _is_to_unpack(file, content):
                inner_files = _unpack(file, content, depth, MAX_FILES - len(queue))
                queue.extend((inner_file, depth + 1) for inner_file in inner_files)
            else:
                contents.files.append(UploadedFile(file.segments, file.path, content))
        except Refused as refusal:
            bytes_left -= refusal.unpacked_bytes
            contents.refuse(file.path, str(refusal))
    if queue:
        contents.refuse(queue[0][0].path, f"more than {MAX_FILES} files; from here on, they were skipped")
    return contents


def _reading_order(file: File) -> tuple[bool, bool, int, str]:
    name = file.segments[-1].lower()
    return ".ipynb" not in name, name.endswith(".zip"), len(file.segments), file.path


def _is_to_unpack(file: File, content: bytes) -> bool:
    """Whether a file is a zip to unpack. Spreadsheets and saved tensors are zips, too, but stay packed."""
    name = file.segments[-1].lower()
    if name.endswith(_ARCHIVES):
        raise Refused("this kind of archive is not supported")
    if name.endswith(".zip") and not is_zip(content):
        raise Refused("it is not a zip file")
    return is_zip(content) and (name.endswith((".zip", ".ipynb")) or "." not in name)


def _unpack(file: File, content: bytes, depth: int, max_files: int) -> list[File]:
    if depth == MAX_ZIPS:
        raise Refused(f"more than {MAX_ZIPS} zip files are nested")
    files = list_inner(content, file.segments, file.path)
    if len(files) > max_files:
        raise Refused(f"it would bring the submission to more than {MAX_FILES} files")
    return sorted(files, key=_reading_order)
