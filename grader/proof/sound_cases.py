"""Before a class is graded: a hidden case that a right answer would fail is a question to its author, and no grade."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from grader.course import Course
from grader.errors import CourseError
from grader.gradebook.connection import is_new
from grader.proof.still_right import no_longer_right

NOTE = ".grader_sound"  # beside the gradebook: which state of the exercises was looked at
_MOST = 3  # problems that are told at once


def must_be_sound(
    course: Course,
    assignment: str,
    tell: Callable[[str], None],
    how: Mapping[str, Any],
    *,
    anyway: bool = False,
    remember: bool = True,
) -> None:
    """References answer all cases, finitely and always the same, and what was right still is, or it is meant `anyway`.

    Looked at once for each state of the exercises, if it may `remember`. `how` says how submissions are graded.
    """
    files = course.exercise_files()
    if not files.texts or _noted(course).get(assignment) == files.digest:
        return
    from grader.judging.answer_key import AnswerKey  # these bring torch
    from grader.proof.exercise_checks import unsound_references

    functions = [function for exercise in course.exercises(assignment).values() for function in exercise.functions]
    found = [
        str(problem)
        for function in functions
        for problem in unsound_references(AnswerKey(function, function.sample()).short())
    ]
    if found:
        more = f" And {len(found) - _MOST} more." if len(found) > _MOST else ""
        raise CourseError(
            f"Nothing is graded: right answers would fail. {' '.join(found[:_MOST])}{more} "
            f"All of it: grader validate {assignment}"
        )
    known = not is_new(course.api())
    if known and not anyway and (wrong := list(no_longer_right(course, assignment, tell, how))):
        raise CourseError(
            f"Nothing is graded, since there is a question: {'; '.join(wrong)}. Is the exercise's file as you mean it? "
            "If so, run this again with --yes."
        )
    if remember:
        note = _noted(course) | {assignment: files.digest}
        (course.root / NOTE).write_text(json.dumps(note))


def _noted(course: Course) -> dict[str, str]:
    try:
        note = json.loads((course.root / NOTE).read_text())
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}
