"""Points and comments of a person, written as nbgrader's formgrader writes them."""

from __future__ import annotations

import contextlib

from nbgrader.api import Gradebook, MissingEntry

from grader.course.folder import Course
from grader.gradebook.connection import PatientSession, open_gradebook
from grader.gradebook.items import Item

MARGIN = "\n\n"  # between comments


def mark_by_hand(course: Course, assignment: str, student: str, item: Item, points: float | None, comment: str) -> None:
    """Give a student points for an exercise, if any are given, and a comment after those that are there."""
    with contextlib.closing(open_gradebook(course.api())) as gradebook:
        session = PatientSession(gradebook)

        def write() -> None:
            if points is not None:
                grade = gradebook.find_grade(item.name, item.notebook, assignment, student)
                grade.manual_score, grade.needs_manual_grade = points, False
            _add_comment(gradebook, assignment, student, item, comment)
            session.commit()

        session.patiently(write)


def _add_comment(gradebook: Gradebook, assignment: str, student: str, item: Item, comment: str) -> None:
    """Comments belong to the cells that students write. An ordinary test has none, and then there is no comment."""
    for cell in item.student_cells:
        with contextlib.suppress(MissingEntry):
            row = gradebook.find_comment(cell, item.notebook, assignment, student)
            row.manual_comment = MARGIN.join(filter(None, [row.manual_comment, comment]))
            return
