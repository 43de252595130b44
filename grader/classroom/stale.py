"""Whose grade is no longer that of what lies there: something has changed since, or there is no grade yet."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from grader.classroom.handed_in import NotTakenIn
from grader.classroom.intake import Intake, read_assignment
from grader.course import Course
from grader.gradebook.class_gradebook import ClassGradebook
from grader.gradebook.connection import open_gradebook
from grader.gradebook.fingerprint import changes_between
from grader.gradebook.settings import read_settings
from grader.sandbox.plain_text import one_line

UNGRADED = "not graded yet"
_SHOWN = 5  # names for each reason


def stale(course: Course, assignment: str, tell: Callable[[str], None]) -> dict[str, Sequence[str]]:
    """Why the grades of these students are not up to date. Who cannot be taken in has none, and no new one either."""
    api = course.api()
    with contextlib.closing(open_gradebook(api, tell)) as opened:
        gradebook = ClassGradebook(opened, assignment, None, tell, course.rules(assignment))
        if not (records := gradebook.records()):
            return {}  # nbgrader alone has graded, and does not write down what for
        settings = read_settings(course, api, assignment)
        common = read_assignment(course, settings, gradebook, device="cpu", confined=True)
        intake = Intake(course, common, settings, gradebook)
    found: dict[str, Sequence[str]] = {}
    for student in course.students(assignment):
        record = records.get(student)
        with contextlib.suppress(NotTakenIn):
            now = intake.take_in(student).fingerprint
            why = changes_between(record.fingerprint, now) if record else (UNGRADED,)
            if why:
                found[student] = why
    return found


def told_of_stale(found: Mapping[str, Sequence[str]], assignment: str) -> str:
    """One sentence about all of them; empty if there is none."""
    if not found:
        return ""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for student, reasons in found.items():
        for reason in reasons:
            by_reason[reason].append(one_line(student, 60))
    told = "; ".join(f"{reason}: {_listed(students)}" for reason, students in by_reason.items())
    return f"Not up to date: {told}. Run: grader autograde {assignment}"


def _listed(students: Sequence[str]) -> str:
    more = len(students) - _SHOWN
    return ", ".join(students[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
