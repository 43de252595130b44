"""Questions about a student's own code after submitting: made once, answered once, and only where they may be seen."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from grader.course.folder import Course
from grader.gradebook.asked_questions import OwnCode, own_code_by_student
from grader.serving import invitations
from grader.term.reading import COURSE_FILE
from support.report_pages import text_of
from support.served import ASSIGNMENT, PATIENCE, Served, serving, token_in

pytestmark = pytest.mark.slow

MATRIX_FORM = """\
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):  # <script>alert(1)</script>
    Q, K, V = b_q + W_q @ X, b_k + W_k @ X, b_v + W_v @ X
    scores = K.T @ Q
    scores = scores / K.shape[0] ** 0.5
    weights = torch.softmax(scores, dim=0)
    return V @ weights
"""
HEADING = "Do you understand your own code?"
ASKS = "[explain]\nquestions = 3\n"


@pytest.fixture(scope="module")
def served(new_course: Callable[[], Course]) -> Iterator[Served]:
    course = new_course()
    (course.root / COURSE_FILE).write_text(ASKS)
    with serving(course) as server:
        server.codes |= invitations.invite(course, ["zoe"])
        yield server


@pytest.fixture(scope="module")
def right(served: Served, make_notebook: Callable[..., Any], solved: dict[int, str]) -> bytes:
    return json.dumps(make_notebook(served.course, solved | {7: MATRIX_FORM})).encode()


@pytest.fixture(scope="module")
def submission(served: Served, right: bytes) -> int:
    """Ada's, in which everything is right, with the questions about it."""
    number = submit(served, "ada", right)
    wait_for_questions(served, "ada", number)
    return number


def submit(served: Served, name: str, content: bytes) -> int:
    number: int = served.submit(name, content)["submission"]
    assert served.verdict(name, number)["state"] == "graded"
    return number


def page_of(served: Served, name: str, number: int) -> str:
    with served.browser(name) as browser:
        return browser.get(f"/submissions/{number}").text


def wait_for_questions(served: Served, name: str, number: int) -> None:
    until = time.monotonic() + PATIENCE
    while "are being made" in page_of(served, name, number):
        assert time.monotonic() < until
        time.sleep(0.2)


def own_code(served: Served, name: str) -> OwnCode:
    asked = own_code_by_student(served.course, ASSIGNMENT).get(name)
    assert asked is not None
    return asked


def choose(served: Served, name: str, number: int, **fields: object) -> httpx.Response:
    with served.browser(name) as browser:
        token = token_in(browser.get("/").text)
        return browser.post(f"/submissions/{number}/own-code", data={**token, **fields})


def test_page_after_full_marks_asks_about_the_code(served: Served, submission: int) -> None:
    page = page_of(served, "ada", submission)
    assert HEADING in page
    questions = own_code(served, "ada").questions
    assert 2 <= len(questions) <= 3
    assert page.count("<fieldset>") == len(questions)
    assert page.count('name="choice"') == sum(len(asked.question.options) for asked in questions)
    assert "This is right" not in page
    assert "<script>" not in page


def test_answer_is_told_and_stays(served: Served, submission: int) -> None:
    asked = own_code(served, "ada").questions[0]
    wrong = next(choice for choice in range(4) if choice != asked.question.right)
    page = choose(served, "ada", submission, question=0, choice=wrong)
    assert page.status_code == 200
    assert re.findall("✓ This is right|✗ This was chosen", page.text).count("✗ This was chosen") == 1
    again = choose(served, "ada", submission, question=0, choice=asked.question.right)
    assert again.status_code == 409
    assert own_code(served, "ada").words.startswith("0 of ")


@pytest.mark.parametrize(("name", "fields", "status"), [
    ("ada", {"question": 1}, 400), ("ada", {"question": "x", "choice": 0}, 400),
    ("ada", {"question": 9, "choice": 0}, 409), ("ada", {"question": 1, "choice": 9}, 409),
    ("emmy", {"question": 1, "choice": 0}, 404),
    ("prof", {"question": 1, "choice": 0}, 404),
])  # fmt: skip
def test_answer_that_is_none_is_refused(
    served: Served, submission: int, name: str, fields: dict[str, object], status: int
) -> None:
    assert choose(served, name, submission, **fields).status_code == status


@pytest.mark.usefixtures("submission")
def test_same_code_submitted_again_is_not_asked_about_again(served: Served, right: bytes) -> None:
    before = own_code(served, "ada").questions
    later = submit(served, "ada", right)
    wait_for_questions(served, "ada", later)
    assert own_code(served, "ada").questions == before
    assert HEADING in page_of(served, "ada", later)


def test_class_page_and_report_say_how_many_answers_are_right(served: Served, submission: int) -> None:
    with served.browser("prof") as browser:
        page = text_of(browser.get(f"/class?assignment={ASSIGNMENT}").text)
        beside = browser.get(f"/submissions/{submission}").text
    words = own_code(served, "ada").words
    assert "Questions about their own code" in page
    assert f"{words} 1 student ada" in page
    assert "<fieldset>" not in beside
    lines = served.get("prof", f"/assignments/{ASSIGNMENT}/report.json").json()["students"]
    assert {line["student"]: line["own code"] for line in lines}["ada"] == words


def test_wrong_code_is_not_asked_about(served: Served, make_notebook: Callable[..., Any]) -> None:
    """Zoe has nothing right: nobody reads that no questions could be made."""
    number = submit(served, "zoe", json.dumps(make_notebook(served.course, {})).encode())
    wait_for_questions(served, "zoe", number)
    assert own_code_by_student(served.course, ASSIGNMENT).get("zoe") is None
    assert HEADING not in page_of(served, "zoe", number)


@pytest.mark.parametrize("rules", [
    "", ASKS.replace("questions = 3", 'after = "never"'), ASKS + '[serving]\nbefore = "points"\n',
    f'{ASKS}[assignments.{ASSIGNMENT}.explain]\nafter = "never"\n',
])  # fmt: skip
def test_page_that_may_not_show_exercises_asks_nothing(served: Served, submission: int, rules: str) -> None:
    (served.course.root / COURSE_FILE).write_text(rules)
    try:
        assert HEADING not in page_of(served, "ada", submission)
        assert choose(served, "ada", submission, question=1, choice=0).status_code == 404
    finally:
        (served.course.root / COURSE_FILE).write_text(ASKS)
