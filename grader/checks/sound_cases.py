"""Before a class is graded: stop and ask the author if right answers would fail a hidden case."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from grader.classroom.rehearsal import rehearsal
from grader.classroom.run import autograde
from grader.classroom.stale import stale
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.class_gradebook import ClassGradebook
from grader.gradebook.connection import gradebook_file, is_new, open_gradebook
from grader.gradebook.fingerprint import EXERCISES, NEW_SUBMISSION
from grader.gradebook.records import Record
from grader.model.label import Label
from grader.model.submission import Graded

# If exercises have changed since a class was last graded, and all answers that were right are now wrong, ask first.

TRIED = 3  # right answers per exercise that are graded again
FEWEST = 2  # one alone may have been right by chance


def no_longer_right(course: Course, assignment: str, how: Mapping[str, Any]) -> Iterator[str]:
    """Exercises where unchanged submissions were right, and none of those graded again still is.

    They are graded in a copy of the course. A gradebook on a server cannot be copied; then nothing is tried.
    """
    if gradebook_file(course.api()) is None:
        return
    try:
        reasons = stale(course, assignment)
    except CourseError:  # the assignment is new to the gradebook; anything else stops grading, too
        return
    same = [name for name, why in reasons.items() if EXERCISES in why and NEW_SUBMISSION not in why]
    right = _right({name: record for name, record in _records(course, assignment).items() if name in same})
    tried = {label: students[:TRIED] for label, students in right.items() if len(students) >= FEWEST}
    if not tried:
        return
    with rehearsal(course) as place:
        students = sorted({name for some in tried.values() for name in some})
        now = _right({graded.student: graded for graded in autograde(place, assignment, students, **how)})
    for label, some in tried.items():
        if not set(some) & set(now.get(label, ())):
            yield f"exercise {label} was right for {', '.join(some)}, but the same code would now be wrong"


def _records(course: Course, assignment: str) -> dict[str, Record]:
    with contextlib.closing(open_gradebook(course.api())) as gradebook:
        return ClassGradebook(gradebook, assignment).records()


def _right(found: Mapping[str, Record | Graded]) -> dict[Label, list[str]]:
    """The students with right answers, by exercise."""
    right: dict[Label, list[str]] = {}
    for student, one in found.items():
        for verdict in (scored.verdict for scored in one.verdicts):
            if verdict.right and verdict.exercise is not None:
                right.setdefault(verdict.exercise, []).append(student)
    return right


if TYPE_CHECKING:
    from grader.model.exercise import Exercise

NOTE = ".grader_sound"  # beside the gradebook: the state of the exercises that was last checked
_CHECKS = 2  # raise this when a check is added, so that all exercises are checked again
_MOST = 3  # problems in one message


def must_be_sound(
    course: Course,
    assignment: str,
    how: Mapping[str, Any],
    *,
    anyway: bool = False,
    remember: bool = True,
) -> None:
    """Check that references give finite, repeatable answers. Unless `anyway`, ask if right answers would turn wrong.

    If it may `remember`, it runs once for each state of the exercises. `how` says how submissions are graded.
    """
    files = course.exercise_files
    state = f"{files.digest} {_CHECKS}"
    if not files.texts or _noted(course).get(assignment) == state:
        return
    must_be_drawn_alike(course, assignment, "Nothing was graded")
    from grader.checks.exercise_checks import unsound_references
    from grader.judging.answer_key import AnswerKey  # these import torch

    found = [
        str(problem)
        for function in _functions(course, assignment)
        for problem in unsound_references(AnswerKey(function, function.sample()).without_promises())
    ]
    _refuse(found, "Nothing was graded: right answers would fail.", assignment)
    known = not is_new(course.api())
    if known and not anyway and (wrong := list(no_longer_right(course, assignment, how))):
        raise CourseError(
            f"Nothing was graded: {'; '.join(wrong)}. Check the exercise file. If it is right, run this again "
            "with --yes."
        )
    if remember:
        note = _noted(course) | {assignment: state}
        (course.root / NOTE).write_text(json.dumps(note))


def must_be_drawn_alike(course: Course, assignment: str, otherwise: str) -> None:
    """Check that the inputs of all cases can be drawn, and are the same each time; `otherwise` begins the error."""
    from grader.checks.drawn_inputs import problems_of_drawing  # imports torch

    functions = _functions(course, assignment)
    found = [str(problem) for problem in problems_of_drawing(course.exercise_files, assignment, functions)]
    _refuse(found, f"{otherwise}: hidden cases must have inputs, and the same ones each time.", assignment)


def must_be_releasable(course: Course, assignment: str) -> None:
    """Raise a CourseError, in our words, if nbgrader could not compile it or a class could not be graded."""
    must_be_drawn_alike(course, assignment, "Nothing was released")
    from grader.checks.notebook_checks import broken_cells

    problems = []
    for name in course.notebooks("source", assignment):
        notebook = course.read("source", assignment, name)
        problems += [f"In {name}.ipynb, {problem}" for problem in broken_cells(notebook)]
    _refuse(problems, "Nothing was released.", assignment)


def _functions(course: Course, assignment: str) -> list[Exercise]:
    return [function for exercise in course.exercises(assignment).values() for function in exercise.functions]


def _refuse(found: Sequence[str], why: str, assignment: str) -> None:
    if found:
        more = f" And {len(found) - _MOST} more." if len(found) > _MOST else ""
        raise CourseError(f"{why} {' '.join(found[:_MOST])}{more} For the full list, run: grader validate {assignment}")


def _noted(course: Course) -> dict[str, str]:
    try:
        note = json.loads((course.root / NOTE).read_text())
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}
