"""Grade small notebooks in a sandbox."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat

from grader.host.grading import grade_notebook
from grader.host.limits import Limits
from grader.host.scratch import files_beside
from grader.model.verdict import Verdict
from support.our_course import OURS

POINTS = {1: 3, 2: 3, 3: 2, 4: 2, 5: 3, 6: 4, 7: 5, 8: 8}
SETUP = "import math\nimport torch"
SHORT = Limits(cell=3, case=3, submission=120)


def code(source: str, **nbgrader: Any) -> Any:
    return nbformat.v4.new_code_cell(source, metadata={"nbgrader": nbgrader} if nbgrader else {})


def test_cell(number: int) -> Any:
    source = "from grader.notebook import hidden_tests"
    return code(source, grade_id=f"test-exercise-{number}", grade=True, solution=False, points=POINTS.get(number, 1))


test_cell.__test__ = False  # type: ignore[attr-defined]  # it makes cells, and is not a test


def grade(
    *cells: str | int,
    files: Path | None = None,
    demos: frozenset[str] = frozenset(),
    seed: str = "ada",
    limits: Limits = SHORT,
) -> tuple[dict[int, Verdict], Any]:
    """Grade a notebook with code cells (texts) and test cells (numbers)."""
    notebook = nbformat.v4.new_notebook(
        cells=[code(cell) if isinstance(cell, str) else test_cell(cell) for cell in (SETUP, *cells)]
    )
    verdicts = grade_notebook(notebook, files_beside(files), replace(OURS, limits=limits, seed=seed), demos)
    return {int(verdict.exercise): verdict for verdict in verdicts if verdict.exercise is not None}, notebook
