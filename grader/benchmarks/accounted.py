"""Measure a command and everything it starts: `python accounted.py COMMAND …` writes the numbers as JSON.

This runs as a process of its own, which adopts any process that outlives its parent.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_TICK = 0.1  # seconds between two looks at its memory


@dataclass(frozen=True)
class TimeTaken:
    """What a command took, from start to end."""

    seconds: float
    cpu_seconds: float  # of all processes, on all processors
    memory: int  # peak bytes, of the first process alone


def taken(command: Sequence[str], folder: Path) -> TimeTaken:
    """Run a command in a folder; CalledProcessError if it fails."""
    accounted = [sys.executable, __file__, *command]
    done = subprocess.run(accounted, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return TimeTaken(**json.loads(done.stdout))


def _run(command: Sequence[str]) -> tuple[int, TimeTaken]:
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    began, memory = time.perf_counter(), 0
    process = subprocess.Popen(command, stdout=sys.stderr)
    while process.poll() is None:
        memory = max(memory, _memory(process.pid))
        with suppress(subprocess.TimeoutExpired):
            process.wait(_TICK)
    seconds = time.perf_counter() - began
    with suppress(ChildProcessError):
        while True:
            os.wait()  # reap processes that outlived their parents
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process.returncode, TimeTaken(seconds, used.ru_utime + used.ru_stime, memory)


def _memory(pid: int) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


if __name__ == "__main__":
    code, numbers = _run(sys.argv[1:])
    sys.stdout.write(json.dumps(asdict(numbers)))
    sys.exit(code)
