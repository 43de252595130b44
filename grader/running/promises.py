"""Promises of memory: the kernel keeps them, at the word of the judge's side, and no sandbox can lift a limit."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from grader.model.answer import Loss
from grader.model.memory import MemoryPromise
from grader.running.scratch import MustEnd
from grader.running.zygote_process import Forked


@contextlib.contextmanager
def kept(promise: MemoryPromise | None, process: Forked) -> Iterator[None]:
    """Have the kernel keep a promise meanwhile, or say at once that there is room for the table already."""
    if promise is None:
        yield
        return
    room = largest_piece(process.pid)
    if promise.is_room(room):
        raise MustEnd(Loss.ROOM, round(room / 2**20))
    with process.limited_by(promise.allowed):
        yield


def largest_piece(pid: int) -> int:
    """The bytes of the largest piece of memory that a sandbox has and its zygote has not; zero if nobody may look.

    One tensor lies in one piece. What may not be written is no room: to open it is to ask the kernel for more.
    """
    with contextlib.suppress(OSError, StopIteration):
        before = list(_pieces(_parent(pid)))
        return max((end - start - _covered(start, end, before) for start, end in _pieces(pid)), default=0)
    return 0


def _parent(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("PPid:"))


def _pieces(pid: int) -> Iterator[tuple[int, int]]:
    """Where what lies that a process may write, or shares: proc_pid_maps(5)."""
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        addresses, access = line.split(maxsplit=2)[:2]
        if access[1] == "w" or access[3] == "s":
            start, _, end = addresses.partition("-")
            yield int(start, 16), int(end, 16)


def _covered(start: int, end: int, others: list[tuple[int, int]]) -> int:
    return sum(max(0, min(end, last) - max(start, first)) for first, last in others)
