"""Find grades that are out of date: something has changed since, or there is no grade yet."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Mapping, Sequence

from grader.classroom.intake import Intake, read_assignment
from grader.classroom.submitted_files import NotTakenIn
from grader.course.folder import Course
from grader.gradebook.class_gradebook import ClassGradebook
from grader.gradebook.connection import open_gradebook
from grader.gradebook.counting import Attempts
from grader.gradebook.settings import read_settings
from grader.sandbox.plain_text import listed

_MOST_NAMES = 5  # names for each reason


def stale(course: Course, assignment: str) -> dict[str, Sequence[str]]:
    """The reasons why grades are out of date, by student. Submissions that cannot be taken in are left out."""
    api = course.api()
    with contextlib.closing(open_gradebook(api)) as opened:
        gradebook = ClassGradebook(opened, assignment, course.rules(assignment))
        if not gradebook.records():
            return {}  # nbgrader graded, and keeps no records
        settings = read_settings(course, api, assignment)
        common = read_assignment(course, settings, gradebook, device="cpu", confined=True)
        attempts = Attempts(gradebook)
        intake = Intake(course, common, settings, gradebook, attempts)
    reasons: dict[str, Sequence[str]] = {}
    for student in course.students(assignment):
        with contextlib.suppress(NotTakenIn):
            fingerprints = {accepted.attempt.digest: accepted.fingerprint for accepted in intake.take_in(student)}
            changes = attempts.changes(student, fingerprints)
            if changes:
                reasons[student] = changes
    return reasons


def describe_stale(reasons: Mapping[str, Sequence[str]], assignment: str) -> str:
    """A sentence about all grades that are out of date; empty if there are none."""
    if not reasons:
        return ""
    students_of: dict[str, list[str]] = defaultdict(list)  # by reason
    for student, student_reasons in reasons.items():
        for reason in student_reasons:
            students_of[reason].append(student)
    clauses = "; ".join(f"{reason}: {listed(students, _MOST_NAMES)}" for reason, students in students_of.items())
    return f"Out of date: {clauses}. Run: grader autograde {assignment}"
