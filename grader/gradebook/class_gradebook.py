"""nbgrader's gradebook, read once for a class and written in batches. A batch is in it whole, or not at all.

What each grade was given for is written in the same transaction.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from nbgrader.api import (
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import bindparam, delete, insert, select, update

from grader.errors import CourseError
from grader.gradebook.connection import PatientSession
from grader.gradebook.items import items_of
from grader.gradebook.records import RECORDS, Record, read_record, row_of
from grader.model.submission import Graded
from grader.term.rules import AssignmentRules


@dataclass(frozen=True)
class Entry:
    """What a batch writes for one submission."""

    graded: Graded
    record: Record
    timestamp: datetime | None  # when it was handed in, if that is known


class ClassGradebook:
    """The rows of one assignment."""

    def __init__(
        self,
        gradebook: Gradebook,
        assignment: str,
        penalties: AssignLatePenalties | None,
        tell: Callable[[str], None],
        rules: AssignmentRules | None = None,
    ) -> None:
        self.assignment = assignment
        self.rules = rules or AssignmentRules()
        self._session = PatientSession(gradebook, tell)
        self._penalties = penalties
        self._session.patiently(lambda: self._read(gradebook))

    def _read(self, gradebook: Gradebook) -> None:
        assignment = self.assignment
        try:
            row = gradebook.find_assignment(assignment)
            self.notebooks = {notebook.name: notebook for notebook in row.notebooks}
        except MissingEntry:
            self.notebooks = {}
        if not self.notebooks:
            raise CourseError(f"{assignment} is not in the gradebook yet. Run: grader release {assignment}")
        items_of(gradebook.db, assignment, self.rules)  # rules that do not fit are better told before a class is graded
        RECORDS.create(self._session.engine, checkfirst=True)
        self._assignment_id = row.id
        self.duedate = self.rules.due or row.duedate
        # For each notebook, the cells that have a row of their own in every submission.
        self._graded = {
            notebook.id: [cell.id for cell in (*notebook.grade_cells, *notebook.task_cells)]
            for notebook in row.notebooks
        }
        self._commented = {
            notebook.id: [cell.id for cell in (*notebook.solution_cells, *notebook.task_cells)]
            for notebook in row.notebooks
        }
        names = {
            cell.id: (notebook.name, cell.name)
            for notebook in row.notebooks
            for cell in (*notebook.grade_cells, *notebook.solution_cells, *notebook.task_cells)
        }
        # By the id of a cell, its notebook and its name.
        self._grade_cells = {cell: names[cell] for cells in self._graded.values() for cell in cells}
        self._comment_cells = {cell: names[cell] for cells in self._commented.values() for cell in cells}

    def records(self) -> dict[str, Record]:
        """What is known of each student's submission."""
        query = (
            select(SubmittedAssignment.student_id, RECORDS)
            .join(RECORDS, RECORDS.c.submission_id == SubmittedAssignment.id)
            .where(SubmittedAssignment.assignment_id == self._assignment_id)
        )
        return {row.student_id: read_record(row) for row in self._session.all(query)}

    def extensions(self) -> dict[str, Any]:
        """By how much each student may be late."""
        return self._of_submissions(SubmittedAssignment.extension)

    def times(self) -> dict[str, datetime | None]:
        """When each student has handed in, if that is known."""
        return self._of_submissions(SubmittedAssignment.timestamp)

    def _of_submissions(self, column: Any) -> dict[str, Any]:
        query = select(SubmittedAssignment.student_id, column).where(
            SubmittedAssignment.assignment_id == self._assignment_id
        )
        return dict(row._tuple() for row in self._session.all(query))

    def write(self, entries: Sequence[Entry]) -> None:
        """All of these, or none."""
        if entries:
            self._session.patiently(lambda: self._write(entries))

    def _write(self, entries: Sequence[Entry]) -> None:
        submissions = self._submissions(entries)
        times = [
            {"one": submissions[entry.graded.student], "value": entry.timestamp} for entry in entries if entry.timestamp
        ]
        self._update(SubmittedAssignment, "timestamp", times)
        self._write_grades(entries, submissions)
        if self._penalties is not None and not self.rules.late:
            self._write_penalties(submissions)
        self._session.db.execute(delete(RECORDS).where(RECORDS.c.submission_id.in_(submissions.values())))
        self._session.db.execute(
            insert(RECORDS),
            [{"submission_id": submissions[entry.graded.student], **row_of(entry.record)} for entry in entries],
        )
        self._session.commit()

    def _submissions(self, entries: Sequence[Entry]) -> dict[str, str]:
        """The id of each student's submission. Who has none gets one, with empty grades and comments."""
        students = [entry.graded.student for entry in entries]
        known = set(self._session.db.scalars(select(Student.id).where(Student.id.in_(students))))
        self._add(Student, [{"id": student} for student in students if student not in known])
        query = select(SubmittedAssignment.student_id, SubmittedAssignment.id).where(
            SubmittedAssignment.assignment_id == self._assignment_id, SubmittedAssignment.student_id.in_(students)
        )
        ids: dict[str, str] = dict(row._tuple() for row in self._session.db.execute(query))
        new = {student: _new_id() for student in students if student not in ids}
        self._add(
            SubmittedAssignment,
            [
                {
                    "id": identity,
                    "assignment_id": self._assignment_id,
                    "student_id": student,
                    "extension": self.rules.extension(student),
                }
                for student, identity in new.items()
            ],
        )
        notebooks = [(_new_id(), notebook, submitted) for submitted in new.values() for notebook in self._graded]
        self._add(
            SubmittedNotebook,
            [
                {"id": identity, "notebook_id": notebook, "assignment_id": above}
                for identity, notebook, above in notebooks
            ],
        )
        for kind, cells in ((Grade, self._graded), (Comment, self._commented)):
            rows = [(identity, cell) for identity, notebook, _ in notebooks for cell in cells[notebook]]
            self._add(kind, [{"id": _new_id(), "notebook_id": identity, "cell_id": cell} for identity, cell in rows])
        return ids | new

    def _write_grades(self, entries: Sequence[Entry], submissions: dict[str, str]) -> None:
        """Scores and comments. What a person has given stays, and is to be looked at again, as nbgrader has it."""
        by_id = {submissions[entry.graded.student]: entry.graded for entry in entries}
        earned = {submission: _by_cell(graded, "scores") for submission, graded in by_id.items()}
        said = {submission: _by_cell(graded, "comments") for submission, graded in by_id.items()}
        scores = [
            {"one": row.id, "score": (score := earned[row.submission][name]),
             "manual": row.manual_score is not None or score is None}
            for row in self._rows(Grade, Grade.manual_score, by_id)
            if (name := self._grade_cells.get(row.cell_id)) in earned[row.submission]
        ]  # fmt: skip
        table = Grade.__table__
        if scores:
            self._session.db.execute(
                update(table)
                .where(table.c.id == bindparam("one"))
                .values(auto_score=bindparam("score"), needs_manual_grade=bindparam("manual")),
                scores,
            )
        comments = [
            {"one": row.id, "value": said[row.submission][name]}
            for row in self._rows(Comment, Comment.manual_comment, by_id)
            if (name := self._comment_cells.get(row.cell_id)) in said[row.submission]
        ]
        self._update(Comment, "auto_comment", comments)

    def _rows(self, kind: Any, column: Any, submissions: Iterable[str]) -> Sequence[Any]:
        """The rows of the cells of these submissions."""
        query = (
            select(kind.id, kind.cell_id, column, SubmittedNotebook.assignment_id.label("submission"))
            .join(SubmittedNotebook, SubmittedNotebook.id == kind.notebook_id)
            .where(SubmittedNotebook.assignment_id.in_(submissions))
        )
        return list(self._session.db.execute(query))

    def _write_penalties(self, submissions: dict[str, str]) -> None:
        """What nbgrader's AssignLatePenalties does, in our transaction."""
        assert self._penalties is not None
        self._penalties.init_plugin()
        self._session.db.expire_all()
        query = select(SubmittedNotebook).where(SubmittedNotebook.assignment_id.in_(submissions.values()))
        for notebook in self._session.db.scalars(query):
            notebook.late_submission_penalty = None
            late = notebook.assignment.total_seconds_late
            if late > 0:
                student = notebook.assignment.student_id
                penalty = self._penalties.plugin_inst.late_submission_penalty(student, notebook.score, late)
                if penalty is not None:
                    notebook.late_submission_penalty = self._penalties._check_late_penalty(notebook, penalty)
        self._session.db.flush()

    def _add(self, kind: Any, rows: Sequence[dict[str, Any]]) -> None:
        if rows:
            self._session.db.execute(insert(kind), rows)

    def _update(self, kind: Any, column: str, rows: Sequence[dict[str, Any]]) -> None:
        """Set one column of the rows `one` to `value`."""
        table = kind.__table__
        if rows:
            statement = update(table).where(table.c.id == bindparam("one")).values({column: bindparam("value")})
            self._session.db.execute(statement, rows)


def _by_cell(graded: Graded, what: str) -> dict[tuple[str, str] | None, Any]:
    """The scores or comments of all notebooks, by notebook and cell."""
    notebooks = graded.notebooks.items()
    return {(name, cell): value for name, notebook in notebooks for cell, value in getattr(notebook, what).items()}


def _new_id() -> str:
    return uuid.uuid4().hex
