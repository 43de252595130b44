"""The trusted end of the zygote: start it once for each process that grades, and have it fork sandboxes."""

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

from grader.host.memory_held import MemoryHeld
from grader.host.patience import is_short
from grader.host.scratch import claimed_folder
from grader.sandbox.confine import LIBRARIES
from grader.sandbox.notes import LISTENER, MEMORY, handed_over

# Acting on a sandbox that has a user of its own.


@contextlib.contextmanager
def really(user: int | None) -> Iterator[None]:
    """Make this process really that user, while it effectively stays the same; None changes nothing.

    To set a limit of another process, one must really be its user, or have a privilege that root of a container lacks.
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


# The list of this machine's fonts, which matplotlib makes where it finds none.

FOLDER = "attention-grader"  # not the user's own list, which has fonts that no sandbox may read


def fonts_kept() -> dict[str, str]:
    """The environment that leads matplotlib to the list, in a process whose home is new. Making one takes seconds.

    Empty if nothing can be kept there: it would leave a folder behind then.
    """
    try:
        caches = Path(os.getenv("XDG_CACHE_HOME") or "~/.cache").expanduser() / FOLDER
        kept = caches / "matplotlib"
        kept.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no folder, no home
        return {}
    return {"XDG_CACHE_HOME": str(caches)} if os.access(kept, os.W_OK) else {}


START_SECONDS = 120  # importing torch on a cold, busy disk
MESSAGE_BYTES = 2**16
_CPU_CLOCK = 2  # the low bits of the clock that the kernel keeps of a whole process: see clock_getcpuclockid(3)
LAST_WORDS_SECONDS = 10  # until a process that answers no more has ended
# What processes on the untrusted side get of our environment: which GPUs to use, and where libraries are.
GPUS = "CUDA_VISIBLE_DEVICES"
_INHERITED = (GPUS, "CUDA_DEVICE_ORDER", "LD_LIBRARY_PATH", "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")

# It finds packages where this process does. Whatever else is on our path, such as the course's folder, is not for it.
PROGRAM = (
    "import gc, sys; gc.disable(); libraries = {libraries!r}; "
    "sys.path[:] = [entry for entry in sys.path if entry not in libraries] + libraries; "
    "sys.path.insert(0, {root!r}); from grader.sandbox.zygote import main; sys.path.remove({root!r}); "
    "main({descriptor})"
)


def inherited() -> dict[str, str]:
    return {name: os.environ[name] for name in _INHERITED if name in os.environ}


def libraries() -> list[str]:
    """Folders of installed packages, wherever PYTHONPATH, a user's own folder or an environment have them."""
    return [entry for entry in sys.path if Path(entry).is_absolute() and Path(entry).name in LIBRARIES]


class ZygoteError(Exception):
    """No sandbox can be started; the text says why."""


@dataclass
class Forked:
    """A sandbox: its channel, where it leaves notes, and a handle that stands for this process and no other."""

    pid: int
    handle: int
    channel: socket.socket
    notes: socket.socket
    user: int | None = None  # of its own
    _memory: MemoryHeld | None = field(default=None, init=False)
    _cpu_seconds: float = field(default=0.0, init=False)

    @property
    def alive(self) -> bool:
        return self.handle >= 0 and not select.select([self.handle], [], [], 0)[0]

    @property
    def threads(self) -> int:
        """How many threads it has; none once it has ended."""
        with contextlib.suppress(OSError):
            return Path(f"/proc/{self.pid}/task").stat().st_nlink - 2  # a folder for each, "." and ".."
        return 0

    @property
    def cpu_seconds(self) -> float:
        """How long its threads, all together, have kept a processor busy; once it has ended, what was last seen."""
        if self.handle >= 0:
            with contextlib.suppress(OSError):
                self._cpu_seconds = time.clock_gettime(~self.pid << 3 | _CPU_CLOCK)
        return self._cpu_seconds

    @contextlib.contextmanager
    def limited_by(self, more: int) -> Iterator[None]:
        """As long as this lasts, it gets no more bytes: of its heap, of maps, of files in memory, of threads.

        Neither new addresses, nor those that it has reserved and may not write so far. Only soft limits, which can be
        raised again without a privilege; a sandbox may not set any.
        """
        before = {}
        with contextlib.suppress(OSError, IndexError):  # it has ended, which the next question to it will show
            pages = list(map(int, Path(f"/proc/{self.pid}/statm").read_text().split()))
            for limit, held in ((resource.RLIMIT_AS, pages[0]), (resource.RLIMIT_DATA, pages[5])):
                before[limit] = resource.prlimit(self.pid, limit)
                most = (held * resource.getpagesize() + more, before[limit][1])
                self._set_limit(limit, most)
        try:
            yield
        finally:
            for limit, was in before.items() if self.alive else ():
                with contextlib.suppress(OSError):  # it has ended, or, not confined, lowered what it may have itself
                    self._set_limit(limit, was)

    def _set_limit(self, limit: int, soft_and_hard: tuple[int, int]) -> None:
        with really(self.user):
            resource.prlimit(self.pid, limit, soft_and_hard)

    def take_hold(self) -> int:
        """Take what it has handed over. The value answers the kernel's questions; it is -1 if nothing does.

        To be asked once, when the process is ready and before any code of a student runs.
        """
        handed = handed_over(self.notes)
        if MEMORY not in handed:
            raise ZygoteError("a sandbox did not show its memory")
        self._memory = MemoryHeld(self.pid, *handed[MEMORY])
        return next(iter(handed.get(LISTENER, [])), -1)

    @property
    def memory(self) -> MemoryHeld:
        assert self._memory is not None, "nobody has taken hold of it"
        return self._memory

    def end(self) -> None:
        """Kill the process and wait until it has gone. Whatever it may have started goes with it."""
        self.channel.close()
        self.notes.close()
        if self.handle < 0:
            return
        self._cpu_seconds = self.cpu_seconds  # the last that can be seen
        with contextlib.suppress(ProcessLookupError):
            # Its number is not given to another process before the zygote has taken note of its end.
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, signal.SIGKILL)
        select.select([self.handle], [], [])
        os.close(self.handle)
        self.handle = -1
        if self._memory:
            self._memory.close()


class Zygote:
    """The connection to a process that forks sandboxes, which another process may have started."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._control.settimeout(START_SECONDS)

    def fork(self, order: dict[str, Any]) -> Forked:
        """A new sandbox that follows `order`."""
        channel, its_channel = socket.socketpair()
        notes, its_notes = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # each note is one packet
        notes.setblocking(False)
        its_notes.setblocking(False)  # who writes far too many loses some
        try:
            told, handle = self._exchange(json.dumps(order).encode(), [its_channel.fileno(), its_notes.fileno()])
        except (ZygoteError, OSError):
            channel.close()
            notes.close()
            raise
        finally:
            its_channel.close()
            its_notes.close()
        return Forked(told["pid"], handle, channel, notes, told["user"])

    def another(self) -> socket.socket:
        """A connection to a new zygote, for another process that grades."""
        control, its_control = _connection()
        with its_control, contextlib.suppress(OSError):  # who finds that nobody answers starts one
            socket.send_fds(self._control, [json.dumps({"another": True}).encode()], [its_control.fileno()])
        return control

    def close(self) -> None:
        self._control.close()

    def _exchange(self, message: bytes, descriptors: list[int]) -> tuple[dict[str, Any], int]:
        """Send an order with what becomes the sandbox's; back comes what is told of the process, and a handle on it."""
        try:
            socket.send_fds(self._control, [message], descriptors)
            reply, handles, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, 1)
        except OSError as error:
            if is_short(error):
                raise
            raise ZygoteError(self._last_words() or f"the process that forks them does not answer ({error})") from error
        told = json.loads(reply) if reply else {}
        if "short" in told:
            raise OSError(told["short"], os.strerror(told["short"]))
        if not handles:
            raise ZygoteError(self._last_words() or "the process that forks them has ended")
        return told, handles[0]

    def _last_words(self) -> str:
        """What the process said when it ended; empty if that is not known."""
        return ""


class OwnZygote(Zygote):
    """A zygote that this process has started, and will end."""

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
            start_new_session=True,  # Ctrl-C is for the grader, which then closes the connection
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
        os.set_blocking(self._process.stderr.fileno(), False)  # what it has forked may hold the other end
        lines = (self._process.stderr.read() or b"").decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.defpath,
            "HOME": self._folder,
            "IPYTHONDIR": self._folder,
            "LANG": "C.UTF-8",
            # A thread's own heap is room that nobody has asked for: 64 MB, which no promise of memory would count.
            "MALLOC_ARENA_MAX": "1",
            # Libraries that start threads when they are imported would make the fork unsafe.
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
    """The zygote of this process. It gets ready in the background; the first fork waits for it."""
    global the_zygote
    if the_zygote is None:
        the_zygote = OwnZygote()
    return the_zygote


def use_zygote(control: socket.socket) -> None:
    """The zygote of this process is one that another process has started for it."""
    global the_zygote
    the_zygote = Zygote(control)


def fork_sandbox(order: dict[str, Any]) -> Forked:
    """Fork from the zygote of this process, which is started on first use and again whenever it has died.

    OSError is raised if the machine is short of something that forking takes.
    """
    with _lock:
        if the_zygote is not None:
            try:
                return the_zygote.fork(order)
            except ZygoteError:
                close_zygote()
        return start_zygote().fork(order)


def zygote_pid() -> int | None:
    """The process that this one has started to fork sandboxes, if there is one."""
    return the_zygote.pid if isinstance(the_zygote, OwnZygote) else None


def close_zygote() -> None:
    global the_zygote
    if the_zygote is not None:
        the_zygote.close()
        the_zygote = None


atexit.register(close_zygote)
