"""Graded attempts that do not count, since another one of the same student is better: our own table.

nbgrader has room for one submission of each student: the attempt that counts is there, and in autograded/. The others
are here, with everything known about them, including points from a person. They swap places if another one counts.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from nbgrader.api import Comment, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import (
    Column,
    DateTime,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    delete,
    func,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.orm import Session

from grader.gradebook.records import Record, read_record, row_of
from grader.term.times import said

SET_ASIDE = Table(
    "grader_set_aside",
    MetaData(),
    Column("submission_id", String(32), primary_key=True),
    Column("hand_in", String(64), primary_key=True),  # a digest of its content
    Column("time", DateTime),
    Column("fingerprint", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("result", Text, nullable=False),  # JSON, as in grader_record
    Column("marks", Text, nullable=False),  # JSON
    Column("notebooks", LargeBinary, nullable=False),  # JSON, compressed
)

_BY_HAND = ("manual_score", "extra_credit")
_COLUMNS = {Grade: ("auto_score", *_BY_HAND, "needs_manual_grade"), Comment: ("auto_comment", "manual_comment")}
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Marks:
    """The contents of nbgrader's tables for a submission: rows by cell id."""

    grades: Mapping[str, Row]
    comments: Mapping[str, Row]
    same: Collection[str] = ()  # cells whose answer and task are unchanged

    @property
    def points(self) -> dict[str, float]:
        """The points as in nbgrader: those from a person take precedence, and extra credit comes on top."""
        return {
            cell: next((row[name] for name in ("manual_score", "auto_score") if row[name] is not None), 0.0)
            + (row["extra_credit"] or 0.0)
            for cell, row in self.grades.items()
        }

    @property
    def is_graded(self) -> bool:
        return any(row[name] is not None for row in self.grades.values() for name in ("manual_score", "auto_score"))

    @property
    def waiting(self) -> set[str]:
        """The cells that need a look from a person."""
        return {cell for cell, row in self.grades.items() if row["needs_manual_grade"]}

    @property
    def by_hand(self) -> set[str]:
        """The cells that have points from a person."""
        return {cell for cell, row in self.grades.items() if row["manual_score"] is not None}

    @property
    def open(self) -> set[str]:
        """The cells that wait for a person and have no points from one so far."""
        return self.waiting - self.by_hand

    def by_person(self, other: Marks) -> Marks:
        """These marks with a person's points and comments in `other`, to be looked at again if the answer differs."""
        grades = {
            cell: {**row, **by_person(row["auto_score"], other.grades.get(cell, row), cell in self.same)}
            for cell, row in self.grades.items()
        }
        comments = {
            cell: {**row, "manual_comment": other.comments.get(cell, row)["manual_comment"]}
            for cell, row in self.comments.items()
        }
        return Marks(grades, comments, self.same)


def graded_row(score: float | None) -> Row:
    """The row of a cell after grading. Without a score, it waits for a person."""
    return {"auto_score": score, "manual_score": None, "extra_credit": None, "needs_manual_grade": score is None}


def commented_row(comment: str | None) -> Row:
    return {"auto_comment": comment, "manual_comment": None}


def by_person(score: float | None, given: Row, is_same: bool) -> Row:
    """The points from a person, and whether one has to look: nobody has so far, or the answer has changed."""
    is_open = given["needs_manual_grade"] or not is_same if given["manual_score"] is not None else score is None
    return {**{name: given[name] for name in _BY_HAND}, "needs_manual_grade": is_open}


@dataclass(frozen=True)
class SetAside:
    """A graded attempt that does not count."""

    attempt: str
    time: datetime | None
    record: Record
    marks: Marks
    notebooks: Mapping[str, str]  # the graded notebooks as text


@dataclass(frozen=True)
class Aside:
    """An attempt that is about to be set aside."""

    student: str
    attempt: SetAside
    counted: bool  # until now: its marks are in nbgrader's tables, or new ones keep points from there


def read_set_aside(session: Session, assignment_id: str) -> list[tuple[str, SetAside]]:
    """All attempts set aside in an assignment, with their students and without their notebooks."""
    SET_ASIDE.create(session.connection(), checkfirst=True)
    columns = [column for column in SET_ASIDE.c if column.name != "notebooks"]
    query = (
        select(SubmittedAssignment.student_id, *columns)
        .join(SET_ASIDE, SET_ASIDE.c.submission_id == SubmittedAssignment.id)
        .where(SubmittedAssignment.assignment_id == assignment_id)
    )
    return [
        (row.student_id, SetAside(row.hand_in, row.time, read_record(row), Marks(**json.loads(row.marks)), {}))
        for row in session.execute(query)
    ]


def read_notebooks(session: Session, assignment_id: str, student: str, attempt: str) -> dict[str, str]:
    """The graded notebooks of an attempt that is set aside."""
    query = (
        select(SET_ASIDE.c.notebooks)
        .join(SubmittedAssignment, SET_ASIDE.c.submission_id == SubmittedAssignment.id)
        .where(SubmittedAssignment.assignment_id == assignment_id)
        .where(SubmittedAssignment.student_id == student, SET_ASIDE.c.hand_in == attempt)
    )
    found: dict[str, str] = json.loads(zlib.decompress(session.execute(query).scalar_one()))
    return found


def how_many(session: Session, submissions: Iterable[str] | None = None) -> Counter[str]:
    """How many attempts are set aside for each submission, or for each of `submissions`."""
    if not inspect(session.get_bind()).has_table(SET_ASIDE.name):
        return Counter()
    query = select(SET_ASIDE.c.submission_id, func.count()).group_by(SET_ASIDE.c.submission_id)
    if submissions is not None:
        query = query.where(SET_ASIDE.c.submission_id.in_(list(submissions)))
    return Counter(dict(tuple(row) for row in session.execute(query)))


def said_of_best(attempts: int, time: datetime | None, zone: str) -> str:
    """Which of several attempts counts, in words; empty if there is only one."""
    which = f"submitted {said(time, zone)}" if time else "submitted at an unknown time"
    return f"the best of {attempts} attempts, {which}" if attempts > 1 else ""


def read_marks(session: Session, assignment_id: str, students: Iterable[str] | None = None) -> dict[str, Marks]:
    """The marks of the attempts that count, by student; only of `students`, if given."""
    found: dict[str, Marks] = {}
    for kind, columns in _COLUMNS.items():
        query = (
            select(SubmittedAssignment.student_id, kind.cell_id, *(getattr(kind, name) for name in columns))
            .join(SubmittedNotebook, SubmittedNotebook.id == kind.notebook_id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .where(SubmittedAssignment.assignment_id == assignment_id)
        )
        if students is not None:
            query = query.where(SubmittedAssignment.student_id.in_(list(students)))
        for row in session.execute(query):
            marks = found.setdefault(row.student_id, Marks({}, {}))
            rows: Any = marks.grades if kind is Grade else marks.comments
            rows[row.cell_id] = {name: getattr(row, name) for name in columns}
    return found


def write_marks(session: Session, submission: str, marks: Marks) -> None:
    """Write marks into nbgrader's own rows, and overwrite what is there."""
    own = select(SubmittedNotebook.id).where(SubmittedNotebook.assignment_id == submission)
    for kind, rows in ((Grade, marks.grades), (Comment, marks.comments)):
        for cell, row in rows.items():
            of_cell = update(kind).where(kind.notebook_id.in_(own), kind.cell_id == cell)
            session.execute(of_cell.values(**row), execution_options={"synchronize_session": False})


def write_aside(session: Session, assignment_id: str, aside: Sequence[Aside], submissions: Mapping[str, str]) -> None:
    counted = read_marks(session, assignment_id, [one.student for one in aside if one.counted])
    for one in aside:
        attempt, marks = one.attempt, counted.get(one.student)
        if one.counted and marks:
            attempt = replace(attempt, marks=attempt.marks.by_person(marks) if attempt.marks.grades else marks)
        _set_aside(session, submissions[one.student], attempt)


def _set_aside(session: Session, submission: str, one: SetAside) -> None:
    take_back(session, submission, one.attempt)
    row = {
        "submission_id": submission,
        "hand_in": one.attempt,
        "time": one.time,
        **row_of(one.record),
        "marks": json.dumps({"grades": one.marks.grades, "comments": one.marks.comments}),
        "notebooks": zlib.compress(json.dumps(one.notebooks).encode()),
    }
    session.execute(insert(SET_ASIDE), [row])


def take_back(session: Session, submission: str, attempt: str) -> None:
    """Delete an attempt from those that are set aside."""
    mine = (SET_ASIDE.c.submission_id == submission) & (SET_ASIDE.c.hand_in == attempt)
    session.execute(delete(SET_ASIDE).where(mine))
