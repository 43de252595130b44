"""Walk a folder that others filled, within limits, and read its plain files. No link is followed."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path

MAX_LEVELS = 20  # of nested folders
MAX_PATH = 1000  # bytes of a path; our own paths are longer, and have limits, too
NEVER_NEEDED = {".git", ".venv", "venv", "node_modules", "__pycache__", "__MACOSX", ".ipynb_checkpoints"}

Segments = tuple[str, ...]  # of a path: folders, and the name


class Gap(Enum):
    """What the walk leaves out, in place of an entry."""

    UNREADABLE = "a folder: too deep for a path, or closed to us"
    BEYOND_LIMIT = "the first entry beyond the limit, and all after it"


def walk(
    folder: Path, limit: int, enters: Callable[[Segments], bool], level: int = 0
) -> Iterator[tuple[Segments, os.DirEntry[str] | Gap]]:
    """The entries of a folder and its subfolders: upper levels first, and in each folder, notebooks first.

    Each folder at this level may have so many entries in all; those above it are not counted. A subfolder is walked
    through if `enters` is true of it.
    """
    remaining: dict[Segments, int] = {}  # entries that may still come, by folder of that level
    waiting: list[tuple[Segments, str]] = [((), str(folder))]
    for segments, path in waiting:  # the list grows meanwhile
        limited_folder = segments[:level]
        room = remaining.get(limited_folder, limit)
        if room < 0:
            continue
        try:
            with os.scandir(path) as listing:
                entries = sorted(listing, key=lambda entry: (".ipynb" not in entry.name.lower(), entry.name))
        except OSError:
            yield segments, Gap.UNREADABLE
            continue
        beyond_limit: list[os.DirEntry[str]] = []
        if len(segments) >= level:
            remaining[limited_folder] = room - len(entries)
            entries, beyond_limit = entries[:room], entries[room:]
        if beyond_limit:
            yield (*segments, beyond_limit[0].name), Gap.BEYOND_LIMIT
        for entry in entries:
            inner = (*segments, entry.name)
            yield inner, entry
            if entry.is_dir(follow_symlinks=False) and enters(inner):
                waiting.append((inner, entry.path))


def read_plain(path: Path, size: int) -> bytes:
    """Read a plain file of this size. Its owner could have replaced it since we looked."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        content = file.read(size + 1) if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 else None
    if content is None or len(content) > size:
        raise OSError(errno.ESTALE, "it changed while it was being read")
    return content
