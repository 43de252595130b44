"""Take in a submission: plain files in sensible number and size, and no links."""

from __future__ import annotations

import mimetypes
import os
import re
import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from unicodedata import category

from nbgrader.utils import parse_utc

from grader.classroom.folder_walk import MAX_LEVELS, MAX_PATH, NEVER_NEEDED, Gap, read_plain, walk
from grader.notebooks import parsing
from grader.sandbox.plain_text import one_line

MAX_FILES = 200
MAX_BYTES = 100 * 2**20
MAX_LEFT_OUT = 20
MAX_ENTRIES = 2000  # to look at; a folder with a virtual environment has more
TIMESTAMP = "timestamp.txt"  # beside the notebook: the time of submission
MAX_TIMESTAMP = 100  # bytes; nbgrader's reader of dates takes hours for long ones

# nbgrader finds folders by patterns: `zo?` would also find zoe.
_STUDENT = re.compile(r"\w[\w .@+,'()-]{0,99}")
_MARKS = {"Mn", "Mc"}  # they belong to the letter before: in names from a Mac, ö is an o and a mark
# A page that is opened beside the formgrader or the feedback would have their rights. nbgrader itself puts the course's
# own drawings there.
_PAGES = {".htm", ".html", ".shtml", ".xhtml", ".xht", ".mht", ".mhtml", ".xml", ".svg"}


class NotTakenIn(Exception):
    """The submission cannot be graded; the text says why."""


@dataclass
class SubmittedFiles:
    """The files of a submission, in memory."""

    notebooks: dict[str, bytes | None]  # by name; None if the notebook is a folder
    files: dict[str, bytes] = field(default_factory=dict)  # the other files, by path
    # What was left out; continues "tried to". Digests of submissions depend on these texts: another wording would make
    # all of them new.
    left_out: list[str] = field(default_factory=list)

    @property
    def time_text(self) -> str:
        """The time of submission as text; empty if unknown."""
        return self.files.get(TIMESTAMP, b"").decode().strip()

    @property
    def time(self) -> datetime | None:
        return parse_utc(self.time_text) if self.time_text else None  # only readable times were taken in


def take_in(
    submitted: Path,
    student: str,
    assignment: str,
    source: Path | None = None,
    replaceable_files: Collection[str] = (),
    notebooks: Sequence[str] = (),
    companion_files: Collection[str] = (),
    attempt: str = "",
) -> SubmittedFiles:
    """Read a submission, or the `attempt` of that name in the folder of kept attempts.

    The student's files are left out if the folder `source` has them too, unless they are among `replaceable_files`, or
    if they have the name of one of the `companion_files`, which nbgrader puts beside the notebook. Without `notebooks`,
    there is one, with the assignment's name.
    """
    if not is_name(student):
        raise NotTakenIn("the folder's name is too long, or has characters that nbgrader cannot use. Rename it")
    try:
        above, folder = submitted / student, submitted / student / assignment / attempt
        submission = SubmittedFiles(_read_notebooks(above, folder, notebooks or [assignment]))
    except OSError as error:
        raise NotTakenIn(f"the submission cannot be read: {error.strerror}") from error
    _read_other_files(folder, submission, source, replaceable_files, companion_files)
    return submission


def is_name(student: str) -> bool:
    return bool(_STUDENT.fullmatch("".join("'" if category(letter) in _MARKS else letter for letter in student)))


def _read_notebooks(above: Path, folder: Path, names: Sequence[str]) -> dict[str, bytes | None]:
    shown_path = folder.relative_to(above.parent.parent)
    paths = [folder / f"{name}.ipynb" for name in names]
    if any(path.is_symlink() for path in (above, folder, *paths)):
        raise NotTakenIn("the submission is a link, not a notebook")
    if folder.exists() and not folder.is_dir():
        raise NotTakenIn(f"{shown_path} is not a folder")
    notebooks = {path.stem: _read_notebook(path) for path in paths if path.exists()}
    if not notebooks:
        missing = " and no ".join(path.name for path in paths)
        raise NotTakenIn(f"there is no {missing} in {shown_path}")
    return notebooks


def _read_notebook(notebook: Path) -> bytes | None:
    status = notebook.stat()
    if notebook.is_dir():
        return None  # it gets no points, and a note says why
    if not stat.S_ISREG(status.st_mode):
        raise NotTakenIn("the submission is not a file")
    if status.st_nlink > 1:
        raise NotTakenIn("the submission is a hard link to another file; replace it with a copy")
    if status.st_size > parsing.MAX_BYTES:
        raise NotTakenIn(
            f"the submission is larger than {parsing.MAX_BYTES // 2**20} MB. Collect it with `grader collect`, which "
            "removes the outputs, or ask the student to clear all outputs"
        )
    content = read_plain(notebook, status.st_size)
    problem = parsing.why_not_whole(content)
    if problem:
        raise NotTakenIn(f"{notebook.name} is not a complete notebook: {problem}. Ask the student to submit it again")
    return content


def _read_other_files(
    folder: Path,
    submission: SubmittedFiles,
    source: Path | None,
    replaceable_files: Collection[str],
    companion_files: Collection[str],
) -> None:
    """Read the files beside the notebook, up to the limits; they help the student's code, but earn no points."""
    left_out = submission.left_out
    files_left, bytes_left = MAX_FILES, MAX_BYTES
    for segments, entry in walk(folder, MAX_ENTRIES, lambda segments: segments[-1] not in NEVER_NEEDED):
        path = Path(*segments)
        if isinstance(entry, Gap):
            continue
        if len(left_out) == MAX_LEFT_OUT:
            break
        try:
            if segments[0] in companion_files:
                continue
            is_folder = entry.is_dir(follow_symlinks=False)
            if source and str(path) not in replaceable_files and _is_in_source(source, path, is_folder):
                continue
            problem = _find_problem(entry, path)
            if problem:
                left_out.append(f"{problem} ({one_line(path.name, 60)})")
            elif not _is_ignored(entry, path):
                files_left -= 1
                size = entry.stat().st_size
                bytes_left -= size
                if files_left < 0 or bytes_left < 0:
                    left_out.append("submit too many files, or too large ones")
                    break
                submission.files[str(path)] = read_plain(folder / path, size)
        except OSError:
            left_out.append(f"submit something that cannot be read ({one_line(path.name, 60)})")


def _is_ignored(entry: os.DirEntry[str], path: Path) -> bool:
    return entry.is_dir() or path.suffix == ".ipynb" or is_page(path.suffix)


def is_page(suffix: str) -> bool:
    """Whether a browser runs scripts in such a file: any kind of XML can have one, and servers know XML by the same
    table."""
    kind, _ = mimetypes.guess_type(f"x{suffix}")
    return suffix.lower() in _PAGES or (kind or "").endswith(("/xml", "+xml"))


def _find_problem(entry: os.DirEntry[str], path: Path) -> str:
    """What is wrong with a file or folder of a submission, to continue "tried to"; empty if nothing is."""
    if entry.is_symlink():
        return "submit a link"
    if entry.is_dir() and entry.name not in NEVER_NEEDED:
        os.scandir(entry.path).close()  # raises an error if we may not read it
    if _is_ignored(entry, path):
        return ""
    if not entry.is_file():
        return "submit something that is not a file"
    if len(path.parts) > MAX_LEVELS or len(os.fsencode(path)) > MAX_PATH:
        return "submit a file in too many nested folders"
    if entry.stat().st_nlink > 1:
        return "submit a hard link"
    if path == Path(TIMESTAMP) and not _is_time(Path(entry.path)):
        return "submit a time that cannot be read"
    return ""


def _is_in_source(source: Path, path: Path, is_folder: bool) -> bool:
    """Whether the course has this file, a file instead of a folder above it, or a folder instead of it."""
    if any((source / name).is_file() for name in (path, *path.parents)):
        return True
    return (source / path).is_dir() and not is_folder


def _is_time(path: Path) -> bool:
    if path.stat().st_size > MAX_TIMESTAMP:
        return False
    try:
        return time_in(path.read_bytes().decode().strip()) is not None
    except (OSError, UnicodeDecodeError):
        return False


def time_in(text: str) -> datetime | None:
    """The time in a text that nbgrader could read; None if it is not a time."""
    try:
        return parse_utc(text) if len(text) <= MAX_TIMESTAMP else None
    except Exception:  # dateutil raises many kinds
        return None
