"""The peak of a sandbox's memory, seen from outside."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

_RESTART_THE_PEAK = b"5"  # written to the clear_refs of a process: see proc_pid_clear_refs(5)


class MemoryPeak:
    """The most memory that a process has held, by a file that it handed over before any student code ran."""

    def __init__(self, pid: int, clear_refs: int) -> None:
        self._status = Path(f"/proc/{pid}/status")
        self._clear_refs = clear_refs

    def size(self) -> int:
        """The bytes that it held at most since the last restart; zero if it has ended."""
        with contextlib.suppress(OSError):
            line = re.search(rb"^VmHWM:\s*(\d+) kB$", self._status.read_bytes(), re.MULTILINE)
            return int(line[1]) * 2**10 if line else 0
        return 0

    def restart(self) -> None:
        """Let the peak start again from what the process holds now."""
        with contextlib.suppress(OSError):  # the process has ended
            os.write(self._clear_refs, _RESTART_THE_PEAK)

    def close(self) -> None:
        os.close(self._clear_refs)
