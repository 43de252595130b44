"""What instructors and assistants see, the class and a student, and what instructors decide there."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from urllib.parse import quote

from tornado.web import HTTPError

from grader.errors import CourseError
from grader.gradebook.roster import read_roster
from grader.host.scratch import write_whole
from grader.serving.arrivals import Arrival, newest
from grader.serving.exercises_now import exercises_now, stopped_now
from grader.serving.handler import Handler
from grader.serving.invitations import Role, named
from grader.serving.student_pages import released
from grader.term.page_changes import CHANGES_FILE, PageChanges, read_changes
from grader.term.rules import AssignmentRules
from grader.term.times import NoTime, local, moment_of, said


class ClassPage(Handler):
    """The class, as it is now; with ?student=, those whose name contains this."""

    def get(self) -> None:
        self.must_see_class()
        asked = self.get_query_argument("student", "").casefold()
        last = sorted(newest(self.services.arrivals.of_class()).values(), key=lambda one: (one.assignment, one.student))
        lines = [(one, one.result) for one in last if asked in one.student.casefold()]
        waiting = len(self.services.desk.queue)
        rules, wrong = self._rules()
        trouble = wrong | self.services.desk.trouble
        if self.scopes:
            self.say({"waiting": waiting, "trouble": trouble, "submissions": [_line(one) for one, _ in lines]})
            return
        missing = sorted(set(read_roster(self.services.course.root)) - {one.student for one in last})
        self.show(
            "class",
            lines=lines,
            missing=[name for name in missing if asked in name.casefold()],
            waiting=waiting,
            trouble=trouble,
            rules=rules,
            closed_here=[name for name, one in read_changes(self.services.course.root).items() if one.closed],
            exercises=exercises_now(last),
            stopped=sorted(stopped_now(last), key=lambda one: -one.arrival.id),
            asked=asked,
            refresh=0 if asked else 5,
        )

    def _rules(self) -> tuple[dict[str, AssignmentRules], dict[str, str]]:
        """The rules of each assignment, and what is wrong with those that cannot be read."""
        rules, wrong = {}, {}
        for assignment in released(self.services.course):
            try:
                rules[assignment] = self.services.rules(assignment)
            except CourseError as error:
                wrong[assignment] = str(error)
        return rules, wrong


def _line(arrival: Arrival) -> dict[str, object]:
    """A submission as programs read it among those of the class."""
    names = ("id", "student", "assignment", "number", "state")
    points = {name: arrival.result.get(name) for name in ("points", "max_points")}
    return {name: getattr(arrival, name) for name in names} | {"arrived": arrival.arrived.isoformat()} | points


class StudentPage(Handler):
    """All submissions of a student, and until when each assignment is due."""

    def get(self, student: str) -> None:
        self.must_see_class()
        course, arrivals = self.services.course, self.services.arrivals.of_student(student)
        if not arrivals and named(course, student) is None:
            raise HTTPError(404)
        rules = {name: self.services.rules(name) for name in released(course)}
        due = {name: local(until, one.zone) for name, one in rules.items() if (until := one.due_for(student))}
        self.show("history", student=student, lines=[(one, one.result) for one in arrivals], due=due)


class ClassDecision(Handler):
    """Something that an instructor decides for an assignment."""

    async def prepare(self) -> None:
        await super().prepare()
        self.must_be(Role.INSTRUCTOR)
        if self.path_args[0] not in released(self.services.course):
            raise HTTPError(404)

    def decided(self, assignment: str) -> PageChanges:
        return read_changes(self.services.course.root).get(assignment, PageChanges())

    def decide(self, assignment: str, decided: PageChanges, what: str) -> None:
        """Write it down beside course.toml, and say so."""
        root = self.services.course.root
        known = read_changes(root) | {assignment: decided}
        text = json.dumps({name: one.to_json() for name, one in known.items()}, indent=1)
        write_whole(root / CHANGES_FILE, text.encode(), mode=0o600)
        self.services.desk.tell(f"{self.person.name}: {assignment} {what}.")


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
        if named(self.services.course, student) is None:
            raise HTTPError(404)
        decided, until = self.decided(assignment), self._moment(rules)
        all_until = {name: other for name, other in decided.until.items() if name != student}
        if until:
            all_until[student] = until
        when = f"on {said(until, rules.zone)}" if until else "at the usual time"
        self.decide(assignment, replace(decided, until=all_until), f"is due {when} for {student}")
        self.redirect(f"{self.base}students/{quote(student, safe='')}")

    def _moment(self, rules: AssignmentRules) -> datetime | None:
        """The new due date in UTC; None if there is none."""
        if not (text := self.get_body_argument("until")):
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
        arrival = self.own(key)
        if not self.services.arrivals.is_last(arrival):
            self.refuse(409, "This is not the student's last submission of this assignment.")
        if self.services.arrivals.once_more(arrival):
            self.services.desk.queue.put(arrival)
        self.redirect(f"{self.base}submissions/{arrival.id}")
