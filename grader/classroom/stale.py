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

_SHOWN = 5  # names for each reason


def stale(course: Course, assignment: str) -> dict[str, Sequence[str]]:
    """The reasons why grades are out of date, by student. Submissions that cannot be taken in are left out."""
    api = course.api()
    with contextlib.closing(open_gradebook(api)) as opened:
        gradebook = ClassGradebook(opened, assignment, course.rules(assignment))
        if not gradebook.records():
            return {}  # nbgrader graded, and keeps no records
        settings = read_settings(course, api, assignment)
        common = read_assignment(course, settings, gradebook, device="cpu", confined=True)
        known = Attempts(gradebook)
        intake = Intake(course, common, settings, gradebook, known)
    found: dict[str, Sequence[str]] = {}
    for student in course.students(assignment):
        with contextlib.suppress(NotTakenIn):
            fingerprints = {taken.attempt.digest: taken.fingerprint for taken in intake.take_in(student)}
            if changes := known.changes(student, fingerprints):
                found[student] = changes
    return found


def told_of_stale(found: Mapping[str, Sequence[str]], assignment: str) -> str:
    """A sentence about all grades that are out of date; empty if there are none."""
    if not found:
        return ""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for student, reasons in found.items():
        for reason in reasons:
            by_reason[reason].append(student)
    told = "; ".join(f"{reason}: {listed(students, _SHOWN)}" for reason, students in by_reason.items())
    return f"Out of date: {told}. Run: grader autograde {assignment}"
