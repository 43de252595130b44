"""The system calls that a notebook may make, and those about which the kernel asks the grader.

A computation makes calls for files, threads and clocks of its own. A list of what is forbidden would be out of date
with the next kernel, so this is a list of what is allowed. Which files may be opened is for Landlock to say. What is
not here: the network, other processes and programs, attributes of files (which Landlock leaves alone), other users,
the system, and memory that no limit counts.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
from dataclasses import dataclass

try:
    import pyseccomp  # looks for the system's libseccomp, so it must come before confinement

    NO_SECCOMP = ""
except (ImportError, OSError, RuntimeError) as missing:
    NO_SECCOMP = str(missing)

_FILES = """
    read write readv writev pread64 pwrite64 preadv pwritev open openat openat2 creat close
    stat fstat lstat newfstatat fstatat64 statx statfs fstatfs access faccessat faccessat2 lseek getdents getdents64
    getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat
    readlink readlinkat truncate ftruncate fsync fdatasync sync_file_range dup dup2 dup3 pipe pipe2
    sendfile copy_file_range splice tee umask
    getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr
"""
_MEMORY = """
    mmap munmap mprotect mremap brk msync mlock mlock2 munlock membarrier
    pkey_mprotect pkey_alloc pkey_free get_mempolicy set_mempolicy mbind
"""
_THREADS = """
    futex futex_waitv set_robust_list get_robust_list set_tid_address rseq gettid getpid getppid exit exit_group wait4
    waitid sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_getattr sched_get_priority_max
    sched_get_priority_min getpriority ioprio_get arch_prctl restart_syscall
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack pause
"""
_CLOCKS = """
    clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times alarm getitimer setitimer timer_create
    timer_settime timer_gettime timer_getoverrun timer_delete timerfd_create timerfd_settime timerfd_gettime
"""
_EVENTS = """
    select pselect6 poll ppoll epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
    eventfd eventfd2 signalfd signalfd4
    sendto recvfrom recvmsg recvmmsg shutdown getsockopt getsockname getpeername
"""
_QUESTIONS = """
    uname sysinfo getrusage getrlimit getuid geteuid getgid getegid getresuid getresgid getgroups
    getpgrp getpgid getsid getcpu getrandom capget
"""
ALLOWED = " ".join((_FILES, _MEMORY, _THREADS, _CLOCKS, _EVENTS, _QUESTIONS)).split()

_ALL = 0xFFFF_FFFF_FFFF_FFFF
_INT = 0xFFFF_FFFF  # the kernel looks at half of the register where an argument is an int
_CLONE_FILES, _CLONE_THREAD = 0x400, 0x10000
_CLOSE_ON_EXEC = 4

# A call, which of its arguments, the bits of it that count, and what they may be.
_Arguments = tuple[tuple[str, int, int, tuple[int, ...]], ...]

# Calls with many uses, some of which would reach out.
ALLOWED_ARGUMENTS: _Arguments = (
    # A thread, and no process. With the descriptors of all: those of each hold megabytes that nobody counts.
    ("clone", 0, _CLONE_FILES | _CLONE_THREAD, (_CLONE_FILES | _CLONE_THREAD,)),
    ("close_range", 2, _INT, (0, _CLOSE_ON_EXEC)),  # not in a copy that the thread then has for itself
    # Of this process alone, which is called 0 here.
    ("sched_setaffinity", 0, _ALL, (0,)),
    # A connected pair, for event loops. Other kinds of socket could send anywhere.
    ("socketpair", 1, 0xF, (socket.SOCK_STREAM,)),
    # Duplicates, flags and locks. Not owners and their signals, nor leases.
    ("fcntl", 1, _INT, (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)),
    # Terminals, waiting bytes, flags of descriptors. Some others change files that are open for reading only.
    ("ioctl", 1, _INT, (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)),
    # How memory will be used, and what is free. Not that it was not used: the judge looks whether it was.
    ("madvise", 2, _INT, (0, 1, 2, 3, 4, 8, 10, 11, 14, 15, 16, 17)),
    # Names of threads and of memory, timer slack, and questions. Not the signal at the parent's death.
    ("prctl", 0, _INT, (2, 3, 15, 16, 21, 23, 29, 30, 39, 0x53564D41)),
)
# The driver's own requests: their second byte is the letter F, or nothing for its unified memory.
ALLOWED_FOR_CUDA: _Arguments = (("ioctl", 1, 0xFF00, (ord("F") << 8, 0)),)


# Calls that no computation makes by itself, about which the kernel asks the grader: it says no, and takes note.
#
# A program that makes such a call by its number, past Python and all libraries, is noticed all the same. The kernel
# denies it also when nobody answers any more.

_SET_FILTER = 1  # of seccomp(2)
_ALL_THREADS, _NEW_LISTENER, _NO_THREAD_NUMBER = 1, 8, 16  # its flags; of a thread that fails, an error, not its number
_INSTRUCTION = 8  # bytes of one in a filter
_LIBC = ctypes.CDLL(None, use_errno=True)

# By kind of attempt: the calls.
_ASKED = {
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
        *(_Rule(call) for calls in _ASKED.values() for call in calls.split()),
        _Rule("clone", (pyseccomp.Arg(0, pyseccomp.MASKED_EQ, _CLONE_THREAD, 0),)),  # a process, and no thread
        # Libraries look for services of this machine, for example when they are asked for the name of a user.
        _Rule("socket", (pyseccomp.Arg(0, pyseccomp.NE, int(socket.AF_UNIX)),)),
        *(_Rule(call, (pyseccomp.Arg(0, pyseccomp.NE, own),)) for call in ("kill", "tgkill")),
    ]


def kind_of(number: int) -> str:
    """The kind of attempt that this call is."""
    call = pyseccomp.resolve_syscall(pyseccomp.system_arch(), number).decode()
    others = {"clone": "program", "socket": "network", "kill": "signal", "tgkill": "signal"}
    return next((kind for kind, calls in _ASKED.items() if call in calls.split()), others.get(call, "system"))


def ask_about_calls(allowed: pyseccomp.SyscallFilter) -> int:
    """Load a second filter, which asks; returns the descriptor on which questions are answered.

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
