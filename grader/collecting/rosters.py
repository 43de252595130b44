"""Read the students of a course from its gradebook and from a table: plain, or exported by Moodle or Canvas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from nbgrader.api import Student as Row

from grader.classroom.submitted_files import is_name
from grader.collecting.students import CANVAS, ID, MOODLE, NAME, Form, Roster, Student, normal
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.connection import gradebook_file, open_gradebook
from grader.gradebook.roster import Enrolled, read_roster
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


def known_students(course: Course, table: Path | None) -> Roster:
    """All students in the gradebook, in the roster and in the table."""
    students = [*in_gradebook(course), *map(student_of, read_roster(course.root).values())]
    return Roster([*students, *(_read_table(table, students) if table else ())])


def in_gradebook(course: Course) -> list[Student]:
    api = course.api()
    file = gradebook_file(api)
    if file and not file.exists():
        return []  # opening it would create it
    with closing(open_gradebook(api)) as gradebook:
        rows = gradebook.db.query(Row.id, Row.first_name, Row.last_name, Row.email, Row.lms_user_id).all()
    return [
        Student(
            str(row.id), row.first_name or "", row.last_name or "", email=row.email or "",
            numbers=frozenset([(NAME, row.lms_user_id)] if row.lms_user_id else []),
        )
        for row in rows
    ]  # fmt: skip


def _read_table(path: Path, known: Sequence[Student]) -> Iterator[Student]:
    roster = Roster(known)
    for line, row in read_lines(path, "Use --students with a table of students."):
        if not (enrolled := read_line(row)):
            continue
        try:
            yield student_of(same_as(enrolled, roster))
        except BadLine as error:
            raise CourseError(f"{path}, line {line}: {error}. Fix the line, then run this again.") from None


class BadLine(Exception):
    """A line of a table that does not identify one student; the text says why."""


def read_lines(path: Path, instead: str) -> list[tuple[int, dict[str, str]]]:
    """Read the lines of a table, with their numbers; names of columns are in lower case."""
    text = read_text(path, instead)
    rows = next(
        (rows for mark in ",;\t" if (rows := _rows(text, mark)) and set(rows[0][1]) & {*_IDS, _GITHUB[0]}), None
    )
    if rows is None:
        raise CourseError(
            f"{path} is not a table of students: its first line has no column id. Use a table with the columns id, "
            "name and email, or an export from Moodle or Canvas."
        )
    return rows


def read_text(path: Path, instead: str) -> str:
    """Read a text file that the user has named; in errors, `instead` says what to name instead."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CourseError(f"{path} is larger than {MAX_BYTES // 2**20} MB. {instead}")
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise CourseError(f"{path} cannot be read: {reason}. {instead}") from None


def _rows(text: str, mark: str) -> list[tuple[int, dict[str, str]]]:
    found, line = [], 1
    reader: csv.DictReader[str] = csv.DictReader(io.StringIO(text), delimiter=mark, restkey=MORE)
    try:
        for row in reader:
            named = {normal(key): value.strip() for key, value in row.items() if isinstance(value, str)}
            found.append((line + 1, {**named, MORE: "".join(row.get(MORE) or [])}))
            line = reader.line_num
    except csv.Error:
        return []
    return found


def read_line(row: Mapping[str, str]) -> Enrolled | None:
    """The student in a line; None if there is none, as in Canvas's line of points possible."""

    def said(*columns: str) -> str:
        return next((row[column] for column in columns if row.get(column)), "")

    from_canvas = {"student", "section"} <= row.keys()  # its column ID is Canvas's own number
    from_github = _GITHUB[0] in row  # its column identifier is the id, not one of Moodle's
    identity = said(*_IDS[1:], "id") if from_canvas else said(*(["identifier"] if from_github else []), *_IDS)
    if not identity:
        return None
    first, last, full = said(*_FIRST), said(*_LAST), said(*_FULL)
    if full and not (first or last) and full.count(",") == 1:
        last, first = (part.strip() for part in full.split(","))
    participant = None if from_github else _PARTICIPANT.fullmatch(said("identifier"))
    username = said("username", "sis login id")
    return Enrolled(
        identity, first, last, "" if first or last else full, said(*_EMAIL), "" if username == identity else username,
        lms_user_id=said("lms_user_id", "id number", "sis user id"),
        canvas_id=said("canvas_id", *(["id"] if from_canvas else [])),
        moodle_id=said("moodle_id") or (participant[1] if participant else ""),
        github=said(*_GITHUB),
    )  # fmt: skip


def same_as(enrolled: Enrolled, known: Roster, by_id: bool = False) -> Enrolled:
    """The line with the id of the known student whom it means. BadLine is raised if they are several."""
    names = {enrolled.id} if by_id else {enrolled.id, enrolled.email, enrolled.username, enrolled.lms_user_id}
    found = {student for name in names if name for student in known.called_exactly(name)}
    if len(found) > 1:
        those = ", ".join(one_line(student, 60) for student in sorted(found))
        raise BadLine(f"“{one_line(enrolled.id, 60)}” fits several students: {those}")
    identity = found.pop() if found else enrolled.id
    if not is_name(identity):
        raise BadLine(
            f"“{one_line(identity, 60)}” cannot be a student's id: nbgrader cannot use some of its characters"
        )
    return replace(enrolled, id=identity)


def student_of(one: Enrolled) -> Student:
    """The student of a line, with all names and numbers on platforms."""
    numbers: set[Form] = {(NAME, text) for text in (one.email, one.username, one.lms_user_id, one.github) if text}
    numbers |= {(ID, one.id), (CANVAS, one.canvas_id), (MOODLE, one.moodle_id)}
    return Student(one.id, one.first_name, one.last_name, one.name, one.email, frozenset(numbers))
