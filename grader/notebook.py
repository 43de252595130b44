"""Hidden tests in an instructor's own kernel, called by the test cells of `source/`.

The cells that the kernel has run are run again in a sandbox, and the verdict is the one that a student with this code
would get.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.course.folder import CONFIG_FILE, Course, open_course
from grader.course.loading import Exercises, in_order_of
from grader.errors import CourseError
from grader.facts.definitions import Definitions, defined_in
from grader.host.notebook_settings import settings_for
from grader.host.scratch import files_for_students
from grader.model.exercise import DEFAULT_SEED, Exercise
from grader.model.label import Label
from grader.model.verdict import Verdict
from grader.notebooks.cells import tested_exercise
from grader.notebooks.modules_beside import for_students
from grader.notebooks.verdict_cells import verdict_panel


def hidden_tests(label: Label, points: float) -> float:
    """Judge what the calling notebook defines for an exercise of its assignment, and show the verdict.

    The notebook is in a folder named after the assignment, somewhere in the course folder, such as source/week1.

    Returns the points. nbgrader takes them as the score if it runs the notebook without our parts.
    """
    from IPython.display import display

    course = _course_here()
    cells = _cells_here()
    exercises = in_order_of(course.exercises(Path.cwd().name), map(tested_exercise, cells))
    if label not in exercises:
        raise CourseError(f"There is no exercise {label} in {Path.cwd().name}.")
    ran = list(_as_run(sys._getframe(1).f_globals.get("In", []), cells))
    verdict = _verdict(course, exercises, exercises[label], ran)
    earned = verdict.points(points)
    display(verdict_panel(verdict, f"{earned:g} of {points:g} points"), raw=True)  # type: ignore[no-untyped-call]
    return earned


def _course_here() -> Course:
    """Open the course afresh each time: a kernel lives for days, while its author edits exercise files."""
    for root in Path.cwd().parents:
        if (root / CONFIG_FILE).is_file():
            return open_course(root)
    raise CourseError(f"{Path.cwd()} is not in a course folder, so it cannot be graded.")


def _cells_here() -> list[NotebookNode]:
    return [cell for path in sorted(Path.cwd().glob("*.ipynb")) for cell in nbformat.read(path, 4).cells]


def _verdict(course: Course, exercises: Exercises, exercise: Exercise, cells: Sequence[NotebookNode]) -> Verdict:
    """The verdict on what these cells define, run in a sandbox like a student's."""
    from grader.host.grading import Grading  # imports nbconvert, which takes long

    notebook = nbformat.v4.new_notebook(cells=cells)
    grading = Grading(notebook, files_for_students(Path.cwd()), settings_for(course, exercises))
    grading.seed = DEFAULT_SEED  # the same cases each time
    grading.definitions = Definitions(last_counts=True)  # in a kernel, cells are run again and again
    try:
        grading.run()
        return grading.verdict_on(exercise)
    finally:
        grading.close()


def _as_run(sources: Sequence[str], cells: Sequence[NotebookNode]) -> Iterator[NotebookNode]:
    """The cells that the kernel has run, except tests."""
    saved_cells = {cell.source: cell for cell in cells if cell.cell_type == "code"}
    for source in _still_valid(sources):
        cell = saved_cells.get(source) or nbformat.v4.new_code_cell(source)
        if tested_exercise(cell) is None:
            yield nbformat.v4.new_code_cell(for_students(source))


def _still_valid(ran: Sequence[str]) -> Iterator[str]:
    """The cells that were run, except those whose definitions were all replaced by later cells."""
    last = {name: place for place, source in enumerate(ran) for name in defined_in(source)}
    for place, source in enumerate(ran):
        names = defined_in(source)
        if source.strip() and (not names or any(last[name] == place for name in names)):
            yield source
