"""Write the term's rules for being late into nbgrader's own database: due date, extensions, penalties.

Points that count are always worked out from the rules. They are written into the database as well so that the
formgrader and `nbgrader export` show the same.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from nbgrader.api import Assignment, Notebook, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import Column, Float, MetaData, String, Table, delete, insert, inspect, select, update
from sqlalchemy.orm import Session

from grader.sandbox.plain_text import one_line
from grader.term.rules import AssignmentRules
from grader.term.times import said

# The penalties from rules. Without this table, those of a removed rule would look like those of a plug-in.
BY_RULES = Table(
    "grader_penalty",
    MetaData(),
    Column("notebook_id", String(32), primary_key=True),
    Column("penalty", Float, nullable=False),
)


LATE_FILE = "late_without_time.txt"  # beside submissions that a platform calls late without a time


def is_late_without_time(submission: Path) -> bool:
    """Whether the submission in this folder is late by an unknown time."""
    with contextlib.suppress(OSError):
        return (submission / LATE_FILE).is_file() and not (submission / "timestamp.txt").is_file()
    return False


@dataclass(frozen=True)
class NotebookRow:
    """A notebook of a submission, and its penalty for being late."""

    submission: str
    id: str
    name: str
    penalty: float | None
    by_rules: float | None = None  # what rules wrote there last

    @property
    def is_by_rules(self) -> bool:
        return self.by_rules is not None and self.penalty == self.by_rules

    @property
    def by_plugin(self) -> float:
        return 0.0 if self.penalty is None or self.is_by_rules else self.penalty


def are_there_any(session: Session) -> bool:
    """Whether rules have ever written penalties into this gradebook."""
    return bool(inspect(session.get_bind()).has_table(BY_RULES.name))


def notebook_rows(session: Session, assignment: str, student: str = "") -> list[NotebookRow]:
    """The submitted notebooks of an assignment, or only those of one student."""
    submitted = SubmittedNotebook
    query = (
        select(submitted.assignment_id, submitted.id, Notebook.name, submitted.late_submission_penalty)
        .join(Notebook, Notebook.id == submitted.notebook_id)
        .join(Assignment, Assignment.id == Notebook.assignment_id)
        .join(SubmittedAssignment, SubmittedAssignment.id == submitted.assignment_id)
        .where(Assignment.name == assignment)
    )
    if student:
        query = query.where(SubmittedAssignment.student_id == student)
    if not are_there_any(session):
        return [NotebookRow(*row) for row in session.execute(query)]
    query = query.add_columns(BY_RULES.c.penalty).join(BY_RULES, BY_RULES.c.notebook_id == submitted.id, isouter=True)
    return [NotebookRow(*row) for row in session.execute(query)]


def write_dates(session: Session, assignment: str, rules: AssignmentRules, tell: Callable[[str], None]) -> None:
    """Write due date and extensions, if the rules have a due date, and report the changes."""
    if rules.due is None:
        return
    row = session.execute(select(Assignment.id, Assignment.duedate).where(Assignment.name == assignment)).one()
    if row.duedate != rules.due:
        session.execute(update(Assignment).where(Assignment.id == row.id).values(duedate=rules.due))
        before = said(row.duedate, rules.zone) if row.duedate else "not set"
        now = said(rules.due, rules.zone)
        tell(f"course.toml sets the due date of {assignment} to {now}; it was {before}.")
    submitted = SubmittedAssignment
    query = select(submitted.id, submitted.student_id, submitted.extension).where(submitted.assignment_id == row.id)
    for one in session.execute(query).all():
        extension = rules.extension(one.student_id)
        if (one.extension or timedelta()) != (extension or timedelta()):
            session.execute(update(submitted).where(submitted.id == one.id).values(extension=extension))
            until, before = (
                f"until {said(due + more, rules.zone)}" if more else "none"
                for due, more in ((rules.due, extension), (row.duedate or rules.due, one.extension))
            )
            tell(f"From course.toml, the extension for {one_line(one.student_id, 60)} is now {until}; it was {before}.")


def write_penalties(session: Session, rows: Iterable[NotebookRow], penalties: Mapping[str, float] | None) -> None:
    """Write the penalties by rules, given by notebook id; None takes back those of an earlier rule."""
    BY_RULES.create(session.connection(), checkfirst=True)
    for row in rows:
        if penalties is None:
            penalty, by_rules = None if row.is_by_rules else row.penalty, None
        else:
            penalty = by_rules = penalties.get(row.id)
        if row.penalty != penalty:
            column = update(SubmittedNotebook).where(SubmittedNotebook.id == row.id)
            session.execute(column.values(late_submission_penalty=penalty))
        if row.by_rules != by_rules:
            session.execute(delete(BY_RULES).where(BY_RULES.c.notebook_id == row.id))
            if by_rules is not None:
                session.execute(insert(BY_RULES).values(notebook_id=row.id, penalty=by_rules))
