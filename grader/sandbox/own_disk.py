"""A disk of a sandbox's own: a file system in memory, of fixed size, that nobody else sees and that goes with it.

Watching the folder from outside is too late: a single call can claim gigabytes in milliseconds. Here the kernel
refuses.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REC, _MS_PRIVATE = 2, 4, 8, 0x4000, 0x40000


def mount(folder: Path, size: int, files: int, network: bool = False) -> None:
    """Put a disk in place of the folder, with what was in it. With `network`, it has an empty network as well.

    OSError is raised, and names what was refused, where no process gets a view of its own: in many containers.
    """
    _take_a_view_of_its_own(_CLONE_NEWNS | (_CLONE_NEWNET if network else 0))
    _call(_LIBC.mount, b"none", b"/", None, ctypes.c_ulong(_MS_REC | _MS_PRIVATE), None)
    below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    options = f"size={size},nr_inodes={files},mode=700".encode()
    flags = ctypes.c_ulong(_MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    _call(_LIBC.mount, b"none", os.fsencode(folder), b"tmpfs", flags, options)
    shutil.copytree(f"/proc/self/fd/{below}", folder, dirs_exist_ok=True)
    os.close(below)
    os.chdir(folder)  # which is another one by now


def _take_a_view_of_its_own(namespaces: int) -> None:
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        with contextlib.suppress(PermissionError):  # root of a container, who may no more than others
            _call(_LIBC.unshare, namespaces)
            return
    _call(_LIBC.unshare, namespaces | _CLONE_NEWUSER)  # in which it stays who it is
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def _call(function: ctypes._NamedFuncPointer, *arguments: object) -> None:
    if function(*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), function.__name__)
