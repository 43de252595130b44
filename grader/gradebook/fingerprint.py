"""What a grade was given for, in five digests: comparing two of them shows what has changed.

Points from a person depend on less: on an answer and its task.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass

import nbformat
from nbformat import NotebookNode

from grader.notebooks.cells import solved_exercise, tested_exercise

NEW_SUBMISSION, EXERCISES = "a new submission", "an exercise file"  # two of the things that may change

Pairs = Sequence[tuple[NotebookNode, NotebookNode]]  # cells, and what nbgrader's metadata says about them

_LENGTHS = (8, 8, 8, 8, 28)  # of the digests in hexadecimal: with four hyphens, they fill the column
_RUN_MODES = {("cpu", True): "0", ("cpu", False): "1", ("cuda", True): "2", ("cuda", False): "3"}


@dataclass(frozen=True)
class Fingerprint:
    """Digests of a submission, and of everything else that its grade depends on."""

    grader: str  # its last character encodes the device, and whether the submission was confined
    exercises: str
    notebook: str  # as released, its points, and the files beside it
    settings: str
    submission: str

    def __str__(self) -> str:
        return "-".join(text[:length] for text, length in zip(astuple(self), _LENGTHS, strict=True))

    @classmethod
    def read(cls, text: str) -> Fingerprint | None:
        """Read a fingerprint from its text; None if an earlier version of the grader wrote it."""
        digests = text.split("-")
        return cls(*digests) if tuple(map(len, digests)) == _LENGTHS else None


def run_mode(device: str, confined: bool) -> str:
    """A digit for how a submission is run."""
    return _RUN_MODES[device, confined]


def changes_between(before: str, now: str) -> tuple[str, ...]:
    """The changes between two fingerprints, in words. How the submission was run does not count as one."""
    old, new = Fingerprint.read(before), Fingerprint.read(now)
    if old is None or new is None:
        return ("another version of the grader",) if before != now else ()
    has_changed = {
        NEW_SUBMISSION: old.submission != new.submission,
        "the notebook, its points or a file next to it": old.notebook != new.notebook,
        EXERCISES: old.exercises != new.exercises,
        "settings": old.settings != new.settings,
        "another version of the grader": old.grader[:-1] != new.grader[:-1],
    }
    return tuple(change for change in has_changed if has_changed[change])


def digest(*parts: str | bytes) -> str:
    """A digest in hexadecimal. It also depends on where one part ends and the next begins."""
    sha256 = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        sha256.update(b"%d " % len(content) + content)
    return sha256.hexdigest()


def digest_parts(files: Mapping[str, bytes | None]) -> list[str | bytes]:
    """The names and contents of files, by name, for a digest of them."""
    parts: list[str | bytes] = []
    for name in sorted(files):
        parts += [name, files[name] or b""]
    return parts


def answers_in(notebooks: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """A digest of each answer with its task, by notebook and cell; of unreadable notebooks, what can be read."""
    answers: dict[tuple[str, str], str] = {}
    for name, text in notebooks.items():
        answers |= dict(_digest_answers(name, text))
    return answers


def _digest_answers(name: str, text: str) -> Iterator[tuple[tuple[str, str], str]]:
    """For each cell that points or comments are given for, what a person looks at to give them."""
    try:
        cells = nbformat.from_dict(json.loads(text)).cells
        pairs = [(cell, cell.metadata.get("nbgrader") or {}) for cell in cells]
        for cell, metadata in pairs:
            if metadata.get("grade") or metadata.get("task") or metadata.get("solution"):
                task = (metadata.get("checksum"), metadata.get("points"))  # the checksum is of the cell as released
                cell_name = (name, metadata["grade_id"])
                yield cell_name, digest(json.dumps([cell_name, task, _answer_to(cell, metadata, pairs)]))
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):  # not a notebook from a grader
        return


def _answer_to(cell: NotebookNode, metadata: NotebookNode, pairs: Pairs) -> list[str]:
    """The sources of an answer: the cell itself; for a test, the cells that it tests by name, else all candidates."""
    if metadata.get("solution"):
        return [cell.source]
    exercise = tested_exercise(cell)
    if exercise is not None:
        sources = [other.source for other, _ in pairs if solved_exercise(other) == exercise]
        if sources:
            return sources
    sources = [other.source for other, flags in pairs if flags.get("solution") and not flags.get("grade")]
    if metadata.get("task"):
        sources += [other.source for other, flags in pairs if not flags]
    return sources
