"""What this machine offers. Every function here has an answer, even if something is missing or broken.

Packages that may be missing are imported where they are needed.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

GIB = 2**30
TRIAL_SECONDS = 60
_GRADED_WITH = {"grader": "attention-grader", "nbgrader": "nbgrader", "PyTorch": "torch", "numpy": "numpy"}

# Mount a disk as for a submission, and see whether it has a limit.
DISK_TRIAL = """
import sys
from pathlib import Path
from grader.sandbox import own_disk
own_disk.mount(Path(sys.argv[1]), 2**20, 100)
try:
    Path("file").write_bytes(bytes(2**21))
except OSError:
    sys.exit()
sys.exit("the limit did not hold")
"""


def cores() -> int:
    """How many processes can compute at once here."""
    return len(os.sched_getaffinity(0))


def version_of(package: str) -> str:
    """The version of a package; empty if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


@functools.cache  # needed for every grade
def environment() -> str:
    """The versions that a grade depends on, in words."""
    versions = {name: version_of(package) for name, package in _GRADED_WITH.items()}
    packages = [f"{name} {version}" for name, version in versions.items()]
    return ", ".join([f"Python {platform.python_version()}", *packages])


def why_broken(module: str) -> str:
    """Why an installed module cannot be imported; empty if it can."""
    try:
        import_module(module)
    except Exception as error:  # damaged packages raise anything
        return text_of_error(error)
    return ""


def landlock_version() -> int | str:
    """The kernel's version of Landlock, or why it has none."""
    try:
        from landlock import landlock_abi_version

        number: int = landlock_abi_version()
    except Exception as error:  # platforms without Landlock raise various errors
        return text_of_error(error)
    return number


def text_of_error(error: Exception) -> str:
    return str(error) or type(error).__name__


def why_no_disk() -> str:
    """Why sandboxes cannot have a disk of their own; empty if they can."""
    return _trial_error(DISK_TRIAL)


def _trial_error(program: str) -> str:
    """Run a program in a new folder; return what went wrong, if anything."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.run(
                [sys.executable, "-c", program, folder],
                capture_output=True,
                text=True,
                timeout=TRIAL_SECONDS,
                check=False,
            )
    except (OSError, subprocess.SubprocessError) as error:  # such as no place to write
        return str(error)
    if not process.returncode:
        return ""
    lines = process.stderr.strip().splitlines()
    return lines[-1] if lines else f"exit code {process.returncode}"


def free_memory() -> float:
    """Free memory in GiB, within the limit of a container."""
    free = [_numbers(Path("/proc/meminfo"), "MemAvailable") * 1024]
    group = Path("/sys/fs/cgroup")
    limit, used = (_numbers(group / name) for name in ("memory.max", "memory.current"))
    return min(free + ([limit - used] if limit else [])) / GIB


def _numbers(path: Path, key: str = "") -> int:
    try:
        lines = [line for line in path.read_text().splitlines() if line.startswith(key)]
        return next(int(word) for line in lines for word in line.split() if word.isdigit())
    except (OSError, StopIteration):
        return 0


def cuda_devices() -> tuple[str | None, list[str]]:
    """The CUDA version that PyTorch was built for, if any, and the devices that it finds."""
    if why_broken("torch"):
        return None, []
    import torch

    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    return torch.version.cuda or "", [torch.cuda.get_device_name(device) for device in devices]


@contextlib.contextmanager
def in_little_memory(size: int) -> Iterator[None]:
    """Let this process use at most this many more bytes of memory meanwhile."""
    import resource  # which only Unix has

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = (limit for limit in (in_use + size, soft, hard) if limit != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
