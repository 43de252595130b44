"""An HTML page for each student, made by nbgrader from the autograded notebook."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbgrader.api import Assignment, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import select

from grader.course.folder import Course, reason_of
from grader.errors import CourseError
from grader.gradebook.class_rows import read_rows
from grader.gradebook.connection import check_gradebook
from grader.gradebook.settings import term_rules
from grader.sandbox.plain_text import one_line

log = logging.getLogger(__name__)

# In a group, all members get a copy of the page of the one who submitted.

_COPIED = "group.txt"  # beside a page that is a copy


def submitters_for_others(course: Course, assignment: str) -> Mapping[str, str]:
    """Who submitted for the group, by student; without those who submitted themselves."""
    if not term_rules(course, assignment).groups:
        return {}
    submissions = read_rows(course, assignment).submissions
    return {student: row.student_id for student, row in submissions.items() if student != row.student_id}


def remove_copies(course: Course, assignment: str) -> None:
    """Remove copied pages, since groups may have changed."""
    for mark in course.folder("feedback").glob(f"*/{assignment}/{_COPIED}"):
        shutil.rmtree(mark.parent)


def copy_pages(course: Course, assignment: str, submitter_of: Mapping[str, str]) -> None:
    feedback = course.folder("feedback")
    for student, submitter in submitter_of.items():
        target = feedback / student / assignment
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for page in (feedback / submitter / assignment).glob("*.html"):
            shutil.copyfile(page, target / page.name)
        (target / _COPIED).write_text(f"Submitted by {submitter}, for the group.\n")


def write_feedback(course: Course, assignment: str, students: Sequence[str] = ()) -> list[Path]:
    """Write the pages of an assignment, or just those of `students`, and return their paths.

    Without `students`, a message names those who have points but get no page.
    """
    course.chosen([assignment])
    course.need_plain_path()
    graded = {path.parent.parent.name for path in course.folder("autograded").glob(f"*/{assignment}/*.ipynb")}
    if not graded:
        raise CourseError(f"{assignment} is not graded yet. Run: grader autograde {assignment}")
    api = course.api()
    check_gradebook(api)
    submitter_of = submitters_for_others(course, assignment)
    submitters = {student: submitter_of.get(student, student) for student in students}
    ungraded = sorted(student for student, submitter in submitters.items() if submitter not in graded)
    if ungraded:
        raise CourseError(f"There is no graded notebook of {assignment} by {', '.join(map(one_line, ungraded))}.")
    remove_copies(course, assignment)
    for student in dict.fromkeys(submitters.values()) or [""]:  # everyone
        result = api.generate_feedback(assignment, student or None, force=True)
        if not result["success"]:
            raise CourseError(
                f"nbgrader could not write the feedback. It says:\n{reason_of(result)}\nFix that, then run this again. "
                f"For all of nbgrader's output, run: nbgrader generate_feedback {assignment} --force"
            )
    copied = {student: submitter for student, submitter in submitter_of.items() if submitter in graded}
    copy_pages(course, assignment, copied)
    if not students:
        for student in sorted(_with_points(api, assignment) - graded):
            log.warning(f"{one_line(student)} has points, but no graded notebook, so there is no feedback page.")
        for page in course.folder("feedback").glob(f"*/{assignment}/*.html"):
            if page.parent.parent.name not in {*graded, *submitter_of}:
                page.unlink()  # left from an earlier run, and no longer true
    pages = sorted(course.folder("feedback").glob(f"*/{assignment}/*.html"))
    return [page for page in pages if not students or page.parent.parent.name in students]


def _with_points(api: Any, assignment: str) -> set[str]:
    """Everyone who has points in the gradebook, from tests or from a person."""
    query = (
        select(SubmittedAssignment.student_id)
        .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .where(Assignment.name == assignment, Grade.auto_score.is_not(None) | Grade.manual_score.is_not(None))
    )
    with api.gradebook as gradebook:
        return set(gradebook.db.scalars(query))
