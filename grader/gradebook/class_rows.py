"""The gradebook's rows of one assignment: what earns points, who the students are, and what each of them has."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from functools import cached_property

from nbgrader.api import Assignment, BaseCell, Notebook, Student, SubmittedAssignment
from sqlalchemy import inspect, select
from sqlalchemy.orm import Session

from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.asked_questions import read_own_code
from grader.gradebook.connection import open_gradebook
from grader.gradebook.items import Counted, count, items_of, points_within_reach
from grader.gradebook.marks import Marks, read_marks
from grader.gradebook.records import RECORDS, count_attempts, describe_attempt, read_records
from grader.gradebook.settings import term_rules
from grader.gradebook.standing import Person, Remark, Standing, Submitted
from grader.term.rules import AssignmentRules


def submitted(session: Session, assignment_id: str, students: Collection[str] | None = None) -> dict[str, Submitted]:
    """The submissions of an assignment, by student; only of `students`, if given."""
    table = SubmittedAssignment
    query = select(table.student_id, table.id, table.timestamp, table.extension)
    query = query.where(table.assignment_id == assignment_id)
    if students is not None:
        query = query.where(table.student_id.in_(students))
    return {row.student_id: Submitted(*row) for row in session.execute(query)}


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
        row = session.execute(select(Assignment.id, Assignment.duedate).where(Assignment.name == assignment)).first()
        if row is None:
            raise NotInGradebook(f"{assignment} is not in the gradebook yet. Run: grader release {assignment}")
        self._id = row.id
        self.rules, self.assignment = rules, assignment
        self.duedate: datetime | None = rules.due or row.duedate
        names = select(Notebook.name).where(Notebook.assignment_id == self._id).order_by(Notebook.name)
        self.notebooks = list(session.scalars(names))
        self.items = items_of(session, assignment, rules, cells)
        self.people = self._read_people(students)
        self._submitted = submitted(session, self._id, students)  # by the student who submitted it
        marks_of = read_marks(session, self._id, students)
        self.marks = {row.id: marks_of.get(student, Marks()) for student, row in self._submitted.items()}
        self.scored = {submission for submission, marks in self.marks.items() if marks.is_graded}
        self.submissions = {**self._submitted, **self._choose_for_groups()}  # those that count, by student
        strangers = self.submissions.keys() - {person.id for person in self.people}
        self.people += [Person(student) for student in sorted(strangers)]
        self.remarks = self._read_remarks()
        has_records = inspect(session.connection()).has_table(RECORDS.name)
        self.records = read_records(session, self._id, students) if has_records else {}  # by submission
        self.own_code = read_own_code(session, assignment, students)  # by student

    def _read_people(self, students: Collection[str] | None) -> list[Person]:
        query = select(Student.id, Student.first_name, Student.last_name, Student.email, Student.lms_user_id)
        if students is not None:
            query = query.where(Student.id.in_(students))
        return [Person(*(value or "" for value in row)) for row in self._session.execute(query)]

    def _choose_for_groups(self) -> dict[str, Submitted]:
        """The submission of the group, for each member; if there are several, the last or the best."""
        submissions: dict[str, Submitted] = {}
        for group in self.rules.groups:
            rows = [self._submitted[student] for student in group if student in self._submitted]
            rows = [row for row in rows if row.id in self.scored]
            if len(rows) > 1:
                rows = [self._best(rows) if self.rules.best else self._last(rows)]
            for row in rows:
                submissions |= dict.fromkeys(group, row)
        return submissions

    def _best(self, rows: Sequence[Submitted]) -> Submitted:
        """The submission with the most points; of equal ones, the newest."""

        def rank(row: Submitted) -> tuple[float, datetime]:
            points = points_within_reach(self.items, self.marks[row.id], self.rules.late, self._late_by(row))
            return points, row.timestamp or datetime.min

        return max(rows, key=rank)

    def _last(self, rows: Sequence[Submitted]) -> Submitted:
        by_time = {row.timestamp: row for row in rows}
        if None in by_time or len(by_time) < len(rows):
            students = " and ".join(row.student_id for row in rows)
            raise CourseError(
                f"course.toml, groups: {students} submitted {self.assignment}, with no times to show which one "
                "counts. Write the times into their timestamp.txt, then run: grader autograde"
            )
        return by_time[max(time for time in by_time if time)]

    def _read_remarks(self) -> dict[str, list[Remark]]:
        """Comments that people have written, by submission, in the order of cell names; without nbgrader's own ones."""
        query = select(BaseCell.id).join(Notebook, Notebook.id == BaseCell.notebook_id)
        query = query.where(Notebook.assignment_id == self._id).order_by(BaseCell.name)
        cells = self._session.scalars(query).all()
        remarks: dict[str, list[Remark]] = {}
        for submission, marks in self.marks.items():
            comments = {cell: row["manual_comment"] for cell, row in marks.comments.items()}
            remarks[submission] = [Remark(cell, comments[cell]) for cell in cells if comments.get(cell) is not None]
        return remarks

    def counted(self, submission: Submitted) -> Counted:
        """The points of this submission that count."""
        points = self.marks[submission.id].points
        return count(self.items, points, self.rules.late, self._late_by(submission))

    @cached_property
    def standings(self) -> dict[str, Standing]:
        """Where everyone with a graded submission stands, by student."""
        graded = {student for student, row in self.submissions.items() if row.id in self.scored}
        people = [person for person in self.people if person.id in graded]
        return {person.id: self._standing(person, self.submissions[person.id]) for person in people}

    def of_submitter(self, student: str) -> Standing | None:
        """Where a student would stand by their own submission, which may not be the one that counts in their group."""
        submission = self._submitted.get(student)
        if submission is None:
            return None
        (person,) = [person for person in self.people if person.id == student]
        return self._standing(person, submission)

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
            own_code=self.own_code.get(person.id),
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
        attempts = 0
        for member in self.rules.group_of(student):
            row = self._submitted.get(member)
            if row and row.id in self.scored:
                attempts += count_attempts(self.records.get(row.id))
        return describe_attempt(attempts, submission.timestamp, self.rules.zone)

    @property
    def max_points(self) -> float:
        """The maximum: the sum of all points that count."""
        return sum(item.most for item in self.items)

    def _late_by(self, submission: Submitted) -> timedelta:
        return self.late_at(submission.student_id, submission.timestamp)

    def late_at(self, student: str, moment: datetime | None) -> timedelta:
        """How late a submission of this student at this moment is."""
        row = self._submitted.get(student)
        return self.rules.late_by(student, moment, self.duedate, row.extension if row else None)


def read_rows(course: Course, assignment: str, students: Collection[str] | None = None) -> ClassRows:
    """The rows of an assignment in the course's gradebook, counted by the rules of its term."""
    rules = term_rules(course, assignment)
    with contextlib.closing(open_gradebook(course.api())) as gradebook:
        return ClassRows(gradebook.db, assignment, rules, course.released_cells(assignment), students)
