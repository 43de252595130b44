"""Find an author's mistakes in a notebook: each problem says where it is and how to fix it."""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches

from nbformat import NotebookNode

from grader.checks.exercise_checks import ExerciseProblem, problem_of
from grader.model.exercise import Exercise
from grader.model.label import Label, label_of
from grader.notebooks.cells import (
    called,
    is_ordinary_test,
    is_test_cell,
    solutions,
    solved_exercise,
    tested_exercise,
)
from grader.pages.headings import Headings, points_in
from grader.solutions.lines import definition

SCHEMA = 3  # of nbgrader's metadata; nbgrader upgrades older cells itself
MARKERS = ("### BEGIN SOLUTION", "### END SOLUTION", "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")
ALIKE = 0.8  # enough for "BEGIN SOLUTON", but not for "begin with the solution"

_CALL = re.compile(r"""\b(hidden_tests|check)\((\d+|"[\w-]+"|'[\w-]+')(?:, points=([\d.]+))?\)""")


def problems_of_notebooks(
    notebooks: Mapping[str, NotebookNode], exercises: Sequence[Exercise]
) -> Iterator[ExerciseProblem]:
    """All problems in the source notebooks, by name, of an assignment with these exercises."""
    labels = [exercise.label for exercise in exercises]
    for name, notebook in notebooks.items():
        file = f"{name}.ipynb, " if len(notebooks) > 1 else ""
        for problem in _problems_of_cells(notebook, labels):
            yield replace(problem, location=file + problem.location)
    cells = [cell for notebook in notebooks.values() for cell in notebook.cells]
    tests = dict(_tests(cells, labels))
    solved_labels = [label for label in map(solved_exercise, cells) if label is not None]
    headings: dict[str, str] = {}
    for notebook in notebooks.values():
        headings |= Headings.of(notebook).by_anchor
    yield from _other_solutions(notebooks.values(), exercises)
    for label in labels:
        yield from _missing_cells(label, solved_labels, tests, headings)
    for label in dict.fromkeys([*(solved_labels if labels else []), *tests]):
        if label not in labels:
            description = "the notebook has a section for it, but there is no such exercise"
            yield ExerciseProblem(label, "", description, "Add its file to the exercises, or remove its cells.")
    yield from _in_two_notebooks(notebooks, labels)
    for label, cell in tests.items():
        yield from _other_points(label, cell, headings.get(f"exercise-{label}", ""))


def _problems_of_cells(notebook: NotebookNode, labels: Sequence[Label]) -> Iterator[ExerciseProblem]:
    yield from broken_cells(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield from _misspelled_markers(cell)
            yield from _unpaired_markers(cell)
    for label, cell in _tests(notebook.cells, labels):
        yield from _another_exercise(label, cell)


def _tests(cells: Iterable[NotebookNode], labels: Sequence[Label]) -> Iterator[tuple[Label, NotebookNode]]:
    """The test cells with their exercises; ordinary tests of nbgrader's may have any name."""
    for cell in cells:
        label = tested_exercise(cell) if is_test_cell(cell) else None
        if label and not is_ordinary_test(cell, labels):
            yield label, cell


def _other_solutions(notebooks: Iterable[NotebookNode], exercises: Sequence[Exercise]) -> Iterator[ExerciseProblem]:
    """Solution cells that differ from the solution in the exercise file."""
    cells: dict[Label, str] = {}
    for notebook in notebooks:
        cells |= solutions(notebook)
    for exercise in exercises:
        for function in exercise.functions:
            if function.label in cells:
                file_lines = _code_lines(function.solution_text.lines.text({}))
                cell_lines = _code_lines_of_cell(cells[function.label], function.entry)
                for file_line, cell_line in itertools.zip_longest(file_lines, cell_lines, fillvalue="nothing"):
                    if file_line != cell_line:
                        description = (
                            f"the solution cell has `{cell_line.strip()}` where the exercise file has "
                            f"`{file_line.strip()}`"
                        )
                        yield problem_of(function, [], description, "Make them the same.")
                        break


def _code_lines_of_cell(text: str, name: str) -> list[str]:
    try:
        return _code_lines(definition(text, name) or "")
    except SyntaxError:  # reported elsewhere
        return []


def _code_lines(text: str) -> list[str]:
    """The lines of code, without docstrings and empty lines."""
    docstring_lines = set[int]()
    for node in ast.walk(ast.parse(text)):
        first = node.body[0] if isinstance(node, ast.FunctionDef | ast.ClassDef) else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            docstring_lines |= set(range(first.lineno, (first.end_lineno or 0) + 1))
    lines: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        code = line.rstrip()
        if code and number not in docstring_lines:
            lines.append(re.sub(r"\s+#", "  #", code))
    return lines


def broken_cells(notebook: NotebookNode) -> Iterator[ExerciseProblem]:
    """Cells that nbgrader refuses to compile, and hidden tests that students would get to see."""
    cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    current_cells = [cell for cell in cells if cell.metadata.nbgrader.get("schema_version", 0) >= SCHEMA]
    counts = Counter(cell.metadata.nbgrader.get("grade_id") for cell in current_cells)
    for cell in current_cells:
        yield from _impossible_metadata(cell, counts)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield from _shown_hidden_tests(cell)


def _impossible_metadata(cell: NotebookNode, counts: Counter[object]) -> Iterator[ExerciseProblem]:
    metadata = cell.metadata.nbgrader
    name, points = metadata.get("grade_id"), metadata.get("points")
    if not re.fullmatch(r"[A-Za-z0-9_-]+", str(name or "")):
        yield _problem(cell, f"its grade_id is “{name or ''}”", "Use letters, digits, - and _.")
    elif counts[name] > 1:
        counts[name] = 1  # report it once
        yield _problem(cell, "two cells have this grade_id", "Change one of them: a copied cell keeps its grade_id.")
    if metadata.get("grade") or metadata.get("task"):
        is_number = isinstance(points, (int, float)) and not isinstance(points, bool)
        if not is_number or not 0 <= points < math.inf:
            description = "it has no points" if points is None else f"its points are {points}"
            yield _problem(cell, description, "Set a number of 0 or more in its metadata.")


def _shown_hidden_tests(cell: NotebookNode) -> Iterator[ExerciseProblem]:
    is_hidden = False
    for number, line in enumerate(cell.source.splitlines(), 1):
        is_hidden = (is_hidden or MARKERS[2] in line) and MARKERS[3] not in line
        if not is_hidden and re.search(r"^[^#]*\bhidden_tests\(", line):
            way_out = f"Put it between `{MARKERS[2]}` and `{MARKERS[3]}`."
            yield _problem(cell, "students would get these hidden tests", way_out, f", line {number}")


def _problem(cell: NotebookNode, description: str, way_out: str, line: str = "") -> ExerciseProblem:
    location = f"cell {called(cell) or 'without a name'}{line}"
    return ExerciseProblem(solved_exercise(cell) or tested_exercise(cell), location, description, way_out)


# --- markers ---------------------------------------------------------------------------------------------------------


def _misspelled_markers(cell: NotebookNode) -> Iterator[ExerciseProblem]:
    for number, line in enumerate(cell.source.splitlines(), 1):
        if not line.lstrip().startswith("#") or any(marker in line for marker in MARKERS):
            continue
        as_marker = "### " + line.strip(" \t#").upper()
        for marker in get_close_matches(as_marker, MARKERS, 1, ALIKE):
            description = f"`{line.strip()}` is not a marker, so students would see what follows"
            yield _problem(cell, description, f"Write `{marker}`.", f", line {number}")


def _unpaired_markers(cell: NotebookNode) -> Iterator[ExerciseProblem]:
    for begin, end in (MARKERS[:2], MARKERS[2:]):
        markers = [marker for line in cell.source.splitlines() for marker in (begin, end) if marker in line]
        if markers != [begin, end] * (len(markers) // 2):
            description = f"`{begin}` and `{end}` do not alternate"
            yield _problem(cell, description, "End each region before the next one starts, and before the cell ends.")


# --- sections and points ---------------------------------------------------------------------------------------------


def _missing_cells(
    label: Label, solved_labels: Container[Label], tests: dict[Label, NotebookNode], headings: Container[str]
) -> Iterator[ExerciseProblem]:
    if f"exercise-{label}" not in headings:
        way_out = f'Add a heading below `<a id="exercise-{label}"></a>`.'
        yield ExerciseProblem(label, "", "the notebook has no section for it", way_out)
    if label not in solved_labels:
        way_out = f"Add one with the grade_id `exercise-{label}`, and a solution in it."
        yield ExerciseProblem(label, "", "the notebook has no solution cell", way_out)
    if label not in tests:
        way_out = f"Add one with the grade_id `test-exercise-{label}` that calls `hidden_tests({label!r}, points=…)`."
        yield ExerciseProblem(label, "", "the notebook has no test cell", way_out)


def _in_two_notebooks(notebooks: Mapping[str, NotebookNode], labels: Sequence[Label]) -> Iterator[ExerciseProblem]:
    """Exercises solved in two notebooks. Other cells may have the same name in several notebooks."""
    for label in labels:
        files: list[str] = []
        for name, notebook in notebooks.items():
            if label in map(solved_exercise, notebook.cells):
                files.append(f"{name}.ipynb")
        if len(files) > 1:
            description = f"several notebooks have a solution cell for it: {', '.join(files)}"
            yield ExerciseProblem(label, "", description, "Change the exercise in all but one of them.")


def _another_exercise(label: Label, cell: NotebookNode) -> Iterator[ExerciseProblem]:
    has_hidden_tests = lacks_points = False
    for function, argument, points in _CALL.findall(cell.source):
        called_label = label_of(argument.strip("'\""))
        if called_label != label:
            description = f"it calls `{function}({called_label!r})`, which is for another exercise"
            yield _problem(cell, description, f"Call `{function}({label!r})`.")
        if function == "hidden_tests":
            has_hidden_tests = True
            lacks_points = lacks_points or not points
    call = f"`hidden_tests({label!r}, points=…)`"
    if lacks_points:
        yield _problem(cell, "it calls `hidden_tests` without points", f"Call {call}.")
    if not has_hidden_tests:
        yield _problem(cell, "it calls no hidden tests", f"Call {call}.")


def _other_points(label: Label, cell: NotebookNode, heading: str) -> Iterator[ExerciseProblem]:
    points_by_source: dict[str, float] = {}
    metadata_points = cell.metadata["nbgrader"].get("points")
    if isinstance(metadata_points, (int, float)):  # else reported elsewhere
        points_by_source["the cell's metadata"] = float(metadata_points)
    for function, _, points in _CALL.findall(cell.source):
        if points:
            points_by_source[function] = float(points)
    heading_points = points_in(heading)
    if heading_points is not None:
        points_by_source["the heading"] = heading_points
    elif heading:
        points = next(iter(points_by_source.values()), 2)
        way_out = f"Write `({points:g} point{'' if points == 1 else 's'})` at its end."
        yield ExerciseProblem(label, "", f"its heading says no points: “{heading}”", way_out)
    if len(set(points_by_source.values())) > 1:
        differences = ", ".join(f"{points:g} in {source}" for source, points in points_by_source.items())
        yield ExerciseProblem(label, "", f"its points differ: {differences}", "Make all of them the same.")
