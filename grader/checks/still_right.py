"""Before a class is graded by other exercises than before: where all that was right is wrong, that is a question."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from grader.classroom.rehearsal import rehearsal
from grader.classroom.run import autograde
from grader.classroom.stale import stale
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.class_gradebook import ClassGradebook
from grader.gradebook.connection import gradebook_file, open_gradebook
from grader.gradebook.fingerprint import EXERCISES, HAND_IN
from grader.gradebook.records import Record
from grader.model.label import Label
from grader.model.submission import Graded

TRIED = 3  # right answers of each exercise
FEWEST = 2  # one alone may have been right by chance


def no_longer_right(
    course: Course, assignment: str, tell: Callable[[str], None], how: Mapping[str, Any]
) -> Iterator[str]:
    """The exercises of which some were right, with the same hand-ins, and none of those that are tried still is.

    They are graded in a copy of the course. Where the gradebook is on a server, there is no copy, and nothing is tried.
    """
    if gradebook_file(course.api()) is None:
        return
    try:
        reasons = stale(course, assignment, tell)
    except CourseError:  # the assignment is new to the gradebook; what else is wrong stops grading, too
        return
    same = [name for name, why in reasons.items() if EXERCISES in why and HAND_IN not in why]
    right = _right({name: record for name, record in _records(course, assignment, tell).items() if name in same})
    tried = {label: students[:TRIED] for label, students in right.items() if len(students) >= FEWEST}
    if not tried:
        return
    with rehearsal(course, tell) as place:
        students = sorted({name for some in tried.values() for name in some})
        now = _right({graded.student: graded for graded in autograde(place, assignment, students, **how)})
    for label, some in tried.items():
        if not set(some) & set(now.get(label, ())):
            yield f"exercise {label} was right for {', '.join(some)}, who have handed in nothing new, and is no longer"


def _records(course: Course, assignment: str, tell: Callable[[str], None]) -> dict[str, Record]:
    with contextlib.closing(open_gradebook(course.api(), tell)) as gradebook:
        return ClassGradebook(gradebook, assignment, None, tell).records()


def _right(found: Mapping[str, Record | Graded]) -> dict[Label, list[str]]:
    """Whose answers are right, by exercise."""
    right: dict[Label, list[str]] = {}
    for student, one in found.items():
        for verdict in (scored.verdict for scored in one.verdicts):
            if verdict.right and verdict.exercise is not None:
                right.setdefault(verdict.exercise, []).append(student)
    return right
