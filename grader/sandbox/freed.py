"""Memory that is freed goes back to the kernel at once, so that what a sandbox holds is what its code needs."""

from __future__ import annotations

import contextlib
import ctypes

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8  # of glibc's malloc.h
_LARGE = 4 * 2**10  # bytes, a page: a loop that keeps little of each row then strands no more than that of it


def give_back_what_is_freed() -> None:
    """Where the C library can be told: another one has no such function."""
    with contextlib.suppress(AttributeError, OSError):
        tell = ctypes.CDLL(None).mallopt
        tell(_M_MMAP_THRESHOLD, _LARGE)
        tell(_M_ARENA_MAX, 1)  # a thread's own heap reserves more addresses than a case may take
