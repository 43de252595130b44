"""Promises of memory: the kernel keeps them, at the word of the judge's side, and no sandbox can lift a limit."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from grader.host.scratch import MustEnd
from grader.host.zygote_process import Forked
from grader.model.answer import Loss
from grader.model.memory import MemoryPromise


@contextlib.contextmanager
def kept(promise: MemoryPromise | None, process: Forked) -> Iterator[None]:
    """Have the kernel keep a promise meanwhile, and see that no table is made where there was room for one already.

    The limit is on what the process asks for. What it had before and only then opened or filled shows by how much
    of the machine's memory it held. Room that was filled before may be plots, or modules, which nothing uses now.
    """
    if promise is None:
        yield
        return
    memory = process.memory
    rooms = memory.pieces_of(promise.room) if memory.largest_piece() >= promise.room else []
    memory.forget()
    before = memory.most()
    with process.limited_by(promise.allowed):
        yield
    if memory.most() - before >= promise.room:
        raise MustEnd(Loss.MEMORY, promise.allowed / 2**20)
    if (used := memory.most_used(rooms) if rooms else 0) >= promise.room:
        raise MustEnd(Loss.ROOM, round(used / 2**20))
