"""Whom the kernel takes this process for where it acts on a sandbox that is a user of its own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator


@contextlib.contextmanager
def really(user: int | None) -> Iterator[None]:
    """Meanwhile, this process is really that user, and effectively who it is; None changes nothing.

    Who sets a limit of another process must really be its user, or have a privilege that root of a container lacks.
    """
    if user is None:
        yield
        return
    real_user, real_group = os.getuid(), os.getgid()
    try:
        os.setresgid(user, -1, -1)
        os.setresuid(user, -1, -1)
        yield
    finally:
        os.setresuid(real_user, -1, -1)
        os.setresgid(real_group, -1, -1)
