"""What may be wrong with a notebook as its author wrote it: each problem with its place and the way out."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from grader.model.exercise import Exercise
from grader.model.label import Label, label_of
from grader.notebooks.cells import is_ordinary_test, is_test_cell, solved_exercise, tested_exercise
from grader.pages.sections import Sections
from grader.proof.exercise_checks import Problem

MARKERS = ("### BEGIN SOLUTION", "### END SOLUTION", "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")
ALIKE = 0.8  # "BEGIN SOLUTON" is, "begin with the solution" is not

_ASKED = re.compile(r"""\b(hidden_tests|check)\((\d+|"[\w-]+"|'[\w-]+')(?:, points=([\d.]+))?\)""")
_IN_HEADING = re.compile(r"\(([\d.]+) points?\)")


def problems_of_notebooks(notebooks: Sequence[Any], exercises: Sequence[Exercise]) -> Iterator[Problem]:
    """All that is found in the sources of an assignment, which has these exercises."""
    cells = [cell for notebook in notebooks for cell in notebook.cells]
    for cell in cells:
        if cell.cell_type == "code":
            yield from _misspelt_markers(cell)
            yield from _unpaired_markers(cell)
    labels = [exercise.label for exercise in exercises]
    tests = {  # those of nbgrader's own kind may be called as they like
        label: cell
        for cell in cells
        if is_test_cell(cell) and (label := tested_exercise(cell)) and not is_ordinary_test(cell, labels)
    }
    solved = dict.fromkeys(label for cell in cells if (label := solved_exercise(cell)) is not None)
    headings = {anchor: text for notebook in notebooks for anchor, text in Sections.of(notebook).by_anchor.items()}
    for label in labels:
        yield from _missing_parts(label, solved, tests, headings)
    for label in [one for one in {**(solved if labels else {}), **tests} if one not in labels]:
        way_out = "Add its file to the exercises, or take its cells out."
        yield Problem(label, "", "the notebook has a section for it, and there is no such exercise", way_out)
    for label, cell in tests.items():
        yield from _another_exercise(label, cell)
        yield from _other_points(label, cell, headings.get(f"exercise-{label}", ""))


def _problem(cell: Any, what: str, way_out: str, line: str = "") -> Problem:
    identity = cell.metadata.get("nbgrader", {}).get("grade_id") or cell.get("id", "without a name")
    return Problem(solved_exercise(cell) or tested_exercise(cell), f"cell {identity}{line}", what, way_out)


# --- markers ---------------------------------------------------------------------------------------------------------


def _misspelt_markers(cell: Any) -> Iterator[Problem]:
    for number, line in enumerate(cell.source.splitlines(), 1):
        if not line.lstrip().startswith("#") or any(marker in line for marker in MARKERS):
            continue
        written = "### " + line.strip(" \t#").upper()
        for meant in get_close_matches(written, MARKERS, 1, ALIKE):
            what = f"`{line.strip()}` is no marker, so students would see what follows"
            yield _problem(cell, what, f"Write `{meant}`.", f", line {number}")


def _unpaired_markers(cell: Any) -> Iterator[Problem]:
    for begin, end in (MARKERS[:2], MARKERS[2:]):
        found = [marker for line in cell.source.splitlines() for marker in (begin, end) if marker in line]
        if found != [begin, end] * (len(found) // 2):
            what = f"`{begin}` and `{end}` do not take turns"
            yield _problem(cell, what, "Close each region before the next one, and before the cell ends.")


# --- sections and points ---------------------------------------------------------------------------------------------


def _missing_parts(label: Label, solved: Container[Label], tests: dict[Label, Any], headings: Any) -> Iterator[Problem]:
    if f"exercise-{label}" not in headings:
        way_out = f'Add a heading below `<a id="exercise-{label}"></a>`.'
        yield Problem(label, "", "the notebook has no section for it", way_out)
    if label not in solved:
        way_out = f"Add one with the grade_id `exercise-{label}`, and a solution in it."
        yield Problem(label, "", "the notebook has no cell for a solution", way_out)
    if label not in tests:
        way_out = f"Add one with the grade_id `test-exercise-{label}` that calls `hidden_tests({label!r}, points=…)`."
        yield Problem(label, "", "the notebook has no test cell", way_out)


def _another_exercise(label: Label, cell: Any) -> Iterator[Problem]:
    asked = [(call, label_of(other.strip("'\""))) for call, other, _ in _ASKED.findall(cell.source)]
    for call, other in asked:
        if other != label:
            what = f"it calls `{call}({other!r})`, which is for another exercise"
            yield _problem(cell, what, f"Call `{call}({label!r})`.")
    if "hidden_tests" not in [call for call, _ in asked]:
        yield _problem(cell, "it calls no hidden tests", f"Call `hidden_tests({label!r}, points=…)`.")


def _other_points(label: Label, cell: Any, heading: str) -> Iterator[Problem]:
    said = {"the cell's metadata": float(cell.metadata["nbgrader"].get("points", 0))}
    for call, _, points in _ASKED.findall(cell.source):
        if points:
            said[call] = float(points)
    if in_heading := _IN_HEADING.search(heading):
        said["the heading"] = float(in_heading[1])
    if len(set(said.values())) > 1:
        points = ", ".join(f"{value:g} in {where}" for where, value in said.items())
        yield Problem(label, "", f"its points differ: {points}", "Let all of them be the same.")
