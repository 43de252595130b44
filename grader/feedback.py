"""An HTML page for each student, made by nbgrader from the autograded notebook."""

from __future__ import annotations

from pathlib import Path

from grader.course import Course, CourseError


def write_feedback(course: Course, assignment: str) -> list[Path]:
    """Write all pages of an assignment and return where they are."""
    course.chosen([assignment])
    if not any(course.root.glob(f"autograded/*/{assignment}/*.ipynb")):
        raise CourseError(f"Nothing of {assignment} is graded yet. Run: grader autograde {assignment}")
    result = course.api().generate_feedback(assignment, force=True)
    if not result["success"]:
        raise CourseError(f"nbgrader could not write the feedback:\n{result.get('error') or result.get('log')}")
    return sorted(course.root.glob(f"feedback/*/{assignment}/*.html"))
