"""nbgrader's formgrader in a browser: it grades as we do, shows what we graded, and what a person adds is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.remote.webelement import WebElement

from grader.classroom.run import autograde
from grader.course.folder import Course
from grader.pages.feedback import write_feedback
from support.chromium import Page
from support.jupyter_lab import FORMGRADER, serving

pytestmark = [pytest.mark.user, pytest.mark.slow]

ASSIGNMENT = "self_attention"
NOT_SCALED = """\
def attention_scores(all_queries, all_keys):
    return [[torch.sum(query * key) for key in all_keys] for query in all_queries]
"""
AUTOMATIC = "4.5 / 30"  # exercise 1 in full, exercise 2 by half
COMMENT = "A good start. Why the root of D? Look at the plot once more, at D = 256."


@pytest.fixture(scope="module")
def course(new_course: Callable[[], Course], submit: Callable[..., Path], solved: dict[int, str]) -> Course:
    """Two have handed in the same. What bob did is graded by `grader autograde`, what ada did is not."""
    course = new_course()
    for student in ("ada", "bob"):
        submit(course, student, {1: solved[1], 2: NOT_SCALED})
    assert [graded.points for graded in autograde(course, ASSIGNMENT, ["bob"])] == [4.5]
    return course


@pytest.fixture(scope="module")
def url(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(course.root, tmp_path_factory.mktemp("home"), FORMGRADER) as url:
        yield f"{url}/formgrader"


class Formgrader(Page):
    """The pages of the formgrader, as an instructor goes through them."""

    def __init__(self, browser: Chrome, url: str) -> None:
        super().__init__(browser)
        self.url = url

    def row(self, student: str) -> WebElement:
        """What the list of submissions says of a student."""
        self.browser.get(f"{self.url}/manage_submissions/{ASSIGNMENT}")
        row: WebElement = self.wait(lambda: self._row(student), f"no row for {student}")
        return row

    def _row(self, student: str) -> WebElement | None:
        cells = [cell for cell in self.find("td.student-id") if cell.text == student]
        return cells[0].find_element("xpath", "..") if cells else None

    def open(self, student: str) -> None:
        """From the list to the student's assignment, and from there to the notebook."""
        self.row(student).find_element("css selector", ".student-name a").click()
        link = "a[href*='/formgrader/submissions/']"
        self.wait(lambda: self.find(link), "no link to the notebook")[0].click()
        self.wait(lambda: self.find(".nbgrader_cell"), "the submission did not open")
        loaded = "return formgrader.grades?.loaded && formgrader.comments?.loaded"
        self.wait(lambda: self.script(loaded), "the grades did not come")

    def score(self, number: int) -> WebElement:
        return self.find(f"#test-exercise-{number}")[0]

    def comment(self, number: int) -> WebElement:
        return self.find(f"#exercise-{number}-comment")[0]


@pytest.fixture(scope="module")
def formgrader(browser: Chrome, url: str) -> Formgrader:
    browser.set_window_size(1280, 1000)
    return Formgrader(browser, url)


def test_formgrader_autograde_button_grades_as_grader_does(
    formgrader: Formgrader, course: Course, scores: Callable[..., object]
) -> None:
    row = formgrader.row("ada")
    assert "needs autograding" in row.text
    row.find_element("css selector", ".autograde a").click()
    done = f"Successfully autograded '{ASSIGNMENT}' for student 'ada'."  # in a box that fades in
    formgrader.wait(lambda: [box for box in formgrader.find(".modal-body") if done in box.text], "it was not graded")
    for student in ("ada", "bob"):
        shown = formgrader.row(student).text
        assert AUTOMATIC in shown
        assert "graded" in shown.split()
        assert "needs" not in shown
    assert scores(course, "ada") == scores(course, "bob")


def test_formgrader_opens_submission_graded_by_grader(formgrader: Formgrader) -> None:
    formgrader.browser.get(f"{formgrader.url}/gradebook/{ASSIGNMENT}/{ASSIGNMENT}")
    listed = formgrader.wait(lambda: formgrader.find("td a[href*='/formgrader/submissions/']"), "no submission listed")
    assert listed[0].text == "Submission #1"
    formgrader.open("bob")
    texts = [panel.text for panel in formgrader.find("div.verdict")]
    assert len(texts) == 8
    assert texts[0].startswith("✓ Exercise 1: Queries, keys, values\n3 of 3 points")
    assert texts[1].startswith("◐ Exercise 2: Attention scores\n1.5 of 3 points")
    given = [formgrader.score(number).get_dom_attribute("placeholder") for number in range(1, 9)]
    assert given == ["3", "1.5", *["0"] * 6]


def test_formgrader_manual_score_and_comment_are_kept_in_feedback(formgrader: Formgrader, course: Course) -> None:
    formgrader.open("bob")
    formgrader.score(2).send_keys("2.25", Keys.TAB)
    formgrader.comment(2).send_keys(COMMENT, Keys.TAB)
    formgrader.wait(lambda: by_hand(course) == (2.25, COMMENT), "what was typed is not in the gradebook")
    assert "5.25 / 30" in formgrader.row("bob").text

    (graded,) = autograde(course, ASSIGNMENT, ["bob"], force=True)
    assert not graded.error
    assert by_hand(course) == (2.25, COMMENT)
    formgrader.open("bob")
    assert formgrader.score(2).get_property("value") == "2.25"
    assert formgrader.comment(2).get_property("value") == COMMENT

    (page,) = [path for path in write_feedback(course, ASSIGNMENT) if "bob" in path.parts]
    text = text_of(page)
    assert COMMENT in text
    assert "2.25" in text
    assert "5.25" in text


def by_hand(course: Course) -> tuple[float | None, str | None]:
    """The score and the comment that bob's second exercise was given by a person."""
    with course.api().gradebook as gradebook:
        score = gradebook.find_grade("test-exercise-2", ASSIGNMENT, ASSIGNMENT, "bob").manual_score
        comment = gradebook.find_comment("exercise-2", ASSIGNMENT, ASSIGNMENT, "bob").manual_comment
    return score, comment


def text_of(page: Path) -> str:
    """What a page says, with its blanks as a browser has them."""
    words: list[str] = []
    parser = HTMLParser(convert_charrefs=True)
    parser.handle_data = words.append  # type: ignore[method-assign,assignment]
    parser.feed(page.read_text())
    return " ".join("".join(words).split())
