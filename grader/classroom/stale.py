"""Find grades that are out of date: something has changed since, or there is no grade yet."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Mapping, Sequence

from grader.classroom.intake import Intake, Taken, read_assignment
from grader.classroom.submitted_files import NotTakenIn
from grader.course.folder import Course
from grader.gradebook.class_gradebook import ClassGradebook
from grader.gradebook.connection import open_gradebook
from grader.gradebook.counting import Attempts
from grader.gradebook.fingerprint import NEW_SUBMISSION, changes_between
from grader.gradebook.settings import read_settings
from grader.sandbox.plain_text import listed

UNGRADED, ANOTHER = "not graded yet", "another attempt is now the best"
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
            if why := _why(student, intake.take_in(student), known):
                found[student] = why
    return found


def _why(student: str, attempts: Sequence[Taken], known: Attempts) -> Sequence[str]:
    """The changes since this student was graded, in words."""
    if not (counting := known.records.get(student)):
        return (UNGRADED,)
    if len(attempts) == 1:
        return changes_between(counting.fingerprint, attempts[0].fingerprint)
    compared = [(known.record(student, taken.attempt.digest), taken.fingerprint) for taken in attempts]
    why = [changes_between(record.fingerprint, now) if record else (NEW_SUBMISSION,) for record, now in compared]
    if reasons := dict.fromkeys(reason for some in why for reason in some):
        return tuple(reasons)
    times = {taken.attempt.digest: taken.timestamp for taken in attempts}
    return () if known.best(student, times) == known.counting(student) else (ANOTHER,)


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
