"""The trusted end of a sandbox: start the process, run cells in it, put cases to it, and end it.

Everything that comes back is hostile until it has been looked at here.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from grader.answer import Answer, Lost, Missing, Raised, Returned
from grader.exercise import Inputs
from grader.sandbox import wire
from grader.sandbox.confine import CannotConfineError
from grader.zygote_process import INHERITED, fork_sandbox

START_SECONDS = 60  # a fork takes milliseconds; this is for a machine on its knees
MAX_FOLDER = 256 * 2**20  # bytes that a submission may write
MAX_STANDIN_CALLS = 2000  # per case; a loop over the words of a case needs a few
MAX_STANDIN_NUMBERS = 1000  # per call, so that no call keeps the judge busy

Standins = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True)
class Limits:
    """Wall-clock limits in seconds, and memory."""

    cell: float = 30.0
    case: float = 10.0
    submission: float = 300.0
    memory: int = 4 * 2**30  # bytes


@dataclass(frozen=True)
class CellResult:
    outputs: list[Any]  # nbformat outputs
    error: str = ""  # such as "SyntaxError: invalid syntax"


class _FolderFull(Exception):
    pass


class SandboxLost(Exception):
    """The process hung or died; it is of no further use."""


class SandboxProcess:
    """A process forked for one submission, in a folder of its own with copies of the files beside the notebook."""

    def __init__(self, files: Path | None, limits: Limits, device: str = "cpu", confined: bool = True) -> None:
        self._limits = limits
        self._folder = Path(tempfile.mkdtemp(prefix="sandbox-"))
        if files is not None:
            _copy_files(files, self._folder)
        self._process = fork_sandbox(
            {
                "folder": str(self._folder),
                "environment": _environment(self._folder),
                "device": device,
                "confined": confined,
                "amounts": {"memory": limits.memory, "cpu": round(limits.submission)},
            }
        )
        self._channel = self._process.channel
        self._ready = False  # until the process says so

    def run_cell(self, source: str, within: float) -> CellResult:
        """Run a cell for at most `within` seconds."""
        reply = self._ask({"do": "cell", "source": source}, {}, within).header
        error = reply.get("error")
        text = f"{error.get('type')}: {error.get('message')}" if isinstance(error, dict) else ""
        return CellResult(_valid_outputs(reply.get("outputs")), text[:600])

    def answer(self, entry: str, inputs: Inputs, standins: Standins) -> Answer:
        """Put one case to the student's function; calls of `standins` are computed here."""
        tree, tensors = wire.encode(list(inputs))
        request = {"do": "answer", "entry": entry, "inputs": tree, "standins": list(standins)}
        try:
            frame = self._ask(request, tensors, self._limits.case, standins)
        except SandboxLost as lost:
            return Lost(str(lost))
        return _read_answer(frame)

    @property
    def alive(self) -> bool:
        return self._process.alive

    def close(self) -> None:
        """End the process and everything it started, and remove its folder."""
        self._process.end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _ask(
        self, header: dict[str, Any], tensors: dict[str, Any], seconds: float, standins: Standins | None = None
    ) -> wire.Frame:
        try:
            if not self._ready:  # the start of the process is not the student's time
                first = wire.receive(self._channel, time.monotonic() + START_SECONDS)
                if "refused" in first.header:
                    raise CannotConfineError(str(first.header["refused"]))
                self._ready = True
            deadline = time.monotonic() + seconds
            wire.send(self._channel, header, tensors)
            for _ in range(MAX_STANDIN_CALLS):
                frame = wire.receive(self._channel, deadline, self._check_folder)
                if "call" not in frame.header:
                    return frame
                wire.send(self._channel, *_stand_in(frame, standins or {}))
            reason = "Your code called other functions far too often."
        except wire.ChannelTimeout:
            reason = f"Your code ran for more than {seconds:.0f} seconds and was stopped. Is there an endless loop?"
        except _FolderFull:
            reason = f"Your code wrote more than {MAX_FOLDER // 2**20} MB of files."
        except (wire.ChannelError, OSError):
            reason = "Your code ended the Python process, or used too much memory."
        self.close()
        raise SandboxLost(reason)

    def _check_folder(self) -> None:
        """Called while waiting: a folder has no quota, so its size is looked at from time to time."""
        if sum(path.lstat().st_size for path in self._folder.rglob("*")) > MAX_FOLDER:
            raise _FolderFull


def _stand_in(frame: wire.Frame, standins: Standins) -> tuple[dict[str, Any], dict[str, Any]]:
    """Compute a right function for arguments that come from the sandbox."""
    function = standins.get(str(frame.header["call"]))
    arguments = wire.decode(frame.header.get("arguments"), frame.tensors)
    names = frame.header.get("names")
    if function is None or not isinstance(arguments, list) or len(arguments) != 2 or not isinstance(names, list):
        return {"refused": "there is no such function"}, {}
    if sum(tensor.numel() for tensor in frame.tensors.values()) > MAX_STANDIN_NUMBERS:
        return {"refused": "the arguments are too large"}, {}
    try:
        positional, named = arguments
        value = function(*positional, **dict(zip(map(str, names), named, strict=True)))
        tree, tensors = wire.encode(value)
    except Exception:  # the student's arguments do not fit; where and why is in their line, not in ours
        return {"refused": "the arguments do not fit this function"}, {}
    return {"value": tree}, tensors


def _read_answer(frame: wire.Frame) -> Answer:
    header = frame.header
    if header.get("missing") is True:
        return Missing()
    raised = header.get("raised")
    if isinstance(raised, dict):
        return Raised(*(str(raised.get(key, ""))[:500] for key in ("type", "message", "line", "function")))
    values = header.get("values")
    items = values.get("list") if isinstance(values, dict) else None
    if not isinstance(items, list) or len(items) != 2:
        return Lost("Your code sent something that is no answer.")
    value, inputs_after = wire.decode(values, frame.tensors)
    return Returned(value, inputs_after, frozenset(wire.devices(items[0])))


def _valid_outputs(outputs: Any) -> list[Any]:
    """Those outputs that are what nbformat says an output is."""
    if not isinstance(outputs, list):
        return []
    valid = []
    for output in outputs:
        try:
            node = nbformat.from_dict(output)
            nbformat.validate(node, ref="output", version=4)
        except Exception:  # whatever a hostile output does to the validator, it is left out
            continue
        valid.append(node)
    return valid


def _copy_files(source: Path, target: Path) -> None:
    """The files beside the notebook, such as checks.py, without notebooks and without links."""
    for path in sorted(source.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.suffix != ".ipynb":
            copy = target / path.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


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
