"""“I think this is wrong”: who may write it, until when, and what an instructor's answer changes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sql
from words_course import ServedWords, answered, words_course

from grader.gradebook.published import Publication, PublishedPoints
from grader.serving.arrivals import Arrival, Stage
from grader.serving.questions import LONGEST, Questions, last_moment
from grader.term.reading import COURSE_FILE
from grader.term.rules import AssignmentRules, Detail, Serving
from support.second_course import WRONG
from support.served import token_in

NOON = datetime(2026, 10, 12, 12, tzinfo=UTC)
WEEK = timedelta(days=7)
ARRIVAL = Arrival(7, "ada", "words", 1, NOON - timedelta(hours=1), "", Stage.GRADED, {}, graded=NOON)


@pytest.fixture
def questions(tmp_path: Path) -> Questions:
    return Questions(sql.create_engine(f"sqlite:///{tmp_path / 'table.db'}"))


def test_question_when_written_again_is_refused(questions: Questions) -> None:
    assert questions.ask(ARRIVAL, "3", "The mean of no words is 0.", points=1.0)
    assert not questions.ask(ARRIVAL, "3", "Is it not?", points=1.0)
    assert questions.ask(ARRIVAL, "4", "And this?", points=1.0)
    assert [question.text for question in questions.unanswered()] == ["The mean of no words is 0.", "And this?"]


def test_question_when_answered_twice_keeps_the_first_answer(questions: Questions) -> None:
    questions.ask(ARRIVAL, "3", "The mean of no words is 0.", points=1.0)
    (question,) = questions.unanswered()
    assert questions.answer(question, "It is not defined.", "prof")
    assert not questions.answer(question, "You are right.", "grace")
    assert questions.about(ARRIVAL)["3"].answer == "It is not defined."
    assert not questions.unanswered()


@pytest.mark.parametrize(("points", "is_settled"), [(0.5, False), (1.0, False), (1.5, True), (None, False)])
def test_question_when_graded_again_is_settled_by_more_points(
    questions: Questions, points: float | None, is_settled: bool
) -> None:
    questions.ask(ARRIVAL, "3", "The mean of no words is 0.", points=1.0)
    assert questions.unanswered()[0].is_settled(points) is is_settled


def rules(before: Detail = Detail.EVERYTHING, due: datetime | None = None) -> AssignmentRules:
    return AssignmentRules(due=due and due.replace(tzinfo=None), serving=Serving(before=before, questions=WEEK))


def publication(student: str, moment: datetime) -> Publication:
    return Publication(1, moment.isoformat(), "prof", 10.0, {student: PublishedPoints({}, 0.0)})


def test_last_moment_without_the_setting_is_never() -> None:
    assert last_moment(ARRIVAL, AssignmentRules(), None) is None


def test_last_moment_is_so_long_after_the_verdict() -> None:
    assert last_moment(ARRIVAL, rules(due=NOON + WEEK), None) == NOON + WEEK


@pytest.mark.parametrize("before", [Detail.NOTHING, Detail.POINTS])
def test_last_moment_when_verdicts_are_hidden_is_so_long_after_the_due_date(before: Detail) -> None:
    due = NOON + timedelta(days=3)
    assert last_moment(ARRIVAL, rules(before, due), None) == due + WEEK
    assert last_moment(ARRIVAL, rules(before, NOON - WEEK), None) == NOON + WEEK


def test_last_moment_when_published_is_so_long_after_that() -> None:
    later = NOON + timedelta(days=30)
    assert last_moment(ARRIVAL, rules(), publication("ada", later)) == later + WEEK
    assert last_moment(ARRIVAL, rules(), publication("emmy", later)) == NOON + WEEK


# --- through the server ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedWords]:
    server = ServedWords(words_course(tmp_path_factory.mktemp("words") / "course"))
    (server.course.root / COURSE_FILE).write_text(server.rules + '[assignments.words.serving]\nquestions = "7 days"\n')
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def submission(served: ServedWords) -> int:
    """Kurt's, who is not late: exercise 1 is wrong."""
    number: int = served.submit("kurt", answered(served.course, WRONG))["submission"]
    assert served.verdict("kurt", number)["state"] == "graded"
    return number


@pytest.fixture(scope="module")
def question(served: ServedWords, submission: int) -> str:
    """What kurt has written about exercise 1."""
    text = "Words differ by <case>.\nSo “A” and “a” are two."
    fields = {"exercise": "1", "text": text}
    assert write(served, "kurt", f"/submissions/{submission}/questions", **fields).status_code == 200
    return text


def write(served: ServedWords, name: str, place: str, **fields: str) -> httpx.Response:
    """Fill in a form."""
    with served.browser(name) as browser:
        token = token_in(browser.get("/").text)
        return browser.post(place, data={**token, **fields})


def points_of(served: ServedWords, submission: int, label: str) -> float:
    exercises = served.get("prof", f"/submissions/{submission}").json()["result"]["exercises"]
    (points,) = [float(exercise["points"]) for exercise in exercises if str(exercise["exercise"]) == label]
    return points


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fields", "status"),
    [
        ("kurt", {"exercise": "1", "text": " "}, 400),
        ("kurt", {"exercise": "1", "text": "a" * (LONGEST + 1)}, 400),
        ("kurt", {"exercise": "99", "text": "Why?"}, 404),
        ("ada", {"exercise": "1", "text": "Why?"}, 404),
        ("prof", {"exercise": "1", "text": "Why?"}, 404),
    ],
)
def test_question_that_may_not_be_written_is_refused(
    served: ServedWords, submission: int, name: str, fields: dict[str, str], status: int
) -> None:
    answer = write(served, name, f"/submissions/{submission}/questions", **fields)
    assert answer.status_code == status, answer.text


@pytest.mark.slow
def test_question_when_written_is_on_the_class_page_with_code_and_verdict(
    served: ServedWords, submission: int, question: str
) -> None:
    page = served.page("prof", "/class")
    assert " ".join(question.split()) in page
    assert "Kurt Gödel (kurt), words" in page
    assert "text.split().count(word)" in page
    assert " ".join(question.split()) in served.page("kurt", f"/submissions/{submission}")
    assert "Your instructor has not answered yet." in served.page("kurt", f"/submissions/{submission}")


@pytest.mark.slow
def test_class_page_when_course_toml_cannot_be_read_says_so_in_place_of_questions(
    served: ServedWords, question: str
) -> None:
    rules = served.course.root / COURSE_FILE
    usual = rules.read_text()
    try:
        rules.write_text("late = 1\n")
        page = served.page("prof", "/class")
    finally:
        rules.write_text(usual)
    assert "words cannot be graded at the moment" in page
    assert question not in page
    assert " ".join(question.split()) in served.page("prof", "/class")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fields", "status"),
    [
        ("prof", {"text": ""}, 400),
        ("prof", {"text": "You are right.", "points": "all"}, 400),
        ("prof", {"text": "You are right.", "points": "nan"}, 400),
        ("prof", {"text": "You are right.", "points": "2.5"}, 400),
        ("kurt", {"text": "I am right.", "points": "2"}, 404),
    ],
)
def test_answer_that_may_not_be_given_changes_nothing(
    served: ServedWords, submission: int, question: str, name: str, fields: dict[str, str], status: int
) -> None:
    before = points_of(served, submission, "1")
    answer = write(served, name, "/questions/1", **fields)
    assert answer.status_code == status, answer.text
    assert points_of(served, submission, "1") == before
    assert " ".join(question.split()) in served.page("prof", "/class")


@pytest.mark.slow
def test_answer_with_points_is_in_the_gradebook_and_on_the_page(
    served: ServedWords, submission: int, question: str
) -> None:
    """Run after the others: it answers."""
    assert points_of(served, submission, "1") < 2
    answer = write(served, "prof", "/questions/1", text="The text says so now.", points="2")
    assert answer.status_code == 200, answer.text
    assert points_of(served, submission, "1") == 2
    with served.course.api().gradebook as gradebook:
        assert gradebook.find_grade("test-exercise-1", "words", "words", "kurt").manual_score == 2
        comment = gradebook.find_comment("exercise-1", "words", "words", "kurt")
        assert comment.manual_comment == "The text says so now."
    page = served.page("kurt", f"/submissions/{submission}")
    assert "prof answered: The text says so now." in page
    assert "Your instructor set these points" in page
    assert " ".join(question.split()) not in served.page("prof", "/class")
    assert write(served, "prof", "/questions/1", text="Again.").status_code == 409
    fields = {"exercise": "1", "text": "And now?"}
    assert write(served, "kurt", f"/submissions/{submission}/questions", **fields).status_code == 409
