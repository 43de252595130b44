"""Make up a submission: the released notebook with some code in its solution cells."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from grader.model.label import Label
from grader.notebooks.cells import solved_exercise

_MARKS = re.compile(r"^\s*### (BEGIN|END) SOLUTION\n?", flags=re.MULTILINE)


def solutions(source: Any) -> dict[Label, str]:
    """The reference solutions that an instructor's notebook holds, as student code."""
    return {label: _MARKS.sub("", cell.source) for cell in source.cells if (label := solved_exercise(cell)) is not None}


def solved(release: Any, source: Any) -> Any:
    """A copy of the released notebook with everything filled in as the instructor has it, exercise or not."""
    notebook = copy.deepcopy(release)
    written = {_name(cell): _MARKS.sub("", cell.source) for cell in source.cells if _name(cell)}
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = written.get(_name(cell), cell.source)
    return notebook


def _name(cell: Any) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def fill_in(release: Any, answers: Mapping[Label, str]) -> Any:
    """A copy of the released notebook with these sources as solutions; the others stay to do."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        number = solved_exercise(cell)
        if number is not None and number in answers:
            cell.source = answers[number]
    return notebook
