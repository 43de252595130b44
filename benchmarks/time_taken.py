"""Measure a command and everything it starts: `python time_taken.py COMMAND …` writes the numbers as JSON.

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


@dataclass(frozen=True)
class TimeTaken:
    """What a command took, from start to end."""

    seconds: float
    cpu_seconds: float  # of all processes, on all processors
    memory: int  # peak bytes, of the largest process


def measure(command: Sequence[str], folder: Path) -> TimeTaken:
    """Run a command in a folder; CalledProcessError if it fails."""
    order = [sys.executable, __file__, *command]
    done = subprocess.run(order, cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return TimeTaken(**json.loads(done.stdout))


def _run(command: Sequence[str]) -> tuple[int, TimeTaken]:
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    began = time.perf_counter()
    code = subprocess.call(command, stdout=sys.stderr)
    seconds = time.perf_counter() - began
    with suppress(ChildProcessError):
        while True:
            os.wait()  # reap processes that outlived their parents
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return code, TimeTaken(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


if __name__ == "__main__":
    code, numbers = _run(sys.argv[1:])
    sys.stdout.write(json.dumps(asdict(numbers)))
    sys.exit(code)
