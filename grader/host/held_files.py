"""Files that a process has removed and still holds: they fill a disk, and no folder shows them."""

from __future__ import annotations

import contextlib
import itertools
import stat
from collections.abc import Iterator
from pathlib import Path

# Parts of memory that are looked at: a notebook has hundreds, with as many threads as it may have, three thousand. Each
# can come with a path of 4,000 characters. A few more count as removed files that nobody knows.
MAX_MAPPINGS = 5000
UNSEEN = 10
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
    with contextlib.suppress(OSError), Path(f"/proc/{pid}/maps").open(errors="replace") as lines:
        for line in itertools.islice(lines, MAX_MAPPINGS):
            _, _, _, _, number, *path = line.rstrip("\n").split(maxsplit=5)
            if number != "0" and (not path or (path[0].startswith(folder) and path[0].endswith(" (deleted)"))):
                yield int(number)
        yield from (-index for index, _ in enumerate(itertools.islice(lines, UNSEEN), start=1))
