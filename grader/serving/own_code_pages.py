"""Questions about a student's own code on the page of a submission, and what the student answers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from tornado.web import HTTPError

from grader.gradebook.asked_questions import AskedQuestion, OwnCode, answer_question
from grader.pages.text_html import numbered_lines
from grader.serving.arrivals import Arrival
from grader.serving.handler import Handler, Services, SubmissionState
from grader.serving.invitations import Role
from grader.term.rules import AskAfter


class AnswerOwnCode(Handler):
    """A student answers a question about their own code. There is no second try."""

    async def post(self, key: str) -> None:
        self.must_be(Role.STUDENT)
        arrival = self.visible_submission(key)
        if not _may_be_asked(await self.state_of(arrival)):
            raise HTTPError(404)
        number, choice = (self._number(name) for name in ("question", "choice"))
        arguments = self.services.course, arrival.assignment, arrival.student, number, choice
        loop = asyncio.get_running_loop()
        if not await loop.run_in_executor(self.services.writing, answer_question, *arguments):
            self.refuse(409, "This question is answered already, or is not there.")
        self.redirect(f"{self.base}submissions/{arrival.id}#own-code")

    def _number(self, name: str) -> int:
        text = self.get_body_argument(name, "")
        if not (text.isascii() and text.isdigit() and len(text) < 4):
            self.refuse(400, "Nothing was chosen. Go back, and choose an answer.")
        return int(text)


@dataclass(frozen=True)
class ShownQuestion:
    """A question as the page shows it."""

    asked_question: AskedQuestion
    code: Sequence[tuple[int, Markup]]  # its numbered lines; empty if they are above


@dataclass(frozen=True)
class OwnCodeSection:
    """What the page of a submission says of questions about its code."""

    own_code: OwnCode | None
    questions: Sequence[ShownQuestion]
    are_coming: bool  # whether more are made


def _may_be_asked(state: SubmissionState) -> bool:
    """Whether questions about the code may be seen: they tell what is right."""
    return state.result.exercises is not None and state.grades.rules.explain.after is not AskAfter.NEVER


def own_code_beside(arrival: Arrival, state: SubmissionState, services: Services) -> OwnCodeSection | None:
    """The questions to show beside a submission; None if nothing is asked, or if no exercise's points may be read."""
    if not _may_be_asked(state):
        return None
    own_code = state.grades.rows.own_code.get(arrival.student) if state.grades.rows else None
    questions: list[ShownQuestion] = []
    code = ""
    for question in own_code.questions if own_code else ():
        questions.append(ShownQuestion(question, numbered_lines(question.code) if question.code != code else []))
        code = question.code
    return OwnCodeSection(own_code, questions, services.asking.is_coming(arrival))
