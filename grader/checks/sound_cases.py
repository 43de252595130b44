"""Before a class is graded: a hidden case that a right answer would fail is a question to its author, and no grade."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grader.checks.still_right import no_longer_right
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.connection import is_new

if TYPE_CHECKING:
    from grader.model.exercise import Exercise

NOTE = ".grader_sound"  # beside the gradebook: which state of the exercises was looked at
_CHECKS = 2  # one more when more is looked at, so that nothing counts as looked at that was not
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
    state = f"{files.digest} {_CHECKS}"
    if not files.texts or _noted(course).get(assignment) == state:
        return
    must_be_drawn_alike(course, assignment, "Nothing is graded")
    from grader.checks.exercise_checks import unsound_references
    from grader.judging.answer_key import AnswerKey  # these bring torch

    found = [
        str(problem)
        for function in _functions(course, assignment)
        for problem in unsound_references(AnswerKey(function, function.sample()).short())
    ]
    _refuse(found, "Nothing is graded: right answers would fail.", assignment)
    known = not is_new(course.api())
    if known and not anyway and (wrong := list(no_longer_right(course, assignment, tell, how))):
        raise CourseError(
            f"Nothing is graded, since there is a question: {'; '.join(wrong)}. Is the exercise's file as you mean it? "
            "If so, run this again with --yes."
        )
    if remember:
        note = _noted(course) | {assignment: state}
        (course.root / NOTE).write_text(json.dumps(note))


def must_be_drawn_alike(course: Course, assignment: str, otherwise: str) -> None:
    """The inputs of all cases can be drawn, and are the same for the same seed, or CourseError says what does not
    happen `otherwise`.
    """
    from grader.checks.drawn_inputs import problems_of_drawing  # brings torch

    functions = _functions(course, assignment)
    found = [str(problem) for problem in problems_of_drawing(course.exercise_files(), assignment, functions)]
    _refuse(found, f"{otherwise}: hidden cases must have inputs, the same each time.", assignment)


def must_be_releasable(course: Course, assignment: str) -> None:
    """What would keep nbgrader from compiling it, or a class from being graded, is told in our words."""
    must_be_drawn_alike(course, assignment, "Nothing is released")
    from grader.checks.notebook_checks import broken_cells

    notebooks = [course.read("source", assignment, name) for name in course.notebooks("source", assignment)]
    _refuse([*map(str, broken_cells(notebooks))], "Nothing is released.", assignment)


def _functions(course: Course, assignment: str) -> list[Exercise]:
    return [function for exercise in course.exercises(assignment).values() for function in exercise.functions]


def _refuse(found: Sequence[str], why: str, assignment: str) -> None:
    if found:
        more = f" And {len(found) - _MOST} more." if len(found) > _MOST else ""
        raise CourseError(f"{why} {' '.join(found[:_MOST])}{more} All of it: grader validate {assignment}")


def _noted(course: Course) -> dict[str, str]:
    try:
        note = json.loads((course.root / NOTE).read_text())
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}
