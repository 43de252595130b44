"""The server's pages in a real browser: submit by keyboard, watch, read; on a phone, and in both color schemes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.keys import Keys

from grader.course.folder import Course
from grader.term.reading import COURSE_FILE
from grader.term.rules import Detail
from support.accessibility import seen_as, violations
from support.chromium import Page
from support.served import ASSIGNMENT, Served, serving

pytestmark = [pytest.mark.browser, pytest.mark.user]


@pytest.fixture(scope="module")
def served(new_course: Callable[[], Course]) -> Iterator[Served]:
    with serving(new_course()) as one:
        yield one


@pytest.fixture(scope="module")
def notebook(
    served: Served,
    make_notebook: Callable[..., Any],
    solved: dict[int, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    path = tmp_path_factory.mktemp("student") / "mine.ipynb"
    code = "def softmax(items):\n    exp = torch.exp(torch.as_tensor(items))\n    return exp / exp.mean()"
    path.write_text(json.dumps(make_notebook(served.course, solved | {3: code})))
    return path


@pytest.fixture(scope="module")
def submission(served: Served, notebook: Path) -> int:
    """Emmy's, with a verdict."""
    number: int = served.submit("emmy", notebook.read_bytes())["submission"]
    served.verdict("emmy", number)
    return number


def press(browser: Chrome, *keys: str) -> None:
    ActionChains(browser).send_keys(*keys).perform()


def tab_to(browser: Chrome, text: str) -> None:
    """Go on with the tab key until this has the focus."""
    for _ in range(20):
        press(browser, Keys.TAB)
        if browser.switch_to.active_element.text == text:
            return
    pytest.fail(f"nothing called {text} gets the focus")


def text_of(page: Page) -> str:
    """What the page says; nothing while it is on its way."""
    return str(page.script("return $('main').map(main => main.innerText).join()"))


def fits_a_phone(browser: Chrome) -> bool:
    with seen_as(browser, width=390):
        return bool(browser.execute_script("return document.documentElement.scrollWidth <= window.innerWidth"))


def test_student_submits_by_keyboard_and_reads_the_verdict(served: Served, browser: Chrome, notebook: Path) -> None:
    page = Page(browser)
    browser.get(f"{served.address}/enter/{served.codes['ada']}")
    assert violations(browser) == []
    tab_to(browser, "Sign in")
    press(browser, Keys.ENTER)
    page.wait(lambda: page.find("input[type=file]"), "no form")
    assert violations(browser) == []
    assert fits_a_phone(browser)
    forms = page.find("form[enctype]")
    place = next(place for place, form in enumerate(forms) if ASSIGNMENT in str(form.get_attribute("action")))
    page.find("input[type=file]")[place].send_keys(str(notebook))
    browser.execute_script("arguments[0].focus()", page.find("input[type=file]")[place])
    tab_to(browser, "Submit")
    press(browser, Keys.ENTER)
    page.wait(lambda: page.find(".points"), "no verdict")
    assert "Your values sum to their count" in page.find("section.part")[0].text
    assert violations(browser) == []
    assert fits_a_phone(browser)
    assert "exp / exp.mean()" in page.find("section.part pre")[0].text
    colors = {cell.value_of_css_property("background-color") for cell in page.find(".heat-map .number")}
    assert len(colors) > 1, "the policy of the page lets cells have their shades"
    log: list[dict[str, str]] = browser.get_log("browser")  # type: ignore[no-untyped-call]
    assert [entry["message"] for entry in log if "Content Security Policy" in entry["message"]] == []
    tab_to(browser, "Submit again")
    press(browser, Keys.ENTER)
    page.wait(lambda: page.find("input[type=file]"), "no form")


def test_instructor_watches_the_class(served: Served, browser: Chrome, notebook: Path) -> None:
    served.verdict("emmy", served.submit("emmy", notebook.read_bytes())["submission"])
    browser.delete_all_cookies()
    browser.get(f"{served.address}/enter/{served.codes['prof']}")
    page = Page(browser)
    tab_to(browser, "Sign in")
    press(browser, Keys.ENTER)
    page.wait(lambda: page.find("#mistakes"), "no report")
    assert "divided by the mean" in page.find("#mistakes")[0].text
    assert violations(browser) == []
    assert fits_a_phone(browser)
    with seen_as(browser, width=1280, height=800):  # on a projector, all of this is in view
        for selector in (".short", "#understood", ".mistakes tbody tr:last-child"):
            box = page.find(selector)[0].rect
            assert box["y"] + box["height"] <= 800, selector
    page.find("#mistakes summary")[0].click()
    served.verdict("ada", served.submit("ada", notebook.read_bytes())["submission"])
    news = f"a[href$='class?assignment={ASSIGNMENT}'][href]:not(nav a)"
    page.wait(lambda: page.find(news), "no word of a new result")
    assert page.find("#mistakes details[open]"), "what was opened stays open"
    assert violations(browser) == []
    page.find(news)[0].click()
    page.wait(lambda: "2 submitted, 0 waiting" in text_of(page) and not page.find(news), "no new report")


def test_student_answers_a_question_about_own_code_by_keyboard(served: Served, browser: Chrome, notebook: Path) -> None:
    rules = served.course.root / COURSE_FILE
    rules.write_text("[explain]\n")
    try:
        number = served.submit("emmy", notebook.read_bytes())["submission"]
        served.verdict("emmy", number)
        sign_in(served, browser, "emmy")
        page = Page(browser)

        def has_questions() -> bool:
            browser.get(f"{served.address}/submissions/{number}")
            return bool(page.find("fieldset"))

        page.wait(has_questions, "no questions")
        count = len(page.find("fieldset"))
        assert violations(browser) == []
        assert fits_a_phone(browser)
        browser.execute_script("document.querySelector('[name=choice]').focus()")
        press(browser, Keys.SPACE)
        tab_to(browser, "Answer")
        press(browser, Keys.ENTER)
        page.wait(lambda: "This is right" in text_of(page), "no answer")
        assert len(page.find("fieldset")) == count - 1
        assert violations(browser) == []
        assert fits_a_phone(browser)
    finally:
        rules.unlink()


@pytest.mark.parametrize("setting", ["before", "after"])
@pytest.mark.parametrize("detail", Detail)
def test_submission_page_is_accessible_and_fits_a_phone_however_much_it_shows(
    served: Served, browser: Chrome, submission: int, detail: Detail, setting: str
) -> None:
    due = f"[assignments.{ASSIGNMENT}]\ndue = 2020-01-01T10:00:00Z\n" if setting == "after" else ""
    rules = served.course.root / COURSE_FILE
    rules.write_text(f'{due}[serving]\n{setting} = "{detail}"\n')
    sign_in(served, browser, "emmy")
    browser.get(f"{served.address}/submissions/{submission}")
    page = Page(browser)
    shown = [
        bool(page.find(selector)) for selector in (".total", ".lead", "section.exercise .wrong", "section pre code")
    ]
    assert shown == [detail in list(Detail)[place:] for place in range(1, 5)]
    assert violations(browser) == []
    assert fits_a_phone(browser)
    rules.unlink()


def test_student_asks_about_a_verdict_by_keyboard_and_an_instructor_answers(
    served: Served, browser: Chrome, notebook: Path
) -> None:
    rules = served.course.root / COURSE_FILE
    rules.write_text('[serving]\nquestions = "7 days"\nsolutions = "after full marks"\n')
    number = served.submit("emmy", notebook.read_bytes())["submission"]
    served.verdict("emmy", number)
    page = Page(browser)
    sign_in(served, browser, "emmy")
    browser.get(f"{served.address}/submissions/{number}")
    assert page.find("#solutions ~ details"), "those with full marks"
    assert violations(browser) == []
    assert fits_a_phone(browser)
    browser.execute_script("arguments[0].focus()", page.find("select")[0])
    press(browser, "Exercise 3", Keys.TAB, "Is the mean not enough?", Keys.TAB, Keys.ENTER)
    page.wait(lambda: "Your instructor has not answered yet." in text_of(page), "no question")
    assert violations(browser) == []
    sign_in(served, browser, "prof")
    page.wait(lambda: page.find("textarea"), "no question for the instructor")
    assert "exp / exp.mean()" in page.find("section:has(textarea)")[0].text
    assert violations(browser) == []
    assert fits_a_phone(browser)
    browser.execute_script("arguments[0].focus()", page.find("textarea")[0])
    press(browser, "It is not: weights sum to one.", Keys.TAB, Keys.TAB, Keys.ENTER)
    page.wait(lambda: not page.find("textarea"), "no answer")
    sign_in(served, browser, "emmy")
    browser.get(f"{served.address}/submissions/{number}")
    assert "prof answered:\nIt is not: weights sum to one." in page.find("main")[0].text
    assert violations(browser) == []


def sign_in(served: Served, browser: Chrome, name: str) -> None:
    browser.delete_all_cookies()
    browser.get(f"{served.address}/enter/{served.codes[name]}")
    tab_to(browser, "Sign in")
    press(browser, Keys.ENTER)
    Page(browser).wait(lambda: "/enter/" not in browser.current_url, "not signed in")
