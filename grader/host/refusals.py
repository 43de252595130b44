"""Who answers the kernel when a sandbox makes a call that it asks about: no, each time, and it is told."""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
import select
import struct
import threading
import time

from grader.sandbox.asked_calls import kind_of

QUICK = 100  # answers to one sandbox; who goes on asking waits for each, and keeps the grader no busier
PAUSE = 0.01  # seconds
_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # ioctl requests of seccomp(2)
_NOTICE = struct.Struct("=QIIiI")  # which one, of whom, flags, call, architecture; its arguments follow
_NOTICE_BYTES = 80
_ANSWER = struct.Struct("=QqiI")  # which one, result, error, flags


class Refusals(threading.Thread):
    """Answers until the sandbox is gone."""

    def __init__(self, listener: int) -> None:
        super().__init__(name="refusals", daemon=True)
        self._kinds: dict[str, None] = {}  # of what was tried, in the order of the first time
        self._listener = listener

    def take(self) -> list[str]:
        """The kinds of what was tried since this was last asked."""
        kinds, self._kinds = self._kinds, {}
        return list(kinds)

    def run(self) -> None:
        waiting = select.poll()
        waiting.register(self._listener, select.POLLIN)
        try:
            for number in itertools.count():
                ((_, happened),) = waiting.poll()
                if not happened & select.POLLIN:  # nobody is left who could ask
                    return
                if number >= QUICK:
                    time.sleep(PAUSE)
                self._answer()
        finally:
            os.close(self._listener)

    def _answer(self) -> None:
        notice = bytearray(_NOTICE_BYTES)
        try:
            fcntl.ioctl(self._listener, _RECEIVE, notice)
            which, _, _, call, _ = _NOTICE.unpack_from(notice)
            self._kinds[kind_of(call)] = None
            fcntl.ioctl(self._listener, _SEND, _ANSWER.pack(which, 0, -errno.EPERM, 0))
        except OSError as error:
            if error.errno != errno.ENOENT:  # who asked has ended meanwhile
                raise
