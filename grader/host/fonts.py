"""The list of this machine's fonts, which matplotlib makes where it finds none."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = "attention-grader"  # not where the list of whoever grades is: it has fonts that no sandbox may read


def fonts_kept() -> dict[str, str]:
    """What tells it where the list is, for a process whose home is new. To make it takes up to seconds each time.

    Empty if nothing can be kept there: it would leave a folder behind then.
    """
    try:
        caches = Path(os.getenv("XDG_CACHE_HOME") or "~/.cache").expanduser() / FOLDER
        kept = caches / "matplotlib"
        kept.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no folder, no home
        return {}
    return {"XDG_CACHE_HOME": str(caches)} if os.access(kept, os.W_OK) else {}
