"""The feedback page of a student: what it says, what it never says, and that everybody can read it."""

from __future__ import annotations

import base64
import json
import math
import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from nbconvert.exporters.exporter import ResourcesDict
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from grader.classroom.run import autograde
from grader.course.folder import Course
from grader.errors import CourseError
from grader.judging.best_verdict import combine
from grader.judging.judge import best_picture, judge
from grader.kit.module_cases import LATER_CHANGED
from grader.kit.pictures import as_matrix, causal_weights, looks_ahead, scores, softmax_along, weights
from grader.model.answer import Raised, Returned, Symptom
from grader.model.untrusted import converted
from grader.model.verdict import MAX_SIDE, Picture, Reason, Verdict
from grader.pages.feedback import write_feedback
from grader.pages.feedback_page import FeedbackExporter, pages_of_submission
from grader.pages.headings import Headings
from grader.pages.heat_map import FILTERS
from grader.pages.page_parts import TEMPLATES, contents_of, template
from support.accessibility import seen_as, violations
from support.observers import Messages
from support.our_course import EXERCISES
from support.plain_nbgrader import added_cell, nbgrader

pytestmark = pytest.mark.slow

ASSIGNMENT = "self_attention"
NOT_SCALED = """\
def attention_scores(all_queries, all_keys):
    # my own words
    return [[torch.sum(query * key) for key in all_keys] for query in all_queries]
"""
NOT_NORMALIZED = """\
def softmax(items_in):
    return torch.exp(torch.as_tensor(items_in))
"""
OVER_QUERIES = """\
def attention_weights(all_attention_scores):
    return list(torch.softmax(torch.tensor(all_attention_scores), dim=0))
"""
FAILS = """\
def weighted_sums(all_attention_weights, all_values):
    raise ValueError("in /home/somebody/course/x.py and " + "/".join(["", "root", "secret.txt"]))
"""
CURIOUS = """\
def compute_qkv(all_x, W_q, W_k, W_v, b_q, b_k, b_v):
    open("/etc/" + "passwd")
"""
ESSAY = "Because *keys* decide. <script>alert(1)</script> [more](https://example.org) ![x](https://example.org/x.png)"


# --- a class with one of everything ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def marked(new_course: Any, make_notebook: Any, submit: Any, solved: dict[int, str]) -> Course:
    """A course with a written answer; the instructor has graded and commented on ada, who was late."""
    course: Course = new_course()
    source = course.read("source", ASSIGNMENT)
    for name in ("essay", "essay-2", "essay-3"):
        source.cells.append(added_cell(name, "Your answer", "markdown", solution=True, locked=False))
    nbformat.write(source, course.notebook("source", ASSIGNMENT))
    with course.api().gradebook as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate="2030-02-02 14:00:00 UTC")
    nbgrader(course, "generate_assignment", ASSIGNMENT, "--force")
    answers = {1: CURIOUS, 2: NOT_SCALED, 3: NOT_NORMALIZED, 4: OVER_QUERIES, 5: FAILS, 8: solved[8]}
    for student, code in (("ada", answers), ("ben", solved)):
        notebook = make_notebook(course, code)
        for cell in notebook.cells:
            if cell.metadata.nbgrader.grade_id in ("essay", "essay-2"):
                cell.source = ESSAY
        if student == "ada":
            notebook.cells = [cell for cell in notebook.cells if cell.metadata.nbgrader.grade_id != "test-exercise-7"]
        path = submit(course, student, notebook)
        (path.parent / "timestamp.txt").write_text(f"2030-02-0{3 if student == 'ada' else 1} 14:00:00 UTC")
    (course.root / "course.toml").write_text('[late]\nper = "day"\nshare = 0.0822\n')  # 1.5 of ada's 18.25 points
    assert [one.error for one in autograde(course, ASSIGNMENT)] == ["", ""]
    with course.api().gradebook as gradebook:
        by_hand(gradebook, "ada", "essay", 5.5, "Well said.\n\n- but *short*")
        by_hand(gradebook, "ada", "test-exercise-2", 2.75)
        by_hand(gradebook, "ada", "exercise-2", None, "Half a point more for the `loops`. <img src=x onerror=alert(1)>")
        by_hand(gradebook, "ada", "test-exercise-1", None)
        gradebook.db.commit()
    return course


def by_hand(gradebook: Any, student: str, cell: str, score: float | None, comment: str = "") -> None:
    if score is not None:
        grade = gradebook.find_grade(cell, ASSIGNMENT, ASSIGNMENT, student)
        grade.manual_score, grade.needs_manual_grade = score, False
    if comment:
        gradebook.find_comment(cell, ASSIGNMENT, ASSIGNMENT, student).manual_comment = comment
    gradebook.db.commit()


@pytest.fixture(scope="module")
def pages(marked: Course) -> dict[str, Path]:
    return {path.parent.parent.name: path for path in write_feedback(marked, ASSIGNMENT)}


@pytest.fixture
def page(browser: Chrome, pages: dict[str, Path]) -> Chrome:
    """The page of ada, who has got most things wrong."""
    browser.get(pages["ada"].as_uri())
    return browser


def text(page: Chrome, selector: str) -> str:
    return str(page.find_element(By.CSS_SELECTOR, selector).text)


def exercise(page: Chrome, number: int) -> str:
    return text(page, f"#part-test-exercise-{number}")


def misconception_sentence(number: int, misconception: str) -> str:
    (found,) = [one for one in EXERCISES[number].mistakes if one.name == misconception]
    return found.says


# --- what it says ---------------------------------------------------------------------------------------------------


def test_pages_of_submission_are_what_the_command_writes(marked: Course, pages: dict[str, Path]) -> None:
    assert sorted(pages) == ["ada", "ben"]
    for student, path in pages.items():
        assert pages_of_submission(marked, ASSIGNMENT, student) == [path.read_text()]
    assert pages_of_submission(marked, ASSIGNMENT, "nobody") == []


def test_contents_are_taken_from_our_own_pages_only(pages: dict[str, Path]) -> None:
    contents = contents_of(pages["ada"].read_text())
    assert "Well said." in contents
    assert "<style" not in contents
    assert contents_of("<html><body><main>What nbconvert writes.</main></body></html>") == ""


def test_feedback_begins_with_points_and_links_to_exercises(page: Chrome) -> None:
    # 2.75 by hand, two times half of 2, all 8 of exercise 8, 5.5 for the essay, 1.5 less for being late
    assert "16.75 of 51 points" in text(page, "header")
    assert "1.5 taken off for submitting late" in text(page, "header")
    rows = [row.text.splitlines() for row in page.find_elements(By.CSS_SELECTOR, ".lead tbody tr")]
    assert len(rows) == 11
    assert rows[1] == ["◐", "Exercise 2: Attention scores", "Points set by your instructor", "2.75 of 3"]
    assert rows[2] == ["◐", "Exercise 3: Softmax", "Not normalized", "1 of 2"]
    assert rows[7] == ["✓", "Exercise 8: Two heads", "Right", "8 of 8"]
    for link in page.find_elements(By.CSS_SELECTOR, ".lead tbody a"):
        target = page.find_element(By.ID, str(link.get_dom_attribute("href"))[1:])
        assert link.text in target.text


def test_feedback_says_what_is_right_and_what_is_next(page: Chrome) -> None:
    lead = text(page, ".lead")
    assert "Right: 1 of 11" in lead
    assert "Next: Exercise 1: Queries, keys, values" in lead


def test_misconception_has_name_sentence_and_section_to_reread(page: Chrome) -> None:
    shown = exercise(page, 3)
    assert "Not normalized" in shown
    assert misconception_sentence(3, "not normalized") in shown
    assert "Everything else is right: 1 of 2 points." in shown
    assert "Reread “Exercise 3: softmax” in the notebook. For a hint, run hint(3) there." in shown


def test_feedback_highlights_only_the_students_code(page: Chrome) -> None:
    code = page.find_element(By.CSS_SELECTOR, "#part-test-exercise-2 pre")
    assert code.text == NOT_SCALED.rstrip("\n")
    assert code.find_element(By.CSS_SELECTOR, ".py-c1").text == "# my own words"
    assert not page.find_elements(By.CSS_SELECTOR, "#part-test-exercise-6 pre")  # still to do


def test_feedback_shows_manual_scores_and_comments(page: Chrome) -> None:
    shown = exercise(page, 2)
    assert "2.75 of 3 points" in shown
    assert "Your instructor set these points; the tests gave 1.5 (Not scaled)." in shown
    assert "the tests gave" not in exercise(page, 3)
    assert "Half a point more for the loops." in shown
    essay = text(page, "#part-essay")
    assert "5.5 of 7 points" in essay
    assert "Because keys decide." in essay
    assert "Well said." in essay
    assert "Waiting for your instructor" in text(page, "#part-essay-2")
    assert "Nothing written yet" in text(page, "#part-essay-3")


def scored_cell(number: int, credit: float, score: float, **verdict: Any) -> Any:
    """A graded test for 3 points, with what the tests found and the points that the gradebook has."""
    right = {"reason": "right", "sentences": [], "cases_right": 6} if credit == 1 else {}
    found = {"reason": "missing", "sentences": ["There is no `f`."], "cases_right": 0} | right
    ours = (
        found
        | {"title": "A", "credit": credit, "points": 3 * credit, "max_points": 3.0, "misconceptions": [], "cases": 6}
        | verdict
    )
    cell = added_cell(f"test-exercise-{number}", "check(1)", points=3.0, score=score)
    cell.outputs = [nbformat.v4.new_output("display_data", data={}, metadata={"grader": ours})]
    return cell


def words_of(*cells: Any) -> str:
    return plain_text(exported(nbformat.v4.new_notebook(cells=list(cells)), score=0.0, max_score=6.0))


def test_right_code_with_no_manual_points_is_not_called_right() -> None:
    shown = words_of(scored_cell(1, 1.0, 0.0), scored_cell(2, 1.0, 3.0))
    assert "Right: 1 of 2. Next: Exercise 1: A – Points set by your instructor." in shown
    assert "✗ Exercise 1: A 0 of 3 points, no points yet Points set by your instructor" in shown
    assert "the tests gave 3 (Right). What is right all 6 hidden cases. What to do next The tests found" in shown
    assert "check(1)" not in shown  # which would say that all is right
    assert "Everything is right" not in words_of(scored_cell(1, 1.0, 0.0), scored_cell(2, 1.0, 0.0))


def test_wrong_code_with_full_manual_points_is_not_called_wrong() -> None:
    shown = words_of(scored_cell(1, 0.0, 3.0), scored_cell(2, 0.0, 0.0))
    assert "Full marks: 1 of 2. Next: Exercise 2: A – Not found." in shown
    assert "✓ Exercise 1: A 3 of 3 points, full marks Points set by your instructor" in shown
    assert "the tests gave 0 (Not found). What the tests found There is no f. ✗ Exercise 2" in shown
    assert "You have full marks for everything." in words_of(scored_cell(1, 0.0, 3.0), scored_cell(2, 1.0, 3.0))


def test_misconception_with_full_manual_points_claims_no_loss() -> None:
    one = {"reason": "misconception", "misconceptions": ["not scaled"], "cases_right": 0}
    assert "Everything else is right: 1.5 of 3 points." in words_of(scored_cell(1, 0.5, 1.5, **one))
    assert "Everything else" not in words_of(scored_cell(1, 0.5, 3.0, **one))


def page_of_two_functions(first: Verdict, second: Verdict) -> str:
    """What is said of an exercise of two functions."""
    verdict = combine({"mask": first, "softmax": second})
    data = json.loads(json.dumps(verdict.to_json()))
    credit = data.pop("credit")
    return words_of(scored_cell(14, credit, 3 * credit, **data))


FINE = Verdict(14, "Masks", 1.0, Reason.RIGHT, ("Right.",), cases_right=4, cases=4)
UNSCALED = Verdict(14, "Masks", 0.5, Reason.MISCONCEPTION, ("Divide.",), ("not scaled",), cases=4)
PARTLY = Verdict(14, "Masks", 0.0, Reason.WRONG, ("Off.", "1 of 4 hidden cases are right; …"), cases_right=1, cases=4)


def test_two_functions_when_one_is_wrong_says_which_is_right() -> None:
    shown = page_of_two_functions(FINE, UNSCALED)
    assert "What is right mask is right.4 of 8 hidden cases are right. What is wrong softmax: Divide." in shown
    assert "Everything else" not in shown
    assert "mask: Right." not in shown


def test_two_functions_with_the_same_mistake_get_one_sentence() -> None:
    shown = page_of_two_functions(UNSCALED, UNSCALED)
    assert "What is right Everything else is right: 1.5 of 3 points." in shown
    assert "What is wrong Divide. What to do next" in shown


def test_two_functions_when_both_are_missing_says_why_once() -> None:
    stopped = "The cell with the definition stopped with SyntaxError: …"
    missing = [Verdict(14, "Masks", 0.0, Reason.MISSING, (f"There is no {name}.", stopped)) for name in ("mask", "max")]
    assert (
        "What is wrong mask: There is no mask. softmax: There is no max. The cell with the def"
        in page_of_two_functions(*missing)
    )
    assert combine({"mask": missing[0], "softmax": missing[1]}).sentences[-1] == stopped
    assert f"mask: {stopped}" in page_of_two_functions(missing[0], PARTLY)


TWO = Verdict(
    14, "Masks", 0.25, Reason.MISCONCEPTION,
    ("The line `x` is lost.", "Two things at once:", "Divide.", "Mask.", "Unused."),
    ("not scaled", "not masked"), cases=4, heading="Two things at once:",
)  # fmt: skip


def test_two_mistakes_stand_below_their_heading() -> None:
    data = TWO.to_json()
    cell = scored_cell(14, data.pop("credit"), 0.75, **data)
    shown = " ".join(exported(nbformat.v4.new_notebook(cells=[cell]), score=0.75, max_score=3.0).split())
    assert (
        "<p>The line <code>x</code> is lost.</p> <p>Two things at once:</p> "
        "<ul><li>Divide.</li><li>Mask.</li></ul> <p>Unused.</p>"
    ) in shown
    both = page_of_two_functions(TWO, UNSCALED)
    assert "mask: The line x is lost. mask: Two things at once: Divide.Mask. mask: Unused. softmax: Divide." in both
    assert "What is wrong The line x is lost. Two things at once: Divide.Mask. Unused." in page_of_two_functions(
        TWO, TWO
    )


def test_located_mistake_says_that_the_rest_is_right() -> None:
    text = words_of(
        scored_cell(7, 0.5, 1.5, reason="located", sentences=["With one small change in the line `x = 1`."])
    )
    assert "Everything else is right: 1.5 of 3 points." in text
    assert "What to do next After each change" in text  # the sentence has said where to look
    assert "Everything else" not in words_of(scored_cell(7, 0.0, 0.0, reason="located"))


TO_DO = Verdict(14, "Masks", 0.0, Reason.TO_DO, ("This exercise is still to do.",), cases=4)


def test_half_written_exercise_says_what_is_wrong_and_to_do() -> None:
    shown = page_of_two_functions(UNSCALED, TO_DO)
    assert "Not scaled + softmax still to do" in shown
    assert "What is wrong mask: Divide. softmax: This function is still to do." in shown
    shown = page_of_two_functions(TO_DO, PARTLY)
    assert "Not right yet + mask still to do" in shown
    assert "mask: This function is still to do. softmax: Off." in shown


def test_half_written_exercise_when_rest_is_right_says_what_is_to_do() -> None:
    shown = page_of_two_functions(FINE, TO_DO)
    assert "points softmax still to do" in shown.replace(", some of the points", " points")
    assert "What is right mask is right." in shown
    assert "What is wrong softmax: This function is still to do." in shown


def test_exercise_not_begun_is_only_still_to_do() -> None:
    shown = page_of_two_functions(TO_DO, TO_DO)
    assert "Still to do" in shown
    assert "What is wrong" not in shown


def with_code(source: str, **verdict: Any) -> str:
    """The page on this code of exercise 14."""
    solution = added_cell("exercise-14", source, solution=True, grade=False, locked=False)
    notebook = nbformat.v4.new_notebook(cells=[solution, scored_cell(14, verdict.pop("credit", 0.0), 0.0, **verdict)])
    return exported(notebook, score=0.0, max_score=3.0)


HALF_WRITTEN = "def mask(x):\n    return x\n\n\ndef softmax(x):\n    raise NotImplementedError()"


def test_half_written_exercise_shows_its_code() -> None:
    data = combine({"mask": UNSCALED, "softmax": TO_DO}).to_json()
    assert "Your code" in with_code(HALF_WRITTEN, **data)
    assert "Your code" not in with_code(HALF_WRITTEN, **combine({"mask": TO_DO, "softmax": TO_DO}).to_json())


@pytest.mark.parametrize(
    ("name", "headline"),
    [
        ("d_out split among the heads", "d_out"), ("self.values unused", "self.values"), ("dO missing", "dO"),
        ("x as it is", "x as it is"), ("a mask too many", "A mask"), ("not scaled", "Not scaled"),
    ],
)  # fmt: skip
def test_headline_is_capitalized_unless_it_begins_with_code(name: str, headline: str) -> None:
    shown = words_of(scored_cell(1, 0.5, 1.5, reason="misconception", misconceptions=[name]))
    assert f"some of the points {headline}" in shown


def test_syntax_error_is_named_with_its_line() -> None:
    because = ["There is no function called f.", "The cell with the definition stopped with SyntaxError: …"]
    page = with_code("%time\ndef f(x):\n    y = (x\n    return y", symptom="syntax", sentences=because)
    assert "Syntax error in line 3" in plain_text(page)
    assert "Not found" not in plain_text(page)
    assert marked_in(page) == ["    y = (x"]


def marked_in(page: str) -> list[str]:
    marked = re.findall("<mark>(.*?)</mark>", page)
    return [re.sub("<.*?>", "", line) for line in marked]


def test_quoted_line_is_marked_in_the_code() -> None:
    source = 'def f(x):\n    """\n    y = x + 1\n    """\n    y = x + 1  # one more\n    y\n    return y'
    says = ["One small change in the line `y = x + 1` makes all values right.", "You compute `y`, but never use it."]
    page = with_code(source, reason="located", credit=0.5, sentences=says)
    assert marked_in(page) == ["    y = x + 1  # one more"]


def test_two_mistakes_when_only_some_are_named_does_not_say_all() -> None:
    some = {"reason": "misconception", "misconceptions": ["not scaled", "not masked"], "partly_named": True}
    assert "Everything else" not in words_of(scored_cell(1, 0.25, 0.75, **some))


def test_advice_on_sizes_needs_right_cases() -> None:
    stopped = {"reason": "error", "symptom": "size", "sentences": ["It stopped."]}
    assert "other sizes" not in words_of(scored_cell(1, 0.0, 0.0, **stopped))  # it stops for the notebook's, too
    assert "Call it with inputs of other sizes" in words_of(scored_cell(1, 0.0, 0.0, **stopped, cases_right=3))


@pytest.mark.parametrize(
    ("credit", "most", "points"),
    [(0.375, 3, 1.25), (0.125, 4, 0.5), (0.0625, 2, 0.25), (0.5, 0.1, 0.05), (1, 0.7, 0.7)],
)
def test_points_come_in_quarters(credit: float, most: float, points: float) -> None:
    assert Verdict(1, "A", credit, Reason.WRONG).points(most) == points


def test_number_of_right_cases_is_said_once() -> None:
    located = {"reason": "located", "sentences": ["2 of 6 hidden cases are right. The first …"], "cases_right": 2}
    assert words_of(scored_cell(1, 0.5, 1.5, **located)).count("hidden cases are right") == 1
    assert page_of_two_functions(FINE, PARTLY).count("hidden cases are right") == 1
    assert page_of_two_functions(PARTLY, UNSCALED).count("hidden cases are right") == 1


def test_late_penalty_never_makes_points_negative() -> None:
    page = exported(nbformat.v4.new_notebook(), score=-5.0, max_score=30.0, late_penalty=22.0)
    assert "0 of 30 points 22 taken off for submitting late" in plain_text(page)


def test_feedback_tells_repairs_and_blocked_actions(page: Chrome) -> None:
    assert "The cell “test-exercise-7” was missing and was restored." in text(page, "[aria-labelledby=notes]")
    assert "Your code tried to read" in text(page, "[aria-labelledby=blocked]")


def test_feedback_when_all_is_right_says_so(browser: Chrome, pages: dict[str, Path]) -> None:
    browser.get(pages["ben"].as_uri())
    assert "30 of 51 points" in text(browser, "header")
    assert "Right: 8 of 11" in text(browser, ".lead")
    assert "Right: all 6 hidden cases." in exercise(browser, 1)
    assert not browser.find_elements(By.CSS_SELECTOR, "figure, .wrong")


# --- what it never says ---------------------------------------------------------------------------------------------


def test_feedback_holds_no_hidden_test_path_or_traceback(pages: dict[str, Path], marked: Course) -> None:
    for path in pages.values():
        content = path.read_text()
        for secret in (
            "HIDDEN TESTS",
            "hidden_tests",
            "Traceback",
            "site-packages",
            str(marked.root),
            "/etc/passwd",
            "/root/secret",
        ):
            assert secret not in content, secret
        assert "reference" not in content
    assert "/home/somebody/course/x.py" in pages["ada"].read_text()  # the student's own words


class Markup(HTMLParser):
    """What could run or load something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in (
            "script",
            "iframe",
            "object",
            "embed",
            "link",
            "img",
            "form",
            "base",
            "foreignobject",
            "use",
            "image",
        ):
            self.found.append(tag)
        for name, value in attributes:
            address = (value or "").strip().lower()
            if name.startswith("on") or name in ("src", "srcset", "xlink:href", "formaction", "background"):
                self.found.append(f"{tag} {name}")
            if name == "href" and not address.startswith(("#", "https://", "http://", "mailto:")):
                self.found.append(f"{tag} {name}={address}")
            if "url(" in address and not address.startswith("url(#"):
                self.found.append(f"{tag} {name}={address}")


def dangers(page: str) -> list[str]:
    markup = Markup()
    markup.feed(page)
    style = "".join(re.findall(r"<style>(.*?)</style>", page, re.DOTALL))
    return markup.found + re.findall(r"@import|url\(", style)


def test_feedback_loads_nothing_else(pages: dict[str, Path]) -> None:
    for path in pages.values():
        assert dangers(path.read_text()) == []


HOSTILE = (
    '</code></pre></title></style><script>window.hit=1</script><img src=x onerror="window.hit=1"><svg onload=hit()>'
)


def hostile_notebook() -> Any:
    """A graded notebook somebody has filled with markup wherever a text can be."""
    bad = [HOSTILE] * 3
    picture = {
        "numbers": [[0.5, "NaN"]],
        "title": HOSTILE,
        "rows": HOSTILE,
        "columns": HOSTILE,
        "wrong": bad,
        "right": bad,
    }
    ours = {
        "exercise": 3, "title": HOSTILE, "credit": 0.5, "points": 1.0, "max_points": 2.0, "reason": "misconception",
        "sentences": bad, "misconceptions": bad, "cases_right": 1, "cases": 3, "reread": HOSTILE, "pictures": [picture],
    }  # fmt: skip
    output = nbformat.v4.new_output("display_data", data={"text/html": HOSTILE}, metadata={"grader": ours})
    blocked = nbformat.v4.new_output("display_data", data={}, metadata={"grader": {"blocked": bad}})
    marks = {"grade": True, "solution": False, "locked": True, "points": 2.0, "score": 1.0, "schema_version": 3}
    solution = {"grade": False, "solution": True, "grade_id": "exercise-3", "comment": HOSTILE}
    written = {"grade": True, "solution": True, "grade_id": HOSTILE, "points": 3.0, "score": 1.0, "comment": HOSTILE}
    cells = [
        nbformat.v4.new_markdown_cell(HOSTILE, metadata={"grader": {"notes": bad}}),
        nbformat.v4.new_markdown_cell(f"# {HOSTILE}\n\n## {HOSTILE}"),
        nbformat.v4.new_code_cell(HOSTILE, metadata={"nbgrader": solution}, outputs=[blocked]),
        nbformat.v4.new_code_cell("", metadata={"nbgrader": marks | {"grade_id": "test-exercise-3"}}, outputs=[output]),
        nbformat.v4.new_code_cell("", metadata={"nbgrader": marks | {"grade_id": HOSTILE}}),
        nbformat.v4.new_markdown_cell(HOSTILE, metadata={"nbgrader": written}),
        nbformat.v4.new_code_cell(HOSTILE, metadata={"nbgrader": written}),
    ]
    return nbformat.v4.new_notebook(cells=cells)


def exported(graded: Any, **names: Any) -> str:
    """The page of a notebook that nbgrader knows nothing of."""
    page, _ = FeedbackExporter().from_notebook_node(graded, ResourcesDict(nbgrader=names))
    return str(page)


def test_feedback_escapes_markup_everywhere(browser: Chrome, tmp_path: Path) -> None:
    page = exported(hostile_notebook(), student=HOSTILE, notebook=HOSTILE, score=1.0, max_score=2.0, late_penalty=0.5)
    assert dangers(page) == []
    path = tmp_path / "page.html"
    path.write_text(page.replace("Content-Security-Policy", "x"))  # which would stop what got into the page
    browser.get(path.as_uri())
    assert browser.execute_script("return window.hit") is None
    assert browser.execute_script("return document.scripts.length") == 0
    assert "<script>window.hit=1</script>" in text(browser, "#part-test-exercise-3 pre")
    assert "<script>window.hit=1</script>" in text(browser, "#part-test-exercise-3 .wrong")


def test_feedback_policy_forbids_scripts(page: Chrome) -> None:
    policy = page.find_element(By.CSS_SELECTOR, "meta[http-equiv=Content-Security-Policy]").get_dom_attribute("content")
    assert str(policy).startswith("default-src 'none'; style-src 'unsafe-inline';")


MARK_SCHEME = """\
Draw the heads.

=== BEGIN MARK SCHEME ===
# Two points for the scale
## One for the legend
=== END MARK SCHEME ==="""


@pytest.mark.parametrize("cell_type", ["markdown", "code"])
def test_feedback_hides_the_mark_scheme_of_a_task(cell_type: str) -> None:
    marks = {"points": 3.0, "score": 2.0, "by_hand": True, "comment": "No legend.", "comment_by_hand": True}
    task = added_cell("drawing", MARK_SCHEME, cell_type, grade=False, task=True, **marks)
    page = exported(nbformat.v4.new_notebook(cells=[task, added_cell("test-exercise-1", "", score=0.0)]))
    assert "Task: drawing" in page
    assert "2 of 3" in page
    assert "No legend." in page
    for secret in ("MARK SCHEME", "for the scale", "for the legend", "Draw the heads"):
        assert secret not in page, secret


# --- who reads it ---------------------------------------------------------------------------------------------------


def test_feedback_is_accessible(page: Chrome) -> None:
    for details in page.find_elements(By.CSS_SELECTOR, "details:not([open]) summary"):
        details.click()
    assert violations(page) == []


@pytest.mark.parametrize("width", [1280, 800, 390, 320])
def test_feedback_does_not_overflow(page: Chrome, width: int) -> None:
    with seen_as(page, width=width):
        assert page.execute_script("return document.documentElement.scrollWidth") <= width


def test_feedback_is_dark_for_those_who_prefer_it(page: Chrome) -> None:
    color = "return getComputedStyle(document.body).backgroundColor"
    with seen_as(page, "light"):
        light = page.execute_script(color)
    with seen_as(page, "dark"):
        dark = page.execute_script(color)
    assert [sum(map(int, re.findall(r"\d+", one))) > 380 for one in (light, dark)] == [True, False]


def test_feedback_on_paper_shows_all_code(page: Chrome) -> None:
    folded = "return document.querySelector('details:not([open]) pre').checkVisibility({contentVisibilityAuto: true})"
    assert not page.execute_script(folded)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:  # what is folded away is drawn with the next frame only
        WebDriverWait(page, 20).until(lambda _: page.execute_script(folded), "code is folded away on paper")
    finally:
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_feedback_on_paper_fills_its_pages(page: Chrome) -> None:
    """No exercise waits for a page of its own: what is printed is little longer than what there is to print."""
    paper = {"paperWidth": 8.27, "paperHeight": 11.69, "marginTop": 0.4, "marginBottom": 0.4}
    pdf = base64.b64decode(page.execute_cdp_cmd("Page.printToPDF", paper)["data"])
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        with_room = {"width": round(7.48 * 96), "height": 1000, "deviceScaleFactor": 1, "mobile": False}
        page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", with_room)
        height = page.execute_script("return document.documentElement.scrollHeight")
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    printed = len(re.findall(rb"/Type\s*/Page\b", pdf))
    assert printed <= math.ceil(1.2 * height / (10.89 * 96))


def test_heat_map_is_a_table_with_a_title_and_headers(page: Chrome) -> None:
    table = page.find_element(By.CSS_SELECTOR, "#part-test-exercise-4 table.heat-map")
    title = page.find_element(By.ID, str(table.get_dom_attribute("aria-labelledby"))).text
    assert title == "What your attention_weights returned in the hidden case “the notebook's size”"
    rows = table.find_elements(By.CSS_SELECTOR, "tbody tr.broken")
    assert [row.find_element(By.TAG_NAME, "th").text for row in rows] == ["query 1", "query 2", "query 3"]
    assert all(row.find_element(By.CSS_SELECTOR, ".sum.broken").text.endswith(" ≠ 1") for row in rows)
    assert len(table.find_elements(By.CSS_SELECTOR, "td.number")) == 9
    assert "✗ Rows 1, 2 and 3 do not sum to one. Each column does instead." in exercise(page, 4)


# --- one page for all ways to ask for it ----------------------------------------------------------------------------


def test_feedback_by_nbgrader_and_formgrader_is_the_same_page(marked: Course, pages: dict[str, Path]) -> None:
    ours = {student: path.read_text() for student, path in pages.items()}
    nbgrader(marked, "generate_feedback", ASSIGNMENT, "--force")
    assert {student: path.read_text() for student, path in pages.items()} == ours
    pages["ada"].unlink()
    assert marked.api().generate_feedback(ASSIGNMENT, "ada", force=True)["success"]  # what the button calls
    assert pages["ada"].read_text() == ours["ada"]


# --- unlucky notebooks ----------------------------------------------------------------------------------------------


def graded_file(course: Course, submit: Any, solved: dict[int, str]) -> Path:
    submit(course, "ada", {3: solved[3]})
    assert [one.error for one in autograde(course, ASSIGNMENT)] == [""]
    path = course.notebook("autograded/ada", ASSIGNMENT)
    path.chmod(0o644)
    return path


def without_our_metadata(notebook: Any) -> None:
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            output["metadata"] = {}


def of_other_kinds(notebook: Any) -> None:
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            if "grader" in output.get("metadata", {}):
                output["metadata"]["grader"] = {key: [{}] for key in output["metadata"]["grader"]} | {"blocked": 3}


def renamed(notebook: Any) -> None:
    for cell in notebook["cells"]:
        cell["metadata"]["nbgrader"]["grade_id"] += "-of-mine"


def half_of_everything(notebook: Any) -> None:
    for number, cell in enumerate(notebook["cells"]):
        cell["metadata"]["nbgrader"].pop(("grade_id", "grade", "points", "solution")[number % 4], None)


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        (without_our_metadata, "Graded, without details"),
        (of_other_kinds, "2 of 30 points"),
        (renamed, "Softmax 2 of 2 points"),
        (half_of_everything, "2 of 30 points"),
        (lambda notebook: notebook.update(cells=[{}, 3]), "2 of 30 points"),
    ],
)
def test_feedback_of_a_notebook_changed_by_hand_is_written(
    course: Course, submit: Any, solved: dict[int, str], change: Callable[[Any], None], shown: str
) -> None:
    path = graded_file(course, submit, solved)
    notebook = json.loads(path.read_text())
    change(notebook)
    path.write_text(json.dumps(notebook))
    (page,) = write_feedback(course, ASSIGNMENT)
    assert "2 of 30 points" in plain_text_of(page)  # what the gradebook has, whatever became of the notebook
    assert shown in plain_text_of(page)


def test_feedback_of_an_unreadable_notebook_is_written(course: Course, submit: Any, solved: dict[int, str]) -> None:
    graded_file(course, submit, solved).write_text("not a notebook")
    (page,) = write_feedback(course, ASSIGNMENT)
    assert "2 of 30 points" in plain_text_of(page)
    assert "could not be read" in plain_text_of(page)


def test_feedback_of_a_notebook_unknown_to_gradebook_is_written(
    course: Course, submit: Any, solved: dict[int, str]
) -> None:
    path = graded_file(course, submit, solved)
    shutil.copytree(path.parent, course.root / "autograded" / "ben" / ASSIGNMENT)
    pages = write_feedback(course, ASSIGNMENT)
    assert "The gradebook has no points for this notebook yet." in plain_text_of(pages[1])
    assert "all 8 hidden cases" in plain_text_of(pages[1])


def test_write_feedback_for_some_students_writes_only_theirs(course: Course, submit: Any) -> None:
    for student in ("ada", "emmy", "eve"):
        submit(course, student)
    list(autograde(course, "self_attention"))
    pages = write_feedback(course, "self_attention", ["emmy", "ada"])
    assert [page.parent.parent.name for page in pages] == ["ada", "emmy"]
    assert not (course.folder("feedback") / "eve").exists()
    assert len(write_feedback(course, "self_attention")) == 3
    assert [page.parent.parent.name for page in write_feedback(course, "self_attention", ["eve"])] == ["eve"]
    with pytest.raises(CourseError, match="There is no graded notebook of self_attention by kurt"):
        write_feedback(course, "self_attention", ["ada", "kurt"])


def test_write_feedback_names_students_without_graded_notebook(
    course: Course, submit: Any, solved: dict[int, str], messages: Messages
) -> None:
    graded_file(course, submit, solved)
    with course.api().gradebook as gradebook:
        gradebook.add_student("ben")
        gradebook.add_student("cleo")  # has an extension, but no points
        gradebook.add_submission(ASSIGNMENT, "cleo")
        gradebook.add_submission(ASSIGNMENT, "ben")
        by_hand(gradebook, "ben", "test-exercise-3", 2.0)
    (page,) = write_feedback(course, ASSIGNMENT)
    assert "ada" in page.parts
    assert messages.texts == ["ben has points, but no graded notebook, so there is no feedback page."]


def plain_text_of(path: Path) -> str:
    return plain_text(path.read_text())


def plain_text(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", "", page).split())


def test_sections_have_the_names_of_the_notebook(released_course: Course) -> None:
    found = Headings.of(released_course.read("release", "multi_head_attention"))
    assert found.title == "Multi-head attention"
    assert found.by_cell["test-exercise-18"] == "Exercise 18: split into heads (10 points)"
    assert found.by_anchor["why-view-alone"] == "Why `view` alone mixes up tokens"


def test_sections_without_an_anchor_are_left_out(released_course: Course) -> None:
    """Or whatever is explained nowhere would send students to the last such section."""
    found = Headings.of(released_course.read("release", "causal_attention"))
    assert "One query, step by step" not in found.by_anchor.values()


@pytest.mark.parametrize("number", EXERCISES)
def test_sections_that_misconceptions_point_to_exist(released_course: Course, number: int) -> None:
    one = EXERCISES[number]
    known = Headings.of(released_course.read("release", one.assignment)).by_anchor
    assert set(one.explained_in.values()) <= known.keys()
    assert set(one.explained_in) <= {word for found in one.mistakes for word in (found.name, found.kind)}


# --- verdicts with pictures -----------------------------------------------------------------------------------------


def heat_map(picture: Picture) -> str:
    """The table that a page shows for a picture."""
    return str(template("heat_map.html", TEMPLATES, **FILTERS).module.heat_map(picture, "title"))  # type: ignore[attr-defined]


def verdict_on(number: int, misconception: str) -> Verdict:
    """Of somebody who has this misconception."""
    found = [(one, wrong) for one in EXERCISES[number].functions for wrong in one.mistakes]
    one, wrong = next((one, wrong) for one, wrong in found if wrong.name == misconception)
    drawn = one.sample(5)
    answers: list[Any] = []
    for case in drawn:
        try:
            answers.append(Returned(one.wrong_answer([wrong], case.inputs), list(case.inputs), frozenset({"cpu"})))
        except (RuntimeError, IndexError) as error:
            answers.append(Raised(type(error).__name__))
    return judge(one, drawn, answers)


@pytest.mark.parametrize(
    ("number", "misconception", "said"),
    [
        (2, "first query only", "Rows 2 and 3 repeat row 1: each query needs its own scores."),
        (2, "softmax already applied", "Each row sums to one: these are weights, after a softmax. "
                                       "Scores come before it."),
        (2, "future hidden", "Rows 1 and 2: NaN or infinite."),
        (3, "not normalized", "The weights do not sum to one."),
        (4, "softmax over queries", "Rows 1, 2 and 3 do not sum to one. Each column does instead."),
        (10, "always the last dimension", "Columns 1, 2, 3 and 4 do not sum to one. Each row does instead."),
        (14, "not masked", "Rows 1, 2 and 3: weight above the diagonal, on words that come later."),
        (21, "added, not turned", "Turning a pair keeps its length, but the marked ones have new lengths."),
        (21, "one position further", "A word at position 0 is not turned, so its entries stay the same."),
        (30, "one key too many", "Query 3 sees a key that is more than 2 words back, and so do 4 others."),
        (30, "windows to both sides", "Query 0 sees a later key, and so do 6 others."),
        (35, "one word too many", "Sentence 0 reads slots that hold none of its words."),
        (16, "future not hidden", "Only the last word was changed, and rows 1, 2 and 3 changed with it: "
                                  "earlier words see a later one."),
    ],
)  # fmt: skip
def test_picture_says_which_rule_is_broken(number: int, misconception: str, said: str) -> None:
    (picture,) = verdict_on(number, misconception).pictures
    assert said in picture.wrong
    assert picture.marked or picture.wrong_sums or "Each row sums" in said
    assert max(len(picture.numbers), len(picture.numbers[0])) <= MAX_SIDE


@pytest.mark.parametrize(("number", "misconception", "first"), [(16, "future not hidden", 1), (29, "no mask", 0)])
def test_picture_counts_words_as_the_notebook_does(number: int, misconception: str, first: int) -> None:
    verdict = verdict_on(number, misconception)
    written = verdict.to_json()["pictures"][0]
    assert written.get("first", 1) == first
    assert ("first" in written) == (first == 0)
    picture = converted(written, Picture)
    assert picture
    rows = [f"word {first + index}" for index in range(len(picture.numbers))]
    table = heat_map(picture)
    assert all(f'<th scope="row">{row}</th>' in table for row in rows)
    assert re.search(r"and rows? (\d)", picture.wrong[0])[1] == str(first)  # type: ignore[index]


def test_picture_of_a_right_answer_is_none() -> None:
    for number in (2, 3, 4, 10, 14, 16):
        one = EXERCISES[number]
        drawn = one.sample(5)
        answers = [Returned(one.reference(*case.inputs), list(case.inputs), frozenset({"cpu"})) for case in drawn]
        assert judge(one, drawn, answers).pictures == ()


def test_picture_when_no_rule_is_broken_says_so() -> None:
    (picture,) = verdict_on(14, "not scaled").pictures
    assert picture.wrong == ()
    assert picture.right == ("No weight lies in the future.", "Each row sums to one.", "No weight is negative.")


def test_misconception_may_be_explained_in_another_section() -> None:
    assert verdict_on(7, "not scaled").explained_in == "exercise-2"
    assert verdict_on(7, "without bias").explained_in == ""
    assert verdict_on(18, "words mixed up in splitting").explained_in == "why-view-alone"


def test_verdict_to_json_has_pictures_only_when_drawn() -> None:
    names = ["exercise", "title", "credit", "reason", "sentences", "misconceptions", "cases_right", "cases"]
    assert list(Verdict(1, "a", 1.0, Reason.RIGHT).to_json()) == names
    drawn = verdict_on(4, "softmax over queries")
    kept = json.loads(json.dumps(drawn.to_json(), allow_nan=False))
    assert converted(kept["pictures"][0], Picture) == drawn.pictures[0]
    assert len(json.dumps(kept)) < 3000


STRANGE: list[Any] = [
    None, "x", 5, [], {}, [[]], [None], ["x"], [[1, 2], [3]], [[[1]]], [10**400, 1], [[1] * 20] * 3, [[1.0]] * 20,
    torch.zeros(0, 3), torch.zeros(3, 0), torch.tensor(1.0), torch.zeros(13, 13), torch.zeros(2, 2, 2), True,
    [True, "a"], torch.tensor([[1j]]), [torch.zeros(2, 2), torch.zeros(3)], [torch.tensor([1j])],
    torch.full((2, 2), torch.nan),
    torch.tensor([[1, 2], [3, 4]]), [[torch.inf, -torch.inf], [0, 1e300]], torch.tensor([[True, False]]), {"output": 3},
    {"output": {"output": torch.zeros(2, 2)}}, {"output": {"output": torch.zeros(1, 2, 2), LATER_CHANGED: "x"}},
]  # fmt: skip


@pytest.mark.parametrize("value", STRANGE, ids=range(len(STRANGE)))
def test_picture_of_an_odd_value_is_valid_or_none(value: Any) -> None:
    for draw in (weights, causal_weights, softmax_along, scores):
        picture = draw(value, (torch.zeros(2, 2), 0))
        if picture:
            kept = json.loads(json.dumps({"pictures": [vars(picture)]}, allow_nan=False))["pictures"][0]
            assert converted(kept, Picture) == picture
    assert looks_ahead(value, value) is None
    for number in (16, 17, 18):
        one = EXERCISES[number]
        assert one.picture
        one.picture(value, one.sample(5)[0].inputs)


def test_picture_rounds_numbers_to_two_digits() -> None:
    picture = causal_weights(torch.tensor([[123456.0, 0.123456], [torch.nan, -torch.inf]]), ())
    assert picture
    assert picture.numbers == ((120000.0, 0.12), ("NaN", "−∞"))


def test_picture_keeps_the_largest_numbers_as_infinite() -> None:
    picture = softmax_along(torch.tensor([[1.79e308, 0.5], [0.5, -1.79e308]], dtype=torch.float64), ())
    assert picture
    assert picture.numbers == (("∞", 0.5), (0.5, "−∞"))
    assert converted(json.loads(json.dumps(vars(picture), allow_nan=False)), Picture) == picture


@pytest.mark.parametrize(("total", "shown"), [(1.02, "1.02"), (0.999, "0.999"), (1.0014, "1.001"), (0.96, "0.96")])
def test_heat_map_sum_that_is_not_one_does_not_look_like_one(total: float, shown: str) -> None:
    picture = weights(torch.tensor([[0.5, 0.5], [0.25, total - 0.25]], dtype=torch.float64), ())
    assert picture
    table = heat_map(picture)
    assert f'<td class="sum broken">{shown} ≠ 1</td>' in table
    assert '<td class="sum">1</td>' in table


def test_heat_map_shows_size_sign_and_marks() -> None:
    picture = Picture(
        numbers=((0.5, -2.0), ("NaN", 1e200)), marked=((1, 0),), summed="column", sums=(0.5, 1e200), wrong_sums=(1,)
    )
    cells = re.findall(r'<td class="number(.*?)" style="--shade: (\d+)%">(.*?)</td>', heat_map(picture))
    assert cells == [
        ("", "6", "0.50"),
        (" below broken", "6", "−2"),
        (" marked", "0", 'NaN<span class="unseen"> (marked)</span>'),
        (" broken", "60", "≫ 1"),
    ]
    sums = heat_map(picture).partition("<tfoot>")[2]
    assert re.findall(r'class="(sum.*?)">(.*?)</td>', sums) == [("sum", "0.50"), ("sum broken", "≫ 1")]


def test_best_picture_is_the_smallest_with_something_wrong() -> None:
    small, large, fine = (
        Picture(numbers=((0.0,) * size,) * size, wrong=("x",) if wrong else ())
        for size, wrong in ((3, True), (5, True), (2, False))
    )
    assert best_picture([fine, large, small]) is small
    assert best_picture([]) is None


def test_as_matrix_accepts_columns_and_lists_of_numbers() -> None:
    assert as_matrix([torch.tensor(1.0), 2]).tolist() == [[1.0, 2.0]]  # type: ignore[union-attr]
    column = softmax_along(torch.tensor([[0.5], [0.25]]), ())
    assert column
    assert column.sums == (0.75,)


GOOD = {"numbers": [[0.5, 0.5], [1.0, 0.0]], "marked": [[0, 1]], "summed": "row", "sums": [1.0, 1.0], "wrong_sums": [1]}


@pytest.mark.parametrize(
    "change",
    [
        {"numbers": []}, {"numbers": [[]]}, {"numbers": [[1.0] * 13]}, {"numbers": [[1.0], [1.0, 2.0]]},
        {"numbers": [["<b>"]]}, {"numbers": [[float("inf")]]}, {"numbers": [[True]]}, {"numbers": "12"},
        {"numbers": None}, {"numbers": [[10**400]]},
        {"marked": [[2, 0]]}, {"marked": [[0]]}, {"marked": [[0.5, 0]]}, {"marked": [[-1, 0]]},
        {"wrong_sums": [7]}, {"sums": ["x", 1.0]}, {"summed": []}, {"title": 5}, {"wrong": [3]}, {"wrong": ["x"] * 100},
    ],
)  # fmt: skip
def test_picture_converted_when_malformed_is_none(change: dict[str, Any]) -> None:
    assert converted(GOOD, Picture)
    assert converted(GOOD | change, Picture) is None
    assert converted("x", Picture) is None


def test_heat_map_escapes_markup() -> None:
    picture = converted(GOOD | {"title": HOSTILE, "rows": "<b onx=1>", "columns": "<b onx=1>"}, Picture)
    assert picture
    table = heat_map(picture)
    assert dangers(table) == []
    assert "<b " not in table


@pytest.mark.parametrize(
    ("symptom", "reason", "advice"),
    [
        (Symptom.NAME, "error", "Find the place where that name"),
        (Symptom.SYNTAX, "missing", "Run just this cell"),
        (Symptom.KIND, "error", "print what each value is"),
        (Symptom.DTYPE, "error", "Print the dtype"),
        (Symptom.SIZE, "error", "Print the shape of each tensor"),
        (None, "error", "Print each step, up to"),
        (Symptom.NOTHING, "wrong", "Call it in a new cell"),
        (Symptom.NAN, "wrong", "find the first line that gives NaN"),
        (None, "wrong", "Work out one result on paper"),
        (None, "constant", "Call it with two different inputs"),
    ],
)
def test_next_step_fits_the_symptom(symptom: str | None, reason: str, advice: str) -> None:
    shown = words_of(scored_cell(1, 0.0, 0.0, reason=reason, sentences=["It is wrong."], symptom=symptom))
    assert advice in shown
    assert "until you see the same error" not in shown
    assert shown.count("other sizes") == advice.count("other sizes")
