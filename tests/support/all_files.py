"""All that lies in a folder, to be compared with what lay there before or lies elsewhere."""

from __future__ import annotations

from pathlib import Path


def files_in(folder: Path) -> dict[str, bytes]:
    """What files hold, by their place."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
