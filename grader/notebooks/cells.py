"""The kinds of cells in a course's notebooks."""

from __future__ import annotations

import copy
import re
from collections.abc import Container, Mapping
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader.model.label import PATTERN, Label, label_of

METADATA_KEY = "grader"  # our own key in the metadata of graded notebooks
STOPPED = "stopped"  # in a cell that hung or crashed its process: how
NOTES = "notes"  # in the first cell: what was repaired

ANCHOR = re.compile(r'<a id="([\w-]+)"></a>')  # in a text cell: what links point to
_TEST_CELL = re.compile(rf"test-exercise-({PATTERN})")
_SOLUTION_CELL = re.compile(rf"exercise-({PATTERN})")
_ASKS_HIDDEN_CASES = re.compile(r"\bgrader\.notebook\b|\bhidden_tests\(")  # how a test cell asks for hidden cases


def new_cell(kind: str, source: str, identity: str, metadata: Mapping[str, object] | None = None) -> NotebookNode:
    """Make a cell. nbformat's own functions also validate it, which takes ten times as long."""
    cell = {"cell_type": kind, "id": identity, "metadata": metadata or {}, "source": source}
    return nbformat.from_dict(cell | ({"execution_count": None, "outputs": []} if kind == "code" else {}))


def ours(holder: Any) -> dict[str, Any]:
    """Our own metadata in a cell, an output or a notebook, which may have been changed since."""
    metadata = holder.get("metadata")
    ours_in_it = metadata.get(METADATA_KEY) if isinstance(metadata, dict) else None
    return ours_in_it if isinstance(ours_in_it, dict) else {}


def is_test_cell(cell: NotebookNode) -> bool:
    """Whether nbgrader takes an automatic score from this cell."""
    return cell.cell_type == "code" and _nbgrader(cell, "grade") and not _nbgrader(cell, "solution")


def tested_exercise(cell: NotebookNode) -> Label | None:
    """The exercise that a test cell is named after."""
    return exercise_of(str(cell.metadata.get("nbgrader", {}).get("grade_id")))


def exercise_of(grade_id: str) -> Label | None:
    """The exercise that a test with this grade id is named after."""
    match = _TEST_CELL.fullmatch(grade_id)
    return label_of(match[1]) if match else None


def is_ordinary_test(cell: NotebookNode, exercises: Container[Label | None]) -> bool:
    """Whether a cell is an ordinary nbgrader test, and not a test of one of these exercises."""
    if not is_test_cell(cell) or tested_exercise(cell) in exercises:
        return False
    return not _ASKS_HIDDEN_CASES.search(cell.source)


def points_of(cell: NotebookNode) -> float:
    """The points a cell is worth."""
    return float(cell.metadata["nbgrader"]["points"])


def solved_exercise(cell: NotebookNode) -> Label | None:
    """The exercise that a solution cell belongs to."""
    return solved_in(str(cell.metadata.get("nbgrader", {}).get("grade_id")))


def solved_in(grade_id: str) -> Label | None:
    """The exercise whose solution is in the cell with this grade id."""
    match = _SOLUTION_CELL.fullmatch(grade_id)
    return label_of(match[1]) if match else None


def demos_of(release: NotebookNode) -> frozenset[str]:
    """The sources of given cells that only draw or time something for the student, and earn nothing."""
    return frozenset(cell.source for cell in release.cells if "demo" in cell.metadata.get("tags", []))


def called(cell: NotebookNode) -> str:
    """The name by which an author finds a cell: its grade id, or else its own id."""
    return str(cell.metadata.get("nbgrader", {}).get("grade_id") or cell.get("id", ""))


def _nbgrader(cell: NotebookNode, key: str) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get(key, False))


# Make up a submission: the released notebook with some code in its solution cells.

_MARKS = re.compile(r"^\s*### (BEGIN|END) SOLUTION\n?", flags=re.MULTILINE)


def solutions(source: NotebookNode) -> dict[Label, str]:
    """The reference solutions in an instructor's notebook, as student code."""
    code: dict[Label, str] = {}
    for cell in source.cells:
        label = solved_exercise(cell)
        if label is not None:
            code[label] = _MARKS.sub("", cell.source)
    return code


def solved(release: NotebookNode, source: NotebookNode) -> NotebookNode:
    """A copy of the released notebook with all of the instructor's solutions, for exercises or not."""
    notebook = copy.deepcopy(release)
    code = {_name(cell): _MARKS.sub("", cell.source) for cell in source.cells if _name(cell)}
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = code.get(_name(cell), cell.source)
    return notebook


def _name(cell: NotebookNode) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def fill_in(release: NotebookNode, answers: Mapping[Label, str]) -> NotebookNode:
    """A copy of the released notebook with these solutions filled in; the others stay unsolved."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        number = solved_exercise(cell)
        if number is not None and number in answers:
            cell.source = answers[number]
    return notebook
