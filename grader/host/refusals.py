"""What a sandbox tried and was denied: its own notes give details, and the kernel's questions miss nothing."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import itertools
import json
import os
import select
import socket
import struct
import threading
import time

from grader.model.denied import DeniedCall, Tried
from grader.sandbox.calls import kind_of
from grader.sandbox.plain_text import one_line

# The kernel asks about some calls of a sandbox. The answer is always no, and the call is reported.

QUICK = 100  # answers to one sandbox; after that each has to wait, so that it cannot keep the grader busy
PAUSE = 0.01  # seconds
_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # ioctl requests of seccomp(2)
_NOTICE = struct.Struct("=QIIiI")  # its number, the process, flags, call, architecture; arguments follow
_NOTICE_BYTES = 80
_ANSWER = struct.Struct("=QqiI")  # number of the notice, result, error, flags


class Refusals(threading.Thread):
    """A thread that answers the kernel until the sandbox is gone."""

    def __init__(self, listener: int) -> None:
        super().__init__(name="refusals", daemon=True)
        self._kinds: dict[str, None] = {}  # kinds of calls, in the order in which they were first tried
        self._listener = listener

    def take(self) -> list[str]:
        """The kinds of calls that were denied since this was last called."""
        kinds, self._kinds = self._kinds, {}
        return list(kinds)

    def run(self) -> None:
        waiting = select.poll()
        waiting.register(self._listener, select.POLLIN)
        try:
            for number in itertools.count():
                ((_, happened),) = waiting.poll()
                if not happened & select.POLLIN:  # no process is left that could ask
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
            if error.errno != errno.ENOENT:  # the process that asked has ended
                raise


MOST = 20  # denied calls with details, for one cell
MAX_NOTES = 1000  # more than fit into the socket
MAX_DETAIL = 120  # characters


class Denials:
    """The denied calls of one sandbox; none before it is ready."""

    def __init__(self) -> None:
        self._notes: socket.socket | None = None
        self._found: list[DeniedCall] = []
        self._refusals: Refusals | None = None

    def begin(self, notes: socket.socket, listener: int) -> None:
        """Read notes from this socket from now on, and answer the kernel's questions if there is a descriptor for them.

        The first notes hand descriptors over, and whoever reads those as notes loses them.
        """
        self._notes = notes
        if listener >= 0:
            self._refusals = Refusals(listener)
            self._refusals.start()

    def take(self) -> list[DeniedCall]:
        """Everything that was denied since this was last called."""
        self.read()
        found, self._found = self._found, []
        return found

    def read(self) -> None:
        """Read all notes, so that none is reported for a later cell; only the first ones are kept."""
        if self._notes is None:
            return
        notes: list[bytes] = []
        with contextlib.suppress(OSError):  # no more notes, or closed
            for _ in range(MAX_NOTES):  # not up to an empty one: a student may have sent it to make us stop
                notes.append(self._notes.recv(4096))
        for note in notes:
            self._add(denied_in_note(note))
        told = {denied.kind for denied in self._found}
        for kind in map(Tried, self._refusals.take() if self._refusals else ()):
            if kind not in told:  # else a note has more details
                self._found.append(DeniedCall(kind))  # even beyond MOST: students can send any number of notes

    def _add(self, denied: DeniedCall | None) -> None:
        if denied and denied not in self._found and len(self._found) < MOST:
            self._found.append(denied)


def denied_in_note(note: bytes) -> DeniedCall | None:
    """The denied call in a sandbox's note; None if that is not a proper note."""
    try:
        kind, detail = json.loads(note)
        return DeniedCall(Tried(kind), one_line(detail, MAX_DETAIL).strip())
    except (ValueError, TypeError, RecursionError):
        return None
