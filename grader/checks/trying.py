"""Try student code for one exercise in its notebook, with the course's solutions in all other cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

from grader.course.folder import Course
from grader.course.loading import Exercises
from grader.errors import CourseError
from grader.host.grading import grade_notebook
from grader.host.notebook_settings import Settings
from grader.host.scratch import files_for_students
from grader.model.label import Label
from grader.model.verdict import Verdict
from grader.notebooks.cells import (
    demos_of,
    fill_in,
    is_test_cell,
    points_of,
    solutions,
    solved_exercise,
    tested_exercise,
)
from grader.notebooks.modules_beside import for_students


@dataclass(frozen=True)
class TriedCode:
    """A verdict, and the graded notebook that holds it."""

    verdict: Verdict
    notebook: NotebookNode

    def in_words(self) -> str:
        """The points and all sentences of the verdict."""
        verdict = self.verdict
        max_points = next(points_of(cell) for cell in self.notebook.cells if is_test_cell(cell))
        points = f"{verdict.points(max_points):g} of {max_points:g} points"
        reason = " + ".join(verdict.misconceptions) or verdict.reason
        return "\n  ".join([f"Exercise {verdict.exercise}, {verdict.title}: {points} ({reason})", *verdict.sentences])

    def page(self) -> str:
        """The feedback page that a student with this code would get."""
        from grader.pages.feedback_page import FeedbackExporter  # imports nbgrader, which takes a second

        return str(FeedbackExporter().from_notebook_node(self.notebook)[0])


def try_code(course: Course, assignment: str, settings: Settings, label: Label, code: str) -> TriedCode:
    """Grade this code as the solution of an exercise."""
    for name in course.notebooks("source", assignment):
        source = course.read("source", assignment, name)
        if label in map(solved_exercise, source.cells) and label in map(tested_exercise, source.cells):
            notebook = fill_in(source, {**solutions(source), label: code})
            notebook.cells = list(_needed(notebook.cells, label))
            folder = course.notebook("source", assignment, name).parent
            (verdict,) = grade_notebook(notebook, files_for_students(folder), settings, demos_of(notebook))
            return TriedCode(verdict, notebook)
    raise CourseError(f"No notebook of {assignment} has a solution cell and a test cell for exercise {label}.")


def _needed(cells: Sequence[NotebookNode], label: Label) -> Iterator[NotebookNode]:
    """The cells to run: without the tests of other exercises, and without code after the exercise's own test."""
    tests: list[int] = []
    for index, cell in enumerate(cells):
        if is_test_cell(cell) and tested_exercise(cell) == label:
            tests.append(index)
    for index, cell in enumerate(cells):
        is_other_test = is_test_cell(cell) and index not in tests
        is_later_code = cell.cell_type == "code" and index > tests[-1]
        if not is_other_test and not is_later_code:
            cell.source = for_students(cell.source)
            yield cell


def exercise_called(course: Course, name: str, assignment: str = "") -> tuple[str, Exercises, Label]:
    """Find an exercise by name. If several assignments have it, `assignment` must say which."""
    candidates = course.chosen([assignment] if assignment else None)
    matches: list[tuple[str, Exercises, Label]] = []
    for candidate in candidates:
        exercises = course.exercises(candidate)
        matches += [(candidate, exercises, label) for label in exercises if str(label) == name]
    if not matches:
        raise CourseError(f"There is no exercise {name} in {', '.join(candidates)}.")
    if len(matches) > 1:
        raise CourseError(
            f"Several assignments have an exercise {name}. Choose one, such as: --assignment {matches[0][0]}"
        )
    return matches[0]
