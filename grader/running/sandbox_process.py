"""The trusted end of a sandbox: start the process, run cells in it, put cases to it, and end it.

Everything that comes back is hostile until it has been looked at here.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import secrets
import select
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from grader.model.answer import Answer, Lost, Missing, Raised, Returned
from grader.model.exercise import Inputs, Standins
from grader.model.submission import Files
from grader.notebooks.outputs import rebuild_outputs
from grader.running.scratch import Scratch, TooMuch
from grader.running.zygote_process import INHERITED, fork_sandbox
from grader.sandbox import wire
from grader.sandbox.confine import CannotConfineError
from grader.sandbox.plain_text import one_line
from grader.sandbox.values import decode, devices, encode

START_SECONDS = 60  # a fork takes milliseconds; this is for a machine on its knees
MAX_THREADS = 512  # torch takes one for each core, of which large machines have many
MAX_SOURCE = 2**20  # characters of one cell
MAX_STANDIN_CALLS = 2000  # per case; a loop over the words of a case needs a few
MAX_STANDIN_NUMBERS = 1000  # per call, and as many list items, so that no call keeps the judge busy

MAX_BLOCKED = 20  # attempts that one cell is told of
MAX_NOTES = 1000  # more do not fit into the socket
_BLOCKED = {
    "read": "read {}",
    "write": "write {}",
    "attributes": "change the mode, owner or time of {}",
    "network": "use the network ({})",
    "program": "start another program ({})",
    "signal": "send a signal to another process ({})",
}


@dataclass(frozen=True)
class Limits:
    """Wall-clock limits in seconds, and memory."""

    cell: float = 10.0
    case: float = 5.0
    submission: float = 300.0
    memory: int = 4 * 2**30  # bytes


@dataclass(frozen=True)
class CellResult:
    outputs: list[Any]  # nbformat outputs
    error: str = ""  # such as "SyntaxError: invalid syntax"


class _Forged(Exception):
    """A frame that does not belong to the request."""


class SandboxLost(Exception):
    """The process hung or died; it is of no further use."""


class SandboxProcess:
    """A process forked for one submission, in a folder of its own with copies of the files beside the notebook."""

    def __init__(self, files: Files, limits: Limits, device: str = "cpu", confined: bool = True) -> None:
        self._limits = limits
        self._scratch = Scratch(files)
        self._process = fork_sandbox(
            {
                "folder": str(self._scratch.folder),
                "environment": _environment(self._scratch.folder),
                "device": device,
                "confined": confined,
                "amounts": {"memory": limits.memory, "cpu": round(limits.submission)},
            }
        )
        self._channel = self._process.channel
        self._ready = False  # until the process says so
        self._next_look = 0.0  # at the folder: answers come faster than files can fill it
        self._blocked: list[str] = []

    def wait_until_ready(self) -> None:
        """Wait until the process has been confined, or find out why it cannot be."""
        first = wire.receive(self._channel, time.monotonic() + START_SECONDS)
        if "refused" in first.header:
            raise CannotConfineError(str(first.header["refused"]))
        self._ready = True

    def run_cell(self, source: str, within: float, number: int | None = None) -> CellResult:
        """Run a cell for at most `within` seconds. Its outputs call it `number`, or count on."""
        if len(source) > MAX_SOURCE:
            return CellResult([], "CellTooLong: This cell is too long to be run.")
        return _read_cell(self._ask({"do": "cell", "source": source, "number": number}, {}, within))

    def answer(self, entry: str, inputs: Inputs, standins: Standins, form: str = "function") -> Answer:
        """Put one case to the student's function or class; calls of `standins` are computed here."""
        tree, tensors = encode(list(inputs), words=True)
        request = {"do": "answer", "entry": entry, "form": form, "inputs": tree, "standins": list(standins)}
        try:
            frame = self._ask(request, tensors, self._limits.case, standins)
        except SandboxLost as lost:
            return Lost(str(lost))
        return _read_answer(frame)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.alive

    def take_blocked(self) -> list[str]:
        """What the submission tried and the kernel did not allow, since this was last asked."""
        self._read_notes()
        blocked, self._blocked = self._blocked, []
        return blocked

    def _read_notes(self) -> None:
        """All that are there, or an older one would be told of another cell; the first ones are kept."""
        notes: list[bytes] = []
        with contextlib.suppress(OSError):  # nothing there, or closed
            while len(notes) < MAX_NOTES and (note := self._process.notes.recv(4096)):
                notes.append(note)
        for note in notes:
            sentence = _blocked_sentence(note)
            if sentence and sentence not in self._blocked and len(self._blocked) < MAX_BLOCKED:
                self._blocked.append(sentence)

    def close(self) -> None:
        """End the process and everything it started, and remove its folder."""
        self._read_notes()
        self._process.end()
        self._scratch.remove()

    def _ask(
        self, header: dict[str, Any], tensors: dict[str, Any], seconds: float, standins: Standins | None = None
    ) -> wire.Frame:
        """Send a request and wait for the reply to it. Any other end is the end of the sandbox."""
        try:
            if not self._ready:  # the start of the process is not the student's time
                self.wait_until_ready()
            return self._exchange(header, tensors, time.monotonic() + seconds, standins or {})
        except wire.ChannelTimeout:
            reason = f"Your code ran for more than {_seconds(seconds)} and was stopped. Is there an endless loop?"
        except TooMuch as too_much:
            reason = str(too_much)
        except _Forged:
            reason = "Your code sent something that is no answer."
        except wire.ChannelError:
            reason = "Your code ended the Python process, or used too much memory."
        self.close()
        raise SandboxLost(reason)

    def _exchange(
        self, header: dict[str, Any], tensors: dict[str, Any], deadline: float, standins: Standins
    ) -> wire.Frame:
        self._watch()
        if select.select([self._channel], [], [], 0)[0]:
            raise _Forged  # nothing was asked yet
        identity = secrets.token_hex(8)  # what answers this request cannot have been written before it
        wire.send(self._channel, {**header, "id": identity}, tensors, deadline)
        for _ in range(MAX_STANDIN_CALLS):
            frame = wire.receive(self._channel, deadline, self._watch)
            if frame.header.get("to") != identity:
                raise _Forged
            if "call" not in frame.header:
                return frame
            wire.send(self._channel, *_stand_in(frame, standins), deadline)
        raise TooMuch("Your code called other functions far too often.")

    def _watch(self) -> None:
        """Look at amounts for which the kernel has no limit that suits us. Called while waiting, too."""
        if self._process.threads > MAX_THREADS:
            raise TooMuch(f"Your code started more than {MAX_THREADS} threads.")
        if time.monotonic() >= self._next_look:
            self._scratch.look_at_amounts()
            self._next_look = time.monotonic() + wire.MEANWHILE_SECONDS


def _seconds(amount: float) -> str:
    return f"{amount:.0f} second{'' if round(amount) == 1 else 's'}"


def _blocked_sentence(note: bytes) -> str:
    """A note of a sandbox as a sentence; empty if it is no note."""
    try:
        kind, detail = json.loads(note)
    except (ValueError, TypeError, RecursionError):
        return ""
    return _BLOCKED.get(str(kind), "").format(one_line(detail, 120).strip()).replace(" ()", "")


def _stand_in(frame: wire.Frame, standins: Standins) -> tuple[dict[str, Any], dict[str, Any]]:
    """Compute a right function, or its gradients, for arguments that come from the sandbox."""
    function = standins.get(str(frame.header["call"]))
    arguments = decode(frame.header.get("arguments"), frame.tensors, MAX_STANDIN_NUMBERS, words=True)
    names = frame.header.get("names")
    if function is None or not isinstance(arguments, list) or len(arguments) != 3 or not isinstance(names, list):
        return {"refused": "there is no such function"}, {}
    if not _small(list(frame.tensors.values())):
        return {"refused": "the arguments are too large"}, {}
    try:
        positional, named, gradient = arguments
        bound = functools.partial(_call, function, len(positional), list(map(str, names)))
        values = [*positional, *named]
        tree, tensors = encode(bound(values) if gradient is None else _gradients(bound, values, gradient))
    except Exception:  # the student's arguments do not fit; where and why is in their line, not in ours
        return {"refused": "the arguments do not fit this function"}, {}
    return {"value": tree}, tensors


def _small(tensors: list[torch.Tensor]) -> bool:
    """Whether nothing large can come out when these are combined."""
    sizes = [tensor.numel() for tensor in tensors]
    # Without numbers there is no bound on what comes out: an (n, 0) times a (0, n) matrix is (n, n). Of two tensors,
    # broadcasting makes no more than the product of their sizes; of more, with many dimensions, the product of all.
    flat = all(tensor.dim() <= (4 if len(tensors) <= 2 else 2) for tensor in tensors)
    return sum(sizes) <= MAX_STANDIN_NUMBERS and 0 not in sizes and flat


def _call(function: Callable[..., Any], count: int, names: list[str], values: list[Any]) -> Any:
    return function(*values[:count], **dict(zip(names, values[count:], strict=True)))


def _gradients(bound: Callable[[list[Any]], Any], values: list[Any], gradient: Any) -> list[torch.Tensor | None]:
    """The gradients for those of the values that are tensors of real numbers."""
    leaves = [
        one.requires_grad_() if isinstance(one, torch.Tensor) and one.is_floating_point() else None for one in values
    ]
    asked = [one for one in leaves if one is not None]
    found = iter(torch.autograd.grad(bound(values), asked, gradient, allow_unused=True))
    return [None if one is None else next(found) for one in leaves]


def _read_cell(frame: wire.Frame) -> CellResult:
    error = frame.header.get("error")
    text = f"{error.get('type')}: {error.get('message')}" if isinstance(error, dict) else ""
    return CellResult(rebuild_outputs(frame.header.get("outputs")), one_line(text, 600))


def _read_answer(frame: wire.Frame) -> Answer:
    header = frame.header
    if header.get("missing") is True:
        return Missing()
    raised = header.get("raised")
    if isinstance(raised, dict):
        return Raised(*(one_line(raised.get(key, ""), 500) for key in ("type", "message", "line", "function")))
    values = header.get("values")
    items = values.get("list") if isinstance(values, dict) else None
    if not isinstance(items, list) or len(items) != 2:
        return Lost("Your code sent something that is no answer.")
    value, inputs_after = decode(values, frame.tensors, words=True)
    return Returned(value, inputs_after, frozenset(devices(items[0])))


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
        **INHERITED,
    }
