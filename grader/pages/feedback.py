"""An HTML page for each student, made by nbgrader from the autograded notebook."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import select

from grader.course import Course, reason_of
from grader.errors import CourseError
from grader.gradebook.connection import check_gradebook
from grader.sandbox.plain_text import one_line


def write_feedback(course: Course, assignment: str, tell: Callable[[str], None] = print) -> list[Path]:
    """Write all pages of an assignment, return where they are, and tell who has points and gets none."""
    course.chosen([assignment])
    course.need_plain_path()
    if not any(course.folder("autograded").glob(f"*/{assignment}/*.ipynb")):
        raise CourseError(f"Nothing of {assignment} is graded yet. Run: grader autograde {assignment}")
    api = course.api()
    check_gradebook(api, tell)
    result = api.generate_feedback(assignment, force=True)
    if not result["success"]:
        raise CourseError(
            f"nbgrader could not write the feedback: {reason_of(result)}\nMend that, and run this again. All that "
            f"nbgrader says: nbgrader generate_feedback {assignment} --force"
        )
    for student in sorted(_with_points(api, assignment)):
        if not any((course.folder("autograded") / student / assignment).glob("*.ipynb")):
            tell(f"{one_line(student)} has points, but no graded notebook, and so no feedback page.")
    return sorted(course.folder("feedback").glob(f"*/{assignment}/*.html"))


def _with_points(api: Any, assignment: str) -> set[str]:
    """Everyone who has points in the gradebook, from tests or by hand."""
    query = (
        select(SubmittedAssignment.student_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .where(Assignment.name == assignment, Grade.auto_score.is_not(None) | Grade.manual_score.is_not(None))
    )
    with api.gradebook as gradebook:
        return set(gradebook.db.scalars(query))
