"""What a grade was given for, in five digests: comparing two of them shows what has changed.

Points from a person depend on less: on an answer and its task.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass

import nbformat
from nbformat import NotebookNode

from grader.notebooks.cells import solved_exercise, tested_exercise

NEW_SUBMISSION, EXERCISES = "a new submission", "an exercise file"  # two of the things that may change

_LENGTHS = (8, 8, 8, 8, 28)  # of the parts in hexadecimal: with four hyphens, they fill the column
_WAYS = {("cpu", True): "0", ("cpu", False): "1", ("cuda", True): "2", ("cuda", False): "3"}


@dataclass(frozen=True)
class Fingerprint:
    """Digests of a submission, and of everything else that its grade depends on."""

    grader: str  # its last character encodes the device, and whether the submission was confined
    exercises: str
    notebook: str  # as released, its points, and the files beside it
    settings: str
    submission: str

    def __str__(self) -> str:
        return "-".join(part[:length] for part, length in zip(astuple(self), _LENGTHS, strict=True))

    @classmethod
    def read(cls, text: str) -> Fingerprint | None:
        """Read a fingerprint from its text; None if an earlier version of the grader wrote it."""
        parts = text.split("-")
        return cls(*parts) if tuple(map(len, parts)) == _LENGTHS else None


def way(device: str, confined: bool) -> str:
    return _WAYS[device, confined]


def changes_between(before: str, now: str) -> tuple[str, ...]:
    """The changes between two fingerprints, in words. How the submission was run does not count as one."""
    then, today = Fingerprint.read(before), Fingerprint.read(now)
    if then is None or today is None:
        return ("another version of the grader",) if before != now else ()
    pairs = {
        NEW_SUBMISSION: (then.submission, today.submission),
        "the notebook, its points or a file next to it": (then.notebook, today.notebook),
        EXERCISES: (then.exercises, today.exercises),
        "settings": (then.settings, today.settings),
        "another version of the grader": (then.grader[:-1], today.grader[:-1]),
    }
    return tuple(said for said, (old, new) in pairs.items() if old != new)


def digest(*parts: str | bytes) -> str:
    """A digest in hexadecimal. It also depends on where one part ends and the next begins."""
    found = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        found.update(b"%d " % len(content) + content)
    return found.hexdigest()


def answers_in(notebooks: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """A digest of each answer with its task, by notebook and cell; of unreadable notebooks, what can be read."""
    return {cell: answer for name, text in notebooks.items() for cell, answer in _answers(name, text)}


def _answers(name: str, text: str) -> Iterator[tuple[tuple[str, str], str]]:
    """For each cell that points or comments are given for, what a person looks at to give them."""
    try:
        cells = nbformat.from_dict(json.loads(text)).cells
        marked = [(cell, cell.metadata.get("nbgrader") or {}) for cell in cells]
        for cell, marks in marked:
            if marks.get("grade") or marks.get("task") or marks.get("solution"):
                task = (marks.get("checksum"), marks.get("points"))  # the checksum is of the cell as released
                place = (name, marks["grade_id"])
                yield place, digest(json.dumps([place, task, _answer_to(cell, marks, marked)]))
    except (ValueError, RecursionError, AttributeError, TypeError, KeyError):  # not a notebook from a grader
        return


def _answer_to(cell: NotebookNode, marks: NotebookNode, marked: list[tuple[NotebookNode, NotebookNode]]) -> list[str]:
    """The sources of an answer: the cell itself; for a test, the cells that it tests by name, else all candidates."""
    if marks.get("solution"):
        return [cell.source]
    exercise = tested_exercise(cell)
    own = [other.source for other, _ in marked if exercise is not None and solved_exercise(other) == exercise]
    ungraded = [other.source for other, its in marked if its.get("solution") and not its.get("grade")]
    added = [other.source for other, its in marked if not its] if marks.get("task") else []
    return own or [*ungraded, *added]
