"""The folder of a sandbox, the only place where it can write: filled, watched and removed from outside."""

from __future__ import annotations

import contextlib
import ctypes
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

# Files that a process has removed but still holds: they fill a disk, and no folder shows them.

# How many mappings are read: a notebook has hundreds, and three thousand with as many threads as it may have. Each can
# come with a path of 4,000 characters. A few more count as unknown removed files.
MAX_MAPPINGS = 5000
UNSEEN = 10
_BLOCK = 512  # bytes, on every file system

_Identity = tuple[int, int]


def bytes_of_removed_files(pid: int, folder: Path, mapped: int) -> int:
    """The bytes of removed files that a process still holds, if it can write only in this folder.

    A file that is mapped but not open cannot be looked at. It counts as `mapped` bytes, the most that it can have.
    """
    sizes = dict(_open_files(pid))
    open_inodes = {inode for _, inode in sizes}
    unmeasured = set(_mapped_files(pid, str(folder))) - open_inodes
    return sum(sizes.values()) + mapped * len(unmeasured)


def _open_files(pid: int) -> Iterator[tuple[_Identity, int]]:
    """The removed files that a process has open, with their sizes. Each thread may have descriptors of its own."""
    for thread in _entries(Path(f"/proc/{pid}/task")):
        for descriptor in _entries(thread / "fd"):
            with contextlib.suppress(OSError):  # closed by now
                status = descriptor.stat()
                if status.st_nlink == 0 and stat.S_ISREG(status.st_mode):
                    yield (status.st_dev, status.st_ino), status.st_blocks * _BLOCK


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:  # it has ended, or we may not see it
        return []


def _mapped_files(pid: int, folder: str) -> Iterator[int]:
    """The numbers of removed files in a process's memory. One whose path is too long to be shown is not a library."""
    with contextlib.suppress(OSError), Path(f"/proc/{pid}/maps").open(errors="replace") as lines:
        for line in itertools.islice(lines, MAX_MAPPINGS):
            _, _, _, _, number, *path = line.rstrip("\n").split(maxsplit=5)
            if number != "0" and (not path or (path[0].startswith(folder) and path[0].endswith(" (deleted)"))):
                yield int(number)
        yield from (-index for index, _ in enumerate(itertools.islice(lines, UNSEEN), start=1))


MAX_BYTES = 256 * 2**20
MAX_FILES = 10_000
MAX_DEPTH = 50  # of nested folders; at some depth, paths get too long to be read
JUST_MADE = 60  # seconds
LONG_AGO = 10**9  # seconds since 1970: the time of all files, as code sees it


class MustEnd(Exception):
    """The sandbox does something forbidden, or uses too much of something."""

    def __init__(self, loss: Loss, limit: float = 0.0) -> None:
        super().__init__(loss)
        self.lost = Lost(loss, limit)


class Scratch:
    def __init__(self, files: Files) -> None:
        self.folder, self._claim = claimed_folder("sandbox-")
        try:
            write_files(files, self.folder)
            for path in files:  # times are not part of a submission, and could smuggle information
                os.utime(self.folder / path, (LONG_AGO, LONG_AGO))
        except OSError:
            self.remove()
            raise

    def check_amounts(self, pid: int) -> None:
        """Raise MustEnd if the folder, with removed files that the process holds, has too many bytes or files."""
        size, files = _measure(self.folder)
        if size + bytes_of_removed_files(pid, self.folder, Amounts.file) > MAX_BYTES:
            raise MustEnd(Loss.BYTES, MAX_BYTES // 2**20)
        if files > MAX_FILES:
            raise MustEnd(Loss.FILES, MAX_FILES)

    def remove(self) -> None:
        remove_folder(self.folder)
        if self._claim >= 0:
            os.close(self._claim)
            self._claim = -1


def claimed_folder(prefix: str) -> tuple[Path, int]:
    """A new folder, and a lock on it that lasts until it is closed or this process ends."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    claim = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(claim, fcntl.LOCK_EX)
    return folder, claim


def sweep() -> None:
    """Remove the folders of graders that were killed: nobody holds a lock on those."""
    for prefix in ("sandbox-", "zygote-"):
        for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
            with contextlib.suppress(OSError):
                status = folder.lstat()
                if stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and _is_free(folder):
                    remove_folder(folder)


def _is_free(folder: Path) -> bool:
    if time.time() - folder.stat().st_mtime < JUST_MADE:  # perhaps not locked yet
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
    """Remove a folder with everything in it: chmod and rm cope with folders too deep or closed for Python."""
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except (OSError, RecursionError):
        for program in (["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            subprocess.run([*program, "--", folder], check=False, stderr=subprocess.DEVNULL)


_RENAME_EXCHANGE, _AT_FDCWD = 2, -100  # of Linux


def replace_folder(new: Path, path: Path, former: Path) -> None:
    """Move a folder to a path, and remove what was there.

    There is always something in place, unless the disk cannot exchange folders: then `former` has it for a moment.
    """
    if not os.path.lexists(path):
        new.rename(path)
    elif exchange(new, path):
        remove(new)
    else:
        path.rename(former)
        try:
            new.rename(path)
        except OSError:
            former.rename(path)
            raise
        remove(former)


def exchange(folder: Path, other_folder: Path) -> bool:
    """Exchange two folders in one step, which Linux can do on most disks; returns whether it did."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    if rename is None:
        return False
    paths = (_AT_FDCWD, os.fsencode(folder), _AT_FDCWD, os.fsencode(other_folder))
    return rename(*paths, _RENAME_EXCHANGE) == 0  # type: ignore[no-any-return]


def remove(path: Path) -> None:
    """Remove a folder, a file or a link, if it is there."""
    if path.is_dir() and not path.is_symlink():
        remove_folder(path)
    else:
        path.unlink(missing_ok=True)


def files_beside(folder: Path | None) -> dict[str, bytes]:
    """The files beside a notebook, such as checks.py, without notebooks and links, up to what a sandbox can hold."""
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
    """The files that students get beside a notebook of source/."""
    return {**files_beside(source), **given_beside(source)}


def write_files(files: Files, folder: Path) -> None:
    """Write the files in the order of their names: any other order could give something away."""
    for name in sorted(files):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[name])


def write_whole(path: Path, content: bytes, mode: int = 0o666, *, lasting: bool = False) -> None:
    """Write a file, whole or not at all: nobody reads half of it. If `lasting`, wait until it is on the disk."""
    unfinished = path.with_suffix(".unfinished")
    try:
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.write(content)
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    if lasting:
        _sync(path.parent)


def _sync(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _measure(folder: Path) -> tuple[int, int]:
    """The bytes and the number of files in a folder that changes meanwhile; counting stops at too many."""
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
        except OSError as error:  # closed to us: anything might be in it
            raise MustEnd(Loss.CLOSED) from error
    return size, files
