"""An HTML page for each student, made by nbgrader from the autograded notebook."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from grader.course import Course, CourseError, reason_of
from grader.gradebook import check_gradebook


def write_feedback(course: Course, assignment: str, tell: Callable[[str], None] = print) -> list[Path]:
    """Write all pages of an assignment and return where they are."""
    course.chosen([assignment])
    course.need_plain_path()
    if not any(course.root.glob(f"autograded/*/{assignment}/*.ipynb")):
        raise CourseError(f"Nothing of {assignment} is graded yet. Run: grader autograde {assignment}")
    api = course.api()
    check_gradebook(api, tell)
    result = api.generate_feedback(assignment, force=True)
    if not result["success"]:
        raise CourseError(
            f"nbgrader could not write the feedback: {reason_of(result)}\nMend that, and run this again. All that "
            f"nbgrader says: nbgrader generate_feedback {assignment} --force"
        )
    return sorted(course.root.glob(f"feedback/*/{assignment}/*.html"))
