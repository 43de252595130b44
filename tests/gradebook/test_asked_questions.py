"""What students were asked about their own code: kept once, answered once."""

from __future__ import annotations

import pytest

from grader.course.folder import Course
from grader.explaining.question import CodeQuestion, QuestionKind
from grader.gradebook.asked_questions import (
    NONE_MADE,
    AskedQuestion,
    OwnCode,
    add_questions,
    answer_question,
    own_code_by_student,
)

ASSIGNMENT = "self_attention"
QUESTION = CodeQuestion(QuestionKind.TIMES, 3, "How often does line 3 run?", "`x` of shape (4,)", ("4", "5"), 1, "")
ASKED = AskedQuestion("Exercise 1: Softmax", "softmax", "def softmax(x): ...", QUESTION)


def answered(*choices: int | None) -> OwnCode:
    return OwnCode("", [AskedQuestion("", "", "", QUESTION, choice) for choice in choices])


@pytest.mark.parametrize(
    ("own_code", "words"),
    [
        (answered(), NONE_MADE),
        (answered(None, None), "not answered yet"),
        (answered(1, None), "1 of 2, 1 not answered yet"),
        (answered(1, 0, 1), "2 of 3"),
        (answered(0, 0, 0), "0 of 3"),
    ],
)
def test_own_code_says_how_many_answers_are_right(own_code: OwnCode, words: str) -> None:
    assert own_code.words == words


def test_question_when_answered_again_keeps_the_first_answer(course: Course) -> None:
    assert own_code_by_student(course, ASSIGNMENT).get("ada") is None
    add_questions(course, ASSIGNMENT, "ada", "first", [ASKED])
    assert answer_question(course, ASSIGNMENT, "ada", 0, 0)
    assert not answer_question(course, ASSIGNMENT, "ada", 0, 1)
    own_code = own_code_by_student(course, ASSIGNMENT).get("ada")
    assert own_code is not None
    assert own_code.words == "0 of 1"


@pytest.mark.parametrize(("student", "number", "choice"), [("ada", 1, 0), ("ada", 0, 2), ("emmy", 0, 0)])
def test_answer_to_what_is_not_there_is_refused(course: Course, student: str, number: int, choice: int) -> None:
    add_questions(course, ASSIGNMENT, "ada", "first", [ASKED])
    assert not answer_question(course, ASSIGNMENT, student, number, choice)


def test_later_questions_come_after_the_earlier_ones(course: Course) -> None:
    add_questions(course, ASSIGNMENT, "ada", "first", [ASKED])
    answer_question(course, ASSIGNMENT, "ada", 0, 1)
    add_questions(course, ASSIGNMENT, "ada", "second", [ASKED])
    own_code = own_code_by_student(course, ASSIGNMENT).get("ada")
    assert own_code is not None
    assert (own_code.submission, own_code.words) == ("second", "1 of 2, 1 not answered yet")
    assert own_code.questions[0].question == QUESTION
