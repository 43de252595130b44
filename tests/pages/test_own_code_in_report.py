"""What the report says of questions about students' own code."""

from __future__ import annotations

import csv
import json

from grader.course.folder import Course
from grader.explaining.question import CodeQuestion, QuestionKind
from grader.gradebook.asked_questions import AskedQuestion, add_questions, answer_question
from grader.pages.report import write_report
from support.made_class import ASSIGNMENT, Paper, grade
from support.report_pages import text_of

QUESTION = CodeQuestion(QuestionKind.TIMES, 3, "How often does line 3 run?", "`x` of shape (4,)", ("4", "5"), 1, "")
ASKED = AskedQuestion("Exercise 1: Softmax", "softmax", "def softmax(x): ...", QUESTION)


def test_report_says_who_answered_how_many_questions_right(course: Course) -> None:
    grade(course, *map(Paper, ("ada", "emmy", "grace", "kurt", "zoe")))
    for student, choices in {"ada": [1, 1], "emmy": [0, 1], "grace": [], "kurt": [1, 1]}.items():
        add_questions(course, ASSIGNMENT, student, "", [ASKED] * 2)
        for number, choice in enumerate(choices):
            answer_question(course, ASSIGNMENT, student, number, choice)
    add_questions(course, ASSIGNMENT, "zoe", "", [])
    page, table, data = write_report(course, ASSIGNMENT)
    text = text_of(page.read_text())
    assert "2 of 2 2 students ada kurt 1 of 2 1 student emmy not answered yet 1 student grace no questions" in text
    lines = csv.DictReader(table.read_text(encoding="utf-8-sig").splitlines())
    words = ["2 of 2", "1 of 2", "not answered yet", "2 of 2", "no questions could be made"]
    assert [line["own code"] for line in lines] == words
    assert json.loads(data.read_text())["own code"][0] == {"answers": "2 of 2", "students": ["ada", "kurt"]}


def test_report_without_such_questions_says_nothing_of_them(course: Course) -> None:
    grade(course, Paper("ada"))
    page, table, _ = write_report(course, ASSIGNMENT)
    assert "own code" not in text_of(page.read_text())
    assert table.read_text(encoding="utf-8-sig").splitlines()[1].endswith(",")
