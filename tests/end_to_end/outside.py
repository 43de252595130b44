"""Things outside the sandbox that must not change: canaries for attacks to touch."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import secrets
import socket
import stat
import subprocess
from pathlib import Path
from typing import Any

from grader.course.folder import Course
from support.places import ROOT

GRADER = ROOT / "grader"
WON = "the attack got through"
_PR_SET_CHILD_SUBREAPER = 36
_SHARED = ("/tmp", "/var/tmp", "/dev/shm", str(Path.home()))

State = dict[str, tuple[Any, ...]]


class Outside:
    """A folder, servers and a process that attacks know of, and the course itself."""

    def __init__(self, folder: Path, course: Course) -> None:
        self.course = course
        self.secret = secrets.token_hex(12)
        self.mark = f"canary-{secrets.token_hex(4)}"
        self.folder = folder / "canary"
        self.folder.mkdir(parents=True)
        self.canary = self.folder / "canary.txt"
        self.canary.write_text(f"secret of the canary: {self.secret}\n")
        self._reached = 0
        self.scratch = folder / "scratch"
        self.scratch.mkdir()
        self.servers = [self._listen(socket.AF_INET, ("127.0.0.1", 0))]
        self.port = self.servers[0].getsockname()[1]
        self.servers += [
            self._listen(socket.AF_INET, ("127.0.0.1", self.port), socket.SOCK_DGRAM),
            self._listen(socket.AF_UNIX, str(folder / "socket")),
            self._listen(socket.AF_UNIX, f"\0{self.mark}"),
        ]
        self.bystander = subprocess.Popen(
            ["sleep", "7200"], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        # Adopt processes that lose their parents, so that none can hide.
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    @staticmethod
    def _listen(family: int, address: Any, kind: int = socket.SOCK_STREAM) -> socket.socket:
        server = socket.socket(family, kind)
        server.bind(address)
        if kind == socket.SOCK_STREAM:
            server.listen()
        server.setblocking(False)
        return server

    def world(self) -> str:
        """The content of a file that tells attackers where all this is."""
        known = {
            "CANARY": str(self.folder),
            "PORT": self.port,
            "SOCKET": self.servers[2].getsockname(),
            "ABSTRACT": f"\0{self.mark}",
            "BYSTANDER": self.bystander.pid,
            "COURSE": str(self.course.root),
            "GRADER": str(GRADER),
            "GRADER_PID": os.getpid(),
            "MARK": self.mark,
            "WON": WON,
        }
        return "".join(f"{name} = {value!r}\n" for name, value in known.items())

    def state(self) -> State:
        """Everything that no attack may change, by name."""
        return {
            **files(self.folder),
            "canary": (self.canary.read_bytes(), self.folder.stat().st_mode, self.folder.stat().st_mtime_ns),
            **files(self.course.root),
            **{f"process {pid}": (name,) for pid, name in descendants(os.getpid()).items()},
            **{f"scratch {path.name}": () for path in self.scratch.glob("sandbox-*")},
            **{f"left behind {path}": () for folder in _SHARED for path in Path(folder).glob(f"{self.mark}*")},
            "bystander": self._bystander(),
            "connections": (self._connections(),),
        }

    def _bystander(self) -> tuple[Any, ...]:
        """Whether the bystander lives and runs, with which processors, priority and limits."""
        pid = self.bystander.pid
        if (ended := self.bystander.poll()) is not None:
            return (ended,)
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        priority = os.getpriority(os.PRIO_PROCESS, pid)
        return (process_state(pid) == "T", os.sched_getaffinity(pid), priority, os.sched_getscheduler(pid), limits)

    def _connections(self) -> int:
        """How many connections have reached a server so far."""
        for server in self.servers:
            with contextlib.suppress(BlockingIOError):
                while True:
                    if server.type == socket.SOCK_STREAM:
                        server.accept()[0].close()
                    else:
                        server.recv(1)
                    self._reached += 1
        return self._reached

    def close(self) -> None:
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        self.bystander.kill()
        self.bystander.wait()
        for server in self.servers:
            server.close()


def changes(before: State, after: State, own: str = "") -> list[str]:
    """The names of things that differ, except in the folder of the student `own`."""
    names = sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
    return [name for name in names if not own or f"/autograded/{own}/" not in f"{name}/"]


def files(folder: Path) -> State:
    """Mode, owner, size and time of every file, except the gradebook, whose scores are checked instead."""
    found: State = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("gradebook.db"):
                continue
            if entry.is_dir(follow_symlinks=False):
                found |= files(Path(entry.path))
            status = entry.stat(follow_symlinks=False)
            # A new file in a folder shows up by itself, and grading adds some, which changes the folder's time.
            time = 0 if stat.S_ISDIR(status.st_mode) else status.st_mtime_ns
            found[entry.path] = (status.st_mode, status.st_uid, status.st_ino, time, status.st_size * bool(time))
    return found


def descendants(ancestor: int) -> dict[int, str]:
    """The living descendants of a process, with their names."""
    parents: dict[int, tuple[int, str]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # ended meanwhile
            name, rest = file.read_text(errors="replace").split("(", 1)[1].rsplit(") ", 1)
            if rest[0] not in "ZX":
                parents[int(file.parent.name)] = (int(rest.split()[1]), name)
    found: dict[int, str] = {}
    generation = {ancestor}
    while generation:
        generation = {pid for pid, (parent, _) in parents.items() if parent in generation}
        found |= {pid: parents[pid][1] for pid in generation}
    return found


def process_state(pid: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rsplit(") ", 1)[1][0]
    return ""
