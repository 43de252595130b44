"""An ordinary container, made by bubblewrap: no privileges, an ordinary user, and system calls refused as by Docker.

It has its own processes, users, network and mounts. It can read the machine's files; what it writes is lost in the end.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pyseccomp
import pytest

from support.places import ROOT
from support.proof import skip

USER = 1234  # not in the machine's list of users, as with `docker run --user`

# System calls that Docker's profile refuses without privileges.
_REFUSED = """
    unshare setns mount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr
    add_key keyctl request_key io_uring_enter io_uring_register io_uring_setup nfsservctl uselib userfaultfd ustat
    get_mempolicy kcmp mbind migrate_pages move_pages pidfd_getfd process_madvise set_mempolicy
    acct bpf clock_settime delete_module fanotify_init finit_module init_module ioperm iopl kexec_file_load kexec_load
    lookup_dcookie open_by_handle_at perf_event_open quotactl quotactl_fd reboot setdomainname sethostname settimeofday
    swapoff swapon syslog vhangup
"""
REFUSED = frozenset(_REFUSED.split())
HOME = "/tmp/home"
_ENVIRONMENT = {
    **{name: os.environ[name] for name in ("LD_LIBRARY_PATH", "GRADER_NO_SKIPS") if name in os.environ},
    "PATH": f"{sys.prefix}/bin:{os.defpath}",
    "HOME": HOME,
    "USER": "student",
    "LANG": "C.UTF-8",
    "PYTHONPATH": str(ROOT),
    "PYTHONDONTWRITEBYTECODE": "1",
}
NEW_VIEWS = 0x7E020000  # the bits of clone(2) that ask for a namespace, except for time


def run(
    *command: str, refused: Iterable[str] = REFUSED, user: int = USER, shown: Iterable[Path] = ()
) -> subprocess.CompletedProcess[str]:
    """Run a command in a new container, in an empty folder. `shown` are folders below /tmp that it may see."""
    with tempfile.TemporaryFile() as file:
        profile(refused).export_bpf(file)
        file.seek(0)
        return subprocess.run(
            [*_bubblewrap(user, shown), "--seccomp", str(file.fileno()), "--", *command],
            pass_fds=[file.fileno()],
            env=_ENVIRONMENT,
            capture_output=True,
            text=True,
            check=False,
        )


def skip_unless_it_can_be_started() -> None:
    """Skip a test if no container starts, or fail if tests must not be skipped and bubblewrap could be installed."""
    if shutil.which("bwrap") is None:
        skip("bubblewrap is not installed (on Debian: apt-get install bubblewrap)")
    started = run("true")
    if started.returncode != 0:  # this machine may be a container itself
        pytest.skip(f"no container can be started here: {started.stderr.strip()}")


def profile(refused: Iterable[str]) -> pyseccomp.SyscallFilter:
    calls = pyseccomp.SyscallFilter(pyseccomp.ALLOW)
    for name in refused:
        with contextlib.suppress(ValueError, OSError):  # this machine or its libseccomp lacks the call
            calls.add_rule(pyseccomp.ERRNO(errno.EPERM), name)
    calls.add_rule(pyseccomp.ERRNO(errno.ENOSYS), "clone3")  # a filter cannot see its arguments
    for bit in (1 << number for number in range(32) if NEW_VIEWS >> number & 1):
        calls.add_rule(pyseccomp.ERRNO(errno.EPERM), "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, bit, bit))
    return calls


def _bubblewrap(user: int, shown: Iterable[Path]) -> list[str]:
    fresh = [word for folder in ("/tmp", "/var/tmp") for word in ("--tmpfs", folder)]
    # Needed folders may be below the ones that are empty now.
    needed = {str(ROOT), sys.prefix, sys.base_prefix, *_ENVIRONMENT.get("LD_LIBRARY_PATH", "").split(":")} - {""}
    readable = [word for path in sorted({*needed, *map(str, shown)}) for word in ("--ro-bind", path, path)]
    as_user = ["--unshare-user", "--uid", str(user), "--gid", str(user), "--cap-drop", "ALL"]
    if user == 0:
        as_user += ["--cap-add", "CAP_SETFCAP"]  # root has it in Docker, too, and can be root in a namespace
    alone = ["--unshare-all", "--die-with-parent", "--new-session", "--hostname", "container"]
    root = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    return ["bwrap", *as_user, *alone, *root, *fresh, *readable, "--dir", HOME, "--chdir", HOME]
