"""Code that all exports share: whose grades go into them, by which identifier, and where they are written.

docs/publishing.md has the sources for the formats that Canvas and Moodle import.

Importers find students by an identifier, so identifiers are written unchanged. If one would be a formula in a
spreadsheet, is missing, or belongs to two students, they are left out and named: a wrong row is worse than none.
"""

from __future__ import annotations

import csv
import io
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.standing import Standing
from grader.gradebook.standings import ClassGrades, read_class
from grader.pages.spreadsheet import is_formula, number
from grader.sandbox.plain_text import listed, one_line

log = logging.getLogger(__name__)

FOLDER = "export"
IDENTIFIERS: dict[str, tuple[str, Callable[[Standing], str]]] = {  # what Moodle calls them, and where to find them
    "username": ("Username", lambda standing: standing.person.username or standing.student),
    "email": (
        "Email address",
        lambda standing: standing.person.email or (standing.student if "@" in standing.student else ""),
    ),
    "idnumber": ("ID number", lambda standing: standing.person.lms_user_id),
}

GRADE_THEM = "Grade them in the formgrader (`jupyter lab`, menu Nbgrader)"


def grades_to_export(course: Course, assignment: str) -> ClassGrades:
    """Read the grades of a class, and report answers that still wait for points."""
    grades = read_class(course, assignment)
    waiting = describe_waiting(grades.waiting)
    if waiting:
        log.warning(f"{waiting} {GRADE_THEM}, then export again.")
    return grades


def warn_of_maximum(grades: ClassGrades, platform: str) -> None:
    """Warn if rules change the maximum: points on another scale would be imported without a word."""
    max_points, without_rules = number(grades.max_points), number(grades.without_rules)
    if max_points != without_rules:
        log.warning(
            f"Because of course.toml, {one_line(grades.assignment)} has {max_points} points, not {without_rules}. "
            f"Before you import the file, make sure that {platform} has {max_points}, too."
        )


def describe_waiting(waiting: Mapping[str, Sequence[str]]) -> str:
    """A sentence about waiting answers: how many, which, and whose; empty if there are none."""
    students_of: dict[str, list[str]] = defaultdict(list)  # by exercise
    for student, exercises in waiting.items():
        for exercise in exercises:
            students_of[exercise].append(student)
    if not students_of:
        return ""
    answers, students = sum(map(len, students_of.values())), sum(map(bool, waiting.values()))
    count = "1 answer" if answers == 1 else f"{answers} answers"
    people = "1 student" if students == 1 else f"{students} students"
    lists = "; ".join(f"{one_line(exercise, 60)}: {listed(names)}" for exercise, names in students_of.items())
    return f"Not final: {count} by {people} still to grade manually ({lists})."


def write_export(course: Course, name: str, content: str | bytes) -> Path:
    """Write a file into export/."""
    path = course.root / FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def as_csv(rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def with_identifiers(
    standings: Iterable[Standing], identifier: Callable[[Standing], str], heading: str
) -> list[tuple[str, Standing]]:
    """The students with usable identifiers, after these; those without are named in a message."""
    standings = list(standings)
    counts = Counter(identifier(standing).casefold() for standing in standings)
    usable: list[tuple[str, Standing]] = []
    left_out: list[str] = []
    for standing in standings:
        name = identifier(standing)
        if is_identifier(name) and counts[name.casefold()] == 1:
            usable.append((name, standing))
        else:
            left_out.append(standing.student)
    hint = "To import them from a table, run: grader students import FILE"
    if not usable:
        raise CourseError(f"Nobody in the gradebook has a usable {heading}. {hint}")
    if left_out:
        log.warning(f"Left out, because they have no usable {heading} in the gradebook: {listed(left_out)}. {hint}")
    return usable


def is_identifier(name: str) -> bool:
    """Whether importers can use this identifier: Moodle takes 0 for nothing, and formulas are unsafe."""
    return name not in ("", "0") and name.isprintable() and not is_formula(name)
