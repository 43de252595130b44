"""“I think this is wrong”: what students write about a verdict, and what an instructor answers. There is no thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sql

from grader.gradebook.published import Publication
from grader.serving.arrivals import Arrival
from grader.term.rules import AssignmentRules

LONGEST = 1000  # characters, of a question and of an answer

_ROWS = sql.MetaData()
_QUESTIONS = sql.Table(
    "served_questions",
    _ROWS,
    sql.Column("id", sql.Integer, primary_key=True),
    sql.Column("submission", sql.Integer, nullable=False),
    sql.Column("exercise", sql.String(128), nullable=False),
    sql.Column("text", sql.Text, nullable=False),
    sql.Column("points", sql.Float, nullable=False),
    sql.Column("answer", sql.Text, nullable=False, server_default=""),
    sql.Column("answered_by", sql.String(128), nullable=False, server_default=""),
    sql.UniqueConstraint("submission", "exercise"),
)


@dataclass(frozen=True)
class Question:
    """What a student wrote about the verdict on an exercise, and what an instructor answered."""

    id: int
    submission: int
    exercise: str  # its label
    text: str
    points: float  # that the exercise had when this was written
    answer: str
    answered_by: str  # empty if nobody has answered yet

    @property
    def is_answered(self) -> bool:
        return bool(self.answered_by)

    def is_settled(self, points: float | None) -> bool:
        """Whether nobody needs to answer: it is answered, or grading again has given more points."""
        return self.is_answered or (points is not None and points > self.points)


class Questions:
    """The table of questions, beside that of the arrivals."""

    def __init__(self, engine: sql.Engine) -> None:
        self._engine = engine
        _ROWS.create_all(engine)

    def ask(self, arrival: Arrival, exercise: str, text: str, points: float) -> bool:
        """Keep a question. False if there is one about this exercise of this submission already."""
        values = {"submission": arrival.id, "exercise": exercise, "text": text, "points": points}
        try:
            with self._engine.begin() as connection:
                connection.execute(_QUESTIONS.insert().values(**values))
        except sql.exc.IntegrityError:
            return False
        return True

    def answer(self, question: Question, text: str, instructor: str) -> bool:
        """Keep an answer. False if somebody was faster."""
        is_open = (_QUESTIONS.c.id == question.id) & (_QUESTIONS.c.answered_by == "")
        with self._engine.begin() as connection:
            statement = _QUESTIONS.update().where(is_open).values(answer=text, answered_by=instructor)
            return bool(connection.execute(statement).rowcount)

    def get(self, key: int) -> Question | None:
        questions = self._select(_QUESTIONS.c.id == key)
        return questions[0] if questions else None

    def about(self, arrival: Arrival) -> dict[str, Question]:
        """All questions about a submission, by exercise."""
        return {question.exercise: question for question in self._select(_QUESTIONS.c.submission == arrival.id)}

    def unanswered(self) -> Sequence[Question]:
        """All that nobody has answered, the oldest first."""
        return self._select(_QUESTIONS.c.answered_by == "")

    def _select(self, condition: sql.ColumnElement[bool]) -> Sequence[Question]:
        with self._engine.connect() as connection:
            rows = connection.execute(sql.select(_QUESTIONS).where(condition).order_by(_QUESTIONS.c.id))
            return [Question(*row) for row in rows]


def last_moment(arrival: Arrival, rules: AssignmentRules, publication: Publication | None) -> datetime | None:
    """Until when a student may write about a verdict; None if never.

    The time runs from the verdict; or from the due date, if the verdict is shown from then on only; or from the points'
    publication.
    """
    length = rules.serving.questions
    if length is None:
        return None
    starts = [arrival.graded or arrival.arrived]
    due = rules.due_for(arrival.student)
    if due is not None and not rules.serving.before.shows_exercises:
        starts.append(due.replace(tzinfo=UTC))
    if publication is not None and arrival.student in publication.students:
        starts.append(datetime.fromisoformat(publication.at))
    return max(starts) + length
