"""Grade the submissions of an assignment into nbgrader's gradebook."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from grader.course import Course, CourseError
from grader.grading import is_test_cell
from grader.handed_in import NotTakenIn, take_in
from grader.nbgrader_parts import DEVICE_VARIABLE, UNCONFINED_VARIABLE
from grader.rendering import BLOCKED_KEY, METADATA_KEY
from grader.sandbox.confine import why_not


@dataclass(frozen=True)
class Graded:
    """One student's result, as the autograded notebook records it."""

    student: str
    verdicts: list[dict[str, Any]]  # of the test cells, in order
    error: str = ""  # why there is no result
    blocked: tuple[str, ...] = ()  # what the code tried and was not allowed to do

    @property
    def points(self) -> float:
        return float(sum(verdict["points"] for verdict in self.verdicts))

    @property
    def max_points(self) -> float:
        return float(sum(verdict["max_points"] for verdict in self.verdicts))


def autograde(
    course: Course,
    assignment: str,
    students: Sequence[str] = (),
    device: str = "cpu",
    force: bool = False,
    confined: bool = True,
) -> Iterator[Graded]:
    """Grade one student after another; whatever happens to one, the others go on."""
    course.chosen([assignment])
    everyone = course.students(assignment)
    unknown = sorted(set(students) - set(everyone))
    if unknown:
        raise CourseError(f"There is no submission of {assignment} by {', '.join(unknown)}.")
    if not everyone:
        raise CourseError(f"There is nothing to grade: no folder submitted/STUDENT/{assignment}.")
    if not course.notebook("release", assignment).is_file():
        raise CourseError(f"{assignment} has not been released yet. Run: grader release {assignment}")
    if confined and (reason := why_not()):
        raise CourseError(f"Submissions cannot be confined here: {reason}. To run them unconfined, add --unconfined.")
    os.environ[DEVICE_VARIABLE] = device
    os.environ.pop(UNCONFINED_VARIABLE, None)
    if not confined:
        os.environ[UNCONFINED_VARIABLE] = "1"
    api = course.api()
    with tempfile.TemporaryDirectory(prefix=".taken-in-", dir=course.root) as folder:
        api = course.api(submitted=Path(folder).name)
        for student in students or everyone:
            yield _grade(course, api, assignment, student, force, Path(folder))


def _grade(course: Course, api: Any, assignment: str, student: str, force: bool, folder: Path) -> Graded:
    try:
        left_out = take_in(course.root / "submitted", student, assignment, folder, course.root / "source" / assignment)
        result = api.autograde(assignment, student, force=force, create=True)
        if not result["success"]:
            return Graded(student, [], _last_line(result))
        verdicts, blocked = read_results(course, assignment, student)
    except NotTakenIn as reason:
        return Graded(student, [], str(reason))
    except Exception as error:  # nbgrader lets some errors through; the next student must be graded all the same
        return Graded(student, [], f"{type(error).__name__}: {error}")
    return Graded(student, verdicts, blocked=(*left_out, *blocked))


def _last_line(result: dict[str, Any]) -> str:
    lines = str(result.get("error") or result.get("log") or "nbgrader gave no reason").strip().splitlines()
    return lines[-1] if lines else "nbgrader gave no reason"


def read_results(course: Course, assignment: str, student: str) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The verdicts in an autograded notebook, and what was blocked. Our metadata is on outputs of our own only."""
    notebook = nbformat.read(course.notebook(f"autograded/{student}", assignment), as_version=4)
    verdicts: list[dict[str, Any]] = []
    blocked: dict[str, None] = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            ours = output.get("metadata", {}).get(METADATA_KEY, {})
            blocked |= dict.fromkeys(ours.get(BLOCKED_KEY, ()))
            if "points" in ours and is_test_cell(cell):
                verdicts.append(ours)
    return verdicts, tuple(blocked)
