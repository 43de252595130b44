"""The gradebook's rows of one assignment: what earns points, who the students are, and what each of them has."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from functools import cached_property

from nbgrader.api import Assignment, BaseCell, Notebook, Student, SubmittedAssignment
from sqlalchemy import inspect, select
from sqlalchemy.orm import Session

from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.connection import open_gradebook
from grader.gradebook.items import Counted, count, items_of, within_reach
from grader.gradebook.marks import Marks, read_marks
from grader.gradebook.records import RECORDS, attempts_of, describe_attempt, read_records
from grader.gradebook.settings import term_rules
from grader.gradebook.standing import Person, Remark, Standing, Submitted
from grader.term.rules import AssignmentRules


def submitted(session: Session, assignment_id: str, students: Collection[str] | None = None) -> dict[str, Submitted]:
    """The submissions of an assignment, by student; only of `students`, if given."""
    row = SubmittedAssignment
    query = select(row.student_id, row.id, row.timestamp, row.extension).where(row.assignment_id == assignment_id)
    if students is not None:
        query = query.where(row.student_id.in_(students))
    return {found.student_id: Submitted(*found) for found in session.execute(query)}


class NotInGradebook(CourseError):
    """The gradebook does not know the assignment yet."""


class ClassRows:
    """The rows of one assignment, read in one query for each table, even for a large class.

    With `students`, only theirs are read, and those of their groups.
    """

    def __init__(
        self,
        session: Session,
        assignment: str,
        rules: AssignmentRules,
        cells: Iterable[tuple[str, str]] = (),
        students: Collection[str] | None = None,
    ) -> None:
        if students is not None:
            students = {member for student in students for member in rules.group_of(student)}
        self._session = session
        row = self._session.execute(
            select(Assignment.id, Assignment.duedate).where(Assignment.name == assignment)
        ).first()
        if row is None:
            raise NotInGradebook(f"{assignment} is not in the gradebook yet. Run: grader release {assignment}")
        self._id = row.id
        self.rules, self.assignment = rules, assignment
        self.duedate: datetime | None = rules.due or row.duedate
        self.notebooks = list(
            self._session.scalars(
                select(Notebook.name).where(Notebook.assignment_id == self._id).order_by(Notebook.name)
            )
        )
        self.items = items_of(self._session, assignment, rules, cells)
        self.people = self._people(students)
        self.submissions = submitted(self._session, self._id, students)
        marks = read_marks(self._session, self._id, students)
        self.marks = {row.id: marks.get(student, Marks()) for student, row in self.submissions.items()}
        self.scored = {submission for submission, its in self.marks.items() if its.is_graded}
        self._own = dict(self.submissions)
        self.submissions |= self._of_groups()
        known = {person.id for person in self.people}
        self.people += [Person(student) for student in sorted(self.submissions.keys() - known)]
        self.remarks = self._remarks()
        has_records = inspect(session.connection()).has_table(RECORDS.name)
        self.records = read_records(self._session, self._id, students) if has_records else {}  # by submission

    def _people(self, students: Collection[str] | None) -> list[Person]:
        query = select(Student.id, Student.first_name, Student.last_name, Student.email, Student.lms_user_id)
        if students is not None:
            query = query.where(Student.id.in_(students))
        return [Person(*(value or "" for value in row)) for row in self._session.execute(query)]

    def _of_groups(self) -> dict[str, Submitted]:
        """The submission of the group, for each member; if there are several, the last or the best."""
        found: dict[str, Submitted] = {}
        for group in self.rules.groups:
            rows = [row for student in group if (row := self.submissions.get(student)) and row.id in self.scored]
            if self.rules.best and rows:
                found |= dict.fromkeys(group, max(rows, key=self._by_points))
                continue
            if len(rows) > 1 and (None in (times := [row.timestamp for row in rows]) or len(set(times)) < len(times)):
                both = " and ".join(row.student_id for row in rows)
                raise CourseError(
                    f"course.toml, groups: {both} submitted {self.assignment}, with no times to show which one "
                    "counts. Write the times into their timestamp.txt, then run: grader autograde"
                )
            if rows:
                found |= dict.fromkeys(group, max(rows, key=lambda row: (row.timestamp is not None, row.timestamp)))
        return found

    def _by_points(self, row: Submitted) -> tuple[float, datetime]:
        """A key to compare submissions: by points; of equal ones, the newer is better."""
        marks = self.marks[row.id]
        points = within_reach(self.items, marks.points, marks.open, self.rules.late, self._late_by(row))
        return points, row.timestamp or datetime.min

    def _remarks(self) -> dict[str, list[Remark]]:
        """Comments that people have written, by submission, in the order of cell names; without nbgrader's own ones."""
        query = select(BaseCell.id).join(Notebook, Notebook.id == BaseCell.notebook_id)
        query = query.where(Notebook.assignment_id == self._id).order_by(BaseCell.name)
        cells = self._session.scalars(query).all()
        return {
            submission: [
                Remark(cell, marks.comments[cell]["manual_comment"])
                for cell in cells
                if cell in marks.comments and marks.comments[cell]["manual_comment"] is not None
            ]
            for submission, marks in self.marks.items()
        }

    def counted(self, submission: Submitted) -> Counted:
        """The points of this submission that count."""
        late = self.rules.late
        return count(self.items, self.marks[submission.id].points, late, self._late_by(submission))

    @cached_property
    def standings(self) -> dict[str, Standing]:
        """Where everyone with a graded submission stands, by student."""
        graded = {student for student, row in self.submissions.items() if row.id in self.scored}
        people = [person for person in self.people if person.id in graded]
        return {person.id: self._standing(person, self.submissions[person.id]) for person in people}

    def of_submitter(self, student: str) -> Standing | None:
        """Where a student would stand by their own submission, which may not be the one that counts in their group."""
        (person,) = [person for person in self.people if person.id == student] or [Person(student)]
        submission = self._own.get(student)
        return self._standing(person, submission) if submission else None

    def _standing(self, person: Person, submission: Submitted) -> Standing:
        return Standing(
            person,
            self.items,
            submission,
            attempt=self._attempt(submission, person.id),
            marks=self.marks[submission.id],
            counted=self.counted(submission),
            late_by=self._late_by(submission),
            rules=self._rules_for(submission, person.id),
            remarks=self.remarks.get(submission.id, ()),
            record=self.records.get(submission.id),
            has_submitted=True,
        )

    def _rules_for(self, submission: Submitted, student: str) -> list[str]:
        """The rules that apply to this student, in words."""
        group = [f"submitted by {submission.student_id}"] if submission.student_id != student else []
        late = [self.rules.late.words] if self.rules.late else []
        exercises = [f"{item.label}: {item.rule.words}" for item in self.items if item.rule]
        return [*exercises, *self.rules.dates(student), *late, *group]

    def _attempt(self, submission: Submitted, student: str) -> str:
        """Which attempt counts, in words; empty unless the best of several does."""
        if not self.rules.best:
            return ""
        group = [self._own[member].id for member in self.rules.group_of(student) if member in self._own]
        attempts = sum(attempts_of(self.records.get(other)) for other in group if other in self.scored)
        return describe_attempt(attempts, submission.timestamp, self.rules.zone)

    @property
    def max_points(self) -> float:
        """The maximum: the sum of all points that count."""
        return sum(item.most for item in self.items)

    def _late_by(self, submission: Submitted) -> timedelta:
        return self.late_at(submission.student_id, submission.timestamp)

    def late_at(self, student: str, moment: datetime | None) -> timedelta:
        """How late a submission of this student at this moment is."""
        row = self._own.get(student)
        return self.rules.late_by(student, moment, self.duedate, row.extension if row else None)


def read_rows(course: Course, assignment: str, students: Collection[str] | None = None) -> ClassRows:
    """The rows of an assignment in the course's gradebook, counted by the rules of its term."""
    rules = term_rules(course, assignment)
    with contextlib.closing(open_gradebook(course.api())) as gradebook:
        return ClassRows(gradebook.db, assignment, rules, course.released_cells(assignment), students)
