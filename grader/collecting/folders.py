"""List the plain files in a folder. No link is followed."""

from __future__ import annotations

import os
import pwd
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from grader.classroom.submitted_files import read_plain
from grader.collecting.files import File, Listing, Parts, Refused, TooLarge, is_junk, refused, why_not
from grader.errors import CourseError

MAX_OF_ONE = 5000  # entries to look at below one first-level folder, perhaps a student's own
_TOO_MANY = f"more than {MAX_OF_ONE} files and folders; the most deeply nested were skipped"
_GIT = ".git"


def list_folder(folder: Path) -> Listing:
    """List all files of a folder. No folder in it can hide those of others by having too many."""
    files: list[File] = []
    clones: set[str] = set()
    owners: dict[str, str] = {}
    for parts, entry in _entries(folder, files):
        if len(parts) == 2 and parts[1] == _GIT:
            clones.add(parts[0])
        elif not is_junk(parts):
            if len(parts) == 1:
                owners[parts[0]] = _owner(entry)
            if file := _file(parts, entry):
                files.append(file)
    return Listing(folder.name, files, frozenset(clones), owners)


def _entries(folder: Path, not_read: list[File]) -> Iterator[tuple[Parts, os.DirEntry[str]]]:
    """The entries of a folder and its subfolders: upper levels first, and on each, notebooks first."""
    waiting: list[tuple[Parts, str]] = [((), str(folder))]
    looked_at: Counter[Parts] = Counter()  # by student's folder
    first = 1  # the level of folders that may be a student's own
    for parts, path in waiting:  # the list grows meanwhile
        try:
            with os.scandir(path) as found:
                entries = sorted(found, key=lambda entry: (".ipynb" not in entry.name.lower(), entry.name))
        except OSError as error:
            if not parts:
                raise CourseError(
                    f"{folder} cannot be read: {error.strerror}. Fix that, then run this again."
                ) from None
            not_read.append(refused(parts, "/".join(parts), "it cannot be read"))
            continue
        if not parts and sum(not is_junk([entry.name]) for entry in entries) == 1:
            first = 2  # that one may hold all the others
        if len(parts) >= first:
            left = MAX_OF_ONE - looked_at[parts[:first]]
            looked_at[parts[:first]] += len(entries)
            if 0 <= left < len(entries):
                not_read.append(refused((*parts, entries[left].name), "/".join(parts[:first]), _TOO_MANY))
            entries = entries[: max(left, 0)]
        for entry in entries:
            here = (*parts, entry.name)
            yield here, entry
            if entry.is_dir(follow_symlinks=False) and not is_junk(here) and not why_not(here):
                waiting.append((here, entry.path))


def _file(parts: Parts, entry: os.DirEntry[str]) -> File | None:
    place = "/".join(parts)
    if why := why_not(parts):
        return refused(parts, place, why)
    if entry.is_symlink():
        return refused(parts, place, "it is a link")
    if entry.is_dir():
        return None
    if not entry.is_file():
        return refused(parts, place, "it is not a file")
    return File(parts, lambda most: _read(Path(entry.path), most), place)


def _read(path: Path, most: int) -> bytes:
    try:
        status = path.lstat()
        if status.st_size > most:
            raise TooLarge
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            raise Refused("it is a hard link to another file")
        return read_plain(path, status.st_size)
    except OSError as error:
        raise Refused(f"it cannot be read: {error.strerror}") from None


def _owner(entry: os.DirEntry[str]) -> str:
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
