"""The rows of one assignment in the gradebook: what earns points, who there is, and what each has got."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    TaskCell,
)
from sqlalchemy import func, inspect, select

from grader.errors import CourseError
from grader.gradebook.records import RECORDS, Record, read_record
from grader.model.label import Label, in_order
from grader.notebooks.cells import exercise_of, solved_in


@dataclass(frozen=True)
class Item:
    """Something that earns points: an exercise, as a rule."""

    cell: str  # the id of its cell in the gradebook
    name: str
    max_points: float
    notebook: str = ""  # where others have a cell of that name, too

    @property
    def exercise(self) -> Label | None:
        """None for a cell that belongs to none."""
        return exercise_of(self.name)

    @property
    def label(self) -> str:
        label = self.name if self.exercise is None else str(self.exercise)
        return f"{self.notebook}: {label}" if self.notebook else label


@dataclass(frozen=True)
class Remark:
    """What a person has written about a cell of a submission."""

    cell: str  # its id in the gradebook
    name: str
    text: str

    @property
    def exercise(self) -> Label | None:
        """The one whose solution is in that cell."""
        return solved_in(self.name)


def _place(item: Item) -> tuple[bool, tuple[bool, int, str], str, str]:
    """Exercises come first."""
    return item.exercise is None, in_order(item.exercise), item.notebook, item.name


@dataclass(frozen=True)
class Person:
    """A student as the gradebook knows him or her."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""


class ClassRows:
    """The rows of one assignment: one query for each table, however large the class is."""

    def __init__(self, gradebook: Gradebook, assignment: str) -> None:
        self._session = gradebook.db
        row = self._session.execute(
            select(Assignment.id, Assignment.duedate).where(Assignment.name == assignment)
        ).first()
        if row is None:
            raise CourseError(f"{assignment} is not in the gradebook yet. Run: grader release {assignment}")
        self._id = row.id
        self.duedate: datetime | None = row.duedate
        self.notebooks = list(
            self._session.scalars(
                select(Notebook.name).where(Notebook.assignment_id == self._id).order_by(Notebook.name)
            )
        )
        self.items = self._items()
        self.people = self._people()
        self.submissions = self._submissions()
        self.points, self.scored, self.waiting, self.by_hand = self._grades()
        self.penalties = self._penalties()
        self.remarks = self._remarks()
        self.records = self._records() if inspect(gradebook.engine).has_table(RECORDS.name) else {}

    def _items(self) -> list[Item]:
        cell, by_test, by_task = (kind.__table__.c for kind in (BaseCell, GradeCell, TaskCell))
        query = (
            select(
                cell.id,
                cell.name,
                Notebook.name.label("notebook"),
                func.coalesce(by_test.max_score, by_task.max_score, 0.0).label("max_points"),
            )
            .select_from(BaseCell.__table__.outerjoin(GradeCell.__table__).outerjoin(TaskCell.__table__))
            .join(Notebook, Notebook.id == cell.notebook_id)
            .where(Notebook.assignment_id == self._id, (by_test.id.is_not(None)) | (by_task.id.is_not(None)))
        )
        rows = list(self._session.execute(query))
        times = Counter(row.name for row in rows)
        items = [
            Item(row.id, row.name, float(row.max_points), row.notebook if times[row.name] > 1 else "") for row in rows
        ]
        return sorted(items, key=_place)

    def _people(self) -> list[Person]:
        query = select(Student.id, Student.first_name, Student.last_name, Student.email, Student.lms_user_id)
        return [Person(*(value or "" for value in row)) for row in self._session.execute(query)]

    def _submissions(self) -> dict[str, Any]:
        """By student. An extension alone makes nbgrader add a submission, so a row is no proof of one."""
        query = select(
            SubmittedAssignment.student_id,
            SubmittedAssignment.id,
            SubmittedAssignment.timestamp,
            SubmittedAssignment.extension,
        ).where(SubmittedAssignment.assignment_id == self._id)
        return {row.student_id: row for row in self._session.execute(query)}

    def _grades(self) -> tuple[dict[str, dict[str, float]], set[str], dict[str, set[str]], dict[str, set[str]]]:
        """The points of each submission by cell; which have a score at all; what waits for one by hand, and has one."""
        query = (
            select(
                SubmittedNotebook.assignment_id,
                Grade.cell_id,
                Grade.score,
                (Grade.auto_score.is_not(None) | Grade.manual_score.is_not(None)).label("scored"),
                Grade.needs_manual_grade,
                Grade.manual_score.is_not(None).label("by_hand"),
            )
            .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .where(SubmittedAssignment.assignment_id == self._id)
        )
        points: dict[str, dict[str, float]] = defaultdict(dict)
        scored: set[str] = set()
        waiting: dict[str, set[str]] = defaultdict(set)
        by_hand: dict[str, set[str]] = defaultdict(set)
        for submission, cell, score, has_score, needs_person, from_person in self._session.execute(query):
            points[submission][cell] = float(score)
            if has_score:
                scored.add(submission)
            if needs_person:
                waiting[submission].add(cell)
            if from_person:
                by_hand[submission].add(cell)
        return points, scored, waiting, by_hand

    def _penalties(self) -> dict[str, float]:
        query = (
            select(SubmittedNotebook.assignment_id, func.sum(SubmittedNotebook.late_submission_penalty))
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .where(SubmittedAssignment.assignment_id == self._id)
            .group_by(SubmittedNotebook.assignment_id)
        )
        return {submission: float(penalty or 0.0) for submission, penalty in self._session.execute(query)}

    def _remarks(self) -> dict[str, list[Remark]]:
        """By submission. What nbgrader says by itself is none."""
        query = (
            select(SubmittedNotebook.assignment_id, Comment.cell_id, BaseCell.name, Comment.manual_comment)
            .join(SubmittedNotebook, SubmittedNotebook.id == Comment.notebook_id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .join(BaseCell, BaseCell.id == Comment.cell_id)
            .where(SubmittedAssignment.assignment_id == self._id, Comment.manual_comment.is_not(None))
            .order_by(BaseCell.name)
        )
        found: dict[str, list[Remark]] = defaultdict(list)
        for submission, *remark in self._session.execute(query):
            found[submission].append(Remark(*remark))
        return found

    def _records(self) -> dict[str, Record]:
        """What our own grading has written down beside nbgrader's tables, by submission."""
        query = (
            select(RECORDS)
            .join(SubmittedAssignment, SubmittedAssignment.id == RECORDS.c.submission_id)
            .where(SubmittedAssignment.assignment_id == self._id)
        )
        return {row.submission_id: read_record(row) for row in self._session.execute(query)}

    def seconds_late(self, submission: Any) -> float:
        if submission.timestamp is None or self.duedate is None:
            return 0.0
        late: timedelta = submission.timestamp - self.duedate - (submission.extension or timedelta())
        return max(0.0, late.total_seconds())
