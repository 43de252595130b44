"""Promises of memory: the kernel keeps them, at the word of the judge's side, and no sandbox can lift a limit."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from grader.model.answer import Loss
from grader.model.memory import MemoryPromise
from grader.running.scratch import MustEnd
from grader.running.zygote_process import Forked


@contextlib.contextmanager
def kept(promise: MemoryPromise | None, process: Forked) -> Iterator[None]:
    """Have the kernel keep a promise meanwhile, or say at once that there is room for the table already.

    The limit is on what the process asks for. What it had before and only then opened or filled shows by how much
    of the machine's memory it held.
    """
    if promise is None:
        yield
        return
    room = process.memory.largest_piece()
    if promise.is_room(room):
        raise MustEnd(Loss.ROOM, round(room / 2**20))
    process.memory.forget()
    before = process.memory.most()
    with process.limited_by(promise.allowed):
        yield
    if promise.is_room(process.memory.most() - before):
        raise MustEnd(Loss.MEMORY, promise.allowed / 2**20)
