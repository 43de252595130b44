"""A container like Gradescope's: the machine's root, with only the rights that Docker leaves; no network; and a kernel
without Landlock. The repository is not in it, except for the libraries of its environment."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from support.container import REFUSED, profile, skip_unless_it_can_be_started
from support.places import ROOT

LANDLOCK = frozenset({"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"})
_OF_ROOT = (
    "CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID SETPCAP NET_BIND_SERVICE SYS_CHROOT MKNOD AUDIT_WRITE SETFCAP"
)
_INHERITED = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
_MORE = [path for paths in _INHERITED.values() for path in paths.split(os.pathsep) if path]
_ENVIRONMENT = _INHERITED | {"PATH": os.defpath, "HOME": "/tmp", "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}


def run_as_root(*command: str, folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command in such a container. As root, it may write to this folder."""
    if os.getuid() != 0:
        pytest.skip("only root can start a container of root")
    skip_unless_it_can_be_started()
    started = _run(["true"], folder, environment)
    if started.returncode != 0:  # this machine's root may lack the rights
        pytest.skip(f"no container of root can be started here: {started.stderr.strip()}")
    return _run(command, folder, environment)


def _run(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryFile() as file:
        profile(REFUSED | LANDLOCK).export_bpf(file)
        file.seek(0)
        seccomp = ["--seccomp", str(file.fileno())]
        return subprocess.run(
            ["bwrap", *_alone(), *_disk(folder), *seccomp, "--", *command],
            pass_fds=[file.fileno()],
            env=_ENVIRONMENT | dict(environment),
            capture_output=True,
            text=True,
            check=False,
        )


def _alone() -> list[str]:
    may = [word for name in _OF_ROOT.split() for word in ("--cap-add", f"CAP_{name}")]
    views = [f"--unshare-{name}" for name in ("ipc", "pid", "net", "uts")]
    return [*views, "--die-with-parent", "--new-session", "--cap-drop", "ALL", *may]


def _disk(folder: Path) -> list[str]:
    libraries = {Path(path) for path in (sys.prefix, sys.base_prefix, *_MORE)}
    above = {parent for path in libraries for parent in path.parents}
    closed = [path for path in above if not path.stat().st_mode & stat.S_IXOTH]  # such as /root
    empty = {Path("/tmp"), ROOT, *closed}
    # Made here, since bubblewrap would close parent folders to all but root.
    shown = {*libraries, folder}
    way = {parent for path in shown for parent in path.parents if empty & {parent, *parent.parents}} - empty
    steps = [word for path in sorted(way | empty) for word in _fresh(path, path in empty)]
    readable = [word for path in sorted(libraries) for word in ("--ro-bind", str(path), str(path))]
    root = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    return [*root, *steps, *readable, "--bind", str(folder), str(folder)]


def _fresh(path: Path, empty: bool) -> list[str]:
    mode = "1777" if path == Path("/tmp") else "0755"
    return ["--perms", mode, "--tmpfs" if empty else "--dir", str(path)]
