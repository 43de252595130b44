"""The folder autograded/, into which each submission is put whole or not at all.

A graded submission is first written to a waiting folder, named after its fingerprint. Once the gradebook has that
fingerprint, the folder takes its place. If one is left behind, the gradebook shows which step was the last: `recover`
does the rest, or throws the folder away.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.gradebook.records import Record, digest_of
from grader.host.scratch import remove_folder, replace_folder, write_files
from grader.model.submission import Files

_WAITING = ".waiting"  # nbgrader's patterns skip names that begin with a dot
_OLD = "old"


class GradedFolder:
    """The graded notebooks of one assignment, with the files beside them."""

    def __init__(self, folder: Path, assignment: str, names: Sequence[str], permissions: int) -> None:
        self._names = names  # of the notebooks
        self._folder = folder
        self._assignment = assignment
        self._permissions = permissions
        self._waiting = folder / _WAITING / assignment

    def find_problem(self, student: str) -> str:
        """Why this student's submission cannot be put into place; empty if it can."""
        target = self._folder_of(student)
        if target.parent.exists() and not target.parent.is_dir():
            return f"{target.parent} is not a folder"
        for folder in (target.parent, target):
            if folder.is_dir() and not os.access(folder, os.W_OK | os.X_OK, effective_ids=True):
                return f"cannot write to {folder}"
        return ""

    def lay_down(self, student: str, fingerprint: str, notebooks: Mapping[str, str], files: Files) -> str:
        """Write a graded submission into its waiting folder; return a digest of its notebooks."""
        folder = self._waiting / student / fingerprint
        remove_folder(folder.parent)
        contents = {name: text.encode() for name, text in notebooks.items()}
        notebook_files = {f"{name}.ipynb": content for name, content in contents.items()}
        write_files({**files, **notebook_files}, folder)
        for path in folder.rglob("*"):
            if path.is_file():
                path.chmod(self._permissions)
        return digest_of(contents)

    def put_in_place(self, student: str, fingerprint: str) -> None:
        """Move a waiting submission into place, over what was there, now that the gradebook has it."""
        waiting = self._waiting / student
        target = self._folder_of(student)
        target.parent.mkdir(parents=True, exist_ok=True)
        if (waiting / fingerprint).exists():
            replace_folder(waiting / fingerprint, target, waiting / _OLD)
        remove_folder(waiting)

    def recover(self, records: Mapping[str, Record]) -> None:
        """Finish what an earlier run began; `records` are those in the gradebook, by student."""
        folders = sorted(self._waiting.iterdir()) if self._waiting.is_dir() else []
        for waiting in folders:
            record = records.get(waiting.name)
            # If the folder has changed places already, it holds what was graded before.
            if record and record.fingerprint and self._digest_of(waiting / record.fingerprint) == record.digest:
                self.put_in_place(waiting.name, record.fingerprint)
            remove_folder(waiting)
        self.tidy()

    def tidy(self) -> None:
        """Remove the waiting folders, unless something is in them."""
        for level in (self._waiting, self._waiting.parent):
            with contextlib.suppress(OSError):
                level.rmdir()

    def digest(self, student: str) -> str:
        """The digest of a student's graded notebooks; empty if there are none."""
        return self._digest_of(self._folder_of(student))

    def _digest_of(self, folder: Path) -> str:
        paths = [folder / f"{name}.ipynb" for name in self._names]
        try:
            return digest_of({path.stem: path.read_bytes() for path in paths if path.exists()})
        except OSError:
            return ""

    def texts(self, student: str) -> dict[str, str]:
        """A student's graded notebooks that can be read, by name."""
        texts = {}
        for name in self._names:
            path = self._folder_of(student) / f"{name}.ipynb"
            with contextlib.suppress(OSError):
                texts[name] = path.read_text(encoding="utf-8", errors="replace")
        return texts

    def _folder_of(self, student: str) -> Path:
        return self._folder / student / self._assignment
