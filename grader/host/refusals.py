"""What a sandbox tried and was denied: its own notes say more, and the kernel's questions leave nothing out."""

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

# Answering the kernel, which asks about some calls of a sandbox: always no, and the call is reported.

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
        """The kinds of calls that were denied since the last time."""
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


MOST = 20  # that one cell is told of by notes
MAX_NOTES = 1000  # more do not fit into the socket
MAX_DETAIL = 120  # characters


class Denials:
    """What one sandbox was denied; it leaves its notes in this socket."""

    def __init__(self, notes: socket.socket) -> None:
        self._notes = notes
        self._found: list[DeniedCall] = []
        self._refusals: Refusals | None = None

    def answer(self, listener: int) -> None:
        """Answer the kernel's questions from now on, if there is a descriptor for that."""
        if listener >= 0:
            self._refusals = Refusals(listener)
            self._refusals.start()

    def take(self) -> list[DeniedCall]:
        """Everything that was denied since the last time."""
        self.read()
        found, self._found = self._found, []
        return found

    def read(self) -> None:
        """Read all notes that are there, so that none is reported for a later cell; only the first ones are kept."""
        notes: list[bytes] = []
        with contextlib.suppress(OSError):  # nothing there, or closed
            for _ in range(MAX_NOTES):  # an empty one is a student's, who hopes that we stop there
                notes.append(self._notes.recv(4096))
        for note in notes:
            self._add(denied_in_note(note))
        told = {denied.kind for denied in self._found}
        for kind in map(Tried, self._refusals.take() if self._refusals else ()):
            if kind not in told:  # else a note tells it in more words
                self._found.append(DeniedCall(kind))  # however many notes there are: those are the student's

    def _add(self, denied: DeniedCall | None) -> None:
        if denied and denied not in self._found and len(self._found) < MOST:
            self._found.append(denied)


def denied_in_note(note: bytes) -> DeniedCall | None:
    """What a note of a sandbox says; None if it is not one."""
    try:
        kind, detail = json.loads(note)
        return DeniedCall(Tried(kind), one_line(detail, MAX_DETAIL).strip())
    except (ValueError, TypeError, RecursionError):
        return None
