"""nbgrader's gradebook, read once for a class and written in batches, each of them whole or not at all.

The record of what each grade was given for is written in the same transaction.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from nbgrader.api import (
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import bindparam, delete, insert, select, update

from grader.errors import CourseError
from grader.gradebook.class_rows import Submitted, submitted
from grader.gradebook.connection import PatientSession
from grader.gradebook.items import items_of
from grader.gradebook.records import RECORDS, Record, read_records, row_of
from grader.gradebook.set_aside import (
    Aside,
    Marks,
    SetAside,
    by_person,
    commented_row,
    graded_row,
    read_marks,
    read_notebooks,
    read_set_aside,
    take_back,
    write_aside,
    write_marks,
)
from grader.model.submission import Graded
from grader.term.rules import AssignmentRules

T = TypeVar("T")


@dataclass(frozen=True)
class GradebookEntry:
    """What a batch writes into the gradebook for one submission."""

    graded: Graded
    record: Record
    timestamp: datetime | None  # when it was submitted, if known
    # Its own marks, if another attempt counted so far: points from a person are for that one.
    marks: Marks | None = None
    same: Collection[tuple[str, str]] = ()  # graded cells, by notebook and name, whose answer and task are unchanged


class ClassGradebook:
    """The gradebook's rows of one assignment, to be read and written."""

    def __init__(
        self,
        gradebook: Gradebook,
        assignment: str,
        rules: AssignmentRules | None = None,
    ) -> None:
        self.assignment = assignment
        self.rules = rules or AssignmentRules()
        self._session = PatientSession(gradebook)
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
        self.items = items_of(gradebook.db, assignment, self.rules)  # raises an error, if any, before a class is graded
        RECORDS.create(self._session.engine, checkfirst=True)
        self._assignment_id = row.id
        self.duedate = self.rules.due or row.duedate
        # For each notebook, the cells that have their own row in every submission.
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
        # For the id of each cell, its notebook and its name.
        self._grade_cells = {cell: names[cell] for cells in self._graded.values() for cell in cells}
        self._comment_cells = {cell: names[cell] for cells in self._commented.values() for cell in cells}

    def submitted(self) -> dict[str, Submitted]:
        """What nbgrader knows about each student's submission."""
        return self._read_only(lambda: submitted(self._session.db, self._assignment_id))

    def records(self) -> dict[str, Record]:
        """The record of what each student's grade was given for."""
        found = self._read_only(lambda: read_records(self._session.db, self._assignment_id))
        return {student: found[row.id] for student, row in self.submitted().items() if row.id in found}

    def _read_only(self, read: Callable[[], T]) -> T:
        """Read something, and end the transaction: on a server it would stay open while the class is graded."""

        def ended() -> T:
            found = read()
            self._session.commit()  # one of our tables may be new
            return found

        return self._session.patiently(ended)

    def marks(self) -> dict[str, Marks]:
        """The marks of the attempts that count, by student."""
        return self._read_only(lambda: read_marks(self._session.db, self._assignment_id))

    def set_aside(self) -> list[tuple[str, SetAside]]:
        """The attempts that do not count, with their students."""
        return self._read_only(lambda: read_set_aside(self._session.db, self._assignment_id))

    def notebooks_aside(self, student: str, attempt: str) -> dict[str, str]:
        return self._read_only(lambda: read_notebooks(self._session.db, self._assignment_id, student, attempt))

    def fresh_marks(self, graded: Graded, same: Collection[tuple[str, str]]) -> Marks:
        """The result of grading as nbgrader's rows. `same` names the cells whose answer is unchanged."""
        scores, comments = _by_cell(graded, "scores"), _by_cell(graded, "comments")
        return Marks(
            {cell: graded_row(scores[name]) for cell, name in self._grade_cells.items() if name in scores},
            {cell: commented_row(comments[name]) for cell, name in self._comment_cells.items() if name in comments},
            [cell for cell, name in self._grade_cells.items() if name in same],
        )

    def write(self, entries: Sequence[GradebookEntry], aside: Sequence[Aside] = ()) -> None:
        """Write all these entries and attempts, or none."""
        if entries or aside:
            self._session.patiently(lambda: self._write(entries, aside))

    def _write(self, entries: Sequence[GradebookEntry], aside: Sequence[Aside]) -> None:
        submissions = self._submissions([*(one.graded.student for one in entries), *(one.student for one in aside)])
        write_aside(self._session.db, self._assignment_id, aside, submissions)
        times = [
            {"one": submissions[entry.graded.student], "value": entry.timestamp}
            for entry in entries
            if entry.timestamp or self.rules.best  # else the time of an earlier attempt stays, as in nbgrader
        ]
        self._update(SubmittedAssignment, "timestamp", times)
        self._write_grades([entry for entry in entries if entry.marks is None], submissions)
        for entry in entries if self.rules.best else ():
            take_back(self._session.db, submissions[entry.graded.student], entry.graded.attempt)
            if entry.marks is not None:
                write_marks(self._session.db, submissions[entry.graded.student], entry.marks)
        records = [{"submission_id": submissions[entry.graded.student], **row_of(entry.record)} for entry in entries]
        graded = [record["submission_id"] for record in records]
        self._session.db.execute(delete(RECORDS).where(RECORDS.c.submission_id.in_(graded)))
        self._add(RECORDS, records)
        self._session.commit()

    def _submissions(self, students: Sequence[str]) -> dict[str, str]:
        """The id of each student's submission. A student without one gets one, with empty grades and comments."""
        known = set(self._session.db.scalars(select(Student.id).where(Student.id.in_(students))))
        self._add(Student, [{"id": student} for student in dict.fromkeys(students) if student not in known])
        there = submitted(self._session.db, self._assignment_id, students)
        ids = {student: row.id for student, row in there.items()}
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

    def _write_grades(self, entries: Sequence[GradebookEntry], submissions: dict[str, str]) -> None:
        """Write scores and comments. Points from a person stay, and are looked at again if the answer has changed."""
        by_id = {submissions[entry.graded.student]: entry.graded for entry in entries}
        same = {submissions[entry.graded.student]: entry.same for entry in entries}
        earned = {submission: _by_cell(graded, "scores") for submission, graded in by_id.items()}
        said = {submission: _by_cell(graded, "comments") for submission, graded in by_id.items()}
        scores = [
            {"one": row.id, "score": (score := earned[row.submission][name]),
             "manual": by_person(score, row._mapping, name in same[row.submission])["needs_manual_grade"]}
            for row in self._rows(Grade, by_id)
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
            for row in self._rows(Comment, by_id)
            if (name := self._comment_cells.get(row.cell_id)) in said[row.submission]
        ]
        self._update(Comment, "auto_comment", comments)

    def _rows(self, kind: Any, submissions: Iterable[str]) -> Sequence[Any]:
        """The rows of one kind, grades or comments, that belong to these submissions."""
        query = (
            select(*kind.__table__.c, SubmittedNotebook.assignment_id.label("submission"))
            .join(SubmittedNotebook, SubmittedNotebook.id == kind.notebook_id)
            .where(SubmittedNotebook.assignment_id.in_(submissions))
        )
        return list(self._session.db.execute(query))

    def _add(self, kind: Any, rows: Sequence[dict[str, Any]]) -> None:
        if rows:
            self._session.db.execute(insert(kind), rows)

    def _update(self, kind: Any, column: str, rows: Sequence[dict[str, Any]]) -> None:
        """Set a column to `value` in the row with the id `one`, for each of `rows`."""
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
