"""The rows of one assignment in the gradebook: what earns points, who there is, and what each has got."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    Notebook,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import inspect, select

from grader.errors import CourseError
from grader.gradebook.items import Counted, count, items_of, within_reach
from grader.gradebook.late import NotebookRow, notebook_rows
from grader.gradebook.records import RECORDS, Record, read_record
from grader.gradebook.set_aside import how_many, said_of_best
from grader.model.label import Label
from grader.notebooks.cells import solved_in
from grader.term.rules import AssignmentRules, Rule


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


@dataclass(frozen=True)
class Person:
    """A student as the gradebook knows him or her."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""
    username: str = ""  # on the course's platform, if that is another one than the id
    canvas_id: str = ""


class NotInGradebook(CourseError):
    """The gradebook does not know the assignment yet."""


class ClassRows:
    """The rows of one assignment: one query for each table, however large the class is."""

    def __init__(
        self, gradebook: Gradebook, assignment: str, rules: AssignmentRules, cells: Iterable[tuple[str, str]] = ()
    ) -> None:
        self._session = gradebook.db
        row = self._session.execute(
            select(Assignment.id, Assignment.duedate).where(Assignment.name == assignment)
        ).first()
        if row is None:
            raise NotInGradebook(f"{assignment} is not in the gradebook yet. Run: grader release {assignment}")
        self._id = row.id
        self._rules, self.assignment = rules, assignment
        self.duedate: datetime | None = rules.due or row.duedate
        self.notebooks = list(
            self._session.scalars(
                select(Notebook.name).where(Notebook.assignment_id == self._id).order_by(Notebook.name)
            )
        )
        self.items = items_of(self._session, assignment, rules, cells)
        self.people = self._people()
        self.submissions = self._submissions()
        self.points, self.scored, self.waiting, self.by_hand = self._grades()
        self._own, self._aside = dict(self.submissions), how_many(self._session)
        self.submissions |= self._of_groups()
        known = {person.id for person in self.people}
        self.people += [Person(student) for student in sorted(self.submissions.keys() - known)]
        self.notebook_rows: dict[str, list[NotebookRow]] = defaultdict(list)  # by submission
        for notebook in notebook_rows(self._session, assignment):
            self.notebook_rows[notebook.submission].append(notebook)
        self.remarks = self._remarks()
        self.records = self._records() if inspect(gradebook.engine).has_table(RECORDS.name) else {}

    def _people(self) -> list[Person]:
        query = select(Student.id, Student.first_name, Student.last_name, Student.email, Student.lms_user_id)
        return [Person(*(value or "" for value in row)) for row in self._session.execute(query)]

    def _submissions(self) -> dict[str, Any]:
        """By student. An extension alone makes nbgrader add a submission, so a row is no proof of one."""
        query = select(
            SubmittedAssignment.student_id,  # who handed in
            SubmittedAssignment.id,
            SubmittedAssignment.timestamp,
            SubmittedAssignment.extension,
        ).where(SubmittedAssignment.assignment_id == self._id)
        return {row.student_id: row for row in self._session.execute(query)}

    def _of_groups(self) -> dict[str, Any]:
        """What a group has handed in is the submission of each of its members. Of several, the last or best counts."""
        found: dict[str, Any] = {}
        for group in self._rules.groups:
            rows = [row for student in group if (row := self.submissions.get(student)) and row.id in self.scored]
            if self._rules.best and rows:
                found |= dict.fromkeys(group, max(rows, key=self._by_points))
                continue
            if len(rows) > 1 and (None in (times := [row.timestamp for row in rows]) or len(set(times)) < len(times)):
                both = " and ".join(row.student_id for row in rows)
                raise CourseError(
                    f"course.toml, groups: {both} have both handed in {self.assignment}, and no time tells which of it "
                    "counts. Write the times into their timestamp.txt, and run: grader autograde"
                )
            if rows:
                found |= dict.fromkeys(group, max(rows, key=lambda row: (row.timestamp is not None, row.timestamp)))
        return found

    def _by_points(self, row: Any) -> tuple[float, datetime]:
        """The more the better, and of equal ones the newer."""
        unseen = self.waits(row.id) - self.by_hand.get(row.id, set())
        points = within_reach(self.items, self.points[row.id], unseen, self._rules.late, self.late_by(row))
        return points, row.timestamp or datetime.min

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

    def counted(self, submission: Any) -> Counted:
        late = self._rules.late
        counted = count(self.items, self.points[submission.id], late, self.late_by(submission))
        if late is None:
            return replace(counted, penalties={row.name: row.by_plugin for row in self.notebook_rows[submission.id]})
        return counted

    def said_of_rules(self, student: str) -> list[str]:
        """The rules that apply, in words."""
        by = self.submissions[student].student_id
        group = [f"handed in by {by}"] if by != student else []
        late = [self._rules.late.words] if self._rules.late else []
        exercises = [f"{item.label}: {item.rule.words}" for item in self.items if item.rule]
        return [*exercises, *self._rules.dates(student), *late, *group]

    def said_of_hand_in(self, student: str) -> str:
        """Which one counts, where the best of several does."""
        if not self._rules.best or not (row := self.submissions.get(student)):
            return ""
        group = [self._own[one] for one in self._rules.group_of(student) if one in self._own]
        hand_ins = sum(1 + self._aside[one.id] for one in group if one.id in self.scored)
        return said_of_best(hand_ins, row.timestamp, self._rules.zone)

    @property
    def graded(self) -> dict[str, Any]:
        """The submissions that have points, by student."""
        return {student: row for student, row in self.submissions.items() if row.id in self.scored}

    @property
    def max_points(self) -> float:
        """Of all that counts."""
        return sum(item.most for item in self.items)

    def waits(self, submission: str) -> set[str]:
        """The cells for which a person is to give points that would count."""
        settled = {item.cell for item in self.items if item.rule in (Rule.VOID, Rule.FULL)}
        return self.waiting.get(submission, set()) - settled

    def waiting_for(self, submission: str) -> list[str]:
        """The same, as they are called."""
        waits = self.waits(submission)
        return [item.label for item in self.items if item.cell in waits]

    def late_by(self, submission: Any) -> timedelta:
        return self._rules.late_by(submission.student_id, submission.timestamp, self.duedate, submission.extension)
