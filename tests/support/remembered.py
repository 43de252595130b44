"""What takes long to work out, kept on the disk under a hash of everything that it depends on.

CI works everything out again, as does GRADER_COLD=1; then what is kept lasts for one run, which has several processes.
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

# What decides on an answer, and how it is judged.
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
    """What `work_out` returns, as JSON has it. `cold` is the folder of a run that begins with nothing."""
    folder = cold or ROOT / ".pytest_cache" / "remembered"
    folder.mkdir(parents=True, exist_ok=True)
    kept = folder / f"{name}.json"
    key = _hash([*depends_on, *(path for room in ENGINE for path in sorted((ROOT / room).rglob("*.py")))])
    with FileLock(f"{kept}.lock"):  # the first one works it out for all
        if kept.exists() and (found := json.loads(kept.read_text()))["key"] == key:
            return found["value"]
        value = work_out()
        kept.write_text(json.dumps({"key": key, "value": value}))
        return json.loads(json.dumps(value))


def is_cold() -> bool:
    return bool(os.environ.get("CI") or os.environ.get("GRADER_COLD"))


def _hash(paths: Iterable[Path]) -> str:
    """Of the contents, and of what computes: other versions may round otherwise."""
    found = hashlib.sha256(f"{platform.python_version()} {torch.__version__} {np.__version__}".encode())
    for path in paths:
        found.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return found.hexdigest()
