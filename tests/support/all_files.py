"""Read all files of a folder, to compare them with an earlier state or another folder."""

from __future__ import annotations

from pathlib import Path


def files_in(folder: Path) -> dict[str, bytes]:
    """The content of each file, by its path in the folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
