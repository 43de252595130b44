"""What instructors and assistants see, the class and a student, and what instructors decide there."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import quote

from markupsafe import Markup
from tornado.web import HTTPError

from grader.course.folder import Course
from grader.errors import CourseError
from grader.host.scratch import write_whole
from grader.pages.page_parts import contents_of
from grader.serving.arrivals import Arrival, Stage, newest
from grader.serving.exports import CommandOutput
from grader.serving.grades import SubmissionGrades, read_grades
from grader.serving.handler import Handler
from grader.serving.invitations import Role, find_person, students_of
from grader.serving.question_pages import open_questions
from grader.serving.student_pages import released
from grader.serving.submission_results import Result, result_now, result_of
from grader.term.page_changes import CHANGES_FILE, PageChanges, read_changes
from grader.term.rules import AssignmentRules, Detail
from grader.term.times import NoTime, format_time, moment_of

log = logging.getLogger(__name__)


class ClassPage(CommandOutput):
    """The class, as it is now; with ?student=, those whose id or name contains this."""

    async def get(self) -> None:
        self.must_see_class()
        # A page that is open asks with `done`, when its last result came, and gets what has changed beside the report.
        search, done = self.get_query_argument("student", ""), self.get_query_argument("done", "")
        arrivals = self.services.arrivals.of_class()
        last = sorted(newest(arrivals).values(), key=lambda arrival: (arrival.assignment, arrival.student))
        rules, wrong = self._rules()
        grades, unreadable = await asyncio.to_thread(self._grades, arrivals)
        trouble = unreadable | wrong | self.services.desk.trouble
        names, outbox = self.names(), self.services.outbox
        lines = [
            ClassLine(arrival, names(arrival.student), result_now(arrival, grades.get(arrival.assignment)))
            for arrival in last
            if names.fits(arrival.student, search)
        ]
        if self.scopes:
            waiting = self.services.arrivals.by_stage().get(Stage.WAITING, 0)
            self.say({"waiting": waiting, "trouble": trouble, "submissions": [line.to_json() for line in lines]})
            return
        assignment = "" if search else self._assignment(arrivals)
        shown_arrivals = [arrival for arrival in arrivals if assignment in ("", arrival.assignment)]
        missing = {student for student in names.students if names.fits(student, search)}
        for arrival in shown_arrivals:
            missing.difference_update(self._group_of(arrival, rules))
        done_now = str(max((arrival.graded for arrival in shown_arrivals if arrival.graded), default="never"))
        values = {
            "assignment": assignment,
            "trouble": trouble,
            "submitted": len(newest(shown_arrivals)),
            "waiting": sum(not arrival.is_done for arrival in shown_arrivals),
            "missing": sorted(missing),
            "names": names,
            "done": done or done_now,
            "has_news": done not in ("", done_now),
        }
        if done:
            self.show("now", **values)
            return
        questions = [] if search else await asyncio.to_thread(open_questions, self.services, grades, names)
        self.show(
            "class",
            **values,
            questions=questions,
            rules=rules,
            assignments=list(released(self.services.course)),
            report=await self._report(assignment) if assignment else "",
            lines=[line for line in lines if assignment in ("", line.arrival.assignment)],
            search=search,
            closed_here=read_changes(self.services.course.root).get(assignment, PageChanges()).closed,
            unknown=len(outbox.tool.people.unknown()) if outbox else None,
            refresh=bool(assignment),
        )

    async def _report(self, assignment: str) -> Markup:
        """The report that `grader report` writes, with links to students' pages; empty if nothing is graded."""

        def make(course: Course) -> str:
            from grader.pages.report import Link, Links, page, summarize

            summary = summarize(course, assignment)
            students = students_of(course)
            links = {}
            for line in summary.students:
                if line.student in students:
                    url = f"{self.base}students/{quote(line.student, safe='')}"
                    links[line.student] = Links([Link(url, line.student)], [])
            return page(summary, links)

        try:
            return contents_of(await self.of_course(make))
        except CourseError:
            return Markup()

    def _assignment(self, arrivals: Sequence[Arrival]) -> str:
        """The assignment that was asked for, or else the one that was submitted last; empty if there is none."""
        name = self.get_query_argument("assignment", "")
        assignments = released(self.services.course)
        if name and name not in assignments:
            raise HTTPError(404)
        submitted = [arrival.assignment for arrival in arrivals if arrival.assignment in assignments]
        return name or next(iter([*submitted[::-1], *assignments]), "")

    def _grades(self, arrivals: Sequence[Arrival]) -> tuple[dict[str, SubmissionGrades], dict[str, str]]:
        """The grades of the class, by assignment, and why they cannot be read for some."""
        grades, unreadable = {}, {}
        for assignment in {arrival.assignment for arrival in arrivals}:
            of_assignment = [arrival for arrival in arrivals if arrival.assignment == assignment]
            try:
                grades[assignment] = read_grades(self.services.course_now, assignment, of_assignment)
            except CourseError as error:
                unreadable[assignment] = str(error)
        return grades, unreadable

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
    result: Result

    def to_json(self) -> dict[str, object]:
        """For programs."""
        keys = ("id", "student", "assignment", "number", "state")
        fields = {key: getattr(self.arrival, key) for key in keys} | {"arrived": self.arrival.arrived.isoformat()}
        points = {"points": self.result.points, "max_points": self.result.max_points}
        return fields | {"full_name": self.name} | points | {"waits": list(self.result.waits)}


class StudentPage(Handler):
    """All submissions of a student, and until when each assignment is due."""

    async def get(self, student: str) -> None:
        self.must_see_class()
        course, arrivals = self.services.course, self.services.arrivals.of_student(student)
        if not arrivals and find_person(course, student) is None:
            raise HTTPError(404)
        dates = {name: ", ".join(self.services.rules(name).dates(student)) for name in released(course)}
        grades = {name: await self.grades(name, student) for name in {arrival.assignment for arrival in arrivals}}
        results = [(one, result_of(one, grades[one.assignment], Detail.EVERYTHING)) for one in arrivals]
        self.show("history", student=student, name=self.names()(student), lines=results, dates=dates)


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
        self.redirect(f"{self.base}class?assignment={quote(assignment, safe='')}")


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
