"""Pages for a talk: a student's right code, questions about it, and the answers at the end."""

from __future__ import annotations

import re

import pytest

from grader.course.folder import Course
from grader.errors import CourseError
from grader.model.label import Label
from grader.pages.talk import QUESTIONS, write_talk
from support.made_class import ASSIGNMENT, Paper, grade
from support.solution_cells import of_notebook

MATRIX_FORM = """\
def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):  # <script>alert(1)</script>
    Q, K, V = b_q + W_q @ X, b_k + W_k @ X, b_v + W_v @ X
    scores = K.T @ Q
    scores = scores / K.shape[0] ** 0.5
    weights = torch.softmax(scores, dim=0)
    return V @ weights
"""


@pytest.mark.slow
def test_talk_has_code_questions_and_answers_of_each_student(course: Course) -> None:
    wrong = dict.fromkeys(range(1, 7), 0.0) | {8: 0.0}
    solved: dict[Label, str] = dict(of_notebook(ASSIGNMENT).items())
    grade(course, Paper("ada", wrong, cells={**solved, 7: MATRIX_FORM}), Paper("grace", wrong | {7: 0.0}, cells=solved))
    of_ada, of_grace = write_talk(course, ASSIGNMENT)
    page = of_ada.read_text()
    assert "<script" not in page
    assert "<i>5</i>" in page
    questions, answers = page.split('<section class="answers">')
    count = questions.count('<ol type="A">')
    assert 1 <= count <= QUESTIONS
    assert re.findall(r'<li value="(\d)"><strong>[ABCD]</strong>', answers) == [str(n + 1) for n in range(count)]
    assert "of shape (" in questions
    assert "No questions could be made" in of_grace.read_text()


@pytest.mark.slow
def test_talk_of_one_student_is_the_same_each_time(course: Course) -> None:
    wrong = dict.fromkeys((1, 2, 3, 4, 5, 6), 0.0)
    grade(course, Paper("ada", wrong, cells=dict(of_notebook(ASSIGNMENT).items())), Paper("alan"))
    (path,) = write_talk(course, ASSIGNMENT, ["ada"])
    page = path.read_text()
    assert page.count('<ol type="A">') > 1
    assert write_talk(course, ASSIGNMENT, ["ada"]) == [path]
    assert path.read_text() == page


def test_talk_with_somebody_who_is_not_graded_is_refused(course: Course) -> None:
    grade(course, Paper("ada"))
    with pytest.raises(CourseError, match="no student called eve"):
        write_talk(course, ASSIGNMENT, ["eve"])
