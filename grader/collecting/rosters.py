"""Read the students of a course from its gradebook and from a table: plain, or exported by Moodle or Canvas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from nbgrader.api import Student as StudentRow

from grader.classroom.submitted_files import is_name
from grader.collecting.students import CANVAS, ID, MOODLE, NAME, Alias, Roster, Student, normal
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.connection import gradebook_file, open_gradebook
from grader.gradebook.roster import RosterLine, read_roster
from grader.sandbox.plain_text import one_line

MAX_BYTES = 50 * 2**20
MORE = "\0"  # the key for cells without a column

# Names of columns in plain tables, in Moodle and in Canvas.
_IDS = (  # the first that is not empty counts
    "id", "username", "sis login id", "sis user id", "id number", "email address", "student_id", "student id",
)  # fmt: skip
_FIRST, _LAST = ("first name", "first_name"), ("last name", "last_name", "surname")
_FULL, _EMAIL = ("name", "full name", "student"), ("email", "email address", "e-mail")
_GITHUB = ("github_username", "github")
_PARTICIPANT = re.compile(r"[^0-9]*([0-9]+)")  # Moodle writes the word in its own language


def read_students(course: Course, table: Path | None) -> Roster:
    """All students in the gradebook, in the roster and in the table."""
    students = [*students_in_gradebook(course), *map(student_of, read_roster(course.root).values())]
    return Roster([*students, *(_read_table(table, students) if table else ())])


def students_in_gradebook(course: Course) -> list[Student]:
    api = course.api()
    file = gradebook_file(api)
    if file and not file.exists():
        return []  # opening it would create it
    columns = (StudentRow.id, StudentRow.first_name, StudentRow.last_name, StudentRow.email, StudentRow.lms_user_id)
    with closing(open_gradebook(api)) as gradebook:
        rows = gradebook.db.query(*columns).all()
    students = []
    for row in rows:
        numbers = frozenset([(NAME, row.lms_user_id)] if row.lms_user_id else [])
        first_name, last_name, email = row.first_name or "", row.last_name or "", row.email or ""
        students.append(Student(str(row.id), first_name, last_name, email=email, numbers=numbers))
    return students


def _read_table(path: Path, students: Sequence[Student]) -> Iterator[Student]:
    roster = Roster(students)
    for number, row in read_lines(path, "Use --students with a table of students."):
        line = read_line(row)
        if line is None:
            continue
        try:
            yield student_of(with_roster_id(line, roster))
        except BadLine as error:
            raise CourseError(f"{path}, line {number}: {error}. Fix the line, then run this again.") from None


class BadLine(Exception):
    """A line of a table that does not identify one student; the text says why."""


def read_lines(path: Path, instead: str) -> list[tuple[int, dict[str, str]]]:
    """Read the lines of a table, with their numbers; names of columns are in lower case."""
    text = read_text(path, instead)
    for delimiter in ",;\t":
        rows = _split(text, delimiter)
        if rows and not rows[0][1].keys().isdisjoint({*_IDS, _GITHUB[0]}):
            return rows
    raise CourseError(
        f"{path} is not a table of students: its first line has no column id. Use a table with the columns id, "
        "name and email, or an export from Moodle or Canvas."
    )


def read_text(path: Path, instead: str) -> str:
    """Read a text file that the user has named; in errors, `instead` says what to name instead."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CourseError(f"{path} is larger than {MAX_BYTES // 2**20} MB. {instead}")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise CourseError(f"{path} cannot be read: {reason}. {instead}") from None


def _split(text: str, delimiter: str) -> list[tuple[int, dict[str, str]]]:
    """The lines with their numbers, by column; none if the text is not CSV."""
    reader: csv.DictReader[str] = csv.DictReader(io.StringIO(text), delimiter=delimiter, restkey=MORE)
    rows, number = [], 2  # a cell may have several lines
    try:
        for row in reader:
            cells = {normal(column): text.strip() for column, text in row.items() if isinstance(text, str)}
            rows.append((number, {**cells, MORE: "".join(row.get(MORE) or [])}))
            number = reader.line_num + 1
    except csv.Error:
        return []
    return rows


def read_line(row: Mapping[str, str]) -> RosterLine | None:
    """The student in a line; None if there is none, as in Canvas's line of points possible."""

    def first_of(*columns: str) -> str:
        return next((row[column] for column in columns if row.get(column)), "")

    is_from_canvas = {"student", "section"} <= row.keys()  # its column ID is Canvas's own number
    is_from_github = _GITHUB[0] in row  # its column identifier is the id, not one of Moodle's
    if is_from_canvas:
        student_id = first_of(*_IDS[1:], "id")
    elif is_from_github:
        student_id = first_of("identifier", *_IDS)
    else:
        student_id = first_of(*_IDS)
    if not student_id:
        return None
    first, last, full = first_of(*_FIRST), first_of(*_LAST), first_of(*_FULL)
    if full and not (first or last) and full.count(",") == 1:
        last, first = map(str.strip, full.split(","))
    participant = None if is_from_github else _PARTICIPANT.fullmatch(first_of("identifier"))
    username = first_of("username", "sis login id")
    return RosterLine(
        student_id,
        first,
        last,
        name="" if first or last else full,
        email=first_of(*_EMAIL),
        username="" if username == student_id else username,
        lms_user_id=first_of("lms_user_id", "id number", "sis user id"),
        canvas_id=first_of("canvas_id", "id") if is_from_canvas else first_of("canvas_id"),
        moodle_id=first_of("moodle_id") or (participant[1] if participant else ""),
        github=first_of(*_GITHUB),
    )


def with_roster_id(line: RosterLine, roster: Roster, by_id: bool = False) -> RosterLine:
    """The line with the id of the student of the roster whom it means. BadLine is raised if they are several."""
    names = {line.id} if by_id else {line.id, line.email, line.username, line.lms_user_id}
    students: set[str] = set()
    for name in filter(None, names):
        students |= roster.students_named(name)
    if len(students) > 1:
        ids = ", ".join(one_line(student, 60) for student in sorted(students))
        raise BadLine(f"“{one_line(line.id, 60)}” fits several students: {ids}")
    student_id = students.pop() if students else line.id
    if not is_name(student_id):
        raise BadLine(
            f"“{one_line(student_id, 60)}” cannot be a student's id: nbgrader cannot use some of its characters"
        )
    return replace(line, id=student_id)


def student_of(line: RosterLine) -> Student:
    """The student of a line, with all names and numbers on platforms."""
    names = filter(None, (line.email, line.username, line.lms_user_id, line.github))
    numbers: set[Alias] = {(NAME, name) for name in names}
    numbers |= {(ID, line.id), (CANVAS, line.canvas_id), (MOODLE, line.moodle_id)}
    return Student(line.id, line.first_name, line.last_name, line.name, line.email, frozenset(numbers))
