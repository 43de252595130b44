"""Who the students of a course are: roster.csv in the course folder, which `grader students import` writes.

nbgrader's own table has room for names, address and one number of each student, and is filled from here. Other names
that platforms use are only in the roster.
"""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from nbgrader.api import Student
from sqlalchemy import insert, select, update

from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.connection import PatientSession, open_gradebook
from grader.host.scratch import write_whole

FILE = "roster.csv"


@dataclass(frozen=True)
class RosterLine:
    """A line of the roster. Empty fields are unknown."""

    id: str
    first_name: str = ""
    last_name: str = ""
    name: str = ""  # in full, if its parts are not known
    email: str = ""
    username: str = ""  # if it differs from the id
    lms_user_id: str = ""  # an SIS id or ID number
    canvas_id: str = ""
    moodle_id: str = ""
    github: str = ""

    @property
    def full_name(self) -> str:
        return self.name or f"{self.first_name} {self.last_name}".strip()


COLUMNS = tuple(field.name for field in fields(RosterLine))


def read_roster(root: Path, to_write: bool = False) -> dict[str, RosterLine]:
    """Read the roster, by id; empty if there is none. Any other file of that name is an error only if `to_write`."""
    path = root / FILE
    try:
        lines = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    except FileNotFoundError:
        return {}
    except (ValueError, csv.Error):
        lines = [{}]
    except OSError as error:
        raise CourseError(f"{path} cannot be read: {error.strerror}. Fix that, then run this again.") from None
    if any("id" not in line for line in lines):
        if not to_write:
            return {}
        raise CourseError(
            f"{path} is not a roster: it has no column id, or is not a UTF-8 CSV file. Rename that file, or restore a "
            "copy of the roster."
        )
    roster: dict[str, RosterLine] = {}
    for line in lines:
        cells = {column: (line.get(column) or "").strip() for column in COLUMNS}
        if cells["id"]:
            roster[cells["id"]] = RosterLine(**cells)
    return roster


class StudentNames:
    """The names of the students of a roster, who can be found by id or name."""

    def __init__(self, roster: Mapping[str, RosterLine]) -> None:
        self.students = [*roster]
        self._names = {student: line.full_name for student, line in roster.items()}

    def __call__(self, student: str) -> str:
        """The student's name; the id if the roster has none."""
        return self._names.get(student) or student

    def with_id(self, student: str) -> str:
        """The name and the id, as one text."""
        name = self(student)
        return student if name == student else f"{name} ({student})"

    def fits(self, student: str, text: str) -> bool:
        """Whether all words of a text are in the student's id or name."""
        label = self.with_id(student).casefold()
        return all(word in label for word in text.casefold().split())


def write_roster(root: Path, roster: Iterable[RosterLine]) -> None:
    """Write the roster, whole or not at all."""
    text = io.StringIO()
    csv.writer(text).writerows([COLUMNS, *map(astuple, roster)])
    write_whole(root / FILE, text.getvalue().encode("utf-8-sig"))


def enter_students(course: Course, roster: Mapping[str, RosterLine]) -> None:
    """Write the roster into nbgrader's own table of students, and overwrite old values."""
    with contextlib.closing(open_gradebook(course.api())) as gradebook:
        session = PatientSession(gradebook)
        session.patiently(lambda: _enter(session, roster))


def _enter(session: PatientSession, roster: Mapping[str, RosterLine]) -> None:
    students = set(session.db.scalars(select(Student.id)))
    for line in roster.values():
        cells = {
            "first_name": line.first_name,
            "last_name": line.last_name or ("" if line.first_name else line.name),
            "email": line.email,
            "lms_user_id": line.lms_user_id,
        }
        values = {column: text for column, text in cells.items() if text}
        if line.id not in students:
            session.db.execute(insert(Student).values(id=line.id, **values))
        elif values:
            session.db.execute(update(Student).where(Student.id == line.id).values(**values))
    session.commit()
