"""What submissions earn, read from where the report, the feedback pages and the publications read it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property

from grader.course.folder import Course
from grader.gradebook.class_rows import ClassRows, NotInGradebook, read_rows
from grader.gradebook.connection import is_new
from grader.gradebook.fingerprint import NEW_SUBMISSION, changes_between
from grader.gradebook.graded import GradingResult, read_grading_result
from grader.gradebook.items import count
from grader.gradebook.published import Publication, Publications, PublishedPoints
from grader.gradebook.standing import Submitted
from grader.serving.arrivals import Arrival, Stage
from grader.term.rules import AssignmentRules, Rule
from grader.term.times import format_time


@dataclass(frozen=True)
class SubmissionGrade:
    """What a submission earns, and why."""

    standing: PublishedPoints
    max_points: float
    findings: GradingResult  # what grading found
    explains: bool = True  # whether that is behind the points: not if it was graded again since they were published


@dataclass(frozen=True)
class LateWarning:
    """What a student should know before submitting too late."""

    text: str = ""  # empty if it would be in time
    costs_points: bool = False  # it would replace a submission that counts now, and lose points


@dataclass(frozen=True)
class SubmissionGrades:
    """Where students stand in one assignment."""

    course: Course
    assignment: str
    rules: AssignmentRules
    arrivals: Sequence[Arrival]  # all of the assignment by these students, and by their groups
    rows: ClassRows | None = None  # None if the gradebook does not know the assignment
    publication: Publication | None = field(default=None, repr=False)  # what these students were told last

    def counting(self, student: str) -> Submitted | None:
        """The graded submission that counts for a student now."""
        standing = self.rows.standings.get(student) if self.rows else None
        return standing.submission if standing else None

    def counting_arrival(self, student: str) -> Arrival | None:
        """The same as it arrived here; None if it came another way."""
        row = self.counting(student)
        return self._by_time.get((row.student_id, row.timestamp)) if row and row.timestamp else None

    @cached_property
    def _by_time(self) -> dict[tuple[str, datetime], Arrival]:
        return {(arrival.student, _in_gradebook(arrival.arrived)): arrival for arrival in self.arrivals}

    def counts(self, arrival: Arrival) -> bool:
        """Whether it is the submission that counts, or the same file."""
        counting = self.counting_arrival(arrival.student)
        return counting is not None and (counting.student, counting.sha256) == (arrival.student, arrival.sha256)

    def standing(self, student: str) -> PublishedPoints | None:
        """What counts for a student now: as published for this submission, or else as the gradebook has it."""
        standing = self.rows.standings.get(student) if self.rows else None
        return self.published(student) or PublishedPoints.of(standing) if standing else None

    def published(self, student: str) -> PublishedPoints | None:
        """What was published for the submission that counts now."""
        standing = self.rows.standings.get(student) if self.rows else None
        if self.publication is None or standing is None:
            return None
        before, now = self.publication.students.get(student), PublishedPoints.of(standing)
        is_same = before and NEW_SUBMISSION not in changes_between(before.fingerprint, now.fingerprint)
        return before if is_same else None

    def most(self, student: str) -> float:
        """The maximum points, from the same place."""
        if self.publication and self.published(student):
            return self.publication.max_points
        return self.rows.max_points if self.rows else 0.0

    def grade(self, arrival: Arrival) -> SubmissionGrade | None:
        """What a graded submission earns; None if the gradebook does not know it."""
        if self.rows is None or arrival.state is not Stage.GRADED:
            return None
        if not self.counts(arrival):
            return self._by_tests(arrival, self.rows)
        now = self.rows.standings[arrival.student]
        points_shown = self.published(arrival.student) or PublishedPoints.of(now)
        folder = self.course.folder("autograded") / now.by / self.assignment
        findings = read_grading_result(folder, self.rows.notebooks, now.record)
        changed = changes_between(points_shown.fingerprint, PublishedPoints.of(now).fingerprint)
        return SubmissionGrade(points_shown, self.most(arrival.student), findings, not changed)

    def _by_tests(self, arrival: Arrival, rows: ClassRows) -> SubmissionGrade:
        """What a submission earns that does not count: all that is known are its tests and its time."""
        verdicts = arrival.scored
        earned = {scored.verdict.label: scored.points for scored in verdicts}
        points = {item.cell: earned[item.label] for item in rows.items if item.label in earned}
        counted = count(rows.items, points, rows.rules.late, self.late_by(arrival))
        settled = (Rule.VOID, Rule.FULL)
        standing = PublishedPoints(
            points={item.label: counted.points[item.cell] for item in rows.items if item.cell in counted.points},
            total=counted.total,
            penalty=counted.penalty,
            void=[item.label for item in rows.items if item.rule is Rule.VOID],
            waits=[item.label for item in rows.items if item.label not in earned and item.rule not in settled],
        )
        return SubmissionGrade(standing, rows.max_points, GradingResult(verdicts))

    def late_by(self, arrival: Arrival) -> timedelta:
        """How late a submission is. The same file as the one that counts is as late as that one."""
        counting = self.counting_arrival(arrival.student)
        is_same = counting is not None and counting.sha256 == arrival.sha256
        return self._late_at(arrival.student, counting.arrived if counting and is_same else arrival.arrived)

    def _late_at(self, student: str, moment: datetime) -> timedelta:
        if self.rows:
            return self.rows.late_at(student, _in_gradebook(moment))
        return self.rules.late_by(student, _in_gradebook(moment), None, None)

    def warning(self, student: str, now: datetime) -> LateWarning:
        """What to say before this student submits now."""
        late, rule = self._late_at(student, now), self.rules.late
        if not late:
            return LateWarning()
        cost = f" and lose {rule.lost(late)} of its points ({rule.words})" if rule and rule.cost(late) else ""
        counting = self._counting_soon(student)
        text = f"This would be late{cost}."
        if self.rules.best and (counting or self.arrivals):  # the same words before and after those are graded
            text += " It counts only if it is better than what was submitted before."
        elif counting:
            text += f" {self._whose(student, *counting)} counts now, and would be replaced."
        return LateWarning(text, bool(cost and counting and not self.rules.best))

    def _counting_soon(self, student: str) -> tuple[str, datetime] | None:
        """Who submitted what counts for a student now, or once it is graded, and when."""
        waiting = [arrival for arrival in self.arrivals if not arrival.is_done]
        if waiting and not self.rules.best:
            return waiting[-1].student, waiting[-1].arrived
        row = self.counting(student)
        return (row.student_id, row.timestamp) if row and row.timestamp else None

    def _whose(self, student: str, submitter: str, moment: datetime) -> str:
        time = format_time(moment, self.rules.zone)
        return f"Your submission of {time}" if submitter == student else f"The submission of {time} by {submitter}"


def _in_gradebook(moment: datetime) -> datetime:
    """A moment as the gradebook has it: in UTC, without saying so."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def read_grades(
    course: Course,
    assignment: str,
    arrivals: Sequence[Arrival],
    students: Collection[str] | None = None,
    *,
    as_published: bool = False,
) -> SubmissionGrades:
    """The grades of these students, or of all; with `as_published`, as they were told."""
    rows = None
    if not is_new(course.api()):
        try:
            rows = read_rows(course, assignment, students)
        except NotInGradebook:
            rows = None
    publication = Publications(course, assignment).last() if as_published else None
    return SubmissionGrades(course, assignment, course.rules(assignment), arrivals, rows, publication)
