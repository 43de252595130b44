"""What there is to tell of a class: the gradebook, read with a handful of queries, and the autograded notebooks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from nbgrader.api import (
    Assignment,
    BaseCell,
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

from grader.course import Course
from grader.errors import CourseError
from grader.gradebook.class_gradebook import RECORDS, Record, check_gradebook, open_gradebook, read_record
from grader.gradebook.found import Found, Stopped, solution_sources, what_grading_found
from grader.model.verdict import Scored
from grader.notebooks.solutions import solutions

_TEST = "test-exercise-"


@dataclass(frozen=True)
class Item:
    """Something that earns points: an exercise, as a rule."""

    cell: str  # the id of its cell in the gradebook
    name: str
    max_points: float

    @property
    def number(self) -> int | None:
        """The exercise; None for a cell that belongs to none."""
        digits = self.name.removeprefix(_TEST)
        return int(digits) if self.name.startswith(_TEST) and digits.isdecimal() else None

    @property
    def label(self) -> str:
        return self.name if self.number is None else str(self.number)


@dataclass(frozen=True)
class Person:
    """A student as the gradebook knows him or her."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""


@dataclass(frozen=True)
class Standing:
    """Where one student stands: handed in or not, graded or not, and what for."""

    person: Person
    is_graded: bool = False
    handed_in: bool = False
    points: Mapping[str, float] = field(default_factory=dict)  # by cell
    penalty: float = 0.0
    seconds_late: float = 0.0
    waits: Collection[str] = ()  # cells that a person is to give points for
    found: Found = field(default_factory=Found)  # by grading

    @property
    def student(self) -> str:
        return self.person.id

    @property
    def verdicts(self) -> Sequence[Scored]:
        return self.found.verdicts

    @property
    def blocked(self) -> Sequence[str]:
        return self.found.blocked

    @property
    def stopped(self) -> Sequence[Stopped]:
        return self.found.stopped

    @property
    def solutions(self) -> Mapping[int, str]:
        return self.found.solutions

    @property
    def total(self) -> float:
        """As nbgrader counts: points given by hand take precedence, and penalties never make it negative."""
        return max(0.0, sum(self.points.values()) - self.penalty)


@dataclass(frozen=True)
class ClassGrades:
    assignment: str
    duedate: datetime | None
    items: Sequence[Item]
    standings: Sequence[Standing]  # of everyone, by name
    given: Mapping[int, Sequence[str]]  # solution cells as they were released, and as the course solves them

    @property
    def graded(self) -> list[Standing]:
        return [one for one in self.standings if one.is_graded]

    @property
    def max_points(self) -> float:
        return sum(item.max_points for item in self.items)


def read_class(course: Course, assignment: str, tell: Callable[[str], None]) -> ClassGrades:
    """All that is known of an assignment. Nobody graded is an error: there is nothing to tell yet."""
    course.chosen([assignment])
    api = course.api()
    check_gradebook(api, tell)
    gradebook = open_gradebook(api, tell)
    try:
        rows = _Rows(gradebook, assignment)
    finally:
        gradebook.close()
    folder = Path(api.coursedir.format_path(api.coursedir.autograded_directory, ".", ".")).resolve()
    handed_in = set(course.students(assignment))
    standings = [
        _standing(person, rows, folder / person.id / assignment / f"{assignment}.ipynb", person.id in handed_in)
        for person in [*rows.people, *(Person(name) for name in handed_in - {one.id for one in rows.people})]
    ]
    found = ClassGrades(
        assignment=assignment,
        duedate=rows.duedate,
        items=rows.items,
        standings=sorted(standings, key=lambda one: one.student),
        given=_given(course, assignment),
    )
    if not found.graded:
        raise CourseError(f"Nothing of {assignment} is graded yet. Run: grader autograde {assignment}")
    return found


class _Rows:
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
        self.items = self._items()
        self.people = self._people()
        self.submissions = self._submissions()
        self.points, self.scored, self.waiting = self._grades()
        self.penalties = self._penalties()
        self.records = self._records() if inspect(gradebook.engine).has_table(RECORDS.name) else {}

    def _items(self) -> list[Item]:
        cell, by_test, by_task = (kind.__table__.c for kind in (BaseCell, GradeCell, TaskCell))
        query = (
            select(cell.id, cell.name, func.coalesce(by_test.max_score, by_task.max_score, 0.0).label("max_points"))
            .select_from(BaseCell.__table__.outerjoin(GradeCell.__table__).outerjoin(TaskCell.__table__))
            .join(Notebook, Notebook.id == cell.notebook_id)
            .where(Notebook.assignment_id == self._id, (by_test.id.is_not(None)) | (by_task.id.is_not(None)))
        )
        items = [Item(row.id, row.name, float(row.max_points)) for row in self._session.execute(query)]
        return sorted(items, key=lambda item: (item.number is None, item.number or 0, item.name))

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

    def _grades(self) -> tuple[dict[str, dict[str, float]], set[str], dict[str, set[str]]]:
        """The points of each submission by cell; which have a score at all; and what waits for one by hand."""
        query = (
            select(
                SubmittedNotebook.assignment_id,
                Grade.cell_id,
                Grade.score,
                (Grade.auto_score.is_not(None) | Grade.manual_score.is_not(None)).label("scored"),
                Grade.needs_manual_grade,
            )
            .join(SubmittedNotebook, SubmittedNotebook.id == Grade.notebook_id)
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .where(SubmittedAssignment.assignment_id == self._id)
        )
        points: dict[str, dict[str, float]] = defaultdict(dict)
        scored: set[str] = set()
        waiting: dict[str, set[str]] = defaultdict(set)
        for submission, cell, score, has_score, needs_person in self._session.execute(query):
            points[submission][cell] = float(score)
            if has_score:
                scored.add(submission)
            if needs_person:
                waiting[submission].add(cell)
        return points, scored, waiting

    def _penalties(self) -> dict[str, float]:
        query = (
            select(SubmittedNotebook.assignment_id, func.sum(SubmittedNotebook.late_submission_penalty))
            .join(SubmittedAssignment, SubmittedAssignment.id == SubmittedNotebook.assignment_id)
            .where(SubmittedAssignment.assignment_id == self._id)
            .group_by(SubmittedNotebook.assignment_id)
        )
        return {submission: float(penalty or 0.0) for submission, penalty in self._session.execute(query)}

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


def _standing(person: Person, rows: _Rows, notebook: Path, handed_in: bool) -> Standing:
    submission = rows.submissions.get(person.id)
    if submission is None or submission.id not in rows.scored:
        return Standing(person, handed_in=handed_in)
    return Standing(
        person,
        is_graded=True,
        handed_in=True,
        points=rows.points[submission.id],
        penalty=rows.penalties.get(submission.id, 0.0),
        seconds_late=rows.seconds_late(submission),
        waits=rows.waiting.get(submission.id, ()),
        found=what_grading_found(notebook, rows.records.get(submission.id)),
    )


def _given(course: Course, assignment: str) -> dict[int, list[str]]:
    """What is no student's own: solution cells as released, and as the course solves them."""
    given: dict[int, list[str]] = defaultdict(list)
    for number, source in solutions(course.read("source", assignment)).items():
        given[number].append(source)
    if course.notebook("release", assignment).is_file():
        for number, source in solution_sources(course.read("release", assignment)).items():
            given[number].append(source)
    return dict(given)
