"""The trusted side of the zygote: start it once in each process that grades, and have it fork sandboxes."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.host.memory_peak import MemoryPeak
from grader.host.patience import is_short
from grader.host.scratch import claimed_folder
from grader.sandbox.confine import LIBRARIES
from grader.sandbox.notes import receive_memory

# Changing the limits of a sandbox that has a user of its own.


@contextlib.contextmanager
def with_real_user(user: int | None) -> Iterator[None]:
    """Give this process the real user id `user`, and keep its effective one; None changes nothing.

    Setting limits of another process takes its real user id, or a privilege that root in a container lacks.
    """
    if user is None:
        yield
        return
    real_user, real_group = os.getuid(), os.getgid()
    try:
        os.setresgid(user, -1, -1)
        os.setresuid(user, -1, -1)
        yield
    finally:
        os.setresuid(real_user, -1, -1)
        os.setresgid(real_group, -1, -1)


# The list of this machine's fonts, which matplotlib makes if it finds none.

FOLDER = "attention-grader"  # not the user's own list: that has fonts that no sandbox may read


def fonts_kept() -> dict[str, str]:
    """The environment that leads matplotlib to its list of fonts if the home is new. Making a list takes seconds.

    Empty if nothing can be kept there: matplotlib would then leave a folder behind.
    """
    try:
        caches = Path(os.getenv("XDG_CACHE_HOME") or "~/.cache").expanduser() / FOLDER
        fonts = caches / "matplotlib"
        fonts.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no folder, no home
        return {}
    return {"XDG_CACHE_HOME": str(caches)} if os.access(fonts, os.W_OK) else {}


START_SECONDS = 120  # importing torch on a cold, busy disk
MESSAGE_BYTES = 2**16
_CPU_CLOCK = 2  # the low bits of the clock of a whole process: see clock_getcpuclockid(3)
LAST_WORDS_SECONDS = 10  # to wait for the end of a process that no longer answers
# The parts of our environment that untrusted processes get: which GPUs to use, and where libraries are.
GPUS = "CUDA_VISIBLE_DEVICES"
_INHERITED = (GPUS, "CUDA_DEVICE_ORDER", "LD_LIBRARY_PATH", "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")

# The zygote finds packages where this process does. The rest of our path, such as the course's folder, is left out.
PROGRAM = (
    "import gc, sys; gc.disable(); libraries = {libraries!r}; "
    "sys.path[:] = [entry for entry in sys.path if entry not in libraries] + libraries; "
    "sys.path.insert(0, {root!r}); from grader.sandbox.zygote import main; sys.path.remove({root!r}); "
    "main({descriptor})"
)


def inherited() -> dict[str, str]:
    return {name: os.environ[name] for name in _INHERITED if name in os.environ}


def libraries() -> list[str]:
    """The folders of installed packages: on PYTHONPATH, in the user's own folder, or in an environment."""
    return [entry for entry in sys.path if Path(entry).is_absolute() and Path(entry).name in LIBRARIES]


class ZygoteError(Exception):
    """No sandbox can be started; the text says why."""


@dataclass
class ForkedProcess:
    """A forked sandbox: its channel, where it leaves notes, and a handle that can mean no other process."""

    pid: int
    handle: int
    channel: socket.socket
    notes: socket.socket
    user: int | None = None  # its own, if it has one
    _memory_peak: MemoryPeak | None = field(default=None, init=False)
    _cpu_seconds: float = field(default=0.0, init=False)

    @property
    def alive(self) -> bool:
        return self.handle >= 0 and not select.select([self.handle], [], [], 0)[0]

    @property
    def threads(self) -> int:
        """How many threads it has; 0 after its end."""
        with contextlib.suppress(OSError):
            return Path(f"/proc/{self.pid}/task").stat().st_nlink - 2  # a folder for each, "." and ".."
        return 0

    @property
    def is_asleep(self) -> bool:
        """Whether no thread runs, waits for its turn on a processor, or waits for a disk."""
        try:
            stats = [thread.read_bytes() for thread in Path(f"/proc/{self.pid}/task").glob("*/stat")]
        except OSError:  # a thread has ended just now
            return False
        states = {stat.rpartition(b") ")[2][:1] for stat in stats}
        return bool(states) and states.isdisjoint({b"R", b"D"})

    @property
    def cpu_seconds(self) -> float:
        """The processor time of all its threads together; after its end, the last value that was seen."""
        if self.handle >= 0:
            with contextlib.suppress(OSError):
                self._cpu_seconds = time.clock_gettime(~self.pid << 3 | _CPU_CLOCK)
        return self._cpu_seconds

    @contextlib.contextmanager
    def limited_by(self, size: int) -> Iterator[None]:
        """Let it get at most `size` bytes more meanwhile: of heap, maps, files in memory, threads.

        This limits both new addresses and reserved ones that it may not write so far. Limits are soft ones, which can
        be raised again without a privilege; a sandbox may not set any.
        """
        before = {}
        with contextlib.suppress(OSError, IndexError):  # it has ended, as the next request will show
            pages = list(map(int, Path(f"/proc/{self.pid}/statm").read_text().split()))
            for limit, page_count in ((resource.RLIMIT_AS, pages[0]), (resource.RLIMIT_DATA, pages[5])):
                before[limit] = resource.prlimit(self.pid, limit)
                self._set_limit(limit, (page_count * resource.getpagesize() + size, before[limit][1]))
        try:
            yield
        finally:
            for limit, soft_and_hard in before.items() if self.alive else ():
                with contextlib.suppress(OSError):  # it has ended, or, unconfined, has lowered its own limits
                    self._set_limit(limit, soft_and_hard)

    def _set_limit(self, limit: int, soft_and_hard: tuple[int, int]) -> None:
        with with_real_user(self.user):
            resource.prlimit(self.pid, limit, soft_and_hard)

    def receive_memory_peak(self) -> None:
        """Take the descriptor that it has handed over. Call this once, before any student code runs."""
        try:
            self._memory_peak = MemoryPeak(self.pid, receive_memory(self.notes))
        except (OSError, IndexError) as error:
            raise ZygoteError("a sandbox did not show its memory") from error

    @property
    def memory_peak(self) -> MemoryPeak:
        assert self._memory_peak is not None, "nobody has received it"
        return self._memory_peak

    def end(self) -> None:
        """Kill the process, and all that it started, and wait until it is gone."""
        self.channel.close()
        self.notes.close()
        if self.handle < 0:
            return
        self._cpu_seconds = self.cpu_seconds  # the last value that can be seen
        with contextlib.suppress(ProcessLookupError):
            # No other process gets its number before the zygote has noticed its end.
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)
        select.select([self.handle], [], [])
        os.close(self.handle)
        self.handle = -1
        if self._memory_peak:
            self._memory_peak.close()


class Zygote:
    """The connection to a process that forks sandboxes; another process may have started it."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._control.settimeout(START_SECONDS)

    def fork(self, order: dict[str, Any]) -> ForkedProcess:
        """A new sandbox that follows `order`."""
        channel, sandbox_channel = socket.socketpair()
        notes, sandbox_notes = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # each note is one packet
        notes.setblocking(False)
        sandbox_notes.setblocking(False)  # notes beyond its room are lost
        try:
            facts, handle = self._exchange(
                json.dumps(order).encode(), [sandbox_channel.fileno(), sandbox_notes.fileno()]
            )
        except (ZygoteError, OSError):
            channel.close()
            notes.close()
            raise
        finally:
            sandbox_channel.close()
            sandbox_notes.close()
        return ForkedProcess(facts["pid"], handle, channel, notes, facts["user"])

    def fork_zygote(self) -> socket.socket:
        """A connection to a new zygote, for another process that grades."""
        control, other_end = _connection()
        with other_end, contextlib.suppress(OSError):  # a process that gets no answer starts its own
            socket.send_fds(self._control, [json.dumps({"another": True}).encode()], [other_end.fileno()])
        return control

    def close(self) -> None:
        self._control.close()

    def _exchange(self, message: bytes, descriptors: list[int]) -> tuple[dict[str, Any], int]:
        """Send an order with the sandbox's descriptors; return the facts about its process, and a handle on it."""
        try:
            socket.send_fds(self._control, [message], descriptors)
            reply, handles, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, 1)
        except OSError as error:
            if is_short(error):
                raise
            raise ZygoteError(self._last_words() or f"the process that forks them does not answer ({error})") from error
        facts = json.loads(reply) if reply else {}
        if "short" in facts:
            raise OSError(facts["short"], os.strerror(facts["short"]))
        if not handles:
            raise ZygoteError(self._last_words() or "the process that forks them has ended")
        return facts, handles[0]

    def _last_words(self) -> str:
        """The last line that the process printed before its end; empty if unknown."""
        return ""


class OwnZygote(Zygote):
    """A zygote that this process starts and ends."""

    def __init__(self) -> None:
        control, other_end = _connection()
        super().__init__(control)
        folder, self._claim = claimed_folder("zygote-")
        self._folder = str(folder)
        root = str(Path(__file__).resolve().parent.parent.parent)
        program = PROGRAM.format(root=root, descriptor=other_end.fileno(), libraries=libraries())
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", program],
            cwd=self._folder,
            env=self._environment(),
            pass_fds=[other_end.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C goes to the grader, which then closes the connection
        )
        other_end.close()

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        super().close()
        self._process.kill()  # its sandboxes end with it
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        os.close(self._claim)

    def _last_words(self) -> str:
        try:
            self._process.wait(LAST_WORDS_SECONDS)
        except subprocess.TimeoutExpired:
            return ""
        assert self._process.stderr is not None
        os.set_blocking(self._process.stderr.fileno(), False)  # its sandboxes may hold the other end
        lines = (self._process.stderr.read() or b"").decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.defpath,
            "HOME": self._folder,
            "IPYTHONDIR": self._folder,
            "LANG": "C.UTF-8",
            # A thread's own heap is 64 MB that nobody asked for, and that no memory promise would count.
            "MALLOC_ARENA_MAX": "1",
            # Libraries that start threads on import would make forking unsafe.
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "MKL_NUM_THREADS": "1",
            **fonts_kept(),
            **inherited(),
        }


def _connection() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


the_zygote: Zygote | None = None
_lock = threading.Lock()  # one order at a time, so that each thread gets its own reply


def start_zygote() -> Zygote:
    """The zygote of this process. It gets ready in the background, and the first fork waits for it."""
    global the_zygote
    if the_zygote is None:
        the_zygote = OwnZygote()
    return the_zygote


def use_zygote(control: socket.socket) -> None:
    """Use a zygote that another process has started for this one."""
    global the_zygote
    the_zygote = Zygote(control)


def fork_sandbox(order: dict[str, Any]) -> ForkedProcess:
    """Fork a sandbox from this process's zygote, which is started on first use, and again if it has died.

    OSError is raised if the machine is short of something that forking needs.
    """
    with _lock:
        if the_zygote is not None:
            try:
                return the_zygote.fork(order)
            except ZygoteError:
                close_zygote()
        return start_zygote().fork(order)


def zygote_pid() -> int | None:
    """The id of the zygote that this process has started, if there is one."""
    return the_zygote.pid if isinstance(the_zygote, OwnZygote) else None


def close_zygote() -> None:
    global the_zygote
    if the_zygote is not None:
        the_zygote.close()
        the_zygote = None


atexit.register(close_zygote)
