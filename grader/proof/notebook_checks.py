"""What may be wrong with a notebook as its author wrote it: each problem with its place and the way out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from grader.model.exercise import Exercise
from grader.notebooks.cells import is_test_cell, solution_number, tested_number
from grader.pages.sections import Sections
from grader.proof.exercise_checks import Problem

MARKERS = ("### BEGIN SOLUTION", "### END SOLUTION", "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")
ALIKE = 0.8  # "BEGIN SOLUTON" is, "begin with the solution" is not

_ASKED = re.compile(r"\b(hidden_tests|check)\((\d+)(?:, points=([\d.]+))?\)")
_IN_HEADING = re.compile(r"\(([\d.]+) points?\)")


def problems_of_notebook(notebook: Any, exercises: Sequence[Exercise]) -> Iterator[Problem]:
    """All that is found in the source of an assignment, which has these exercises."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield from _misspelt_markers(cell)
            yield from _unpaired_markers(cell)
    numbers = [exercise.number for exercise in exercises]
    tests = {
        number: cell for cell in notebook.cells if is_test_cell(cell) and (number := tested_number(cell)) is not None
    }
    solved = {number for cell in notebook.cells if (number := solution_number(cell)) is not None}
    headings = Sections.of(notebook).by_anchor
    for number in numbers:
        yield from _missing_parts(number, solved, tests, headings)
    for number in sorted({*solved, *tests} - {*numbers}):
        way_out = "Add its file to the exercises, or take its cells out."
        yield Problem(f"exercise {number}", "the notebook has a section for it, and there is no such exercise", way_out)
    for number, cell in tests.items():
        yield from _another_exercise(number, cell)
        yield from _other_points(number, cell, headings.get(f"exercise-{number}", ""))


def _identity(cell: Any) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id") or cell.get("id", "without a name"))


# --- markers ---------------------------------------------------------------------------------------------------------


def _misspelt_markers(cell: Any) -> Iterator[Problem]:
    for number, line in enumerate(cell.source.splitlines(), 1):
        if not line.lstrip().startswith("#") or any(marker in line for marker in MARKERS):
            continue
        written = "### " + line.strip(" \t#").upper()
        for meant in get_close_matches(written, MARKERS, 1, ALIKE):
            what = f"`{line.strip()}` is no marker, so students would see what follows"
            yield Problem(f"cell {_identity(cell)}, line {number}", what, f"Write `{meant}`.")


def _unpaired_markers(cell: Any) -> Iterator[Problem]:
    for begin, end in (MARKERS[:2], MARKERS[2:]):
        found = [marker for line in cell.source.splitlines() for marker in (begin, end) if marker in line]
        if found != [begin, end] * (len(found) // 2):
            what = f"`{begin}` and `{end}` do not take turns"
            yield Problem(
                f"cell {_identity(cell)}", what, "Close each region before the next one, and before the cell ends."
            )


# --- sections and points ---------------------------------------------------------------------------------------------


def _missing_parts(number: int, solved: set[int], tests: dict[int, Any], headings: Any) -> Iterator[Problem]:
    place = f"exercise {number}"
    if f"exercise-{number}" not in headings:
        yield Problem(
            place, "the notebook has no section for it", f'Add a heading below `<a id="exercise-{number}"></a>`.'
        )
    if number not in solved:
        way_out = f"Add one with the grade_id `exercise-{number}`, and a solution in it."
        yield Problem(place, "the notebook has no cell for a solution", way_out)
    if number not in tests:
        way_out = f"Add one with the grade_id `test-exercise-{number}` that calls `hidden_tests({number}, points=…)`."
        yield Problem(place, "the notebook has no test cell", way_out)


def _another_exercise(number: int, cell: Any) -> Iterator[Problem]:
    asked = [(call, int(other)) for call, other, _ in _ASKED.findall(cell.source)]
    for call, other in asked:
        if other != number:
            what = f"it calls `{call}({other})`, which is for another exercise"
            yield Problem(f"cell {_identity(cell)}", what, f"Call `{call}({number})`.")
    if "hidden_tests" not in [call for call, _ in asked]:
        yield Problem(
            f"cell {_identity(cell)}", "it calls no hidden tests", f"Call `hidden_tests({number}, points=…)`."
        )


def _other_points(number: int, cell: Any, heading: str) -> Iterator[Problem]:
    said = {"the cell's metadata": float(cell.metadata["nbgrader"].get("points", 0))}
    for call, _, points in _ASKED.findall(cell.source):
        if points:
            said[call] = float(points)
    if in_heading := _IN_HEADING.search(heading):
        said["the heading"] = float(in_heading[1])
    if len(set(said.values())) > 1:
        points = ", ".join(f"{value:g} in {where}" for where, value in said.items())
        yield Problem(f"exercise {number}", f"its points differ: {points}", "Let all of them be the same.")
