"""What all exports share: whose grades go into them, by which identifier, and where they are written.

docs/export.md says where the forms come from that Canvas, Moodle and Gradescope import.

Importers find a student by an identifier, so identifiers are written exactly as they are. Where one would be a formula
in a spreadsheet, or is missing, or belongs to two, the student is left out and named: a wrong row is worse than none.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from grader.course import Course
from grader.errors import CourseError
from grader.gradebook.standings import ClassGrades, Standing, read_class
from grader.pages.spreadsheet import is_formula
from grader.sandbox.plain_text import one_line

FOLDER = "export"
IDENTIFIERS: dict[str, tuple[str, Callable[[Standing], str]]] = {  # what Moodle calls them, and where we have them
    "username": ("Username", lambda standing: standing.student),
    "email": (
        "Email address",
        lambda standing: standing.person.email or (standing.student if "@" in standing.student else ""),
    ),
    "idnumber": ("ID number", lambda standing: standing.person.lms_user_id),
}

Tell = Callable[[str], None]


def grades_to_export(course: Course, assignment: str, tell: Tell) -> ClassGrades:
    """The class as the gradebook has it; who still waits for points is named."""
    grades = read_class(course, assignment, tell)
    if waiting := [standing.student for standing in grades.graded if standing.waits]:
        wait = "waits" if len(waiting) == 1 else "wait"
        tell(f"Not final: {listed(waiting)} {wait} for points by hand. Give them in the formgrader, and export again.")
    return grades


def write_export(course: Course, name: str, content: str | bytes) -> Path:
    """Into export/."""
    path = course.root / FOLDER / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def as_csv(rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def listed(students: Sequence[str]) -> str:
    shown = ", ".join(one_line(student, 60) for student in students[:10])
    return shown if len(students) <= 10 else f"{shown} and {len(students) - 10} more"


def identified(
    standings: Iterable[Standing], identifier: Callable[[Standing], str], heading: str, tell: Tell
) -> list[tuple[str, Standing]]:
    """Each student with the identifier that an importer takes; who has none that can be used is named."""
    named = [(identifier(standing), standing) for standing in standings]
    counts = Counter(name.casefold() for name, _ in named)
    usable = [(name, standing) for name, standing in named if is_identifier(name) and counts[name.casefold()] == 1]
    hint = "The gradebook takes them from a table: nbgrader db student import FILE"
    if not usable:
        raise CourseError(f"The gradebook has no usable {heading} for anybody. {hint}")
    students = {standing.student for _, standing in usable}
    if left_out := [standing.student for _, standing in named if standing.student not in students]:
        tell(f"Left out, because the gradebook has no usable {heading} for them: {listed(left_out)}. {hint}")
    return usable


def is_identifier(name: str) -> bool:
    """Moodle takes 0 for nothing."""
    return name not in ("", "0") and name.isprintable() and not is_formula(name)
