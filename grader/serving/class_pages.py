"""What instructors and assistants see, the class and a student, and what instructors decide there."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import quote

from tornado.web import HTTPError

from grader.errors import CourseError
from grader.host.scratch import write_whole
from grader.serving.arrivals import Arrival, Stage, newest
from grader.serving.grades import read_grades
from grader.serving.handler import Handler
from grader.serving.invitations import Role, find_person
from grader.serving.student_pages import released
from grader.serving.submission_results import Result, all_totals, result_of
from grader.term.page_changes import CHANGES_FILE, PageChanges, read_changes
from grader.term.rules import AssignmentRules, Detail
from grader.term.times import NoTime, format_time, local, moment_of

log = logging.getLogger(__name__)


class ClassPage(Handler):
    """The class, as it is now; with ?student=, those whose id or name contains this."""

    async def get(self) -> None:
        self.must_see_class()
        search = self.get_query_argument("student", "")
        arrivals = self.services.arrivals.of_class()
        last = sorted(newest(arrivals).values(), key=lambda arrival: (arrival.assignment, arrival.student))
        rules, wrong = self._rules()
        points, unreadable = await asyncio.to_thread(self._points, arrivals)
        waiting = self.services.arrivals.by_stage().get(Stage.WAITING, 0)
        trouble = unreadable | wrong | self.services.desk.trouble
        names, outbox = self.names(), self.services.outbox
        lines = [
            ClassLine(arrival, names(arrival.student), points.get((arrival.student, arrival.assignment)))
            for arrival in last
            if names.fits(arrival.student, search)
        ]
        if self.scopes:
            self.say({"waiting": waiting, "trouble": trouble, "submissions": [line.to_json() for line in lines]})
            return
        submitters = {student for arrival in last for student in self._group_of(arrival, rules)}
        missing = sorted(student for student in names.students if student not in submitters)
        self.show(
            "class",
            lines=lines,
            names=names,
            missing=[student for student in missing if names.fits(student, search)],
            waiting=waiting,
            trouble=trouble,
            rules=rules,
            graded={arrival.assignment for arrival in last if arrival.state is Stage.GRADED},
            closed_here=[name for name, one in read_changes(self.services.course.root).items() if one.closed],
            asked=search,
            unknown=len(outbox.tool.people.unknown()) if outbox else None,
            refresh=0 if search else 5,
        )

    def _points(self, arrivals: Sequence[Arrival]) -> tuple[dict[tuple[str, str], Result], dict[str, str]]:
        """What counts, by student and assignment, and why it cannot be read for some assignments."""
        points: dict[tuple[str, str], Result] = {}
        unreadable = {}
        for assignment in {arrival.assignment for arrival in arrivals}:
            try:
                grades = read_grades(self.services.course_now, assignment, ())
            except CourseError as error:
                unreadable[assignment] = str(error)
                continue
            points |= {(student, assignment): result for student, result in all_totals(grades).items()}
        return points, unreadable

    def _group_of(self, arrival: Arrival, rules: Mapping[str, AssignmentRules]) -> Sequence[str]:
        rule = rules.get(arrival.assignment)
        return rule.group_of(arrival.student) if rule else [arrival.student]

    def _rules(self) -> tuple[dict[str, AssignmentRules], dict[str, str]]:
        """The rules of each assignment, and what is wrong with those that cannot be read."""
        rules, wrong = {}, {}
        for assignment in released(self.services.course):
            try:
                rules[assignment] = self.services.rules(assignment)
            except CourseError as error:
                wrong[assignment] = str(error)
        return rules, wrong


@dataclass(frozen=True)
class ClassLine:
    """A student's last submission of an assignment, and the points that count for the student there."""

    arrival: Arrival
    name: str  # of the student
    result: Result | None  # None as long as nothing is graded

    @property
    def total(self) -> str:
        """The points in words; empty if the submission is not graded yet."""
        return self.result.total if self.result and self.arrival.state is Stage.GRADED else ""

    def to_json(self) -> dict[str, object]:
        """For programs."""
        keys = ("id", "student", "assignment", "number", "state")
        fields = {key: getattr(self.arrival, key) for key in keys} | {"arrived": self.arrival.arrived.isoformat()}
        result = self.result if self.arrival.state is Stage.GRADED else None
        points = {"points": result and result.points, "max_points": result and result.max_points}
        return fields | {"full_name": self.name} | points | {"waits": list(result.waits) if result else []}


class StudentPage(Handler):
    """All submissions of a student, and until when each assignment is due."""

    async def get(self, student: str) -> None:
        self.must_see_class()
        course, arrivals = self.services.course, self.services.arrivals.of_student(student)
        if not arrivals and find_person(course, student) is None:
            raise HTTPError(404)
        rules = {name: self.services.rules(name) for name in released(course)}
        due = {}
        for name, assignment_rules in rules.items():
            due_utc = assignment_rules.due_for(student)
            if due_utc:
                due[name] = local(due_utc, assignment_rules.zone)
        grades = {name: await self.grades(name, student) for name in {arrival.assignment for arrival in arrivals}}
        totals = [(one, result_of(one, grades[one.assignment], Detail.EVERYTHING).total) for one in arrivals]
        self.show("history", student=student, name=self.names()(student), lines=totals, due=due)


class ClassDecision(Handler):
    """Something that an instructor decides for an assignment."""

    async def prepare(self) -> None:
        await super().prepare()
        self.must_be(Role.INSTRUCTOR)
        if self.path_args[0] not in released(self.services.course):
            raise HTTPError(404)

    def decided(self, assignment: str) -> PageChanges:
        return read_changes(self.services.course.root).get(assignment, PageChanges())

    def decide(self, assignment: str, decided: PageChanges, outcome: str) -> None:
        """Write it down beside course.toml, and say so."""
        root = self.services.course.root
        all_changes = read_changes(root) | {assignment: decided}
        text = json.dumps({name: one.to_json() for name, one in all_changes.items()}, indent=1)
        write_whole(root / CHANGES_FILE, text.encode(), mode=0o600)
        log.info(f"{self.person.name}: {assignment} {outcome}.")


class Close(ClassDecision):
    """Takes no more submissions of an assignment, or takes them again."""

    def post(self, assignment: str) -> None:
        closed = self.get_body_argument("closed") == "yes"
        decided = replace(self.decided(assignment), closed=closed)
        self.decide(assignment, decided, "is closed" if closed else "is open again")
        self.redirect(f"{self.base}class")


class Extend(ClassDecision):
    """Extends a student's due date; without a date, takes that back."""

    def post(self, assignment: str) -> None:
        student, rules = self.get_body_argument("student"), self.services.rules(assignment)
        if find_person(self.services.course, student) is None:
            raise HTTPError(404)
        decided, until = self.decided(assignment), self._moment(rules)
        all_until = {name: other for name, other in decided.until.items() if name != student}
        if until:
            all_until[student] = until
        due_text = f"on {format_time(until, rules.zone)}" if until else "at the usual time"
        self.decide(assignment, replace(decided, until=all_until), f"is due {due_text} for {student}")
        self.redirect(f"{self.base}students/{quote(student, safe='')}")

    def _moment(self, rules: AssignmentRules) -> datetime | None:
        """The new due date in UTC; None if there is none."""
        text = self.get_body_argument("until")
        if not text:
            return None
        try:
            until = moment_of(datetime.fromisoformat(text), rules.zone or "UTC")
        except (NoTime, ValueError, OverflowError):
            self.refuse(400, f"{text} is not a date and time in the time zone of the course.")
        if rules.due is None or until <= rules.due:
            self.refuse(400, "This is not after the due date in course.toml.")
        return until


class GradeAgain(Handler):
    """Grades a student's last submission of an assignment again."""

    def post(self, key: str) -> None:
        self.must_be(Role.INSTRUCTOR)
        arrival = self.visible_submission(key)
        if not self.services.arrivals.is_last(arrival):
            self.refuse(409, "This is not the student's last submission of this assignment.")
        if self.services.arrivals.once_more(arrival):
            self.services.desk.queue.look_again()
        self.redirect(f"{self.base}submissions/{arrival.id}")
