"""What instructors and assistants see: the class, a student, and what goes wrong in each exercise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tornado.web import HTTPError

from grader.errors import CourseError
from grader.serving.arrivals import Arrival, newest
from grader.serving.handler import Handler
from grader.serving.invitations import Role
from grader.serving.student_pages import released

MOST_NAMES = 3  # mistakes of an exercise


@dataclass
class ExerciseNow:
    """An exercise, in the last submissions of all students until now."""

    assignment: str
    exercise: str
    title: str
    graded: int = 0
    full: int = 0  # with full marks
    mistakes: Counter[str] = field(default_factory=Counter)

    @property
    def most_common(self) -> str:
        return ", ".join(f"{name} ({count})" for name, count in self.mistakes.most_common(MOST_NAMES))


def exercises_now(arrivals: Iterable[Arrival]) -> list[ExerciseNow]:
    found: dict[tuple[str, str], ExerciseNow] = {}
    for arrival in arrivals:
        for one in arrival.result.get("exercises", ()):
            key = (arrival.assignment, str(one["exercise"]))
            exercise = found.setdefault(key, ExerciseNow(*key, one["title"]))
            exercise.graded += 1
            exercise.full += one["credit"] == 1
            exercise.mistakes.update(one["misconceptions"])
    return list(found.values())


class ClassPage(Handler):
    """The class, as it is now; with ?student=, those whose name contains this."""

    def get(self) -> None:
        self.must_see_class()
        asked = self.get_query_argument("student", "").casefold()
        last = sorted(newest(self.services.arrivals.of_class()).values(), key=lambda one: (one.assignment, one.student))
        lines = [(one, one.result) for one in last if asked in one.student.casefold()]
        trouble = {**dict(self._wrong_settings()), **self.services.desk.trouble}
        waiting = len(self.services.desk.queue)
        if self.scopes:
            self.say({"waiting": waiting, "trouble": trouble, "submissions": [_line(one) for one, _ in lines]})
            return
        self.show(
            "class", lines=lines, waiting=waiting, trouble=trouble, exercises=exercises_now(last), asked=asked,
            refresh=0 if asked else 5,
        )  # fmt: skip

    def _wrong_settings(self) -> Iterator[tuple[str, str]]:
        for assignment in released(self.services.course):
            try:
                self.services.rules(assignment)
            except CourseError as error:
                yield assignment, str(error)


def _line(arrival: Arrival) -> dict[str, object]:
    """A submission as programs read it among those of the class."""
    names = ("id", "student", "assignment", "number", "state")
    points = {name: arrival.result.get(name) for name in ("points", "max_points")}
    return {name: getattr(arrival, name) for name in names} | {"arrived": arrival.arrived.isoformat()} | points


class StudentPage(Handler):
    """All submissions of a student."""

    def get(self, student: str) -> None:
        self.must_see_class()
        arrivals = self.services.arrivals.of_student(student)
        if not arrivals:
            raise HTTPError(404)
        self.show("history", student=student, lines=[(one, one.result) for one in arrivals])


class GradeAgain(Handler):
    """Grades a student's last submission of an assignment again."""

    def post(self, key: str) -> None:
        self.must_be(Role.INSTRUCTOR)
        arrival = self.own(key)
        if not self.services.arrivals.is_last(arrival):
            self.refuse(409, "This is not the student's last submission of this assignment.")
        if self.services.arrivals.once_more(arrival):
            self.services.desk.queue.put(arrival)
        self.redirect(f"/submissions/{arrival.id}")
