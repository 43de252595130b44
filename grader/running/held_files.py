"""Files that a process has removed and still holds: they fill a disk, and no folder shows them."""

from __future__ import annotations

import contextlib
import stat
from collections.abc import Iterator
from pathlib import Path

_BLOCK = 512  # bytes, whatever the file system says

_Identity = tuple[int, int]


def held_bytes(pid: int, folder: Path, mapped: int) -> int:
    """What the removed files take that a process holds, if it can write in this folder only.

    A file that is in its memory, and not open, cannot be looked at. It counts as `mapped` bytes: as large as it may be.
    """
    sizes = dict(_open_files(pid))
    known = {number for _, number in sizes}
    return sum(sizes.values()) + mapped * len(set(_mapped_files(pid, str(folder))) - known)


def _open_files(pid: int) -> Iterator[tuple[_Identity, int]]:
    """Each thread may have descriptors of its own."""
    for thread in _entries(Path(f"/proc/{pid}/task")):
        for descriptor in _entries(thread / "fd"):
            with contextlib.suppress(OSError):  # closed by now
                status = descriptor.stat()
                if status.st_nlink == 0 and stat.S_ISREG(status.st_mode):
                    yield (status.st_dev, status.st_ino), status.st_blocks * _BLOCK


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:  # it has ended, or is not for us to see
        return []


def _mapped_files(pid: int, folder: str) -> Iterator[int]:
    """The numbers of removed files in its memory. A path that is too long to be told is none of a library."""
    try:
        lines = Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        _, _, _, _, number, *path = line.split(maxsplit=5)
        if number != "0" and (not path or (path[0].startswith(folder) and path[0].endswith(" (deleted)"))):
            yield int(number)
