"""The trusted side of a sandbox: start the process, run cells in it, put cases to it, and end it.

Everything that comes back is hostile until it has been looked at here.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import importlib.util
import json
import os
import py_compile
import secrets
import select
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.host import scratch
from grader.host.denials import Denials
from grader.host.limits import Computing, Limits, Time, Waiting
from grader.host.replies import AnswersOfEdited, CellResult, read_answer, read_cell
from grader.host.scratch import MustEnd
from grader.host.stand_ins import compute, kinds
from grader.host.zygote_process import ForkedProcess, ZygoteError, fork_sandbox, inherited
from grader.kit.endless import endless_loop
from grader.model.answer import Answer, Loss, Lost, Missing, sentence_of
from grader.model.denied import DeniedCall
from grader.model.edited import EditedSource
from grader.model.exercise import MemoryPromise, SampledCase, Standins
from grader.model.submission import Files
from grader.model.untrusted import Count, converted
from grader.notebooks.modules_beside import all_modules
from grader.sandbox import wire
from grader.sandbox.confine import CannotConfineError
from grader.sandbox.forms import encode_value

# Memory promises: the kernel enforces them, and no sandbox can lift a limit.


@contextlib.contextmanager
def enforce(promise: MemoryPromise | None, process: ForkedProcess) -> Iterator[None]:
    """Let the kernel enforce a memory promise meanwhile, and check that memory from before does not break it.

    The limit is on memory that the process asks for. Memory that it had before, and fills only now, shows in its peak.
    """
    if promise is None:
        yield
        return
    peak = process.memory_peak
    peak.restart()
    before = peak.size()
    with process.limited_by(promise.allowed):
        yield
    if peak.size() - before >= promise.room:
        raise MustEnd(Loss.MEMORY, promise.allowed / 2**20)


# The grader's own modules beside a notebook: compiled once, instead of in every sandbox that imports them.

_FOLDER = "__pycache__"


def with_compiled(files: Files) -> Files:
    """The files, and for those that are the grader's own modules the compiled ones, where Python looks for them.

    The submission's own folder of compiled modules is left out: it could be a file where a folder must be.
    """
    modules = compiled_modules()
    compiled = {path: content for path, content in files.items() if path.partition("/")[0] != _FOLDER}
    for path, content in files.items():
        if path in modules and modules[path][0] == content:
            compiled[importlib.util.cache_from_source(path)] = modules[path][1]
    return compiled


@functools.cache
def compiled_modules() -> dict[str, tuple[bytes, bytes]]:
    """The text and the compiled form of each of the grader's modules, by path."""
    return {path: (content, compile_module(path, content)) for path, content in all_modules().items()}


def compile_module(path: str, content: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, path), Path(folder, "compiled")
        source.write_bytes(content)
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH  # times mean nothing in a new folder
        py_compile.compile(str(source), str(target), path, doraise=True, invalidation_mode=unchecked)
        return target.read_bytes()


# Cases are sent to a sandbox in batches, each a frame of modest size.

MOST_BYTES = 2**20  # of several cases; a single one may fill a frame


@dataclass
class Batch:
    """The inputs of some cases, and the values lent to the notebook for them, as trees that refer to tensors."""

    cases: list[dict[str, Any]] = field(default_factory=list)
    tensors: dict[str, Any] = field(default_factory=dict)
    size: int = 0  # in bytes
    promise: MemoryPromise | None = None  # such a case is alone in its batch

    def kept_by(self, answer: Answer) -> Answer:
        """An answer to a case of this batch, or the loss if it broke the memory promise."""
        return self.promise.kept_by(answer) if self.promise else answer


def batches(form: str, cases: Sequence[SampledCase]) -> Iterator[Batch]:
    """All cases in batches, in their order."""
    batch = Batch()
    for number, case in enumerate(cases):  # each tensor needs a name of its own in its batch
        inputs, tensors = encode_value(form, list(case.inputs), f"{number}-")
        variables, tensors_of_variables = encode_value(form, dict(case.lent), f"{number}-lent-")
        tensors |= tensors_of_variables
        encoded_case = {"inputs": inputs, "lent": variables}
        size = len(json.dumps(encoded_case)) + sum(tensor.nbytes for tensor in tensors.values())
        is_alone = bool(case.case.promise or (batch.cases and batch.promise))
        if batch.cases and (is_alone or batch.size + size > MOST_BYTES):
            yield batch
            batch = Batch()
        batch.promise = case.case.promise
        batch.cases.append(encoded_case)
        batch.tensors |= tensors
        batch.size += size
    if batch.cases:
        yield batch


START_SECONDS = 60  # a fork takes milliseconds; this is for an overloaded machine
SPARE_SECONDS = 10  # of processor time, until the kernel ends a sandbox that we have not ended
MAX_THREADS = 512  # torch takes one for each core, and large machines have many
MAX_SOURCE = 2 * 2**20  # bytes of one cell, as it is sent
MAX_STANDIN_CALLS = 2000  # per case and version; a loop over the words of a case needs a few


class SandboxLost(Exception):
    """The process hung or died, and cannot be used any more."""

    def __init__(self, lost: Lost) -> None:
        super().__init__(sentence_of(lost))
        self.lost = lost


class SandboxProcess:
    """A process forked for one submission, in a folder of its own with copies of the files beside the notebook.

    Its computing is counted in `time`, which other sandboxes of the submission share, and ends with it at the latest.
    """

    def __init__(
        self,
        files: Files,
        limits: Limits,
        device: str = "cpu",
        confined: bool = True,
        hidden: Sequence[str] = (),
        loaded: Sequence[str] = (),
        by_user: bool = False,
        time: Time | None = None,
    ) -> None:
        self._limits = limits
        self._time = time or Time(limits.submission, limits.patience, waiting=limits.waiting)
        self._on_cpu = device == "cpu"
        self._scratch = scratch.Scratch(with_compiled(files))
        order = {"device": device, "confined": confined, "by_user": by_user}
        self._process = self._fork({**order, "hidden": list(hidden), "loaded": list(loaded)})
        self._time.count(self._process)
        self._channel = self._process.channel
        self._has_disk = False
        self._ready = False  # until the process says so
        self._exceeds_standin = False  # whether the last answer asked too much of a lent function
        self._next_check = 0.0  # when to measure the folder again: answers come faster than files can fill it
        self._denials = Denials()

    def _fork(self, order: dict[str, Any]) -> ForkedProcess:
        order |= {
            "folder": str(self._scratch.folder),
            "environment": _environment(self._scratch.folder),
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
        """Wait until the process is confined, or find out why it cannot be.

        OSError is raised if the device has no memory left for it: there may be some again later.
        """
        try:
            first = wire.receive(self._channel, time.monotonic() + START_SECONDS)
        except wire.ChannelTimeout as error:
            raise ZygoteError(f"a sandbox did not start within {START_SECONDS} seconds") from error
        except wire.ChannelError as error:  # no code of the submission has run so far
            raise ZygoteError("a sandbox ended before it was ready") from error
        if first.header.get("full") is True:  # other processes fill the device
            raise OSError(errno.ENOMEM, str(first.header["refused"]))
        if "refused" in first.header:
            raise CannotConfineError(str(first.header["refused"]))
        self._has_disk = first.header.get("disk") is True  # the kernel limits its size
        self._process.receive_memory_peak()
        self._denials.begin(self._process.notes)
        self._ready = True

    def wait_or_close(self) -> None:
        """Wait until the process is confined; if that fails, remove all of it."""
        try:
            self.wait_until_ready()
        except BaseException:
            self.close()
            raise

    def run_cell(
        self,
        source: str,
        within: float,
        number: int | None = None,
        uses: Mapping[str, object] | None = None,
    ) -> CellResult:
        """Run a cell for at most `within` seconds of computing.

        Its outputs show `number`, or the next one. The values that an ordinary test `uses` are restored while it runs.
        """
        if len(json.dumps(source)) > MAX_SOURCE:
            return CellResult([], "CellTooLong: This cell is too long to be run.")
        request: dict[str, Any] = {"do": "cell", "source": source, "number": number}
        line = endless_loop(source)
        if line is not None:
            blank_lines = len(source) - len(source.lstrip("\n"))  # at the start, which IPython does not count
            request["endless"] = [line - blank_lines, line]
        if uses is not None:
            request |= {"do": "test", "uses": uses}
        return read_cell(self._ask(request, {}, within))

    def take_autograd_away(self, within: float) -> None:
        """Take autograd away: nothing has gradients there any more. SandboxLost is raised if this takes too long."""
        self._ask({"do": "take autograd away"}, {}, within)

    def answers(
        self,
        entry: str,
        cases: Sequence[SampledCase],
        standins: Standins,
        form: str = "function",
        within: float | None = None,
        probe: str = "",
    ) -> Iterator[Answer]:
        """Put cases to the student's function or class, until an answer is lost or the function is missing.

        Calls of `standins` are computed here. Each case may compute for `within` seconds.
        """
        seconds = self._limits.case if within is None else within
        for batch in batches(form, cases):
            request = {
                "do": "answers", "entry": entry, "form": form, "probe": probe, "standins": kinds(standins),
                "cases": batch.cases,
            }  # fmt: skip
            replies = self._replies(request, batch.tensors, seconds, standins, batch.promise)
            for _ in batch.cases:
                try:
                    frame = next(replies)
                except SandboxLost as lost:
                    yield batch.kept_by(lost.lost)
                    return
                answer = batch.kept_by(read_answer(frame.header, frame.tensors, form, self._exceeds_standin))
                is_broken = isinstance(answer, Lost) and answer.loss is not Loss.MEMORY  # the next case has enough
                if is_broken:
                    self.close()  # a broken answer leaves nothing to rely on
                yield answer
                if is_broken or isinstance(answer, Missing):
                    return

    def answers_of_edited(
        self,
        entry: str,
        case: SampledCase,
        sources: Sequence[EditedSource],
        standins: Standins,
        answers: AnswersOfEdited,
        within: float,
        probe: str = "",
    ) -> list[Answer]:
        """Put one case to versions of the student's definitions. SandboxLost is raised if one of them ends it."""
        tree, tensors = encode_value(answers.form, list(case.inputs))
        request = {
            "do": "edited", "entry": entry, "form": answers.form, "probe": probe, "inputs": tree,
            "standins": kinds(standins),
            "sources": [edited.source for edited in sources],
            "lent": [dict(edited.lent) for edited in sources],
        }  # fmt: skip
        frame = self._ask(request, tensors, within, standins, versions=len(sources))
        return answers.read_answers(frame, len(sources))

    @property
    def cpu_seconds(self) -> float:
        """The processor time that it has used, also after its end."""
        return self._process.cpu_seconds

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.alive

    def take_denied(self) -> list[DeniedCall]:
        """What the submission tried and was denied since this was last called."""
        return self._denials.take()

    def close(self) -> None:
        """End the process and everything it started, and remove its folder."""
        self._denials.read_notes()
        self._process.end()
        self._scratch.remove()

    def _ask(
        self,
        header: dict[str, Any],
        tensors: dict[str, Any],
        seconds: float,
        standins: Standins | None = None,
        versions: int = 1,
    ) -> wire.Frame:
        """Send a request and wait for the one reply to it."""
        return next(self._replies(header, tensors, seconds, standins or {}, versions=versions))

    def _replies(
        self,
        header: dict[str, Any],
        tensors: dict[str, Any],
        seconds: float,
        standins: Standins,
        promise: MemoryPromise | None = None,
        versions: int = 1,
    ) -> Iterator[wire.Frame]:
        """Send a request, and yield its replies, each one when it is asked for."""
        identity = ""
        while True:
            seconds_left = min(seconds, self._time.seconds_left())
            with self._or_lost(seconds_left * self._limits.patience) as patience:
                if not self._ready:  # the start of the process is not the student's time
                    self.wait_until_ready()
                computing, waiting = Computing(self._process, seconds_left), Waiting(self._process, self._time)
                watch = functools.partial(self._watch, computing, waiting)
                deadline = min(time.monotonic() + patience, self._time.ends_at)
                watch(False)
                with enforce(promise if self._on_cpu else None, self._process):
                    identity = identity or self._send(header, tensors, deadline)
                    frame = self._receive(identity, deadline, standins, watch, versions)
            yield frame

    @contextlib.contextmanager
    def _or_lost(self, patience: float) -> Iterator[float]:
        """End the sandbox if anything goes wrong, and raise SandboxLost."""
        try:
            yield patience
            return
        except MustEnd as must_end:
            lost = must_end.lost
        except wire.ChannelTimeout:
            lost = Lost(Loss.WAITING, patience)
        except wire.ChannelError:
            lost = Lost(Loss.DEATH)
        self.close()
        raise SandboxLost(lost)

    def _send(self, header: dict[str, Any], tensors: dict[str, Any], deadline: float) -> str:
        """Send a request, and return the id that each reply to it must carry."""
        if select.select([self._channel], [], [], 0)[0]:
            raise MustEnd(Loss.FORGED)  # a reply before any question
        identity = secrets.token_hex(8)  # no reply to this request can have been written before it
        wire.send(self._channel, {**header, "id": identity}, tensors, deadline)
        return identity

    def _receive(
        self, identity: str, deadline: float, standins: Standins, watch: Callable[[bool], None], versions: int
    ) -> wire.Frame:
        self._exceeds_standin = False
        for _ in range(MAX_STANDIN_CALLS * versions):
            frame = wire.receive(self._channel, deadline, watch)
            if frame.header.get("to") != identity:
                raise MustEnd(Loss.FORGED)
            if frame.header.get("unusable") is True:
                raise MustEnd(Loss.DEVICE)
            if "endless" in frame.header:
                raise MustEnd(Loss.ENDLESS, converted(frame.header["endless"], Count) or 0)
            if "call" not in frame.header:
                return frame
            watch(False)  # frames may come too fast for a check while waiting
            header, tensors = compute(frame, standins)
            self._exceeds_standin |= "beyond" in header
            wire.send(self._channel, header, tensors, deadline)
        raise MustEnd(Loss.CALLS)

    def _watch(self, computing: Computing, waiting: Waiting, is_silent: bool) -> None:
        """Check amounts for which the kernel has no suitable limit. Called while waiting, too."""
        computing.check()
        if is_silent and self._on_cpu:  # a device computes while the process sleeps
            waiting.check()
        if self._process.threads > MAX_THREADS:
            raise MustEnd(Loss.THREADS, MAX_THREADS)
        if not self._has_disk and time.monotonic() >= self._next_check:
            self._scratch.check_amounts(self._process.pid)
            self._next_check = time.monotonic() + wire.MEANWHILE_SECONDS


def _environment(folder: Path) -> dict[str, str]:
    """The environment variables of a sandbox, whose home is its folder: nothing comes from the instructor's own."""
    return {
        "PATH": os.defpath,
        "HOME": str(folder),
        "USER": "student",  # or libraries would look the name up elsewhere
        "TMPDIR": str(folder),
        "IPYTHONDIR": str(folder / ".ipython"),
        "MPLCONFIGDIR": str(folder / ".matplotlib"),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "LANG": "C.UTF-8",
        "TORCHDYNAMO_DISABLE": "1",  # torch.compile would start a compiler; so the code runs without one
        "NBGRADER_EXECUTION": "autograde",  # lets an instructor's code know
        "NVIDIA_TF32_OVERRIDE": "0",  # a GPU computes with all digits, even if the code asks for speed
        "CUDA_MPS_PIPE_DIRECTORY": str(folder),  # no server there: sandboxes would share a context through it
        **inherited(),
    }
