"""What a sandbox tried and was denied, from its own notes."""

from __future__ import annotations

import contextlib
import socket

from grader.model.denied import DeniedCall, Tried
from grader.model.untrusted import NotJSON, converted, read_json
from grader.sandbox.plain_text import one_line

MOST_CALLS = 20  # for one cell
MAX_NOTES = 1000  # more than fit into the socket
MAX_DETAIL = 120  # characters


class Denials:
    """The denied calls of one sandbox; none before it is ready."""

    def __init__(self) -> None:
        self._notes: socket.socket | None = None
        self._calls: list[DeniedCall] = []

    def begin(self, notes: socket.socket) -> None:
        """Read notes from this socket from now on.

        The first note hands descriptors over, and whoever reads it as a denied call loses them.
        """
        self._notes = notes

    def take(self) -> list[DeniedCall]:
        """Everything that was denied since this was last called."""
        self.read_notes()
        calls, self._calls = self._calls, []
        return calls

    def read_notes(self) -> None:
        """Read all notes, so that none is reported for a later cell; only the first ones are kept."""
        if self._notes is None:
            return
        notes: list[bytes] = []
        with contextlib.suppress(OSError):  # no more notes, or closed
            for _ in range(MAX_NOTES):  # not up to an empty one: a student may have sent it to make us stop
                notes.append(self._notes.recv(4096))
        for note in notes:
            self._add(denied_in_note(note))

    def _add(self, denied: DeniedCall | None) -> None:
        if denied and denied not in self._calls and len(self._calls) < MOST_CALLS:
            self._calls.append(denied)


def denied_in_note(note: bytes) -> DeniedCall | None:
    """The denied call in a sandbox's note; None if that is not a proper note."""
    try:
        call = converted(read_json(note), tuple[Tried, str])
    except NotJSON:
        return None
    if call is None:
        return None
    kind, detail = call
    return DeniedCall(kind, one_line(detail, MAX_DETAIL).strip())
