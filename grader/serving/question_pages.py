"""Where students write that a verdict is wrong, and instructors answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tornado.web import HTTPError

from grader.gradebook.by_hand import mark_by_hand
from grader.gradebook.items import Item
from grader.gradebook.roster import StudentNames
from grader.notebooks.parsing import parse_notebook
from grader.serving.arrivals import Arrival
from grader.serving.grades import SubmissionGrades
from grader.serving.handler import Handler, Services, SubmissionState
from grader.serving.invitations import Role
from grader.serving.questions import LONGEST, Question, last_moment
from grader.serving.submission_results import ExerciseResult, result_of
from grader.term.rules import Detail
from grader.term.times import format_time


class _TextForm(Handler):
    """Something that a person has written into a form."""

    def text(self) -> str:
        text = self.get_body_argument("text", "").replace("\r\n", "\n")
        if not text:
            self.refuse(400, "Nothing was written. Go back, and write a sentence.")
        if len(text) > LONGEST:
            self.refuse(400, f"This has {len(text)} characters, and {LONGEST} is the most. Go back, and shorten it.")
        return text


class Ask(_TextForm):
    """A student writes that the verdict on an exercise is wrong."""

    async def post(self, key: str) -> None:
        self.must_be(Role.STUDENT)
        arrival, label = self.visible_submission(key), self.get_body_argument("exercise", "")
        state, services = await self.state_of(arrival), self.services
        exercises = {exercise.item.label: exercise for exercise in state.result.exercises or ()}
        if label not in exercises:
            raise HTTPError(404)
        until = last_moment(arrival, state.grades.rules, state.grades.publication)
        if until is None or datetime.now(UTC) > until:
            self.refuse(403, "It is too late to write about this submission.")
        if not services.questions.ask(arrival, label, self.text(), exercises[label].points or 0.0):
            self.refuse(409, "You have written about this exercise already. Your instructor will answer.")
        self.redirect(f"{self.base}submissions/{arrival.id}#questions")


class Answer(_TextForm):
    """An instructor answers, and gives other points if that is right."""

    async def post(self, key: str) -> None:
        self.must_be(Role.INSTRUCTOR)
        question = self.services.questions.get(int(key))
        if question is None:
            raise HTTPError(404)
        points, text, name = self._points(), self.text(), self.person.name
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self.services.writing, self._answer, question, points, text, name)
        self.redirect(f"{self.base}class")

    def _points(self) -> float | None:
        """The points that were typed in; None if the field was left empty."""
        text = self.get_body_argument("points", "").replace(",", ".")
        try:
            return float(text) if text else None
        except ValueError:
            self.refuse(400, "The points are not a number. Go back, and correct them.")

    def _answer(self, question: Question, points: float | None, text: str, instructor: str) -> None:
        """Write the points into the gradebook, and then the answer. One thread does this, so nobody answers twice."""
        services = self.services
        arrival = services.arrivals.get(question.submission)
        if arrival is None:
            raise HTTPError(404)
        grades = services.grades(arrival.assignment, arrival.student, as_published=False)
        item = item_of(grades, question.exercise) if grades.counts(arrival) else None
        if points is not None:
            if item is None:
                self.refuse(409, "This submission does not count, so its points cannot change. Answer without points.")
            if not 0 <= points <= item.max_points:
                self.refuse(400, f"Go back, and give 0 to {item.max_points:g} points.")
        current = services.questions.get(question.id)
        if current is None or current.is_answered:
            self.refuse(409, "Somebody has answered this already.")
        if item is not None:
            mark_by_hand(services.course, arrival.assignment, arrival.student, item, points, text)
        services.questions.answer(question, text, instructor)


@dataclass(frozen=True)
class SubmissionQuestions:
    """What the page of a submission says of questions."""

    by_exercise: Sequence[tuple[ExerciseResult, Question]]
    exercises: Sequence[ExerciseResult]  # about which the student may write now
    until: str


def questions_about(arrival: Arrival, state: SubmissionState, services: Services) -> SubmissionQuestions:
    """The questions about a submission, as far as its result may be read."""
    questions, exercises = services.questions.about(arrival), state.result.exercises or ()
    by_exercise = [
        (exercise, questions[exercise.item.label]) for exercise in exercises if exercise.item.label in questions
    ]
    rules = state.grades.rules
    until = last_moment(arrival, rules, state.grades.publication)
    if until is None or datetime.now(UTC) > until:
        return SubmissionQuestions(by_exercise, [], "")
    unasked = [exercise for exercise in exercises if exercise.item.label not in questions]
    return SubmissionQuestions(by_exercise, unasked, format_time(until, rules.zone))


def item_of(grades: SubmissionGrades, label: str) -> Item | None:
    items = grades.rows.items if grades.rows else ()
    return next((item for item in items if item.label == label), None)


@dataclass(frozen=True)
class OpenQuestion:
    """A question as an instructor reads it: beside the student's code, and the verdict."""

    question: Question
    arrival: Arrival
    name: str  # of the student
    exercise: ExerciseResult
    code: str
    counts: bool  # whether its points can change


def open_questions(
    services: Services, class_grades: Mapping[str, SubmissionGrades], names: StudentNames
) -> list[OpenQuestion]:
    """All that wait for an answer, the oldest first. Grading again has settled those that got more points by it."""
    questions = []
    for question in services.questions.unanswered():
        arrival = services.arrivals.get(question.submission)
        grades = class_grades.get(arrival.assignment) if arrival else None
        if arrival is None or grades is None:
            continue
        for exercise in result_of(arrival, grades, Detail.EVERYTHING).exercises or ():
            if exercise.item.label == question.exercise and not question.is_settled(exercise.points):
                code, name = _code_of(services, arrival, exercise.item), names.with_id(arrival.student)
                questions.append(OpenQuestion(question, arrival, name, exercise, code, grades.counts(arrival)))
    return questions


def _code_of(services: Services, arrival: Arrival, item: Item) -> str:
    """What the student wrote for an exercise; empty if it is not kept any more."""
    try:
        content = services.arrivals.contents(arrival, [item.notebook]).get(item.notebook)
    except OSError:
        return ""
    notebook = parse_notebook(content)
    sources = [
        cell.source
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") in item.student_cells
    ]
    return "\n\n".join(sources)
