"""The system calls that a notebook may make.

A computation makes calls for files, threads and clocks of its own. A list of what is forbidden would be out of date
with the next kernel, so this is a list of what is allowed. Which files may be opened is for Landlock to say. What is
not here: the network, other processes and programs, attributes of files (which Landlock leaves alone), other users,
the system, and memory that no limit counts.
"""

from __future__ import annotations

import socket

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
    # How memory will be used, and what is free.
    ("madvise", 2, _INT, (0, 1, 2, 3, 4, 8, 10, 11, 14, 15, 16, 17)),
    # Names of threads and of memory, timer slack, and questions. Not the signal at the parent's death.
    ("prctl", 0, _INT, (2, 3, 15, 16, 21, 23, 29, 30, 39, 0x53564D41)),
)
# The driver's own requests: their second byte is the letter F, or nothing for its unified memory.
ALLOWED_FOR_CUDA: _Arguments = (("ioctl", 1, 0xFF00, (ord("F") << 8, 0)),)
