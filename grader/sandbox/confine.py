"""What the kernel lets a sandbox do, set before the first byte of a student's code runs.

Landlock limits files, seccomp limits system calls, rlimits limit amounts. None of it can be undone from
inside, not even by root: all capabilities are dropped as well. Where the operator allows it, a sandbox does without
Landlock: it is then a user of its own, to whom files are closed.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import resource
import signal
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from landlock import FSAccess, LandlockError, Ruleset, landlock_abi_version

from grader.sandbox import own_user
from grader.sandbox.calls import ALLOWED, ALLOWED_ARGUMENTS, ALLOWED_FOR_CUDA

try:
    import pyseccomp  # looks for the system's libseccomp, so it must come before confinement

    NO_SECCOMP = ""
except (ImportError, OSError, RuntimeError) as missing:
    NO_SECCOMP = str(missing)

_LIBC = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 4, 24, 38
_CAPABILITY_VERSION_3 = 0x20080522

MAX_TIMERS = 256
_GRADER = Path(__file__).resolve().parent.parent  # references, cases and misconceptions lie here
LIBRARIES = ("site-packages", "dist-packages")  # what folders of installed packages are called
_READABLE = FSAccess.READ_FILE | FSAccess.READ_DIR | FSAccess.EXECUTE


class CannotConfineError(Exception):
    """This platform lacks what confinement needs."""


@dataclass(frozen=True)
class Amounts:
    """How much of everything a sandbox may use."""

    memory: int = 4 * 2**30  # bytes, beyond what the warm process holds
    cpu: int = 300  # seconds
    file: int = 64 * 2**20  # bytes of one file
    descriptors: int = 128
    disk: int = 256 * 2**20  # bytes of all files
    files: int = 10_000
    watched: bool = False  # from outside, where it has no disk of its own
    threads: int | None = None  # which the kernel counts for all processes of a user that has no view of its own


def why_not() -> str:
    """Why this platform cannot confine a process; empty if it can."""
    return _why_no_seccomp() or why_no_landlock()


def why_not_even_by_user() -> str:
    """Why it cannot even where a user of its own does for Landlock; empty if it can."""
    no_seccomp, no_landlock = _why_no_seccomp(), why_no_landlock()
    if no_seccomp or not no_landlock or os.geteuid() == 0:
        return no_seccomp
    return f"{no_landlock}, and only root can do without"


def _why_no_seccomp() -> str:
    return f"libseccomp is missing ({NO_SECCOMP})" if NO_SECCOMP else ""


def why_no_landlock() -> str:
    """Why this kernel cannot keep a process away from files; empty if it can."""
    try:
        version = landlock_abi_version()
    except (LandlockError, OSError) as error:
        return f"this kernel has no Landlock ({error})"
    return "" if version >= 3 else "Landlock of this kernel is too old; Linux 6.2 has what is needed"


def prepare(device: str, hidden: Sequence[str]) -> None:
    """Work out what all sandboxes have in common, in the process that forks them."""
    with contextlib.suppress(Exception):  # each sandbox then tries for itself, and refuses to run if it must
        _readable(device, tuple(hidden))
        _filter_for_all(device)


def confine(
    folder: Path,
    amounts: Amounts,
    device: str,
    hidden: Sequence[str] = (),
    by_user: bool = False,
    start: Callable[[], None] = lambda: None,
) -> None:
    """Confine this process for good. Afterwards `folder` is the only place where it can write.

    It reads nothing of the folders that are `hidden`, even where they lie among libraries.

    With `by_user`, it is done without Landlock: see own_user.py.

    `start` starts a device. It runs once files are limited and before calls are, since drivers make calls that code
    may not. The threads it leaves behind are confined like this one: Landlock is inherited, seccomp is synchronised.
    """
    try:
        sizes = os.open("/proc/self/statm", os.O_RDONLY)  # which cannot be opened later
        _limit_amounts(amounts)
        if by_user:
            parent = os.getppid()
            own_user.become(folder, [_GRADER, *map(Path, hidden)])
            die_with_parent(parent)  # the kernel has forgotten that with who it was
        _drop_privileges()
        if not amounts.watched:  # else the grader looks which files it holds
            _prctl(_PR_SET_DUMPABLE, 0)
        if not by_user:
            _limit_files(folder, device, tuple(hidden))
        start()
        _limit_memory(amounts.memory, sizes, device)
        os.close(sizes)
        _limit_calls(device)
    except Exception as error:  # whatever went wrong: a sandbox that is not confined must run nothing
        raise CannotConfineError(str(error)) from error


def die_with_parent(parent: int) -> None:
    """Have the kernel end this process when the one that forked it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before we could say so
        os._exit(1)


def _limit_amounts(amounts: Amounts) -> None:
    limits = {
        resource.RLIMIT_CPU: amounts.cpu,
        resource.RLIMIT_FSIZE: amounts.file,
        resource.RLIMIT_NOFILE: amounts.descriptors,
        resource.RLIMIT_CORE: 0,
        # What the kernel counts for a user, and not for a process.
        resource.RLIMIT_SIGPENDING: MAX_TIMERS,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 0,
    }
    if amounts.threads is not None:
        limits[resource.RLIMIT_NPROC] = amounts.threads
    for kind, limit in limits.items():
        resource.setrlimit(kind, (limit, limit))
    with contextlib.suppress(OSError):  # when memory runs out, the machine shall end sandboxes first
        Path("/proc/self/oom_score_adj").write_text("1000")


def _limit_memory(memory: int, sizes: int, device: str) -> None:
    """Limit memory beyond what the process holds: a GPU's driver reserves far more addresses than it uses memory."""
    pages = list(map(int, os.pread(sizes, 200, 0).split()))
    addresses, data = pages[0] * resource.getpagesize(), pages[5] * resource.getpagesize()
    if device == "cpu":
        limits = {resource.RLIMIT_AS: addresses + memory}
    else:  # what is allocated on the device takes addresses here, too
        limits = {resource.RLIMIT_DATA: data + memory, resource.RLIMIT_AS: addresses + 2 * memory}
    for kind, limit in limits.items():
        resource.setrlimit(kind, (limit, limit))


def _drop_privileges() -> None:
    """No capability is left, and none can be had: root is then an ordinary user who owns root's files."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    for capability in range(64):
        with contextlib.suppress(OSError):  # the kernel has fewer, or we may not drop any
            _prctl(_PR_CAPBSET_DROP, capability)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    if _LIBC.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        raise OSError(ctypes.get_errno(), "capset failed")


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) failed")


def _limit_files(folder: Path, device: str, hidden: tuple[str, ...]) -> None:
    ctypes.set_errno(0)  # the landlock package takes an old error number for a new one
    rules = Ruleset()
    handled = rules.restrict_rules
    for path, access in _readable(device, hidden).items():
        rules.allow(path, rules=access & handled)
    # Libraries look there which others are loaded; code can find its own addresses anyway.
    rules.allow(Path("/proc/self/maps"), rules=FSAccess.READ_FILE)
    if device != "cpu":
        # A driver names its threads. That can only be done through a folder that holds more files, all about this
        # process: docs/gpu.md says what can be written there.
        rules.allow(Path("/proc/self/task"), rules=FSAccess.WRITE_FILE | FSAccess.TRUNCATE)
    # Scratch: files and folders, but no devices, sockets or programs to execute.
    rules.allow(
        folder,
        rules=handled & ~(FSAccess.EXECUTE | FSAccess.MAKE_CHAR | FSAccess.MAKE_BLOCK | FSAccess.MAKE_SOCK),
    )
    rules.apply()


@functools.cache
def _readable(device: str, hidden: tuple[str, ...]) -> dict[Path, FSAccess]:
    """The interpreter, libraries, fonts and time zones as far as this system has them, but nothing that is hidden."""
    return {
        path: access if path.is_dir() else access & FSAccess.all_file()
        for path, access in _to_read(device, {_GRADER, *(Path(folder).resolve() for folder in hidden)})
        if path.exists()
    }


def _to_read(device: str, hidden: Set[Path]) -> Iterator[tuple[Path, FSAccess]]:
    libraries = {
        Path(folder) for folder in ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share")
    }
    libraries |= {Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    # A virtual environment may take libraries from the system's folders, too.
    libraries |= {Path(entry) for entry in sys.path if Path(entry).name in LIBRARIES}
    for library in libraries | {Path(sys.base_prefix, "lib")}:
        yield from _all_but(hidden, library)
    for file in ("/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/proc/cpuinfo", "/proc/meminfo"):
        yield Path(file), FSAccess.READ_FILE
    yield Path("/sys/devices/system/cpu"), _READABLE
    yield Path(f"/etc/python{sysconfig.get_python_version()}"), _READABLE  # where Debian keeps a part of the library
    for name in ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"):
        yield Path(name), FSAccess.READ_FILE | FSAccess.WRITE_FILE
    if device == "cuda":
        for node in Path("/dev").glob("nvidia*"):
            yield node, FSAccess.READ_FILE | FSAccess.WRITE_FILE | FSAccess.IOCTL_DEV
        yield Path("/proc/driver/nvidia"), _READABLE


def _all_but(hidden: Set[Path], folder: Path) -> Iterator[tuple[Path, FSAccess]]:
    """The folder as a whole, or everything in it except what is hidden."""
    folder = folder.resolve()
    if not any(folder in path.parents for path in hidden):
        yield folder, _READABLE
        return
    yield folder, FSAccess.READ_DIR
    for entry in folder.iterdir():
        if entry not in hidden and not entry.is_symlink():  # what a link leads to needs a rule of its own
            yield from _all_but(hidden, entry)


def _limit_calls(device: str) -> None:
    """Allow what a computation needs, and nothing else: a kernel has more calls every year."""
    calls = _filter_for_all(device)
    for name in ("kill", "tgkill"):  # signals to itself are its own affair
        calls.add_rule(pyseccomp.ALLOW, name, pyseccomp.Arg(0, pyseccomp.EQ, os.getpid()))
    calls.load()


@functools.cache
def _filter_for_all(device: str) -> pyseccomp.SyscallFilter:
    """The rules that do not depend on the process."""
    calls = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.EPERM))
    calls.set_attr(pyseccomp.Attr.CTL_TSYNC, 1)  # for all threads
    for name in ALLOWED:
        with contextlib.suppress(ValueError, OSError):  # this machine, or its libseccomp, does not have it
            calls.add_rule(pyseccomp.ALLOW, name)
    for name, argument, bits, values in ALLOWED_ARGUMENTS + (ALLOWED_FOR_CUDA if device == "cuda" else ()):
        for value in values:
            calls.add_rule(pyseccomp.ALLOW, name, pyseccomp.Arg(argument, pyseccomp.MASKED_EQ, bits, value))
    # What its own limits are, and no new ones: that of memory, which the judge lowers for a case, must stay lowered.
    mine, no_new = pyseccomp.Arg(0, pyseccomp.EQ, 0), pyseccomp.Arg(2, pyseccomp.EQ, 0)
    calls.add_rule(pyseccomp.ALLOW, "prlimit64", mine, no_new)
    # The arguments of clone3 lie in memory, where seccomp cannot look; the C library then takes clone.
    calls.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")
    return calls
