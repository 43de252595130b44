"""A user of a sandbox's own, where the kernel has no Landlock: what others may not read, it may not either.

It takes root to become one. What must stay hidden has to be closed to others, and that is looked at before any code of
a student runs. docs/threat_model.md says what is lost without Landlock.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterable
from pathlib import Path

USER = 61184  # no account has this number: systems keep it for users that come and go


def become(folder: Path, hidden: Iterable[Path]) -> None:
    """From now on, this process is that user, and owns what is in the folder.

    PermissionError is raised if it sees too much, or too little for a notebook to run.
    """
    for path in folder.rglob("*"):
        os.chown(path, USER, USER, follow_symlinks=False)
    os.chown(folder, -1, USER)  # its owner stays who may rename it: nothing shall take the place of it
    folder.chmod(0o770)
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)
    for path in hidden:
        if os.access(path, os.R_OK) or os.access(path, os.X_OK):
            raise PermissionError(f"{path} can be read by others. Restrict it, or a folder above it: chmod 700")
    for name in ("stdlib", "purelib"):
        libraries = sysconfig.get_path(name)
        if not os.access(libraries, os.R_OK | os.X_OK):
            raise PermissionError(f"{libraries} cannot be read by others. Install Python where they can.")
