"""nbgrader's gradebook, read once for a class and written in batches, each of them whole or not at all.

The record of what each grade was given for is written in the same transaction.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
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
from sqlalchemy import delete, insert, select, update

from grader.errors import CourseError
from grader.gradebook.class_rows import submitted
from grader.gradebook.connection import PatientSession
from grader.gradebook.earlier_attempts import move_marks
from grader.gradebook.items import items_of
from grader.gradebook.marks import AnswerChange, Cell, Marks, Row, graded_row, marks_by_answer, read_marks
from grader.gradebook.records import RECORDS, Record, read_records, row_of
from grader.gradebook.standing import Submitted
from grader.model.submission import Graded
from grader.term.rules import AssignmentRules

T = TypeVar("T")


@dataclass(frozen=True)
class GradebookEntry:
    """What a batch writes into the gradebook for one submission."""

    graded: Graded
    record: Record
    timestamp: datetime | None  # when it was submitted, if known
    answers: AnswerChange

    @property
    def student(self) -> str:
        return self.graded.student


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
        self._session.patiently(lambda: self._read_assignment(gradebook))

    def _read_assignment(self, gradebook: Gradebook) -> None:
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
        self._grade_cells_of_notebook: dict[str, list[str]] = {}
        self._comment_cells_of_notebook: dict[str, list[str]] = {}
        # For the id of each cell, its notebook and its name.
        self._grade_cells: dict[str, Cell] = {}
        self._comment_cells: dict[str, Cell] = {}
        for notebook in row.notebooks:
            graded_cells = [*notebook.grade_cells, *notebook.task_cells]
            commented_cells = [*notebook.solution_cells, *notebook.task_cells]
            self._grade_cells_of_notebook[notebook.id] = [cell.id for cell in graded_cells]
            self._comment_cells_of_notebook[notebook.id] = [cell.id for cell in commented_cells]
            self._grade_cells |= {cell.id: (notebook.name, cell.name) for cell in graded_cells}
            self._comment_cells |= {cell.id: (notebook.name, cell.name) for cell in commented_cells}
        move_marks(self._session.db, row.id, self._grade_cells | self._comment_cells)
        self._session.commit()

    def submitted(self, students: Collection[str] | None = None) -> dict[str, Submitted]:
        """What nbgrader knows about each student's submission; only of `students`, if given."""
        return self._read_only(lambda: submitted(self._session.db, self._assignment_id, students))

    def records(self) -> dict[str, Record]:
        """The record of what each student's grade was given for."""
        records = self._read_only(lambda: read_records(self._session.db, self._assignment_id))
        return {student: records[row.id] for student, row in self.submitted().items() if row.id in records}

    def _read_only(self, read: Callable[[], T]) -> T:
        """Read something, and end the transaction: on a server it would stay open while the class is graded."""

        def read_and_end() -> T:
            rows = read()
            self._session.commit()  # one of our tables may be new
            return rows

        return self._session.patiently(read_and_end)

    def marks(self, students: Collection[str] | None = None) -> dict[str, Marks]:
        """The marks of the attempts that count, by student; only of `students`, if given."""
        return self._read_only(lambda: read_marks(self._session.db, self._assignment_id, students))

    def marks_after(self, entry: GradebookEntry, marks: Marks, by_hand: Mapping[str, Row]) -> Marks:
        """These marks once an entry is written. If another attempt counted, it keeps what people gave for its answers.

        `by_hand` has what people gave for answers of other attempts.
        """
        scores, comments = _scores(entry.graded), _comments(entry.graded)
        answers = entry.answers
        if answers.is_other_attempt:
            by_hand = self.by_answer(marks, answers.before, by_hand)

        def from_person(row: Row, name: Cell) -> Row:
            return by_hand.get(answers.after.get(name, ""), {}) if answers.is_other_attempt else row

        grades: dict[str, Row] = {}
        for cell, name in self._grade_cells.items():
            if name in scores:
                row = marks.grades.get(cell, {})
                grades[cell] = {**row, **graded_row(scores[name], from_person(row, name), answers.is_same(name))}
        commented_rows: dict[str, Row] = {}
        for cell, name in self._comment_cells.items():
            if name in comments:
                row = marks.comments.get(cell, {})
                manual = from_person(row, name).get("manual_comment")
                commented_rows[cell] = {**row, "auto_comment": comments[name], "manual_comment": manual}
        return Marks(grades, commented_rows)

    def by_answer(self, marks: Marks, answers: Mapping[Cell, str], earlier: Mapping[str, Row]) -> dict[str, Row]:
        """What people have given, by answer: `earlier`, and for these answers what is in the gradebook now."""
        other_answers = {answer: row for answer, row in earlier.items() if answer not in answers.values()}
        return other_answers | marks_by_answer(marks, self._grade_cells | self._comment_cells, answers)

    def write(self, entries: Sequence[GradebookEntry], choices: Mapping[str, Record]) -> dict[str, Record]:
        """Write all these entries, and records of students whose marks stay as they are; or nothing.

        Return all records as they are now.
        """
        return self._session.patiently(lambda: self._write(entries, choices)) if entries or choices else {}

    def _write(self, entries: Sequence[GradebookEntry], choices: Mapping[str, Record]) -> dict[str, Record]:
        submissions = self._find_or_add_submissions([*(entry.student for entry in entries), *choices])
        times: list[Row] = []
        for entry in entries:
            if entry.timestamp or self.rules.best:  # else the time of an earlier attempt stays, as in nbgrader
                times.append({"id": submissions[entry.student], "timestamp": entry.timestamp})
        self._update(SubmittedAssignment, times)
        records = {**choices, **self._write_marks(entries)}
        ids = [submissions[student] for student in records]
        self._session.db.execute(delete(RECORDS).where(RECORDS.c.submission_id.in_(ids)))
        rows = [{"submission_id": submissions[student], **row_of(record)} for student, record in records.items()]
        self._add(RECORDS, rows)
        self._session.commit()
        return records

    def _write_marks(self, entries: Sequence[GradebookEntry]) -> dict[str, Record]:
        """Write scores and comments. Return the records, by student, with what people gave for other answers."""
        marks_before = read_marks(self._session.db, self._assignment_id, [entry.student for entry in entries])
        records: dict[str, Record] = {}
        grades: list[Row] = []
        comments: list[Row] = []
        for entry in entries:
            before, record = marks_before[entry.student], entry.record
            after = self.marks_after(entry, before, record.choice.by_hand)
            grades += after.grades.values()
            comments += after.comments.values()
            if entry.answers.is_other_attempt:
                by_hand = self.by_answer(before, entry.answers.before, record.choice.by_hand)
                record = replace(record, choice=replace(record.choice, by_hand=by_hand))
            records[entry.student] = record
        self._update(Grade, grades)
        self._update(Comment, comments)
        return records

    def _find_or_add_submissions(self, students: Sequence[str]) -> dict[str, str]:
        """The id of each student's submission. A student without one gets one, with empty grades and comments."""
        known_students = set(self._session.db.scalars(select(Student.id).where(Student.id.in_(students))))
        self._add(Student, [{"id": student} for student in dict.fromkeys(students) if student not in known_students])
        existing = submitted(self._session.db, self._assignment_id, students)
        ids = {student: row.id for student, row in existing.items()}
        submissions: list[Row] = []
        notebooks: list[Row] = []
        grades: list[Row] = []
        comments: list[Row] = []
        for student in students:
            if student not in ids:
                ids[student] = _new_id()
                row = {"id": ids[student], "assignment_id": self._assignment_id, "student_id": student}
                submissions.append({**row, "extension": self.rules.extension(student)})
                for notebook in self._grade_cells_of_notebook:
                    row = {"id": _new_id(), "notebook_id": notebook, "assignment_id": ids[student]}
                    notebooks.append(row)
                    grades += _empty_rows(row["id"], self._grade_cells_of_notebook[notebook])
                    comments += _empty_rows(row["id"], self._comment_cells_of_notebook[notebook])
        self._add(SubmittedAssignment, submissions)
        self._add(SubmittedNotebook, notebooks)
        self._add(Grade, grades)
        self._add(Comment, comments)
        return ids

    def _add(self, table: Any, rows: Sequence[Row]) -> None:
        if rows:
            self._session.db.execute(insert(table), rows)

    def _update(self, table: Any, rows: Sequence[Row]) -> None:
        """Write these rows over those with the same ids."""
        if rows:
            self._session.db.execute(update(table), rows)


def _scores(graded: Graded) -> dict[Cell, float | None]:
    """The scores of all notebooks, by notebook and cell."""
    scores: dict[Cell, float | None] = {}
    for name, notebook in graded.notebooks.items():
        scores |= {(name, cell): score for cell, score in notebook.scores.items()}
    return scores


def _comments(graded: Graded) -> dict[Cell, str | None]:
    """The comments on all notebooks, by notebook and cell."""
    comments: dict[Cell, str | None] = {}
    for name, notebook in graded.notebooks.items():
        comments |= {(name, cell): comment for cell, comment in notebook.comments.items()}
    return comments


def _empty_rows(notebook_id: str, cells: Sequence[str]) -> list[Row]:
    return [{"id": _new_id(), "notebook_id": notebook_id, "cell_id": cell} for cell in cells]


def _new_id() -> str:
    return uuid.uuid4().hex
