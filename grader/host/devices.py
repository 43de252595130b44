"""Find out whether sandboxes can start and compute here, on the processor or on a GPU, by starting one."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence

import torch

from grader.errors import CourseError, CrewGone
from grader.host.limits import Limits
from grader.host.patience import while_short
from grader.host.replies import CellResult
from grader.host.sandbox_process import SandboxLost, SandboxProcess
from grader.host.zygote_process import GPUS, ZygoteError
from grader.sandbox.confine import CannotConfineError
from grader.sandbox.plain_text import listed

# GPU memory for each sandbox: what CUDA and its libraries keep for a process, and what an ordinary notebook adds;
# docs/gpu.md has the measurements. A greedy notebook may take 4 GiB, and others then wait for room.
MEMORY_OF_SANDBOX = 2**30
_TRIAL = Limits(cell=60, submission=120)
_COMPUTES = """
import json, socket, torch
x = torch.arange(9.0, device={device!r}).reshape(3, 3).requires_grad_()
(x @ x).sum().backward()
escapes = []
for description, attempt in (("read /etc/passwd", lambda: open("/etc/passwd")), ("open a socket", socket.socket)):
    try:
        attempt()
        escapes.append(description)
    except OSError:
        pass
free = torch.{device}.mem_get_info()[0] if {device!r} != "cpu" else 0
print(json.dumps([x.grad.sum().item(), escapes, free]))
"""
RIGHT = 216.0  # the sum that this cell should compute
_MISSING = "No module named"  # Python's own words
_WAY_OUT = (
    "Sandboxes only use packages in folders called site-packages or dist-packages. Install the grader in a virtual "
    "environment, or rename the folder on your PYTHONPATH."
)


class NoSandboxError(Exception):
    """No sandbox can start, compute or be confined; the text says why."""


def try_sandbox(device: str = "cpu", confined: bool = True, hidden: Sequence[str] = ()) -> int:
    """Start a sandbox as for a submission; have it compute, and try things that it may not do.

    Returns how many bytes of GPU memory are left free. NoSandboxError says what is wrong.
    """

    def run() -> CellResult:
        sandbox = SandboxProcess({}, _TRIAL, device, confined, hidden)
        try:
            return sandbox.run_cell(_COMPUTES.format(device=device), _TRIAL.cell)
        finally:
            sandbox.close()

    try:
        result = while_short(run)
    except (ZygoteError, CannotConfineError, SandboxLost, OSError) as error:
        raise NoSandboxError(describe_failure(error)) from error
    text = "".join(output.get("text", "") for output in result.outputs)
    try:
        computed, escapes, free = json.loads(text)
    except ValueError:
        raise NoSandboxError(result.error or text) from None
    if computed != RIGHT:
        raise NoSandboxError(f"{device} computes {computed} where {RIGHT} is right")
    if confined and escapes:
        raise NoSandboxError(f"it could {listed(escapes)}")
    return int(free)


def must_start(device: str, confined: bool, hidden: Sequence[str]) -> None:
    """Try one sandbox first, so that anything this machine lacks is reported once and not blamed on a student."""
    try:
        try_sandbox(device, confined, hidden)
    except NoSandboxError as error:
        raise cannot_start(error) from error


def cannot_start(error: Exception) -> CrewGone:
    """The error that ends the whole run: no submission is to blame."""
    way_out = _WAY_OUT if _MISSING in str(error) else "For details, run: grader doctor"
    return CrewGone(f"Cannot start a sandbox: {describe_failure(error)}. {way_out}")


def describe_failure(error: Exception) -> str:
    """The text of an error, to be put into a sentence."""
    return str(error).removeprefix("ModuleNotFoundError: ").rstrip(".") or type(error).__name__


def need_device(device: str) -> None:
    """Check that the device is there, or every submission would seem to fail."""
    if device == "cuda" and not torch.cuda.is_available():
        raise CourseError(
            "PyTorch finds no CUDA device here. Grade without --device cuda. For details, run: grader doctor"
        )


def gpus() -> list[str]:
    """The GPUs that may be used, each by its name for CUDA_VISIBLE_DEVICES."""
    count = torch.cuda.device_count()
    names = os.environ[GPUS].split(",") if os.environ.get(GPUS) else map(str, range(count))
    return [name.strip() for name in names][:count]


@contextlib.contextmanager
def seeing(gpu: str) -> Iterator[None]:
    """Let sandboxes that start meanwhile see only this GPU."""
    before = os.environ.get(GPUS)
    os.environ[GPUS] = gpu
    try:
        yield
    finally:
        del os.environ[GPUS]
        if before is not None:
            os.environ[GPUS] = before


def free_on_gpus(confined: bool = True) -> list[int]:
    """How many bytes a sandbox finds free on each GPU. NoSandboxError is raised if a GPU cannot be used."""
    free = []
    for gpu in gpus():
        with seeing(gpu):
            free.append(try_sandbox("cuda", confined))
    return free


def jobs_on_gpus(free: Sequence[int], processors: int) -> int:
    """How many sandboxes fit into the free memory of all GPUs, with a processor for each."""
    return max(1, min(processors, sum(size // MEMORY_OF_SANDBOX for size in free)))
