"""The folder of a sandbox, the only place where it can write: filled, watched and removed from outside."""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from grader.model.answer import Loss, Lost
from grader.model.submission import Files
from grader.notebooks.modules_beside import given_beside
from grader.sandbox.confine import Amounts

# Files that a process has removed and still holds: they fill a disk, and no folder shows them.

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


MAX_BYTES = 256 * 2**20
MAX_FILES = 10_000
MAX_DEPTH = 50  # of folders in folders; in the end, paths are too long to be looked at
JUST_MADE = 60  # seconds
LONG_AGO = 10**9  # seconds since 1970: when all files were last changed, as code sees it


class MustEnd(Exception):
    """The sandbox does what it may not, or uses too much of something."""

    def __init__(self, loss: Loss, limit: float = 0.0) -> None:
        super().__init__(loss)
        self.lost = Lost(loss, limit)


class Scratch:
    def __init__(self, files: Files) -> None:
        self.folder, self._claim = claimed_folder("sandbox-")
        try:
            write_files(files, self.folder)
            for place in files:  # times are not part of a submission, and could carry what was learnt elsewhere
                os.utime(self.folder / place, (LONG_AGO, LONG_AGO))
        except OSError:
            self.remove()
            raise

    def look_at_amounts(self, pid: int) -> None:
        """Raise MustEnd if there is too much of anything, in the folder or held by the process that writes there."""
        size, files = _measure(self.folder)
        if size + held_bytes(pid, self.folder, Amounts.file) > MAX_BYTES:
            raise MustEnd(Loss.BYTES, MAX_BYTES // 2**20)
        if files > MAX_FILES:
            raise MustEnd(Loss.FILES, MAX_FILES)

    def remove(self) -> None:
        remove_folder(self.folder)
        if self._claim >= 0:
            os.close(self._claim)
            self._claim = -1


def claimed_folder(prefix: str) -> tuple[Path, int]:
    """A new folder, and a lock on it that lasts as long as this process, or until it is closed."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    claim = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(claim, fcntl.LOCK_EX)
    return folder, claim


def sweep() -> None:
    """Remove the folders of graders that were killed: nobody holds a lock on them."""
    for prefix in ("sandbox-", "zygote-"):
        for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
            with contextlib.suppress(OSError):
                status = folder.lstat()
                if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and _is_free(folder):
                    remove_folder(folder)


def _is_free(folder: Path) -> bool:
    if time.time() - folder.stat().st_mtime < JUST_MADE:  # and perhaps not locked yet
        return False
    descriptor = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


def remove_folder(folder: Path) -> None:
    """Whatever is in it: what is too deep or closed for Python is not for these two programs."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except (OSError, RecursionError):
        for program in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            subprocess.run([*program, "--", folder], check=False, stderr=subprocess.DEVNULL)


def files_beside(folder: Path | None) -> dict[str, bytes]:
    """The files beside a notebook, such as checks.py, without notebooks and links, as far as a sandbox has room."""
    files: dict[str, bytes] = {}
    room = MAX_BYTES // 2
    for path in sorted(folder.rglob("*")) if folder else []:
        if path.is_file() and not path.is_symlink() and path.suffix != ".ipynb":
            room -= path.stat().st_size
            if room < 0 or len(files) == MAX_FILES // 2:
                break
            files[str(path.relative_to(folder or path))] = path.read_bytes()
    return files


def files_for_students(source: Path) -> dict[str, bytes]:
    """The files beside a notebook of source/, as students have them beside theirs."""
    return {**files_beside(source), **given_beside(source)}


def write_files(files: Files, folder: Path) -> None:
    """In an order of their own: the one in which they came would tell something."""
    for place in sorted(files):
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[place])


def _measure(folder: Path) -> tuple[int, int]:
    """Bytes and number of files, of a folder that changes meanwhile; it stops counting when there are too many."""
    size = files = 0
    to_look = [(str(folder), 0)]
    while to_look and files <= MAX_FILES:
        path, depth = to_look.pop()
        if depth > MAX_DEPTH:
            raise MustEnd(Loss.DEPTH, MAX_DEPTH)
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    files += 1
                    with contextlib.suppress(FileNotFoundError):  # gone by now
                        size += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        to_look.append((entry.path, depth + 1))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:  # closed to us: there might be anything in it
            raise MustEnd(Loss.CLOSED) from error
    return size, files
