"""What students were asked about their own code, and what they answered: our own table in the gradebook."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy import Column, MetaData, String, Table, Text, inspect, select
from sqlalchemy.orm import Session

from grader.course.folder import Course
from grader.explaining.question import CodeQuestion, QuestionKind
from grader.gradebook.connection import PatientSession, open_gradebook

NONE_MADE = "no questions could be made"

_OWN_CODE = Table(
    "grader_own_code",
    MetaData(),
    Column("assignment", String(128), primary_key=True),
    Column("student", String(128), primary_key=True),
    Column("submission", String(64), nullable=False),
    Column("questions", Text, nullable=False),  # JSON
)


@dataclass(frozen=True)
class AskedQuestion:
    """A question that a student was asked, once, and what the student chose."""

    exercise: str  # its heading
    entry: str  # the function or class that it is about
    code: str
    question: CodeQuestion
    choice: int | None = None  # None until it is answered

    @property
    def is_right(self) -> bool:
        return self.choice == self.question.right

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> AskedQuestion:
        question = data["question"]
        options, kind = tuple(question["options"]), QuestionKind(question["kind"])
        return cls(**{**data, "question": CodeQuestion(**{**question, "options": options, "kind": kind})})


@dataclass(frozen=True)
class OwnCode:
    """All that one student was asked about the code for an assignment."""

    submission: str  # the digest of the one that was looked at last
    questions: Sequence[AskedQuestion]

    @property
    def unanswered(self) -> int:
        return sum(question.choice is None for question in self.questions)

    @property
    def right(self) -> int:
        """How many answers are right."""
        return sum(question.is_right for question in self.questions)

    @property
    def words(self) -> str:
        """The same in words, such as “2 of 3”."""
        if not self.questions:
            return NONE_MADE
        if self.unanswered == len(self.questions):
            return "not answered yet"
        unanswered = f", {self.unanswered} not answered yet" if self.unanswered else ""
        return f"{self.right} of {len(self.questions)}{unanswered}"


def read_own_code(session: Session, assignment: str, students: Collection[str] | None = None) -> dict[str, OwnCode]:
    """What students were asked about an assignment; only `students`, if given."""
    if not inspect(session.connection()).has_table(_OWN_CODE.name):
        return {}
    query = select(_OWN_CODE).where(_OWN_CODE.c.assignment == assignment)
    if students is not None:
        query = query.where(_OWN_CODE.c.student.in_(students))
    return {row.student: _own_code(row) for row in session.execute(query)}


def own_code_by_student(course: Course, assignment: str, students: Collection[str] | None = None) -> dict[str, OwnCode]:
    """The same, from the course's gradebook."""
    with contextlib.closing(open_gradebook(course.api())) as gradebook:
        return read_own_code(gradebook.db, assignment, students)


def add_questions(
    course: Course, assignment: str, student: str, submission: str, new_questions: Sequence[AskedQuestion]
) -> None:
    """Keep new questions about a submission, after those that the student was asked before."""
    with contextlib.closing(open_gradebook(course.api())) as gradebook:
        session = PatientSession(gradebook)

        def write() -> None:
            _OWN_CODE.create(session.engine, checkfirst=True)
            before = read_own_code(session.db, assignment, [student]).get(student)
            questions = [*before.questions, *new_questions] if before else new_questions
            _save(session, assignment, student, OwnCode(submission, questions))

        session.patiently(write)


def answer_question(course: Course, assignment: str, student: str, number: int, choice: int) -> bool:
    """Keep what a student chose. False if there is no such question or option, or if it was answered before."""
    with contextlib.closing(open_gradebook(course.api())) as gradebook:
        session = PatientSession(gradebook)

        def write() -> bool:
            own_code = read_own_code(session.db, assignment, [student]).get(student)
            questions = list(own_code.questions) if own_code else []
            if own_code is None or number not in range(len(questions)):
                return False
            asked_question = questions[number]
            is_option = choice in range(len(asked_question.question.options))
            if asked_question.choice is not None or not is_option:
                return False
            questions[number] = replace(asked_question, choice=choice)
            _save(session, assignment, student, OwnCode(own_code.submission, questions))
            return True

        return session.patiently(write)


def _own_code(row: Any) -> OwnCode:
    return OwnCode(row.submission, list(map(AskedQuestion.from_json, json.loads(row.questions))))


def _save(session: PatientSession, assignment: str, student: str, own_code: OwnCode) -> None:
    questions = json.dumps([question.to_json() for question in own_code.questions])
    is_theirs = (_OWN_CODE.c.assignment == assignment) & (_OWN_CODE.c.student == student)
    values = {"submission": own_code.submission, "questions": questions}
    changed = session.db.execute(_OWN_CODE.update().where(is_theirs).values(**values))
    if not changed.rowcount:  # type: ignore[attr-defined]
        session.db.execute(_OWN_CODE.insert().values(assignment=assignment, student=student, **values))
    session.commit()
