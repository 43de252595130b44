"""The students of a course, from its gradebook and from a table: a plain one, or one that Moodle or Canvas exports."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from nbgrader.api import Student as Row

from grader.classroom.handed_in import is_name
from grader.collecting.students import CANVAS, ID, MOODLE, NAME, Form, Roster, Student, normal
from grader.course import Course
from grader.errors import CourseError
from grader.gradebook.connection import gradebook_file, open_gradebook
from grader.sandbox.plain_text import one_line

MAX_BYTES = 50 * 2**20

# What a column is called in a plain table, in Moodle and in Canvas.
_IDS = ("id", "username", "sis login id", "sis user id", "id number", "email address")  # the first that says anything
_NAMES = {"first": ("first name", "first_name"), "last": ("last name", "last_name", "surname")}
_FULL, _EMAIL = ("name", "full name", "student"), ("email", "email address", "e-mail")
_OTHER_IDS = ("id number", "sis user id", "sis login id", "lms_user_id", "username")
_PARTICIPANT = re.compile(r"[^0-9]*([0-9]+)")  # Moodle writes the word in its own language


def known_students(course: Course, table: Path | None, tell: Callable[[str], None]) -> Roster:
    """Everybody in the gradebook and in the table."""
    students = _in_gradebook(course, tell)
    return Roster([*students, *(_read_table(table, students) if table else ())])


def _in_gradebook(course: Course, tell: Callable[[str], None]) -> list[Student]:
    api = course.api()
    file = gradebook_file(api)
    if file and not file.exists():
        return []  # opening it would make one
    with closing(open_gradebook(api, tell)) as gradebook:
        rows = gradebook.db.query(Row.id, Row.first_name, Row.last_name, Row.email, Row.lms_user_id).all()
    return [
        Student(
            str(row.id), row.first_name or "", row.last_name or "", email=row.email or "",
            numbers=frozenset([(NAME, row.lms_user_id)] if row.lms_user_id else []),
        )
        for row in rows
    ]  # fmt: skip


def _read_table(path: Path, known: Sequence[Student]) -> Iterator[Student]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CourseError(f"{path} is larger than {MAX_BYTES // 2**20} MB. Name a table of students.")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise CourseError(f"{path} cannot be read: {reason}. Name with --students a table of students.") from None
    rows = next((rows for mark in ",;\t" if (rows := _rows(text, mark)) and set(rows[0]) & set(_IDS)), None)
    if rows is None:
        raise CourseError(
            f"{path} is no table of students: its first line names no column id. Name one with the columns id, name "
            "and email, or one that Moodle or Canvas exports."
        )
    roster = Roster(known)
    for row in rows:
        if student := _student(row, roster, path):
            yield student


def _rows(text: str, mark: str) -> list[dict[str, str]]:
    try:
        found = list(csv.DictReader(io.StringIO(text), delimiter=mark))
    except csv.Error:
        return []
    return [{normal(key or ""): value for key, value in row.items() if isinstance(value, str)} for row in found]


def _student(row: Mapping[str, str], roster: Roster, path: Path) -> Student | None:
    """One line; None if it names nobody, such as that with the points possible."""

    def said(*columns: str) -> str:
        return next((row[column].strip() for column in columns if row.get(column, "").strip()), "")

    from_canvas = {"student", "section"} <= row.keys()  # what is called ID there is a number of its own
    ids = _IDS[1:] if from_canvas else _IDS
    identity = said(*ids, "id")
    if not identity:
        return None
    others = {text for column in (*_OTHER_IDS, *_EMAIL) if (text := said(column))}
    known = {found for text in {identity, *others} for found in roster.called_exactly(text)}
    if len(known) > 1:
        raise CourseError(
            f"{path}: the line of “{one_line(identity, 60)}” fits several students of the gradebook: "
            f"{', '.join(sorted(known))}. Mend the line, and run this again."
        )
    identity = known.pop() if known else identity
    if not is_name(identity):
        raise CourseError(
            f"{path}: a student cannot be called “{one_line(identity, 60)}”, since nbgrader takes some characters for "
            "a pattern. Change that line, and run this again."
        )
    numbers: set[Form] = {(NAME, text) for text in others} | {(ID, identity)}
    if from_canvas and (number := said("id")):
        numbers.add((CANVAS, number))
    if participant := _PARTICIPANT.fullmatch(said("identifier")):
        numbers.add((MOODLE, participant[1]))
    names = {key: said(*columns) for key, columns in _NAMES.items()}
    return Student(identity, names["first"], names["last"], said(*_FULL), said(*_EMAIL), frozenset(numbers))
