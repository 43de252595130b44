"""Before a class is graded: stop and ask the author if right answers would fail a hidden case."""

from __future__ import annotations

import contextlib
import itertools
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

MOST_STUDENTS = 3  # with right answers to an exercise, who are graded again
FEWEST_STUDENTS = 2  # one alone may have been right by chance


def no_longer_right(course: Course, assignment: str, options: Mapping[str, Any]) -> Iterator[str]:
    """Exercises where unchanged submissions were right, and none of those graded again still is.

    They are graded in a copy of the course. A gradebook on a server cannot be copied; then nothing is tried.
    """
    if gradebook_file(course.api()) is None:
        return
    try:
        reasons = stale(course, assignment)
    except CourseError:  # the assignment is new to the gradebook; anything else stops grading, too
        return
    with contextlib.closing(open_gradebook(course.api())) as gradebook:
        records = ClassGradebook(gradebook, assignment).records()
    unchanged: dict[str, Record] = {}
    for student, record in records.items():
        if EXERCISES in reasons.get(student, ()) and NEW_SUBMISSION not in reasons[student]:
            unchanged[student] = record
    samples: dict[Label, list[str]] = {}
    for label, students in _students_with_right_answers(unchanged).items():
        if len(students) >= FEWEST_STUDENTS:
            samples[label] = students[:MOST_STUDENTS]
    if not samples:
        return
    with rehearsal(course) as copy:
        students = sorted(set(itertools.chain.from_iterable(samples.values())))
        graded = {graded.student: graded for graded in autograde(copy, assignment, students, **options)}
    still_right = _students_with_right_answers(graded)
    for label, students in samples.items():
        if set(students).isdisjoint(still_right.get(label, ())):
            yield f"exercise {label} was right for {', '.join(students)}, but the same code would now be wrong"


def _students_with_right_answers(works: Mapping[str, Record | Graded]) -> dict[Label, list[str]]:
    """The students with right answers, by exercise."""
    students_of: dict[Label, list[str]] = {}
    for student, work in works.items():
        for scored in work.verdicts:
            if scored.verdict.right and scored.verdict.exercise is not None:
                students_of.setdefault(scored.verdict.exercise, []).append(student)
    return students_of


if TYPE_CHECKING:
    from grader.model.exercise import Exercise

NOTE = ".grader_sound"  # beside the gradebook: the state of the exercises that was last checked
_CHECKS = 2  # raise this when a check is added, so that all exercises are checked again
_MOST_PROBLEMS = 3  # in one message


def must_be_sound(
    course: Course,
    assignment: str,
    options: Mapping[str, Any],
    *,
    anyway: bool = False,
    remember: bool = True,
) -> None:
    """Check that references give finite, repeatable answers. Unless `anyway`, ask if right answers would turn wrong.

    If it may `remember`, it runs once for each state of the exercises. `options` say how submissions are graded.
    """
    files = course.exercise_files
    state = f"{files.digest} {_CHECKS}"
    if not files.texts or _checked_states(course).get(assignment) == state:
        return
    must_be_drawn_alike(course, assignment, "Nothing was graded")
    from grader.checks.exercise_checks import unsound_references
    from grader.judging.answer_key import AnswerKey  # these import torch

    problems: list[str] = []
    for function in _functions(course, assignment):
        key = AnswerKey(function, function.sample()).without_promises()
        problems += map(str, unsound_references(key))
    _refuse(problems, "Nothing was graded: right answers would fail.", assignment)
    has_gradebook = not is_new(course.api())
    if has_gradebook and not anyway:
        turned_wrong = list(no_longer_right(course, assignment, options))
        if turned_wrong:
            raise CourseError(
                f"Nothing was graded: {'; '.join(turned_wrong)}. Check the exercise file. If it is right, run this "
                "again with --yes."
            )
    if remember:
        states = _checked_states(course) | {assignment: state}
        (course.root / NOTE).write_text(json.dumps(states))


def must_be_drawn_alike(course: Course, assignment: str, otherwise: str) -> None:
    """Check that the inputs of all cases can be drawn, and are the same each time; `otherwise` begins the error."""
    from grader.checks.drawn_inputs import problems_of_drawing  # imports torch

    functions = _functions(course, assignment)
    problems = list(map(str, problems_of_drawing(course.exercise_files, assignment, functions)))
    _refuse(problems, f"{otherwise}: hidden cases must have inputs, and the same ones each time.", assignment)


def must_be_releasable(course: Course, assignment: str) -> None:
    """Raise a CourseError, in our words, if nbgrader could not compile it or a class could not be graded."""
    must_be_drawn_alike(course, assignment, "Nothing was released")
    from grader.checks.notebook_checks import broken_cells

    problems: list[str] = []
    for name in course.notebooks("source", assignment):
        notebook = course.read("source", assignment, name)
        problems += [f"In {name}.ipynb, {problem}" for problem in broken_cells(notebook)]
    _refuse(problems, "Nothing was released.", assignment)


def _functions(course: Course, assignment: str) -> list[Exercise]:
    return [function for exercise in course.exercises(assignment).values() for function in exercise.functions]


def _refuse(problems: Sequence[str], heading: str, assignment: str) -> None:
    if problems:
        sentences = [heading, *problems[:_MOST_PROBLEMS]]
        if len(problems) > _MOST_PROBLEMS:
            sentences.append(f"And {len(problems) - _MOST_PROBLEMS} more.")
        raise CourseError(f"{' '.join(sentences)} For the full list, run: grader validate {assignment}")


def _checked_states(course: Course) -> dict[str, str]:
    """The state of the exercises in which each assignment was last checked."""
    try:
        states = json.loads((course.root / NOTE).read_text())
    except (OSError, ValueError):
        return {}
    return states if isinstance(states, dict) else {}
