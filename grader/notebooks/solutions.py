"""Make up a submission: the released notebook with some code in its solution cells."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any

from grader.model.label import Label
from grader.notebooks.cells import solved_exercise


def solutions(source: Any) -> dict[Label, str]:
    """The reference solutions that an instructor's notebook holds, as student code."""
    marks = re.compile(r"^\s*### (BEGIN|END) SOLUTION\n?", flags=re.MULTILINE)
    return {
        number: marks.sub("", cell.source) for cell in source.cells if (number := solved_exercise(cell)) is not None
    }


def fill_in(release: Any, answers: Mapping[Label, str]) -> Any:
    """A copy of the released notebook with these sources as solutions; the others stay to do."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        number = solved_exercise(cell)
        if number is not None and number in answers:
            cell.source = answers[number]
    return notebook
