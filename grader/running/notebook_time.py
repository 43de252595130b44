"""How long one notebook may take."""

from __future__ import annotations

import time

from grader.running.limits import Limits
from grader.running.sandbox_process import SandboxProcess

A_MOMENT = 0.01  # seconds


class TimeOfNotebook:
    """What a notebook as a whole has left, in whichever sandboxes it is run."""

    def __init__(self, limits: Limits) -> None:
        self._began = time.monotonic()
        self._seconds = limits.submission
        self._computed = 0.0  # in sandboxes that are gone
        self.ends_at = self._began + limits.submission * limits.patience

    def add(self, gone: SandboxProcess) -> None:
        self._computed += gone.cpu_seconds

    def left(self, sandbox: SandboxProcess) -> float:
        """Until both are used up, the time to compute and as much of the clock's, since threads compute faster."""
        computed, passed = self._computed + sandbox.cpu_seconds, time.monotonic() - self._began
        return max(0.0, self._seconds - min(computed, passed))

    def is_over(self, sandbox: SandboxProcess) -> bool:
        return self.left(sandbox) < A_MOMENT or time.monotonic() >= self.ends_at
