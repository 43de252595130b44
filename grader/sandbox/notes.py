"""The notes of a sandbox to the grader: a hold on its memory, and then what its submission tried.

Attempts at what the kernel does not allow are noted so that student and instructor read of them in plain words. This
only watches: the kernel is what stops them (confine.py), whatever becomes of these notes.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any, TypeAlias

# The first note hands a descriptor to the grader, before any student code runs.

_MEMORY = b"memory"


def hand_over_memory(notes: socket.socket) -> None:
    """Hand over the file that restarts the peak of this process's memory. Later, only root may open it."""
    file = os.open("/proc/self/clear_refs", os.O_WRONLY)
    socket.send_fds(notes, [_MEMORY], [file])
    os.close(file)


def receive_memory(notes: socket.socket) -> int:
    """The descriptor. Ask once, when the sandbox is ready: later notes may be the student's."""
    _, descriptors, _, _ = socket.recv_fds(notes, len(_MEMORY), 1)
    return descriptors[0]


# What a submission tries.

MAX_PART = 200  # characters of what a note says

_PROGRAMS = {"os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen"}
_NETWORK = {"socket.connect", "socket.bind", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"}
_ATTRIBUTES = {"os.chmod", "os.chown", "os.utime", "os.setxattr", "os.removexattr"}
_CHANGES = {"os.mkdir", "os.rmdir", "os.remove", "os.rename", "os.link", "os.symlink", "os.truncate"}
_LISTINGS = {"os.listdir", "os.scandir"}
_SIGNALS = {"os.kill", "os.killpg"}
_WATCHED = _PROGRAMS | _NETWORK | _ATTRIBUTES | _CHANGES | _LISTINGS | _SIGNALS | {"open", "socket.__new__"}
# Python reads our own lines to describe an error, and IPython looks for a terminal to start a program.
_NOT_THE_STUDENTS = (str(Path(__file__).parent), "/dev/pty")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")
# Libraries look by themselves how many processors and how much memory there are, for fonts, and for the language.
# There is nothing else to learn there, so it is no attempt, whoever asks.
_MACHINE = """
    /sys/fs/cgroup /sys/devices /proc/cpuinfo /proc/meminfo /proc/stat /proc/loadavg /proc/uptime /proc/version
    /proc/filesystems /proc/sys/vm /etc/os-release /etc/lsb-release /etc/debian_version /etc/timezone /etc/localtime
    /etc/locale.conf /etc/default/locale /etc/mime.types /etc/ld.so.conf /etc/ld.so.conf.d
    /etc/fonts /usr/share/fonts /usr/local/share/fonts /var/cache/fontconfig
"""
_ABOUT_THE_MACHINE = frozenset(_MACHINE.split())
_ABOUT_ITSELF = {"cgroup", "maps", "mountinfo", "stat", "statm", "status", "limits"}  # in its own folder of /proc

Note = tuple[str, str]  # what was tried, and on what
Details: TypeAlias = tuple[Any, ...]  # the arguments of a call, as an audit hook sees them
AnyPath: TypeAlias = "str | bytes | os.PathLike[str]"


def watch(folder: Path, notes: socket.socket) -> None:
    """From now on, write each attempt into `notes`. At once: the code may end the process next."""
    sys.addaudithook(_Watch(os.path.realpath(folder), notes).see)


class _Watch:
    def __init__(self, folder: str, notes: socket.socket) -> None:
        self._folder = folder
        self._notes = notes
        self._looking = False

    def see(self, event: str, details: Details) -> None:
        if event not in _WATCHED or self._looking:
            return
        self._looking = True  # what is done here is not the student's doing
        try:
            note = self._denied(event, details)
            if note:
                self._notes.send(json.dumps([part[:MAX_PART] for part in note]).encode())
        except Exception:  # odd arguments: the call itself will complain about them
            return
        finally:
            self._looking = False

    def _denied(self, event: str, details: Details) -> Note | None:
        """What the kernel is about to deny, if anything."""
        if event in _PROGRAMS:
            return "program", _name_of(details[0]) if details else ""
        if event in _NETWORK:
            return "network", str(details[1] if event in ("socket.connect", "socket.bind") else details[0])
        if event == "socket.__new__":
            return None if _wraps_a_descriptor() else ("network", "")
        if event in _SIGNALS:
            return None if details[0] == os.getpid() else ("signal", str(details[0]))
        if event in _ATTRIBUTES:
            return "attributes", os.fsdecode(details[0])
        if event in _CHANGES:
            paths = [path for path in details if isinstance(path, (str, bytes, os.PathLike))]
            outside = list(filter(self._is_outside, paths))
            return ("write", os.fsdecode(outside[0])) if outside else None
        if event in _LISTINGS:
            path = details[0] or "."
            is_attempt = _cannot_read(path, os.O_DIRECTORY) and not _is_about_the_machine(path)
            return ("read", os.fsdecode(path)) if is_attempt else None
        return self._denied_opening(*details)

    def _denied_opening(self, path: object, mode: object, flags: object) -> Note | None:
        if not isinstance(path, (str, bytes, os.PathLike)):  # a descriptor
            return None
        writes = flags & (os.O_WRONLY | os.O_RDWR) if isinstance(flags, int) else set(str(mode)) & set("wax+")
        if os.fsdecode(path).startswith(_NOT_THE_STUDENTS):
            return None
        if writes:
            return ("write", os.fsdecode(path)) if self._is_outside(path) else None
        is_attempt = _cannot_read(path) and not _is_about_the_machine(path)
        return ("read", os.fsdecode(path)) if is_attempt else None

    def _is_outside(self, path: AnyPath) -> bool:
        real = os.path.realpath(os.fsdecode(path))
        return real not in _DEVICES and os.path.commonpath([real, self._folder]) != self._folder


def _cannot_read(path: AnyPath, flags: int = 0) -> bool:
    """Whether the kernel denies it. This tries it, since the same rules written twice would drift apart."""
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags))
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def _is_about_the_machine(path: AnyPath) -> bool:
    """Whether it says only what the machine is like, or this process. Links and ".." lead nowhere else."""
    real = Path(os.path.realpath(os.fsdecode(path)))
    if real == Path("/proc"):  # some libraries look which processes there are
        return True
    is_about_itself = real.parent == Path(f"/proc/{os.getpid()}") and real.name in _ABOUT_ITSELF
    return is_about_itself or not _ABOUT_THE_MACHINE.isdisjoint(map(str, (real, *real.parents)))


def _wraps_a_descriptor() -> bool:
    """Whether socket.socket() is asked for an object around a descriptor, as socketpair() does for event loops."""
    frame = sys._getframe(3)
    return frame.f_code.co_name == "__init__" and frame.f_locals.get("fileno") is not None


def _name_of(program: object) -> str:
    return os.fsdecode(program) if isinstance(program, bytes) else str(program)
