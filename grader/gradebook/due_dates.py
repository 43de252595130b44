"""Write the term's rules for being late into nbgrader's own database: due date, extensions, penalties.

Points that count are always worked out from the rules. They are written into the database as well so that the
formgrader and `nbgrader export` show the same.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from nbgrader.api import Assignment, Notebook, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from grader.sandbox.plain_text import one_line
from grader.term.rules import AssignmentRules
from grader.term.times import format_time

log = logging.getLogger(__name__)

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


def notebook_rows(session: Session, assignment: str) -> list[NotebookRow]:
    """The submitted notebooks of an assignment."""
    submitted = SubmittedNotebook
    query = (
        select(submitted.assignment_id, submitted.id, Notebook.name, submitted.late_submission_penalty)
        .join(Notebook, Notebook.id == submitted.notebook_id)
        .join(Assignment, Assignment.id == Notebook.assignment_id)
        .where(Assignment.name == assignment)
    )
    return [NotebookRow(*row) for row in session.execute(query)]


def write_dates(session: Session, assignment: str, rules: AssignmentRules) -> None:
    """Write due date and extensions, if the rules have a due date, and report the changes."""
    if rules.due is None:
        return
    row = session.execute(select(Assignment.id, Assignment.duedate).where(Assignment.name == assignment)).one()
    if row.duedate != rules.due:
        session.execute(update(Assignment).where(Assignment.id == row.id).values(duedate=rules.due))
        before = format_time(row.duedate, rules.zone) if row.duedate else "not set"
        now = format_time(rules.due, rules.zone)
        log.info(f"course.toml sets the due date of {assignment} to {now}; it was {before}.")
    submitted = SubmittedAssignment
    query = select(submitted.id, submitted.student_id, submitted.extension).where(submitted.assignment_id == row.id)
    for submission in session.execute(query).all():
        extension = rules.extension(submission.student_id)
        if (submission.extension or timedelta()) != (extension or timedelta()):
            session.execute(update(submitted).where(submitted.id == submission.id).values(extension=extension))
            before = _describe_extension(row.duedate or rules.due, submission.extension, rules.zone)
            now = _describe_extension(rules.due, extension, rules.zone)
            student = one_line(submission.student_id, 60)
            log.info(f"From course.toml, the extension for {student} is now {now}; it was {before}.")


def _describe_extension(due: datetime, extension: timedelta | None, zone: str) -> str:
    return f"until {format_time(due + extension, zone)}" if extension else "none"


def write_penalties(session: Session, rows: Iterable[NotebookRow], penalties: Mapping[str, float]) -> None:
    """Write the penalties, given by notebook id; a notebook without one loses what it had."""
    for row in rows:
        penalty = penalties.get(row.id)
        if row.penalty != penalty:
            column = update(SubmittedNotebook).where(SubmittedNotebook.id == row.id)
            session.execute(column.values(late_submission_penalty=penalty))
