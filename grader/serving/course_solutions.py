"""The course's own solutions, for students who have full marks, if the instructor allows it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from markupsafe import Markup

from grader.errors import CourseError
from grader.notebooks.cells import solutions
from grader.pages.text_html import highlighted
from grader.serving.grades import SubmissionGrades
from grader.serving.submission_results import Result
from grader.term.rules import Rule


class CourseSolution(NamedTuple):
    heading: str  # of the exercise
    code: Markup


def solutions_beside(result: Result, grades: SubmissionGrades) -> Sequence[CourseSolution]:
    """The solutions to exercises that have full marks, if they may be read now, in the order of the page."""
    if not grades.rules.shows_solutions(datetime.now(UTC).replace(tzinfo=None)):
        return []
    course, assignment = grades.course, grades.assignment
    try:
        sources = {name: course.read("source", assignment, name) for name in course.notebooks("release", assignment)}
    except CourseError:  # the machine that serves has no solutions
        return []
    codes = {name: solutions(source) for name, source in sources.items()}
    course_solutions = []
    for exercise in result.exercises or ():
        label = exercise.item.exercise
        code = codes[exercise.item.notebook].get(label) if label is not None else None
        if code and exercise.state == "full" and exercise.rule is not Rule.FULL:
            course_solutions.append(CourseSolution(exercise.heading, highlighted(code)))
    return course_solutions
