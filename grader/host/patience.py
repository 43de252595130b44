"""A machine that is short of something: whoever waits a little may get it, since others come to an end and tidy up."""

from __future__ import annotations

import errno
import math
import time
from collections.abc import Callable
from typing import TypeVar

PAUSES = (0.1, 0.3, 1.0, 3.0, 10.0, 15.0, 30.0, 60.0)  # seconds, two minutes in all
_SHORT = {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM, errno.ETOOMANYREFS}

T = TypeVar("T")


def is_short(error: OSError) -> bool:
    """Whether the machine lacks something that may come back: room, memory, processes, descriptors."""
    return error.errno in _SHORT


def patiently(work: Callable[[], T], tell: Callable[[str], None] = lambda _: None, until: float = math.inf) -> T:
    """What `work` returns. What it has begun before it fails, it must be able to begin again.

    On the monotonic clock, nobody waits any more `until` then.
    """
    told = False
    for pause in PAUSES:
        try:
            return work()
        except OSError as error:
            if not is_short(error) or time.monotonic() + pause > until:
                raise
            if not told:
                tell(f"This machine is short of something ({error.strerror}). Waiting …")
                told = True
        time.sleep(pause)
    return work()
