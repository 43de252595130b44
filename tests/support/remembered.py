"""Keep slow results on the disk, with a hash of everything that they depend on.

CI computes everything again, as does GRADER_COLD=1; results are then kept only for the processes of one run.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from filelock import FileLock

from support.places import ROOT

# The rooms that decide on answers, and on how they are judged.
ENGINE = tuple(
    f"grader/{room}"
    for room in (
        "solutions",
        "model",
        "facts",
        "judging",
        "again",
        "repair",
        "kit",
        "exercises",
        "course",
        "sandbox",
        "notebooks",
    )
)


def remembered(name: str, depends_on: Iterable[Path], work_out: Callable[[], Any], cold: Path | None = None) -> Any:
    """The result of `work_out`, as read back from JSON. `cold` is the folder of a run that starts with nothing."""
    folder = cold or ROOT / ".pytest_cache" / "remembered"
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / f"{name}.json"
    key = _hash([*depends_on, *(path for room in ENGINE for path in sorted((ROOT / room).rglob("*.py")))])
    with FileLock(f"{kept}.lock"):  # the first process computes it for all
        if kept.exists() and (found := json.loads(kept.read_text()))["key"] == key:
            return found["value"]
        value = work_out()
        kept.write_text(json.dumps({"key": key, "value": value}))
        return json.loads(json.dumps(value))


def is_cold() -> bool:
    return bool(os.environ.get("CI") or os.environ.get("GRADER_COLD"))


def _hash(paths: Iterable[Path]) -> str:
    """A hash of files' contents and of library versions, which may round differently."""
    found = hashlib.sha256(f"{platform.python_version()} {torch.__version__} {np.__version__}".encode())
    for path in paths:
        found.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()
