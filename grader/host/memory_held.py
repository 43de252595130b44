"""A sandbox's memory, seen from outside: where it lies, its peak, and how much of it was used."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Written to the clear_refs of a process: see proc_pid_clear_refs(5).
_FORGET_USE, _FORGET_THE_MOST = b"1", b"5"
_OF_A_PIECE = re.compile(rb"^(Rss|Referenced|LazyFree|Swap): +(\d+) kB$")


@dataclass
class MemoryPiece:
    """A piece of memory: how many of its bytes are kept, and how many were used lately."""

    start: int
    end: int
    kept: int = 0
    used: int = 0

    @property
    def size(self) -> int:
        return self.end - self.start

    def count(self, what: bytes, size: int) -> None:
        """Add a number from the kernel. Lazily freed memory may be gone in a moment, and does not count as kept."""
        if what == b"Referenced":
            self.used = size
        else:
            self.kept += -size if what == b"LazyFree" else size

    def shared_with(self, other: MemoryPiece) -> int:
        """How many addresses both pieces have."""
        return max(0, min(self.end, other.end) - max(self.start, other.start))


class MemoryHeld:
    """The memory of one process, read from files that it handed over before any student code ran."""

    def __init__(self, pid: int, maps: int, details: int, forget: int) -> None:
        self._status = Path(f"/proc/{pid}/status")
        self._maps, self._details, self._forget = maps, details, forget
        self._at_first = list(self._pieces())

    def largest_piece(self) -> int:
        """The bytes of the largest piece that is new since the start; zero if the process has ended.

        A tensor lies in one piece. Memory that may not be written does not count until it is made writable.
        """
        largest = 0
        for piece in self._pieces():
            if piece.size > largest:  # only a few are, and need a closer look
                largest = max(largest, piece.size - self._covered(piece))
        return largest

    def pieces_of(self, size: int) -> list[MemoryPiece]:
        """The pieces with at least so many new bytes. From now on, use is counted anew."""
        found = [piece for piece in self._in_detail() if piece.size - self._covered(piece) >= size]
        self._write(_FORGET_USE)
        return found

    def most_used(self, before: list[MemoryPiece]) -> int:
        """The most bytes used in one of these pieces since then; bytes that are gone from it count, too."""
        now = list(self._in_detail())
        return max((_used(piece, now) for piece in before), default=0)

    def most(self) -> int:
        """The peak of the bytes that it held in the machine's memory since `forget`; zero if it has ended."""
        with contextlib.suppress(OSError):
            if found := re.search(rb"^VmHWM:\s*(\d+) kB$", self._status.read_bytes(), re.MULTILINE):
                return int(found[1]) * 2**10
        return 0

    def forget(self) -> None:
        """Let the peak start again from what the process holds now."""
        self._write(_FORGET_THE_MOST)

    def close(self) -> None:
        for file in (self._maps, self._details, self._forget):
            os.close(file)

    def _write(self, what: bytes) -> None:
        with contextlib.suppress(OSError):  # the process has ended
            os.write(self._forget, what)

    def _pieces(self) -> Iterator[MemoryPiece]:
        """The pieces that the process may write, or shares: see proc_pid_maps(5)."""
        for line in _lines(self._maps):
            if piece := _piece(line):
                yield piece

    def _in_detail(self) -> Iterator[MemoryPiece]:
        """The pieces with what is kept and used of each: see proc_pid_smaps(5)."""
        piece: MemoryPiece | None = None
        for line in _lines(self._details):
            if found := _OF_A_PIECE.match(line):
                if piece:
                    piece.count(found[1], int(found[2]) * 2**10)
            elif not line.split(maxsplit=1)[0].endswith(b":"):  # the next piece begins
                if piece:
                    yield piece
                piece = _piece(line)
        if piece:
            yield piece

    def _covered(self, piece: MemoryPiece) -> int:
        """How many bytes of this piece were there at the start."""
        return sum(map(piece.shared_with, self._at_first))


def _lines(file: int) -> Iterator[bytes]:
    """The lines of an open file, one by one: there can be a million, and paths in them can have any bytes."""
    os.lseek(file, 0, os.SEEK_SET)
    with open(file, "rb", closefd=False) as lines:
        yield from lines


def _piece(line: bytes) -> MemoryPiece | None:
    addresses, access = line.split(maxsplit=2)[:2]
    if access[1:2] != b"w" and access[3:4] != b"s":
        return None
    start, _, end = addresses.partition(b"-")
    return MemoryPiece(int(start, 16), int(end, 16))


def _used(before: MemoryPiece, now: list[MemoryPiece]) -> int:
    same = [(piece, shared) for piece in now if (shared := piece.shared_with(before))]
    used = sum(min(piece.used, shared) for piece, shared in same)
    return used + max(0, before.kept - sum(min(piece.kept, shared) for piece, shared in same))
