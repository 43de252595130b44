"""The class report: each number is worked out by hand here, and nothing of a submission becomes markup."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from urllib.parse import unquote

import nbformat
import pytest
from selenium.webdriver import Chrome
from sqlalchemy import event
from sqlalchemy.engine import Engine

from grader.classroom.run import autograde
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.due_dates import LATE_FILE
from grader.gradebook.standings import read_class
from grader.model.answer import Loss, Lost
from grader.model.label import Label
from grader.model.verdict import Reason
from grader.notebooks.cells import fill_in
from grader.pages import report
from grader.pages.copies import Work, identical
from grader.pages.feedback import write_feedback
from grader.pages.report import duration, write_report
from support.accessibility import seen_as, violations
from support.made_class import ASSIGNMENT, MAX_POINTS, Paper, grade
from support.report_pages import lines_of, text_of, told, written

DUE = datetime(2026, 11, 20, 12)
HOSTILE = """<script>alert(1)</script><img src=x onerror=alert(1)>"'{{ 7 * 7 }}"""
SOFTMAX = "def softmax(items_in):\n    return torch.softmax(torch.as_tensor(items_in), dim=0)"
NOT_SCALED = ["You do not scale. Divide by `√D`."]
COPY: dict[Label, str] = {
    1: "def compute_qkv(xs, W_q, W_k, W_v, b_q, b_k, b_v):\n    q, k, v = [], [], []\n    for x in xs:\n"
       "        q.append(torch.add(b_q, W_q.mm(x)))\n        k.append(torch.add(b_k, W_k.mm(x)))\n"
       "        v.append(torch.add(b_v, W_v.mm(x)))\n    return q, k, v",
    2: "def attention_scores(qs, ks):\n    out = []\n    for i in range(len(qs)):\n        row = []\n"
       "        for j in range(len(ks)):\n            row.append((qs[i].T @ ks[j]).item() / len(qs[i]) ** 0.5)\n"
       "        out.append(row)\n    return out",
    5: "def weighted_sums(ws, vs):\n    out = []\n    for w in ws:\n        total = 0\n"
       "        for i in range(len(vs)):\n            total = total + float(w[i]) * vs[i]\n"
       "        out.append(total)\n    return out",
    7: "def scaled_dot_product_self_attention(X, W_v, W_q, W_k, b_v, b_q, b_k):\n    q = torch.mm(W_q, X) + b_q\n"
       "    k = torch.mm(W_k, X) + b_k\n    v = torch.mm(W_v, X) + b_v\n    s = torch.mm(k.t(), q)\n"
       "    s = s / torch.tensor(float(q.shape[0])).sqrt()\n    return torch.mm(v, softmax_cols(s))",
}  # fmt: skip


def renamed(source: str) -> str:
    """What somebody may do to a copy: other names, a comment, a docstring, other blanks."""
    names = {"xs": "inputs", "qs": "queries", "ks": "keys", "ws": "w_all", "vs": "values", "out": "result",
             "row": "line", "total": "acc", "q": "Q", "k": "K", "v": "V", "s": "A", "x": "word", "i": "n"}  # fmt: skip
    for old, new in names.items():
        source = re.sub(rf"\b{old}\b", new, source)
    head, body = source.split("\n", 1)
    return f'{head}  # mine\n    """My own words."""\n\n' + body.replace(" + ", "  +  ") + "\n"


@pytest.fixture
def class_of_ten(course: Course) -> Course:
    """Ten students with a grade, one who handed in nothing, and one whose submission has no grade."""
    half = {7: 0.5}
    grade(
        course,
        Paper("ada"),
        Paper("alan"),
        Paper("barbara", {2: 0.5, **half}, {2: ["not scaled"], 7: ["not scaled"]}, says={2: NOT_SCALED, 7: NOT_SCALED}),
        Paper("chien", {2: 0.5, **half}, {2: ["not scaled"], 7: ["not scaled"]}, says={2: NOT_SCALED, 7: NOT_SCALED}),
        Paper("dorothy", half, {7: ["softmax along rows"]}),
        Paper("emmy", {3: 0.0, 8: 0.25}, {8: ["first head twice", "without W_c"]}, {3: Reason.WRONG}),
        Paper("grace", lost={5: Lost(Loss.TIME, 5)}),
        Paper("henri", lost={5: Lost(Loss.DEATH)}, blocked=["read /etc/passwd"]),
        Paper("iris", timestamp=DUE + timedelta(hours=30)),
        Paper("jun", dict.fromkeys(MAX_POINTS, 0.0), reason=dict.fromkeys(MAX_POINTS, Reason.TO_DO)),
    )  # fmt: skip
    with course.api().gradebook as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate=DUE)
        gradebook.update_or_create_student("kurt", last_name="Gödel")
        gradebook.find_grade("test-exercise-1", ASSIGNMENT, ASSIGNMENT, "alan").manual_score = 1.5
        gradebook.find_grade("test-exercise-6", ASSIGNMENT, ASSIGNMENT, "dorothy").extra_credit = 1
        gradebook.db.commit()
    (course.root / "course.toml").write_text('[late]\nper = "day"\nshare = 0.0667\n')  # four of iris's 30 points
    course.notebook("submitted/luca", ASSIGNMENT).parent.mkdir(parents=True)
    return course


@pytest.mark.slow
def test_report_points_have_mean_median_and_distribution(class_of_ten: Course) -> None:
    # alan 28.5, barbara and chien 26, dorothy 28.5, emmy 22, grace and henri 27, iris 26, jun 0
    points = told(class_of_ten)["points"]
    assert points["max"] == 30
    assert points["mean"] == 24.1
    assert points["median"] == 26.5
    assert points["middle half"] == [26.0, 28.12]
    assert points["full marks"] == 1
    bins = {(one["from"], one["to"]): one["students"] for one in points["distribution"] if one["students"]}
    assert bins == {(0, 2.5): 1, (20, 22.5): 1, (25, 27.5): 5, (27.5, 30): 3}
    assert len(points["distribution"]) == 12


@pytest.mark.slow
def test_report_exercises_count_full_some_and_no_points(class_of_ten: Course) -> None:
    by_number = {one["exercise"]: one for one in told(class_of_ten)["exercises"]}
    assert list(by_number) == [str(number) for number in MAX_POINTS]
    assert by_number["7"] == {
        "exercise": "7", "title": "Matrix form", "max points": 5, "full marks": 6, "some points": 3, "no points": 1,
        "waiting": 0, "share of full marks": 0.6, "mean points": 3.75, "rule": "",
    }  # fmt: skip
    assert by_number["1"]["some points"] == 1  # alan, by hand
    assert by_number["6"]["full marks"] == 9  # extra credit is more than full
    assert by_number["5"]["no points"] == 3


@pytest.mark.slow
def test_report_ranks_misconceptions_with_their_students(class_of_ten: Course) -> None:
    mistakes = {one["exercise"]: one for one in told(class_of_ten)["mistakes"]}
    for exercise in mistakes.values():
        for line in exercise["misconceptions"] + exercise["other mistakes"]:
            del line["example"], line["first line"]
    assert list(mistakes) == [2, 3, 5, 7, 8]
    assert mistakes[7]["misconceptions"] == [
        {"name": "not scaled", "count": 2, "students": ["barbara", "chien"], "says": NOT_SCALED[0]},
        {"name": "softmax along rows", "count": 1, "students": ["dorothy"], "says": "Something differs."},
    ]
    assert mistakes[3]["other mistakes"] == [{"name": "wrong", "count": 1, "students": ["emmy"]}]
    assert mistakes[5]["other mistakes"] == [{"name": "no answer", "count": 2, "students": ["grace", "henri"]}]
    assert [one["name"] for one in mistakes[8]["misconceptions"]] == ["first head twice", "without W_c"]


def test_report_shows_the_shortest_code_with_a_mistake_as_an_example(course: Course) -> None:
    half, wrong = {2: 0.5}, {3: Reason.WRONG}
    not_scaled: Any = {2: ["not scaled"]}
    grade(
        course,
        Paper("ada", half, not_scaled, cells={2: "def scores_of_ada(q, k):\n    return q @ k.T"}),
        Paper("alan", half, not_scaled, cells={2: "# Alan\n    # T.\n"}),
        Paper(
            "emmy",
            half | {3: 0.0},
            not_scaled,
            wrong,
            cells={2: "# Emmy N., 12345\ndef f(q, k):\n    return q @ k.T", 3: "def <g>: 1"},
        ),
        Paper("kurt", half, not_scaled, cells={2: " \n"}),
    )
    second, third = told(course)["mistakes"]
    assert [line["example"] for line in second["misconceptions"]] == ["def f(q, k):\n    return q @ k.T"]
    assert [line["example"] for line in third["other mistakes"]] == ["def <g>: 1"]
    assert "<code>def &lt;g&gt;: 1</code>" in written(course)[".html"]


def test_report_shows_the_first_line_that_a_student_wrote_of_a_mistake_without_a_name(course: Course) -> None:
    released = course.read("release", ASSIGNMENT)
    (start,) = [
        cell.source for cell in released.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "exercise-3"
    ]
    code = start.partition("    # YOUR CODE HERE")[0] + "\n    total = <len>(items_in)\n    return items_in / total\n"
    grade(course, Paper("ada", {3: 0.0}, reason={3: Reason.WRONG}, cells={3: code}), Paper("emmy"))
    (mistakes,) = told(course)["mistakes"]
    assert [line["first line"] for line in mistakes["other mistakes"]] == ["total = <len>(items_in)"]
    summaries = re.findall(r"<summary>(an example.*?)</summary>", written(course)[".html"])
    assert summaries == ["an example: <code>total = &lt;len&gt;(items_in)</code>"]


@pytest.mark.slow
def test_report_page_lists_the_most_frequent_mistakes_first_and_those_without_a_name_last(class_of_ten: Course) -> None:
    table = written(class_of_ten)[".html"].partition('<table class="mistakes">')[2].partition("</table>")[0]
    lines = [text_of(line) for line in re.findall(r"<tr><td>(.*?)<ul", table, re.DOTALL)]
    starts = ["2 not scaled", "7 not scaled", "7 softmax along rows", "8 first head twice", "8 without W_c",
              "5 no answer", "3 wrong"]  # fmt: skip
    assert [line[: len(start)] for line, start in zip(lines, starts, strict=True)] == starts


def test_report_explains_misconceptions_seen_only_in_pairs(course: Course) -> None:
    pair = ["Two things at once:", "You do not scale.", "You return sums.", "You compute `x` and never use it."]
    twice = ["Two things at once:", "You scale by 2.", "You return zeros."]
    grade(
        course,
        Paper("ada", {2: 0.3, 4: 0.3}, {2: ["not scaled", "sums"], 4: ["by two", "zeros"]}, says={2: pair, 4: twice}),
        Paper("emmy", {4: 0.5}, {4: ["zeros"]}, says={4: ["All weights are zeros."]}),
        Paper("kurt", {5: 0.3}, {5: ["a", "b"]}, says={5: ["Two things at once:", "Of only one of both."]}),
    )
    says = {line["name"]: line["says"] for mistakes in told(course)["mistakes"] for line in mistakes["misconceptions"]}
    assert says == {
        "not scaled": "You do not scale.", "sums": "You return sums.",
        "by two": "You scale by 2.", "zeros": "All weights are zeros.", "a": "", "b": "",
    }  # fmt: skip


@pytest.mark.slow
def test_report_lists_timeouts_crashes_and_denied_actions(class_of_ten: Course) -> None:
    found = told(class_of_ten)
    assert [(one["student"], one["exercise"], one["kind"]) for one in found["stopped"]] == [
        ("grace", 5, "timeout"), ("henri", 5, "crash"),
    ]  # fmt: skip
    assert found["denied"] == [{"student": "henri", "attempts": ["read /etc/passwd"]}]


@pytest.mark.slow
def test_report_lists_late_and_ungraded_students(class_of_ten: Course) -> None:
    found = told(class_of_ten)
    assert found["late"] == [{"student": "iris", "seconds": 30 * 3600, "penalty": 4}]
    assert found["no submission"] == ["kurt"]
    assert found["no grade"] == ["luca"]
    assert found["empty"] == ["jun"]
    assert found["counts"] == {"students": 12, "graded": 10}


@pytest.mark.slow
def test_report_lists_late_submissions_without_a_time(course: Course) -> None:
    grade(course, Paper("ada"), Paper("emmy", timestamp=DUE))
    for student in ("ada", "emmy"):
        path = course.notebook(f"submitted/{student}", ASSIGNMENT)
        path.parent.mkdir(parents=True)
        (path.parent / LATE_FILE).write_text("Canvas says that this is late, but not by how much.")
    files = written(course)
    assert json.loads(files[".json"])["late without time"] == ["ada"]
    text = text_of(files[".html"])
    assert "1 submission late by an unknown time" in text
    assert "Late, but without a time" in text


def test_report_empty_lists_only_notebooks_with_nothing_filled_in(course: Course) -> None:
    missing: Any = {"credit": dict.fromkeys(MAX_POINTS, 0.0), "reason": dict.fromkeys(MAX_POINTS, Reason.MISSING)}
    grade(
        course,
        Paper(
            "blank", **missing, cells=dict.fromkeys(MAX_POINTS, " \n")
        ),  # as a notebook that cannot be read is graded
        Paper("broken", **missing, cells=dict.fromkeys(MAX_POINTS, "def f(:\n    return 1")),
        Paper("other-names", **missing, cells={number: f"def mine_{number}():\n    return 1" for number in MAX_POINTS}),
        Paper("released", **missing),
    )
    found = told(course)
    assert found["empty"] == ["blank", "released"]
    assert [one["exercise"] for one in found["mistakes"]] == list(MAX_POINTS)
    example = "def f(:\n    return 1"
    who = ["broken", "other-names"]
    wrong = [{"name": "missing", "count": 2, "students": who, "example": example, "first line": "def f(:"}]
    assert all(one["other mistakes"] == wrong for one in found["mistakes"])


@pytest.mark.slow
def test_report_counts_an_unreadable_notebook_as_empty(course: Course, submit: Callable[..., Path]) -> None:
    submit(course, "torn", "[]")
    list(autograde(course, ASSIGNMENT))
    found = told(course)
    assert found["empty"] == ["torn"]
    assert found["mistakes"] == []


@pytest.mark.slow
def test_report_lateness_respects_extensions(class_of_ten: Course) -> None:
    with class_of_ten.api().gradebook as gradebook:
        gradebook.grant_extension(ASSIGNMENT, "iris", days=2)
        gradebook.update_or_create_submission(ASSIGNMENT, "kurt")  # so does an extension for who hands in nothing
        gradebook.grant_extension(ASSIGNMENT, "kurt", days=2)
    assert told(class_of_ten)["late"] == []
    assert told(class_of_ten)["no submission"] == ["kurt"]


@pytest.mark.slow
def test_report_page_says_the_same_in_words(class_of_ten: Course) -> None:
    text = text_of(written(class_of_ten)[".html"])
    assert "10 students have a grade. The median is 26.5 of 30 points; the middle half got 26 to 28.12." in text
    assert "1 student has full marks." in text
    assert "Hardest: exercise 7, Matrix form (60% got full marks)." in text
    assert "Most common misconception: “not scaled” in exercise 2 (2 students)." in text
    assert "“located” means that we know the wrong line, but have no name for the mistake; “missing”, that a" in text
    for line in ("1 timeout", "1 crash", "1 submission that tried something not allowed", "1 late submission",
                 "1 submission without a grade", "1 student without a submission", "1 notebook with nothing filled in",
                 "7: Matrix form 6 60% 3 1 3.75 of 5", "iris 1 day 6 hours 4", "henri tried to read /etc/passwd",
                 "under 27.5 5",
                 "iris notebook 3 3 2 2 3 4 5 8 4 26", "Gödel no submission", "luca no grade"):  # fmt: skip
        assert line in text, line
    assert "waiting" not in text


@pytest.mark.slow
def test_report_csv_has_a_line_for_everyone(class_of_ten: Course) -> None:
    lines = {line["student"]: line for line in lines_of(written(class_of_ten)[".csv"])}
    assert len(lines) == 12
    assert lines["iris"] == {
        "student": "iris", "last name": "", "first name": "", "status": "graded", "points": "26", "of": "30",
        "penalty": "4", "hours late": "30", "misconceptions": "", "timeouts": "", "crashes": "", "denied actions": "",
        "hand-in": "", "own code": "", "identical: with": "",
        **{f"exercise {number}": str(points) for number, points in MAX_POINTS.items()},
    }  # fmt: skip
    assert lines["barbara"]["misconceptions"] == "2: not scaled; 7: not scaled"
    assert lines["henri"]["crashes"] == "1"
    assert lines["henri"]["denied actions"] == "read /etc/passwd"
    assert (lines["kurt"]["status"], lines["kurt"]["last name"], lines["kurt"]["points"]) == (
        "no submission",
        "Gödel",
        "",
    )


@pytest.mark.slow
def test_report_json_equals_the_data_of_the_page(class_of_ten: Course) -> None:
    found = json.loads(written(class_of_ten)[".json"])
    assert {**found, "written": ""} == {**json.loads(json.dumps(told(class_of_ten))), "written": ""}


@pytest.mark.slow
def test_report_lists_students_waiting_for_manual_grading(class_of_ten: Course) -> None:
    with class_of_ten.api().gradebook as gradebook:
        gradebook.find_grade("test-exercise-1", ASSIGNMENT, ASSIGNMENT, "ada").needs_manual_grade = True
        gradebook.db.commit()
    assert told(class_of_ten)["waiting"] == ["ada"]
    assert "1 submission waiting for manual grading" in text_of(written(class_of_ten)[".html"])


@pytest.mark.slow
def test_report_does_not_count_waiting_points_as_none(class_of_ten: Course) -> None:
    with class_of_ten.api().gradebook as gradebook:
        waiting = [(7, one.id) for one in gradebook.students if one.id not in ("kurt", "luca")] + [(5, "grace")]
        for number, student in waiting:
            grade = gradebook.find_grade(f"test-exercise-{number}", ASSIGNMENT, ASSIGNMENT, student)
            grade.auto_score, grade.needs_manual_grade = None, True
        gradebook.db.commit()
    by_number = {one["exercise"]: one for one in told(class_of_ten)["exercises"]}
    assert (by_number["5"]["no points"], by_number["5"]["waiting"]) == (2, 1)  # henri, and jun with nothing at all
    assert (by_number["7"]["no points"], by_number["7"]["waiting"]) == (0, 10)
    text = text_of(written(class_of_ten)[".html"])
    assert "Hardest: exercise 2, Attention scores (70% got full marks)." in text
    assert "7: Matrix form 0 – 0 0 10 – of 5" in text


@pytest.mark.slow
def test_report_hardest_exercise_is_none_that_waits(class_of_ten: Course) -> None:
    """Nobody knows that yet: one who has written nothing has no points at once, and all others wait."""
    with class_of_ten.api().gradebook as gradebook:
        for student in (one for one in gradebook.students if one.id not in ("kurt", "luca")):
            grade = gradebook.find_grade("test-exercise-7", ASSIGNMENT, ASSIGNMENT, student.id)
            grade.auto_score, grade.needs_manual_grade = (0.0, False) if student.id == "henri" else (None, True)
        gradebook.db.commit()
    assert "Hardest: exercise 2, Attention scores (70% got full marks)." in text_of(written(class_of_ten)[".html"])


def test_report_on_a_class_of_one(course: Course) -> None:
    grade(course, Paper("ada", {2: 0.5}, {2: ["not scaled"]}))
    text = text_of(written(course)[".html"])
    assert "One student has a grade: 28.5 of 30 points." in text
    assert "Nothing needs a closer look." in text


def test_report_when_nobody_has_a_grade_says_so(course: Course) -> None:
    with pytest.raises(CourseError, match=r"self_attention is not graded yet\. Run: grader autograde self_att"):
        write_report(course, ASSIGNMENT)
    with course.api().gradebook as gradebook:
        gradebook.update_or_create_student("ada")
        gradebook.update_or_create_submission(ASSIGNMENT, "ada")
    with pytest.raises(CourseError, match="is not graded yet"):
        write_report(course, ASSIGNMENT)


def test_report_of_an_unknown_assignment_says_so(course: Course) -> None:
    with pytest.raises(CourseError, match="There is no assignment “nonsense”"):
        write_report(course, "nonsense")


def hostile_class(course: Course) -> None:
    """Whoever can write into a submission, or into the list of students, tries it with markup and formulas."""
    source = f'def softmax(items_in):\n    return "{HOSTILE}"'
    said = [f"Your function stopped with ValueError: {HOSTILE}"]
    grade(
        course,
        Paper(HOSTILE.replace("/", "∕"), {3: 0}, reason={3: Reason.ERROR}, lost={5: Lost(Loss.TIME, 5)},
             says={3: said, 5: [f"Your code ran for more than {HOSTILE}"]}, blocked=[f"read {HOSTILE}"],
             cells={3: source}),
        Paper("=1+1", {2: 0.5}, {2: ["not scaled"]}, cells={3: source}),
        Paper("  =3+3"),
        *(Paper(f"{start}cmd", timestamp=DUE + timedelta(days=1)) for start in "+-@\t\r＝"),
    )  # fmt: skip
    with course.api().gradebook as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate=DUE)
        gradebook.update_or_create_student("=1+1", first_name=HOSTILE, last_name="\t=2+2")
        gradebook.update_or_create_student("eve\x1b[31m\u202e")


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.mark.slow
def test_report_page_escapes_markup_of_submissions(course: Course) -> None:
    hostile_class(course)
    html = written(course)[".html"]
    parser = Tags()
    parser.feed(html)
    assert not {"script", "img", "iframe", "object", "link", "base", "form"} & {tag for tag, _ in parser.tags}
    assert not [name for _, attributes in parser.tags for name in attributes if name.startswith("on")]
    assert "alert(1)" in text_of(html)
    assert "{{ 7 * 7 }}" in text_of(html)
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", html)


@pytest.mark.slow
def test_report_page_loads_nothing_else(class_of_ten: Course) -> None:
    html = written(class_of_ten)[".html"]
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!#|\.\./(?:autograded|feedback)/)""", html)
    assert not re.findall(r"url\((?!#)|@import|https?://", html)
    assert "default-src 'none'" in html


def links_on(html: str) -> dict[str, str]:
    """Where the links to other files lead, as they stand there, with their words."""
    return dict(re.findall(r'<a[^>]* href="([^#"]+)"[^>]*>([^<]*)</a>', html))


@pytest.mark.slow
def test_report_page_links_to_feedback_and_graded_notebooks(course: Course) -> None:
    """Wherever the folders are, and whatever students are called."""
    grade(course, Paper("ada"), Paper('a "b"#?%'))
    write_feedback(course, ASSIGNMENT, ["ada"])
    links = links_on(written(course)[".html"])
    assert links == {
        "../feedback/ada/self_attention/self_attention.html": "ada",
        "../autograded/ada/self_attention/self_attention.ipynb": "notebook",
        "../autograded/a%20%22b%22%23%3F%25/self_attention/self_attention.ipynb": "notebook",
    }
    assert all((course.root / "report" / unquote(place)).is_file() for place in links)
    assert "a &#34;b&#34;#?%" in written(course)[".html"]


@pytest.mark.slow
def test_report_on_some_students_covers_only_them(class_of_ten: Course) -> None:
    written(class_of_ten)
    paths = write_report(class_of_ten, ASSIGNMENT, ["alan", "barbara"])
    assert [path.name for path in paths] == [f"self_attention-students.{ending}" for ending in ("html", "csv", "json")]
    html, table, data = (path.read_text(encoding="utf-8-sig") for path in paths)
    assert "self_attention: report on 2 students" in text_of(html)
    assert [line["student"] for line in lines_of(table)] == ["alan", "barbara"]
    assert json.loads(data)["points"]["mean"] == 27.25
    assert len(lines_of((class_of_ten.root / "report/self_attention.csv").read_text(encoding="utf-8-sig"))) == 12
    with pytest.raises(CourseError, match="There is no student called nobody"):
        write_report(class_of_ten, ASSIGNMENT, ["alan", "nobody"])
    with pytest.raises(CourseError, match="None of them has a grade yet"):
        write_report(class_of_ten, ASSIGNMENT, ["luca"])


@pytest.mark.slow
def test_report_csv_holds_no_formula(course: Course) -> None:
    hostile_class(course)
    rows = list(csv.reader(io.StringIO(written(course)[".csv"])))
    cells = [cell for row in rows for cell in row]
    assert not [cell for cell in cells if cell.lstrip()[:1] in tuple("=+-@＝") and cell]
    assert "'=1+1" in cells
    assert all(cell.isprintable() for cell in cells)


@pytest.mark.slow
def test_report_json_keeps_names_as_they_are(course: Course) -> None:
    hostile_class(course)
    text = written(course)[".json"]
    assert text.isascii()  # whoever prints it prints no control characters
    assert "=1+1" in [one["student"] for one in json.loads(text)["students"]]


@pytest.mark.slow
def test_report_bars_are_as_long_as_their_numbers(class_of_ten: Course) -> None:
    page = written(class_of_ten)[".html"]
    table = page[page.index('<table class="distribution">') : page.index("<caption>Points by exercise")]
    lines = re.findall(r'width: ([\d.]+)%".*?<td class="figures">(\d+)</td>', table, re.DOTALL)
    assert [float(width) for width, number in lines if number != "0"] == [20, 20, 100, 60]
    assert [number for _, number in lines if number != "0"] == ["1", "1", "5", "3"]
    last = page[: page.index('<section id="mistakes"')].rpartition('<div class="stack">')[2]
    parts = re.findall(r'<i class="(\w+)" style="flex-grow: (\d+)">', last)
    assert parts == [("full", "8"), ("part", "1"), ("none", "1")]  # exercise 8
    assert "<svg" not in page


@pytest.mark.slow
def test_report_reads_verdicts_of_plain_nbgrader_from_notebook(
    course: Course, submit: Callable[..., Path], solved: Mapping[Label, str]
) -> None:
    wrong = {**solved, 3: "def softmax(items_in):\n    return torch.exp(torch.as_tensor(items_in))"}
    submit(course, "ada", solved)
    list(autograde(course, ASSIGNMENT))
    (versions,) = told(course)["environments"]
    assert re.fullmatch(r"Python 3[\d.]+, grader [\d.]+, nbgrader [\d.]+, PyTorch [\d.+a-z]+, numpy [\d.]+", versions)
    assert f"Graded with {versions}." in write_report(course, ASSIGNMENT)[0].read_text()
    submit(course, "ada", wrong)  # handed in again, and graded by nbgrader: what our record says is old
    assert course.api().autograde(ASSIGNMENT, "ada", force=True)["success"]
    found = told(course)
    assert found["mistakes"][0]["misconceptions"][0]["name"] == "not normalized"
    assert found["students"][0]["points"] == 29
    assert found["environments"] == []


@pytest.mark.slow
def test_report_recognizes_hangs_and_crashes_of_real_grading(
    course: Course, submit: Callable[..., Path], solved: Mapping[Label, str]
) -> None:
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write("\nc.RunAndJudge.timeout = 1\nc.RunAndJudge.case_timeout = 1\n")
    submit(course, "hangs", {3: "def softmax(items_in):\n    while True:\n        pass"})  # nothing else calls it
    submit(course, "hangs-at-once", {**solved, 3: "while True:\n    pass"})
    submit(course, "ends", {**solved, 3: "import os\ndef softmax(items_in):\n    os._exit(1)"})
    submit(course, "reads", {**solved, 8: f"{solved[8]}\nopen('/etc/shadow')"})
    said = "Your code ran for more than 1 second; ada copied from me"
    submit(course, "lies", {**solved, 3: f"class CellStopped(Exception): pass\nraise CellStopped('{said}')\n{SOFTMAX}"})
    list(autograde(course, ASSIGNMENT))
    found = told(course)
    kinds = {(one["student"], one["exercise"], one["kind"]) for one in found["stopped"]}
    assert kinds == {("hangs", 3, "timeout"), ("hangs-at-once", 3, "timeout"), ("ends", 3, "crash")}
    assert "copied from me" not in json.dumps(found["stopped"])
    assert found["denied"] == [{"student": "reads", "attempts": ["read /etc/shadow"]}]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "1 second"), (59 * 60, "59 minutes"), (86400 + 6 * 3600, "1 day 6 hours"), (7200, "2 hours")],
)
def test_duration_in_words(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def identical_groups(works: Mapping[str, Work], **more: Any) -> dict[tuple[str, ...], list[str]]:
    found = identical(works, more.pop("given", {}), more.pop("given_words", ()), **more)
    return {tuple(group.students): list(group.what) for group in found}


ANSWER = "The weights of each query sum to one, whatever the keys are."


def test_identical_finds_the_same_files_in_any_number() -> None:
    """With the code that everybody writes, and in groups of any size."""
    usual = {f"s{number:03}": Work(COPY, file=str(number)) for number in range(30)}
    copied = {f"c{number:02}": Work(COPY, file="x") for number in range(20)}
    found = identical_groups({**usual, **copied, "one": Work(COPY, file="y"), "two": Work(COPY, file="y")})
    assert found[tuple(copied)] == ["the same file, byte for byte"]
    assert found["one", "two"] == ["the same file, byte for byte"]


def test_identical_finds_the_same_texts_in_answers_and_notes() -> None:
    works = {
        "ada": Work({}, [("why", ANSWER), ("", "My own note, which nobody else would write.")]),
        "emmy": Work({}, [("why", f"  {ANSWER.replace(' ', chr(10), 2)}\n"), ("how", "Yes.")]),
        "kurt": Work({}, [("why", ANSWER), ("how", "Yes."), ("", "My own note, which  nobody else would write.")]),
        "lise": Work({}, [("why", "Explain in your own words why the weights sum to one.")]),
        "otto": Work({}, [("why", "Explain in your own words why the weights sum to one.")]),
    }
    given = ["Explain in your own words\nwhy the weights sum to one."]
    assert identical_groups(works, given_words=given) == {
        ("ada", "emmy", "kurt"): ["the answer why"],
        ("ada", "kurt"): ["a text of their own"],
    }


def test_identical_ignores_released_text_around_short_answers() -> None:
    """A cell with a long beginning and one word of a student's, in words or in code."""
    asked = "Explain in your own words why the weights sum to one.\nYour answer:"
    stub = f"def plot(values):\n    {'# Draw the values, and label both axes. ' * 10}\n"
    released = [*asked.splitlines(), *stub.splitlines()]
    works = {name: Work({1: f"{stub}    return values"}, [("why", f"{asked}\n\n yes")]) for name in ("ada", "emmy")}
    assert identical_groups(works, given={1: [stub]}, given_words=[asked], released_lines=released) == {}
    longer = {name: Work({1: f"{stub}{COPY[7]}"}, [("why", f"{asked}\n{ANSWER}")]) for name in ("ada", "emmy")}
    found = identical_groups(longer, given={1: [stub]}, given_words=[asked], released_lines=released)
    assert found == {("ada", "emmy"): ["the same text in everything that they filled in"]}


@pytest.mark.slow
def test_identical_ignores_untouched_notebooks(course: Course) -> None:
    """Its cells may have been run, and two students who only did that have the same file."""
    grade(course, *(Paper(name) for name in ("ada", "emmy", "kurt", "lise")))
    ran = course.read("release", ASSIGNMENT)
    for number, cell in enumerate(cell for cell in ran.cells if cell.cell_type == "code"):
        cell.execution_count = number + 1
    written_in = fill_in(ran, {1: SOFTMAX})
    for student, notebook in (("ada", ran), ("emmy", ran), ("kurt", written_in), ("lise", written_in)):
        path = course.notebook(f"submitted/{student}", ASSIGNMENT)
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
    groups = json.loads(written(course)[".json"])["identical"]
    assert groups == [{"students": ["kurt", "lise"], "what": ["the same file, byte for byte"]}]


def test_identical_finds_long_code_that_is_not_given() -> None:
    long, short = COPY[7], COPY[2]
    works = {f"s{number}": Work({1: f"{long}\n\n", 2: short}) for number in range(12)}
    works |= {"other": Work({1: renamed(long), 2: short}), "spaces": Work({1: long.replace("\n", "  \n"), 2: "pass"})}
    everyone = tuple(sorted(f"s{number}" for number in range(12)))
    found = identical_groups(works)
    assert found[everyone] == ["the same text in everything that they filled in"]
    assert found[(*everyone, "spaces")] == ["exercise 1"]
    assert len(found) == 2
    assert identical_groups(works, given={1: [long], 2: [short]}) == {}


@pytest.mark.slow
def test_report_page_bounds_the_groups_of_identical_notebooks(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MAX_GROUPS", 2)
    copies = {name: {number: f"{source}  # {name}" for number, source in COPY.items()} for name in "abcd"}
    grade(course, *(Paper(f"{name}{place}", cells=copies[name]) for name in "abcd" for place in range(3)))
    files = written(course)
    text = text_of(files[".html"])
    assert "4 groups with the same file or text" in text
    assert "2 more are in the CSV and JSON files" in text
    assert "a reason to look, not proof" in text
    assert len(json.loads(files[".json"])["identical"]) == 4
    assert {line["student"]: line["identical: with"] for line in lines_of(files[".csv"])}["a0"] == "a1; a2"


@pytest.mark.slow
def test_identical_compares_files_in_submitted(course: Course) -> None:
    nothing = Paper("empty", reason=dict.fromkeys(MAX_POINTS, Reason.TO_DO))
    grade(course, Paper("ada"), Paper("emmy"), Paper("kurt"), nothing)
    for student, content in (("ada", b"x"), ("emmy", b"x"), ("kurt", b"y"), ("empty", b"x")):
        path = course.notebook(f"submitted/{student}", ASSIGNMENT)
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    groups = json.loads(written(course)[".json"])["identical"]
    assert groups == [{"students": ["ada", "emmy"], "what": ["the same file, byte for byte"]}]


@pytest.mark.slow
def test_read_class_takes_as_many_queries_for_any_size(course: Course) -> None:
    counts = []
    for size in (2, 40):
        grade(course, *(Paper(f"s{number:02}") for number in range(size)))
        queries = Mock()
        event.listen(Engine, "before_cursor_execute", queries)
        try:
            read_class(course, ASSIGNMENT)
        finally:
            event.remove(Engine, "before_cursor_execute", queries)
        counts.append(queries.call_count)
    assert counts[0] == counts[1]


def test_report_page_is_accessible(class_of_ten: Course, browser: Chrome) -> None:
    page = write_report(class_of_ten, ASSIGNMENT)[0]
    browser.get(page.as_uri())
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    assert violations(browser) == []


def test_report_page_on_a_phone_shows_the_last_column(class_of_ten: Course, browser: Chrome) -> None:
    browser.get(write_report(class_of_ten, ASSIGNMENT)[0].as_uri())
    last = "th.figures:last-child"
    with seen_as(browser, width=390):
        browser.execute_script("document.querySelectorAll('details').forEach(one => one.open = true)")
        cells = browser.find_elements("css selector", f"div.wide {last}")
        edges = {cell.text: cell.rect["x"] + cell.rect["width"] for cell in cells}
    assert {"mean", "points"} <= edges.keys()
    assert max(edges.values()) <= 390


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (1280, 800)])
def test_report_page_on_a_projector_shows_points_and_mistakes_on_one_screen(
    class_of_ten: Course, browser: Chrome, width: int, height: int
) -> None:
    browser.get(write_report(class_of_ten, ASSIGNMENT)[0].as_uri())
    with seen_as(browser, width=width, height=height):
        points, mistakes, last = (
            browser.find_element("css selector", selector).rect
            for selector in ("#understood", "#mistakes", ".mistakes tbody tr:last-child")
        )
        assert browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth")
    assert points["x"] + points["width"] <= mistakes["x"]
    assert max(points["y"] + points["height"], last["y"] + last["height"]) <= height


def test_report_page_runs_and_loads_nothing(course: Course, browser: Chrome) -> None:
    hostile_class(course)
    browser.get(write_report(course, ASSIGNMENT)[0].as_uri())
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.execute_script("return document.scripts.length + document.images.length") == 0
