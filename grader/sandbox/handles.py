"""What a sandbox gives the grader a hold on, in its first notes: before any code of a student runs."""

from __future__ import annotations

import contextlib
import os
import socket

# Where its memory lies, how much of it is in use, and what forgets that. Later, only root may open these files.
MEMORY, _MEMORY_FILES = (
    b"memory",
    (("/proc/self/maps", os.O_RDONLY), ("/proc/self/smaps", os.O_RDONLY), ("/proc/self/clear_refs", os.O_WRONLY)),
)
LISTENER = b"listener"  # by which one answers the kernel's questions
_NAME_BYTES = 16


def hand_over(notes: socket.socket, name: bytes, *descriptors: int) -> None:
    socket.send_fds(notes, [name], descriptors)


def hand_over_memory(notes: socket.socket) -> None:
    files = [os.open(path, access) for path, access in _MEMORY_FILES]
    hand_over(notes, MEMORY, *files)
    for file in files:
        os.close(file)


def handed_over(notes: socket.socket) -> dict[bytes, list[int]]:
    """The descriptors, by name. To be asked once, when the sandbox is ready: from then on, notes are the student's."""
    found = {}
    with contextlib.suppress(OSError):  # there are no more
        for _ in (MEMORY, LISTENER):
            name, descriptors, _, _ = socket.recv_fds(notes, _NAME_BYTES, len(_MEMORY_FILES))
            found[name] = descriptors
    return found
