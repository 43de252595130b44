"""The trusted end of a sandbox: start the process, run cells in it, put cases to it, and end it.

Everything that comes back is hostile until it has been looked at here.
"""

from __future__ import annotations

import functools
import math
import os
import secrets
import select
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.model.answer import Answer, Loss, Lost, sentence_of
from grader.model.attempt import Attempt
from grader.model.edited import EditedSource
from grader.model.exercise import Inputs, SampledCase, Standins
from grader.model.submission import Files
from grader.running import scratch
from grader.running.attempts import Attempts
from grader.running.replies import CellResult, read_answer, read_cell
from grader.running.scratch import MustEnd
from grader.running.stand_ins import compute
from grader.running.zygote_process import INHERITED, Forked, ZygoteError, fork_sandbox
from grader.sandbox import wire
from grader.sandbox.confine import CannotConfineError
from grader.sandbox.crossing import written

START_SECONDS = 60  # a fork takes milliseconds; this is for a machine on its knees
SPARE_SECONDS = 10  # of the processor, until the kernel ends a sandbox that nobody has ended here
MAX_THREADS = 512  # torch takes one for each core, of which large machines have many
MAX_SOURCE = 2**20  # characters of one cell
MAX_STANDIN_CALLS = 2000  # per case; a loop over the words of a case needs a few


@dataclass(frozen=True)
class Limits:
    """Seconds that code may compute, and memory.

    A busy machine gives a sandbox as little of its processors as it likes, so the clock is only a last bound, for code
    that sleeps, or waits for ever.
    """

    cell: float = 10.0
    case: float = 5.0
    submission: float = 300.0
    memory: int = 4 * 2**30  # bytes
    patience: float = 5.0  # how many times as long everything may take by the clock


class SandboxLost(Exception):
    """The process hung or died; it is of no further use."""

    def __init__(self, lost: Lost) -> None:
        super().__init__(sentence_of(lost))
        self.lost = lost


class _Computing:
    """How long a sandbox has been at something."""

    def __init__(self, process: Forked, seconds: float) -> None:
        self._process = process
        self._seconds = seconds
        self._cpu, self._clock = process.cpu_seconds, time.monotonic()

    def look(self) -> None:
        """Raise MustEnd if the time is used up: by the clock, and by the processor, which threads may share."""
        if min(self._process.cpu_seconds - self._cpu, time.monotonic() - self._clock) >= self._seconds:
            raise MustEnd(Loss.TIME, self._seconds)


class SandboxProcess:
    """A process forked for one submission, in a folder of its own with copies of the files beside the notebook."""

    def __init__(
        self, files: Files, limits: Limits, device: str = "cpu", confined: bool = True, hidden: Sequence[str] = ()
    ) -> None:
        self._limits = limits
        self._scratch = scratch.Scratch(files)
        self._process = self._fork(device, confined, hidden)
        self._channel = self._process.channel
        self._has_disk = False
        self._ready = False  # until the process says so
        self._next_look = 0.0  # at the folder: answers come faster than files can fill it
        self._attempts = Attempts(self._process.notes)

    def _fork(self, device: str, confined: bool, hidden: Sequence[str]) -> Forked:
        order = {
            "folder": str(self._scratch.folder),
            "environment": _environment(self._scratch.folder),
            "device": device,
            "confined": confined,
            "hidden": list(hidden),
            "amounts": {
                "memory": self._limits.memory,
                "cpu": round(self._limits.submission) + SPARE_SECONDS,
                "disk": scratch.MAX_BYTES,
                "files": scratch.MAX_FILES,
            },
        }
        try:
            return fork_sandbox(order)
        except BaseException:
            self._scratch.remove()
            raise

    def wait_until_ready(self) -> None:
        """Wait until the process has been confined, or find out why it cannot be."""
        try:
            first = wire.receive(self._channel, time.monotonic() + START_SECONDS)
        except wire.ChannelTimeout as error:
            raise ZygoteError(f"a sandbox did not start within {START_SECONDS} seconds") from error
        if "refused" in first.header:
            raise CannotConfineError(str(first.header["refused"]))
        self._has_disk = first.header.get("disk") is True  # whose bounds the kernel keeps
        self._attempts.answer(self._process.listener())
        self._ready = True

    def run_cell(
        self,
        source: str,
        within: float,
        number: int | None = None,
        ends_at: float = math.inf,
        uses: Mapping[str, object] | None = None,
    ) -> CellResult:
        """Run a cell for at most `within` seconds of computing, and not beyond `ends_at` on the monotonic clock.

        Its outputs call it `number`, or count on. What an ordinary test `uses` is as it was while it runs.
        """
        if len(source) > MAX_SOURCE:
            return CellResult([], "CellTooLong: This cell is too long to be run.")
        request: dict[str, Any] = {"do": "cell", "source": source, "number": number}
        if uses is not None:
            request |= {"do": "test", "uses": uses}
        return read_cell(self._ask(request, {}, within, ends_at))

    def answer(
        self,
        entry: str,
        inputs: Inputs,
        standins: Standins,
        lent: Mapping[str, Any] | None = None,
        form: str = "function",
        within: float | None = None,
        ends_at: float = math.inf,
    ) -> Answer:
        """Put one case to the student's function or class; calls of `standins` are computed here.

        What is `lent` is what variables of the notebook hold meanwhile.
        """
        tree, tensors = written(form, list(inputs))
        lent_tree, lent_tensors = written(form, dict(lent or {}), "lent")
        request = {
            "do": "answer", "entry": entry, "form": form, "inputs": tree, "standins": list(standins), "lent": lent_tree
        }  # fmt: skip
        tensors = {**tensors, **lent_tensors}
        seconds = self._limits.case if within is None else within
        try:
            frame = self._ask(request, tensors, seconds, ends_at, standins)
        except SandboxLost as lost:
            return lost.lost
        return read_answer(frame.header, frame.tensors, form)

    def answers_of_edited(
        self,
        entry: str,
        case: SampledCase,
        sources: Sequence[EditedSource],
        standins: Standins,
        form: str,
        within: float,
        ends_at: float,
    ) -> list[Answer]:
        """Put one case to versions of the student's definitions. SandboxLost is raised if one of them ends it."""
        tree, tensors = written(form, list(case.inputs))
        request = {
            "do": "edited", "entry": entry, "form": form, "inputs": tree, "standins": list(standins),
            "sources": [edited.source for edited in sources],
            "lent": [dict(edited.lent) for edited in sources],
        }  # fmt: skip
        frame = self._ask(request, tensors, within, ends_at, standins)
        headers = frame.header.get("answers")
        if not isinstance(headers, list) or len(headers) != len(sources):
            return [Lost(Loss.FORGED)] * len(sources)
        return [
            read_answer(header, frame.tensors, form) if isinstance(header, dict) else Lost(Loss.FORGED)
            for header in headers
        ]

    @property
    def cpu_seconds(self) -> float:
        """How long it has computed, until it ended."""
        return self._process.cpu_seconds

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.alive

    def take_attempts(self) -> list[Attempt]:
        """What the submission tried and was not allowed, since this was last asked."""
        return self._attempts.take()

    def close(self) -> None:
        """End the process and everything it started, and remove its folder."""
        self._attempts.read()
        self._process.end()
        self._scratch.remove()

    def _ask(
        self,
        header: dict[str, Any],
        tensors: dict[str, Any],
        seconds: float,
        ends_at: float = math.inf,
        standins: Standins | None = None,
    ) -> wire.Frame:
        """Send a request and wait for the reply to it. Any other end is the end of the sandbox."""
        patience = seconds * self._limits.patience
        try:
            if not self._ready:  # the start of the process is not the student's time
                self.wait_until_ready()
            watch = functools.partial(self._watch, _Computing(self._process, seconds))
            deadline = min(time.monotonic() + patience, ends_at)
            return self._exchange(header, tensors, deadline, standins or {}, watch)
        except MustEnd as must_end:
            lost = must_end.lost
        except wire.ChannelTimeout:
            lost = Lost(Loss.WAITING, patience)
        except wire.ChannelError:
            lost = Lost(Loss.DEATH)
        self.close()
        raise SandboxLost(lost)

    def _exchange(
        self,
        header: dict[str, Any],
        tensors: dict[str, Any],
        deadline: float,
        standins: Standins,
        watch: Callable[[], None],
    ) -> wire.Frame:
        watch()
        if select.select([self._channel], [], [], 0)[0]:
            raise MustEnd(Loss.FORGED)  # nothing was asked yet
        identity = secrets.token_hex(8)  # what answers this request cannot have been written before it
        wire.send(self._channel, {**header, "id": identity}, tensors, deadline)
        for _ in range(MAX_STANDIN_CALLS):
            frame = wire.receive(self._channel, deadline, watch)
            if frame.header.get("to") != identity:
                raise MustEnd(Loss.FORGED)
            if frame.header.get("unusable") is True:
                raise MustEnd(Loss.DEVICE)
            if "call" not in frame.header:
                return frame
            watch()  # frames may come too fast for a look while waiting
            wire.send(self._channel, *compute(frame, standins), deadline)
        raise MustEnd(Loss.CALLS)

    def _watch(self, computing: _Computing) -> None:
        """Look at amounts for which the kernel has no limit that suits us. Called while waiting, too."""
        computing.look()
        if self._process.threads > MAX_THREADS:
            raise MustEnd(Loss.THREADS, MAX_THREADS)
        if not self._has_disk and time.monotonic() >= self._next_look:
            self._scratch.look_at_amounts(self._process.pid)
            self._next_look = time.monotonic() + wire.MEANWHILE_SECONDS


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of the instructor's environment but where programs are; home is the sandbox's folder."""
    return {
        "PATH": os.defpath,
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "IPYTHONDIR": str(folder / ".ipython"),
        "MPLCONFIGDIR": str(folder / ".matplotlib"),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "LANG": "C.UTF-8",
        "NBGRADER_EXECUTION": "autograde",  # by which an instructor's code may know
        **INHERITED,
    }
