"""Points and comments of submissions as nbgrader's tables have them, and what of it people have given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nbgrader.api import Comment, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import select
from sqlalchemy.orm import Session

Row = Mapping[str, Any]
Cell = tuple[str, str]  # the names of a notebook and of a cell in it

_BY_HAND = ("manual_score", "extra_credit")
_COLUMNS = {
    Grade: ("id", "auto_score", *_BY_HAND, "needs_manual_grade"),
    Comment: ("id", "auto_comment", "manual_comment"),
}


@dataclass(frozen=True)
class Marks:
    """The contents of nbgrader's tables for a submission: rows by cell id."""

    grades: Mapping[str, Row] = field(default_factory=dict)
    comments: Mapping[str, Row] = field(default_factory=dict)

    @property
    def points(self) -> dict[str, float]:
        """The points as in nbgrader: those from a person take precedence, and extra credit comes on top."""
        return {cell: points_in(row) for cell, row in self.grades.items()}

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


@dataclass(frozen=True)
class AnswerChange:
    """The answers of a submission before and after it was graded: a digest of each, by cell."""

    before: Mapping[Cell, str]
    after: Mapping[Cell, str]
    is_other_attempt: bool = False  # a person's points then go with the answers they were given for

    def is_same(self, cell: Cell) -> bool:
        """Whether what a person gave for a cell was for this answer to this task."""
        return self.is_other_attempt or (cell in self.after and self.before.get(cell) == self.after[cell])


def points_in(row: Row) -> float:
    """The points of a cell."""
    score = row["auto_score"] if row["manual_score"] is None else row["manual_score"]
    return float((score or 0.0) + (row["extra_credit"] or 0.0))


def graded_row(score: float | None, by_hand: Row, is_same: bool) -> Row:
    """A cell's row after grading. It waits for a person if nobody has looked at it, or if the answer has changed."""
    was_seen = by_hand.get("manual_score") is not None
    waits = by_hand["needs_manual_grade"] or not is_same if was_seen else score is None
    return {"auto_score": score, "needs_manual_grade": waits, **{name: by_hand.get(name) for name in _BY_HAND}}


def marks_by_answer(marks: Marks, cells: Mapping[str, Cell], answers: Mapping[Cell, str]) -> dict[str, Row]:
    """What people have given for these answers, by answer; `cells` has the names by cell id."""
    by_answer: dict[str, dict[str, Any]] = defaultdict(dict)
    for rows, columns in ((marks.grades, _BY_HAND), (marks.comments, ("manual_comment",))):
        for cell, row in rows.items():
            answer = answers.get(cells[cell]) if cell in cells else None
            if answer and any(row[name] is not None for name in columns):
                by_answer[answer] |= {name: row[name] for name in (*columns, "needs_manual_grade") if name in row}
    return dict(by_answer)


def read_marks(session: Session, assignment_id: str, students: Iterable[str] | None = None) -> dict[str, Marks]:
    """The marks of submissions, by student; only of `students`, if given."""
    grades: dict[str, dict[str, Row]] = defaultdict(dict)
    comments: dict[str, dict[str, Row]] = defaultdict(dict)
    for table, rows_of in ((Grade, grades), (Comment, comments)):
        columns = _COLUMNS[table]
        query = (
            select(SubmittedAssignment.student_id, table.cell_id, *(getattr(table, name) for name in columns))
            .join(SubmittedNotebook, SubmittedNotebook.id == table.notebook_id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .where(SubmittedAssignment.assignment_id == assignment_id)
        )
        if students is not None:
            query = query.where(SubmittedAssignment.student_id.in_(list(students)))
        for row in session.execute(query):
            rows_of[row.student_id][row.cell_id] = {name: getattr(row, name) for name in columns}
    return {student: Marks(grades[student], comments[student]) for student in {**grades, **comments}}
