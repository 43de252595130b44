"""Compile the source notebooks into those for students."""

from __future__ import annotations

from collections.abc import Callable

from grader.course import Course, reason_of
from grader.errors import CourseError
from grader.gradebook.connection import check_gradebook
from grader.release.leaks import refuse_leaks


def compile_release(course: Course, assignment: str, tell: Callable[[str], None] = print) -> None:
    """Compile one assignment with nbgrader and check the result."""
    course.need_plain_path()
    check_gradebook(course.api(), tell)
    result = course.api().generate_assignment(assignment, force=True, create=True)
    if not result["success"]:
        raise CourseError(
            f"nbgrader could not compile {assignment}: {reason_of(result)}\nMend source/{assignment}, and run this "
            f"again. All that nbgrader says: nbgrader generate_assignment {assignment} --force"
        )
    refuse_leaks(course, assignment)
