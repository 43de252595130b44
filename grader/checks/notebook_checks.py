"""Find an author's mistakes in a notebook: each problem says where it is and how to fix it."""

from __future__ import annotations

import ast
import itertools
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from nbformat import NotebookNode

from grader.checks.exercise_checks import ExerciseProblem, problem_of
from grader.classroom.fork_server import preloaded
from grader.course.folder import Course
from grader.model.exercise import Exercise
from grader.model.label import Label, label_of
from grader.notebooks.cells import (
    called,
    demos_of,
    is_ordinary_test,
    is_test_cell,
    solutions,
    solved,
    solved_exercise,
    tested_exercise,
)
from grader.pages.sections import Sections, points_in
from grader.solutions.lines import definition

# What the visible checks say about each misconception: those that pass are caught by hidden cases only.
#
# That is no error, since a visible check cannot catch everything, but authors want to know. The released notebook is
# run with its solutions in a separate process. Then each misconception briefly replaces the solution, and the check's
# output for it is compared with its output for the solution.

Cells = Sequence[tuple[str, Label | None]]  # the code of each cell, and the exercise it checks, if any


class Noticed(StrEnum):
    """What a visible check makes of a misconception."""

    NAMED = "named"  # it says what students read about the misconception
    SEEN = "seen"  # it says something else is wrong
    PASSED = "passed"
    UNKNOWN = "unknown"  # for even our own solution does not pass as the notebook's does


class CheckedMistake(NamedTuple):
    label: Label
    misconception: str
    noticed: Noticed


def noticed_by_visible_checks(course: Course, compiled: Course, assignment: str) -> list[CheckedMistake]:
    """What the check of each exercise makes of its misconceptions, notebook by notebook."""
    found: list[CheckedMistake] = []
    for name in compiled.notebooks("release", assignment):
        release = compiled.read("release", assignment, name)
        demos = demos_of(release)
        cells = [
            (cell.source, tested_exercise(cell) if is_test_cell(cell) else None)
            for cell in solved(release, course.read("source", assignment, name)).cells
            if cell.cell_type == "code" and cell.source not in demos
        ]
        folder = compiled.notebook("release", assignment, name).parent
        with ProcessPoolExecutor(1, preloaded()) as process:
            found += process.submit(_noticed, course.root.resolve(), assignment, folder.resolve(), cells).result()
    return found


def _noticed(root: Path, assignment: str, folder: Path, cells: Cells) -> list[CheckedMistake]:
    torch.set_num_threads(1)  # as in the parent process: more threads would only wait for each other
    exercises = Course(root).exercises(assignment)
    os.environ["MPLBACKEND"] = "agg"
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    shell: Any = InteractiveShell()  # type: ignore[no-untyped-call]
    found: list[CheckedMistake] = []
    for source, label in cells:
        _said(shell, source)
        if label is not None and label in exercises and source.strip():
            functions = [one for one in exercises[label].functions if one.entry in shell.user_ns]
            found += [CheckedMistake(label, *each) for function in functions for each in _each(shell, source, function)]
    return found


def _each(shell: InteractiveShell, source: str, function: Exercise) -> Iterator[tuple[str, Noticed]]:
    """The misconceptions of a function, and what its check makes of them."""
    solution = shell.user_ns[function.entry]
    right = _said(shell, source)
    shell.user_ns[function.entry] = function.holding()
    can_tell = right.shown is not None and _said(shell, source).shown == right.shown
    if not can_tell and right.shown is not None:  # a solution that fails its check is reported elsewhere
        yield "", Noticed.UNKNOWN
    for misconception in function.mistakes if can_tell else ():
        shell.user_ns[function.entry] = function.holding([misconception])
        said = _said(shell, source)
        is_named = " ".join(misconception.says.split()) in said.in_words
        noticed = Noticed.NAMED if is_named else Noticed.SEEN
        yield misconception.name, Noticed.PASSED if said.shown == right.shown else noticed
    shell.user_ns[function.entry] = solution


class _Said(NamedTuple):
    """What a cell says."""

    shown: object  # None if it raises an error
    in_words: str


def _said(shell: Any, source: str) -> _Said:
    with capture_output() as captured:
        result = shell.run_cell(source, silent=False, store_history=False)
    shown = (captured.stdout, [output.data for output in captured.outputs]) if result.success else None
    return _Said(shown, " ".join(f"{captured.stdout} {captured.stderr}".split()))


SCHEMA = 3  # of nbgrader's metadata; nbgrader upgrades older cells itself
MARKERS = ("### BEGIN SOLUTION", "### END SOLUTION", "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")
ALIKE = 0.8  # enough for "BEGIN SOLUTON", but not for "begin with the solution"

_ASKED = re.compile(r"""\b(hidden_tests|check)\((\d+|"[\w-]+"|'[\w-]+')(?:, points=([\d.]+))?\)""")


def problems_of_notebooks(
    notebooks: Mapping[str, NotebookNode], exercises: Sequence[Exercise]
) -> Iterator[ExerciseProblem]:
    """All problems in the source notebooks, by name, of an assignment with these exercises."""
    labels = [exercise.label for exercise in exercises]
    for name, notebook in notebooks.items():
        place = f"{name}.ipynb, " if len(notebooks) > 1 else ""
        for problem in _problems_of_cells(notebook, labels):
            yield replace(problem, place=place + problem.place)
    cells = [cell for notebook in notebooks.values() for cell in notebook.cells]
    tests = dict(_tests(cells, labels))
    solved = dict.fromkeys(label for cell in cells if (label := solved_exercise(cell)) is not None)
    sections = map(Sections.of, notebooks.values())
    headings = {anchor: text for section in sections for anchor, text in section.by_anchor.items()}
    yield from _other_solutions(notebooks.values(), exercises)
    for label in labels:
        yield from _missing_parts(label, solved, tests, headings)
    for label in [one for one in {**(solved if labels else {}), **tests} if one not in labels]:
        way_out = "Add its file to the exercises, or remove its cells."
        yield ExerciseProblem(label, "", "the notebook has a section for it, but there is no such exercise", way_out)
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
    cells = {label: text for notebook in notebooks for label, text in solutions(notebook).items()}
    for function in (function for exercise in exercises for function in exercise.functions):
        if function.label not in cells:
            continue
        ours, theirs = _lines_of(function.written.lines.text({})), _of_cell(cells[function.label], function.entry)
        if ours != theirs:
            pairs = itertools.zip_longest(ours, theirs, fillvalue="nothing")
            one, other = next(pair for pair in pairs if pair[0] != pair[1])
            what = f"the solution cell has `{other.strip()}` where the exercise file has `{one.strip()}`"
            yield problem_of(function, [], what, "Make them the same.")


def _of_cell(text: str, name: str) -> list[str]:
    try:
        return _lines_of(definition(text, name) or "")
    except SyntaxError:  # reported elsewhere
        return []


def _lines_of(text: str) -> list[str]:
    """The lines of code, without docstrings and empty lines."""
    hidden = set[int]()
    for node in ast.walk(ast.parse(text)):
        first = node.body[0] if isinstance(node, ast.FunctionDef | ast.ClassDef) else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            hidden |= set(range(first.lineno, (first.end_lineno or 0) + 1))
    own = [line.rstrip() for at, line in enumerate(text.split("\n"), 1) if at not in hidden]
    return [re.sub(r"\s+#", "  #", line) for line in own if line]


def broken_cells(notebook: NotebookNode) -> Iterator[ExerciseProblem]:
    """Cells that nbgrader refuses to compile, and hidden tests that students would get to see."""
    cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    current_cells = [cell for cell in cells if cell.metadata.nbgrader.get("schema_version", 0) >= SCHEMA]
    times = Counter(cell.metadata.nbgrader.get("grade_id") for cell in current_cells)
    for cell in current_cells:
        yield from _impossible_metadata(cell, times)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            yield from _shown_hidden_tests(cell)


def _impossible_metadata(cell: NotebookNode, times: Counter[object]) -> Iterator[ExerciseProblem]:
    known = cell.metadata.nbgrader
    name, points = known.get("grade_id"), known.get("points")
    if not re.fullmatch(r"[A-Za-z0-9_-]+", str(name or "")):
        yield _problem(cell, f"its grade_id is “{name or ''}”", "Use letters, digits, - and _.")
    elif times[name] > 1:
        times[name] = 1  # report it once
        yield _problem(cell, "two cells have this grade_id", "Change one of them: a copied cell keeps its grade_id.")
    if known.get("grade") or known.get("task"):
        is_number = isinstance(points, (int, float)) and not isinstance(points, bool)
        if not is_number or not 0 <= points < math.inf:
            said = "it has no points" if points is None else f"its points are {points}"
            yield _problem(cell, said, "Set a number of 0 or more in its metadata.")


def _shown_hidden_tests(cell: NotebookNode) -> Iterator[ExerciseProblem]:
    hidden = False
    for number, line in enumerate(cell.source.splitlines(), 1):
        hidden = (hidden or MARKERS[2] in line) and MARKERS[3] not in line
        if not hidden and re.search(r"^[^#]*\bhidden_tests\(", line):
            way_out = f"Put it between `{MARKERS[2]}` and `{MARKERS[3]}`."
            yield _problem(cell, "students would get these hidden tests", way_out, f", line {number}")


def _problem(cell: NotebookNode, what: str, way_out: str, line: str = "") -> ExerciseProblem:
    place = f"cell {called(cell) or 'without a name'}{line}"
    return ExerciseProblem(solved_exercise(cell) or tested_exercise(cell), place, what, way_out)


# --- markers ---------------------------------------------------------------------------------------------------------


def _misspelled_markers(cell: NotebookNode) -> Iterator[ExerciseProblem]:
    for number, line in enumerate(cell.source.splitlines(), 1):
        if not line.lstrip().startswith("#") or any(marker in line for marker in MARKERS):
            continue
        written = "### " + line.strip(" \t#").upper()
        for meant in get_close_matches(written, MARKERS, 1, ALIKE):
            what = f"`{line.strip()}` is not a marker, so students would see what follows"
            yield _problem(cell, what, f"Write `{meant}`.", f", line {number}")


def _unpaired_markers(cell: NotebookNode) -> Iterator[ExerciseProblem]:
    for begin, end in (MARKERS[:2], MARKERS[2:]):
        found = [marker for line in cell.source.splitlines() for marker in (begin, end) if marker in line]
        if found != [begin, end] * (len(found) // 2):
            what = f"`{begin}` and `{end}` do not alternate"
            yield _problem(cell, what, "End each region before the next one starts, and before the cell ends.")


# --- sections and points ---------------------------------------------------------------------------------------------


def _missing_parts(
    label: Label, solved: Container[Label], tests: dict[Label, NotebookNode], headings: Container[str]
) -> Iterator[ExerciseProblem]:
    if f"exercise-{label}" not in headings:
        way_out = f'Add a heading below `<a id="exercise-{label}"></a>`.'
        yield ExerciseProblem(label, "", "the notebook has no section for it", way_out)
    if label not in solved:
        way_out = f"Add one with the grade_id `exercise-{label}`, and a solution in it."
        yield ExerciseProblem(label, "", "the notebook has no solution cell", way_out)
    if label not in tests:
        way_out = f"Add one with the grade_id `test-exercise-{label}` that calls `hidden_tests({label!r}, points=…)`."
        yield ExerciseProblem(label, "", "the notebook has no test cell", way_out)


def _in_two_notebooks(notebooks: Mapping[str, NotebookNode], labels: Sequence[Label]) -> Iterator[ExerciseProblem]:
    """Exercises solved in two notebooks. Other cells may have the same name in several notebooks."""
    for label in labels:
        files = [
            f"{name}.ipynb" for name, notebook in notebooks.items() if label in map(solved_exercise, notebook.cells)
        ]
        if len(files) > 1:
            what = f"several notebooks have a solution cell for it: {', '.join(files)}"
            yield ExerciseProblem(label, "", what, "Change the exercise in all but one of them.")


def _another_exercise(label: Label, cell: NotebookNode) -> Iterator[ExerciseProblem]:
    asked = [(call, label_of(other.strip("'\""))) for call, other, _ in _ASKED.findall(cell.source)]
    for call, other in asked:
        if other != label:
            what = f"it calls `{call}({other!r})`, which is for another exercise"
            yield _problem(cell, what, f"Call `{call}({label!r})`.")
    if ("hidden_tests", "") in [(call, points) for call, _, points in _ASKED.findall(cell.source)]:
        yield _problem(cell, "it calls `hidden_tests` without points", f"Call `hidden_tests({label!r}, points=…)`.")
    if "hidden_tests" not in [call for call, _ in asked]:
        yield _problem(cell, "it calls no hidden tests", f"Call `hidden_tests({label!r}, points=…)`.")


def _other_points(label: Label, cell: NotebookNode, heading: str) -> Iterator[ExerciseProblem]:
    points = cell.metadata["nbgrader"].get("points")
    said = {"the cell's metadata": float(points)} if isinstance(points, (int, float)) else {}  # else reported elsewhere
    for call, _, points in _ASKED.findall(cell.source):
        if points:
            said[call] = float(points)
    if (in_heading := points_in(heading)) is not None:
        said["the heading"] = in_heading
    elif heading:
        yield ExerciseProblem(
            label, "", f"its heading says no points: “{heading}”", f"Write `({_points(said)})` at its end."
        )
    if len(set(said.values())) > 1:
        points = ", ".join(f"{value:g} in {where}" for where, value in said.items())
        yield ExerciseProblem(label, "", f"its points differ: {points}", "Make all of them the same.")


def _points(said: dict[str, float]) -> str:
    """The points as a heading writes them."""
    points = next(iter(said.values()), 2)
    return f"{points:g} point{'' if points == 1 else 's'}"
