"""Promises of memory: the kernel keeps them, at the word of the judge's side, and no sandbox can lift a limit."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from grader.model.answer import Loss
from grader.model.memory import MemoryPromise
from grader.running.scratch import MustEnd
from grader.running.zygote_process import Forked


@contextlib.contextmanager
def kept(promise: MemoryPromise | None, process: Forked, at_first: int) -> Iterator[None]:
    """Have the kernel keep a promise meanwhile, or say at once that there is room for the table already.

    The process held `at_first` bytes before any cell ran. Zero: they are not the kernel's to count, as on a GPU.
    """
    if promise is None or not at_first:
        yield
        return
    now = process.addresses
    if promise.has_room_already(at_first, now):
        raise MustEnd(Loss.ROOM, round((now - at_first) / 2**20))
    with process.limited_to(now + promise.allowed):
        yield
