"""Calls that no computation makes by itself, about which the kernel asks the grader: it says no, and takes note.

Whoever makes such a call by its number, past Python and all libraries, is noticed all the same. The kernel denies it
also when nobody answers any more.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
from dataclasses import dataclass

import pyseccomp

_SET_FILTER = 1  # of seccomp(2)
_ALL_THREADS, _NEW_LISTENER, _NO_THREAD_NUMBER = 1, 8, 16  # its flags; of a thread that fails, an error, not its number
_INSTRUCTION = 8  # bytes of one in a filter
_CLONE_THREAD = 0x10000
_LIBC = ctypes.CDLL(None, use_errno=True)

# By kind of attempt: the calls.
_CALLS = {
    "program": "fork vfork execve execveat",
    "network": "connect bind listen accept accept4",
    "signal": "tkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal",
    "system": """
        ptrace process_vm_readv process_vm_writev process_madvise pidfd_getfd kcmp move_pages migrate_pages
        unshare setns mount umount2 pivot_root chroot open_by_handle_at
        bpf perf_event_open userfaultfd io_uring_setup keyctl add_key request_key fanotify_init
        init_module finit_module delete_module kexec_load reboot swapon swapoff acct
        setuid setgid setreuid setregid setresuid setresgid setgroups settimeofday clock_settime sethostname
    """,
}


@dataclass(frozen=True)
class _Rule:
    """A call, if its arguments are of this kind."""

    call: str
    arguments: tuple[pyseccomp.Arg, ...] = ()


def _rules(own: int) -> list[_Rule]:
    """For a process with this number."""
    return [
        *(_Rule(call) for calls in _CALLS.values() for call in calls.split()),
        _Rule("clone", (pyseccomp.Arg(0, pyseccomp.MASKED_EQ, _CLONE_THREAD, 0),)),  # a process, and no thread
        # Libraries look for services of this machine, for example when they are asked for the name of a user.
        _Rule("socket", (pyseccomp.Arg(0, pyseccomp.NE, int(socket.AF_UNIX)),)),
        *(_Rule(call, (pyseccomp.Arg(0, pyseccomp.NE, own),)) for call in ("kill", "tgkill")),
    ]


def kind_of(number: int) -> str:
    """What somebody tries who makes this call."""
    call = pyseccomp.resolve_syscall(pyseccomp.system_arch(), number).decode()
    others = {"clone": "program", "socket": "network", "kill": "signal", "tgkill": "signal"}
    return next((kind for kind, calls in _CALLS.items() if call in calls.split()), others.get(call, "system"))


def ask_about_calls(allowed: pyseccomp.SyscallFilter) -> int:
    """Load a filter of its own that asks; returns the descriptor by which one answers.

    What it asks about must be allowed by the other filter: of two, the stricter one decides. OSError is raised, and
    nothing is changed, if this kernel does not know how to ask.
    """
    asking = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    known = []
    for rule in _rules(os.getpid()):
        with contextlib.suppress(ValueError, OSError):  # this machine, or its libseccomp, does not have the call
            asking.add_rule(pyseccomp.NOTIFY, rule.call, *rule.arguments)
            known.append(rule)
    listener = _load(_program(asking))
    for rule in known:
        allowed.add_rule(pyseccomp.ALLOW, rule.call, *rule.arguments)
    return listener


def _program(calls: pyseccomp.SyscallFilter) -> bytes:
    """A filter as the kernel reads it."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as program, os.fdopen(writing, "wb") as file:
        calls.export_bpf(file)
        file.close()
        return program.read()


def _load(program: bytes) -> int:
    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))

    loaded = Program(len(program) // _INSTRUCTION, program)
    number = pyseccomp.resolve_syscall(pyseccomp.system_arch(), "seccomp")
    flags = _ALL_THREADS | _NEW_LISTENER | _NO_THREAD_NUMBER
    listener: int = _LIBC.syscall(number, _SET_FILTER, flags, ctypes.byref(loaded))
    if listener < 0:
        raise OSError(ctypes.get_errno(), "the kernel does not ask about calls")
    return listener
