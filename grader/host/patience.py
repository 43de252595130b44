"""Trying again: what is missing now may be there in a moment, when other processes end and tidy up."""

from __future__ import annotations

import errno
import logging
import math
import time
from collections.abc import Callable
from typing import TypeVar

log = logging.getLogger(__name__)

PAUSES = (0.1, 0.3, 1.0, 3.0, 10.0, 15.0, 30.0, 60.0)  # seconds, two minutes in all
_SHORT = {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM, errno.ETOOMANYREFS}

T = TypeVar("T")


def patiently(
    work: Callable[[], T],
    pause_after: Callable[[Exception, int], float],
    sleep: Callable[[float], None] = lambda seconds: time.sleep(seconds),
) -> T:
    """Try some work until it succeeds, and return its result. It must be able to start again after a failure.

    `pause_after` gets each error and how many came before it. It returns the seconds to wait, or raises the error for
    the caller if waiting does not help.
    """
    failed = 0
    while True:
        try:
            return work()
        except Exception as error:
            seconds = pause_after(error, failed)
        failed += 1
        sleep(seconds)


def while_short(work: Callable[[], T], until: float = math.inf) -> T:
    """Do some work, and wait while the machine is short of something, up to `until` on the monotonic clock."""

    def pause_after(error: Exception, failed: int) -> float:
        if not isinstance(error, OSError) or not is_short(error) or failed == len(PAUSES):
            raise error
        if time.monotonic() + PAUSES[failed] > until:
            raise error
        if not failed:
            log.warning(f"This machine is short of resources ({error.strerror}). Waiting …")
        return PAUSES[failed]

    return patiently(work, pause_after)


def is_short(error: OSError) -> bool:
    """Whether the machine lacks something that may become free: disk space, memory, processes, descriptors."""
    return error.errno in _SHORT
