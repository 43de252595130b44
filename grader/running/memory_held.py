"""The memory of a sandbox, seen from outside: where it lies, and the most that it held."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

_FORGET_THE_MOST = b"5"  # to a process's clear_refs: see proc_pid_clear_refs(5)


class MemoryHeld:
    """That of one process, by the files that it has handed over before any code of a student ran."""

    def __init__(self, pid: int, maps: int, forget: int) -> None:
        self._status = Path(f"/proc/{pid}/status")
        self._maps, self._forget = maps, forget
        self._at_first = list(self._pieces())

    def largest_piece(self) -> int:
        """The bytes of the largest piece that it has and had not at first; zero if it has ended.

        One tensor lies in one piece. What may not be written is none: it may be room, but only once it is opened.
        """
        largest = 0
        for start, end in self._pieces():
            if end - start > largest:  # few are, and those alone need a closer look
                largest = max(largest, end - start - self._covered(start, end))
        return largest

    def most(self) -> int:
        """The bytes that it held at most in the machine's memory, since `forget`; zero if it has ended."""
        with contextlib.suppress(OSError):
            if found := re.search(rb"^VmHWM:\s*(\d+) kB$", self._status.read_bytes(), re.MULTILINE):
                return int(found[1]) * 2**10
        return 0

    def forget(self) -> None:
        """From now on, the most that it held is what it holds."""
        with contextlib.suppress(OSError):  # it has ended
            os.write(self._forget, _FORGET_THE_MOST)

    def close(self) -> None:
        os.close(self._maps)
        os.close(self._forget)

    def _pieces(self) -> Iterator[tuple[int, int]]:
        """Where what lies that it may write, or shares: proc_pid_maps(5).

        One line after another, since there can be 65,000, each with the path of a file, in any bytes.
        """
        os.lseek(self._maps, 0, os.SEEK_SET)
        with open(self._maps, "rb", closefd=False) as lines:
            for line in lines:
                addresses, access = line.split(maxsplit=2)[:2]
                if access[1:2] == b"w" or access[3:4] == b"s":
                    start, _, end = addresses.partition(b"-")
                    yield int(start, 16), int(end, 16)

    def _covered(self, start: int, end: int) -> int:
        """How much of it there was at first."""
        return sum(max(0, min(end, last) - max(start, first)) for first, last in self._at_first)
