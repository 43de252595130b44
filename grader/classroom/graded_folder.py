"""The folder autograded/: each submission is put in its place whole, or not at all.

What has been graded is first laid down in a folder of its own, named after its fingerprint. When the gradebook holds
that fingerprint, the folder is moved into place. If one was left behind, the gradebook shows
which of the two steps was the last: `recover` does the rest, or throws it away.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.gradebook.records import digest_of
from grader.host.scratch import remove_folder, write_files
from grader.model.submission import Files

_WAITING = ".waiting"  # nbgrader's patterns do not find names with a dot in front
_OLD = "old"


class GradedFolder:
    """The graded notebooks of one assignment, with what lies beside them."""

    def __init__(self, folder: Path, assignment: str, names: Sequence[str], permissions: int) -> None:
        self._names = names  # of the notebooks
        self._folder = folder
        self._assignment = assignment
        self._permissions = permissions
        self._waiting = folder / _WAITING / assignment

    def why_not(self, student: str) -> str:
        """Why this student's submission cannot be put in its place; empty if it can."""
        place = self._place(student)
        if place.parent.exists() and not place.parent.is_dir():
            return f"{place.parent} is not a folder"
        for folder in (place.parent, place):
            if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK, effective_ids=True):
                return f"{folder} cannot be written"
        return ""

    def lay_down(self, student: str, fingerprint: str, notebooks: Mapping[str, str], files: Files) -> str:
        """Write all that belongs to a submission; returns a digest of its notebooks."""
        folder = self._waiting / student / fingerprint
        self._remove(folder.parent)
        contents = {name: text.encode() for name, text in notebooks.items()}
        write_files({**files, **{f"{name}.ipynb": content for name, content in contents.items()}}, folder)
        for path in folder.rglob("*"):
            if path.is_file():
                path.chmod(self._permissions)
        return digest_of(contents)

    def put_in_place(self, student: str, fingerprint: str) -> None:
        """Put it in place of what was there, now that the gradebook holds it."""
        waiting = self._waiting / student
        place = self._place(student)
        place.parent.mkdir(parents=True, exist_ok=True)
        if (waiting / fingerprint).exists():
            with contextlib.suppress(FileNotFoundError):
                place.rename(waiting / _OLD)
            (waiting / fingerprint).rename(place)
        self._remove(waiting)

    def recover(self, fingerprints: dict[str, str]) -> None:
        """Finish what an earlier run has begun: `fingerprints` says what the gradebook holds of each student."""
        for waiting in sorted(self._waiting.iterdir()) if self._waiting.is_dir() else []:
            fingerprint = fingerprints.get(waiting.name, "")
            place = self._place(waiting.name)
            if fingerprint and (waiting / fingerprint).exists():
                self.put_in_place(waiting.name, fingerprint)
            elif (waiting / _OLD).exists() and not place.exists():
                (waiting / _OLD).rename(place)
            self._remove(waiting)
        self.tidy()

    def tidy(self) -> None:
        """Remove the waiting room, unless something waits in it."""
        for level in (self._waiting, self._waiting.parent):
            with contextlib.suppress(OSError):
                level.rmdir()

    def digest(self, student: str) -> str:
        """The digest of the notebooks that lie there; empty if there are none."""
        paths = [self._place(student) / f"{name}.ipynb" for name in self._names]
        try:
            return digest_of({path.stem: path.read_bytes() for path in paths if path.exists()})
        except OSError:
            return ""

    def texts(self, student: str) -> dict[str, str]:
        """The notebooks that lie there and can be read, by name."""
        found = {}
        for path in (self._place(student) / f"{name}.ipynb" for name in self._names):
            with contextlib.suppress(OSError):
                found[path.stem] = path.read_text(encoding="utf-8", errors="replace")
        return found

    def _place(self, student: str) -> Path:
        return self._folder / student / self._assignment

    def _remove(self, folder: Path) -> None:
        if folder.exists():
            remove_folder(folder)  # also what plain nbgrader has copied with a student's modes
