"""List the plain files in a folder. No link is followed."""

from __future__ import annotations

import os
import pwd
import stat
from pathlib import Path

from grader.classroom.folder_walk import Gap, Segments, read_plain, walk
from grader.collecting.files import File, Listing, Refused, TooLarge, find_path_problem, is_junk, make_refused_file
from grader.errors import CourseError

MAX_ENTRIES = 5000  # to look at below one first-level folder, perhaps a student's own
_TOO_MANY = f"more than {MAX_ENTRIES} files and folders; the most deeply nested were skipped"
_GIT = ".git"


def list_folder(folder: Path) -> Listing:
    """List all files of a folder. No folder in it can hide those of others by having too many."""
    files: list[File] = []
    clones: set[str] = set()
    owners: dict[str, str] = {}
    level = _level_of_students(folder)
    for segments, entry in walk(folder, MAX_ENTRIES, _is_entered, level):
        if entry is Gap.UNREADABLE:
            files.append(make_refused_file(segments, "/".join(segments), "it cannot be read"))
        elif entry is Gap.BEYOND_LIMIT:
            files.append(make_refused_file(segments, "/".join(segments[:level]), _TOO_MANY))
        elif len(segments) == 2 and segments[1] == _GIT:
            clones.add(segments[0])
        elif not is_junk(segments):
            if len(segments) == 1:
                owners[entry.name] = _find_owner(entry)
            file = _make_file(segments, entry)
            if file:
                files.append(file)
    return Listing(folder.name, files, frozenset(clones), owners)


def _level_of_students(folder: Path) -> int:
    """The level of folders that may be a student's own. A single folder may hold all the others."""
    try:
        names = [path.name for path in folder.iterdir()]
    except OSError as error:
        raise CourseError(f"{folder} cannot be read: {error.strerror}. Fix that, then run this again.") from None
    return 2 if sum(not is_junk([name]) for name in names) == 1 else 1


def _is_entered(segments: Segments) -> bool:
    return not is_junk(segments) and not find_path_problem(segments)


def _make_file(segments: Segments, entry: os.DirEntry[str]) -> File | None:
    path = "/".join(segments)
    problem = find_path_problem(segments)
    if problem:
        return make_refused_file(segments, path, problem)
    if entry.is_symlink():
        return make_refused_file(segments, path, "it is a link")
    if entry.is_dir():
        return None
    if not entry.is_file():
        return make_refused_file(segments, path, "it is not a file")
    return File(segments, lambda max_bytes: _read(Path(entry.path), max_bytes), path)


def _read(path: Path, max_bytes: int) -> bytes:
    try:
        status = path.lstat()
        if status.st_size > max_bytes:
            raise TooLarge
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            raise Refused("it is a hard link to another file")
        return read_plain(path, status.st_size)
    except OSError as error:
        raise Refused(f"it cannot be read: {error.strerror}") from None


def _find_owner(entry: os.DirEntry[str]) -> str:
    """The owner of a file or folder; empty for root and for ourselves, since both copy files for others."""
    try:
        user = number_of_user(entry)
        return "" if user in (0, os.geteuid()) else pwd.getpwuid(user).pw_name
    except OSError:
        return ""
    except KeyError:
        return f"number {user}"


def number_of_user(entry: os.DirEntry[str]) -> int:
    return entry.stat(follow_symlinks=False).st_uid
