"""What the class page says of exercises, and what instructors decide there: extensions, and when to stop."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from grader.course.folder import Course
from grader.pages.page_parts import contents_of
from grader.term.page_changes import CHANGES_FILE
from support.command_line import grader
from support.report_pages import text_of
from support.served import ASSIGNMENT, Served, serving, token_in

pytestmark = pytest.mark.slow

RULES = """\
timezone = "Europe/Berlin"
[assignments.self_attention]
due = 2026-10-12T10:00:00
late = {per = "day", share = 0.1, cap = 0.5}
[assignments.transformer.serving]
closed = true
"""


@pytest.fixture(scope="module")
def served(new_course: Callable[[], Course]) -> Iterator[Served]:
    with serving(new_course()) as one:
        (one.course.root / "course.toml").write_text(RULES)
        (one.course.root / "roster.csv").write_text("id\nada\nemmy\nkurt\n")
        yield one


@pytest.fixture(scope="module")
def right(served: Served, make_notebook: Callable[..., Any], solved: dict[int, str]) -> bytes:
    return json.dumps(make_notebook(served.course, solved)).encode()


def test_class_page_is_the_report_of_now(
    served: Served, make_notebook: Callable[..., Any], solved: dict[int, str], right: bytes
) -> None:
    place = f"/class?assignment={ASSIGNMENT}"
    crash = "def softmax(items):\n    import os\n    os._exit(3)"
    content = json.dumps(make_notebook(served.course, solved | {3: crash})).encode()
    with served.browser("grace") as browser:
        assert "class report" not in browser.get(place).text
        served.verdict("emmy", served.submit("emmy", content)["submission"])
        page = browser.get("/class").text  # of the assignment that was submitted last
        run = grader("report", ASSIGNMENT, folder=served.course.root)
        assert run.returncode == 0, run.stderr
        report = text_of(contents_of((served.course.root / f"report/{ASSIGNMENT}.html").read_text()))
        assert without_times(report.replace(" notebook", "")) in without_times(text_of(page))
        assert "Timeouts and crashes" in page
        assert 'href="/students/emmy"' in page.partition("Timeouts and crashes")[2].partition("Last submissions")[0]
        (news,) = re.findall(r'data-from="([^"]+)"', page)
        assert "new results" not in browser.get(unescape(news)).text
        served.verdict("emmy", served.submit("emmy", right)["submission"])
        assert "new results" in browser.get(unescape(news)).text
        assert "Timeouts and crashes" not in browser.get(place).text
        assert "class report" not in browser.get("/class?assignment=transformer").text
        assert browser.get("/class?assignment=another").status_code == 404
    with served.browser("ada") as browser:
        assert browser.get(place).status_code == browser.get(unescape(news)).status_code == 404


def test_class_page_has_news_once_a_submission_is_graded_again(served: Served, right: bytes) -> None:
    number = served.submit("emmy", right)["submission"]
    served.verdict("emmy", number)
    with served.browser("prof") as browser:
        page = browser.get(f"/class?assignment={ASSIGNMENT}").text
        (news,) = re.findall(r'data-from="([^"]+)"', page)
        assert "new results" not in browser.get(unescape(news)).text
        browser.post(f"/submissions/{number}/again", data=token_in(page))
        served.verdict("emmy", number)
        assert "new results" in browser.get(unescape(news)).text


def without_times(text: str) -> str:
    return re.sub(r"\d\d:\d\d", "", " ".join(text.split()))


def test_extension_counts_for_server_and_autograde(served: Served, right: bytes) -> None:
    served.verdict("ada", served.submit("ada", right)["submission"])
    assert penalty(served.course) > 0
    place = f"/assignments/{ASSIGNMENT}/extensions"
    with served.browser("prof") as browser:
        page = browser.get("/students/ada").text
        assert "Due on 2026-10-12 10:00 CEST." in page
        form = {**token_in(page), "student": "ada"}
        for until in ("2026-10-12T10:00", "soon", "2026-10-25T02:30", "2026-10-12"):
            refused = browser.post(place, data=form | {"until": until})
            assert refused.status_code == 400, until
        extended = browser.post(place, data=form | {"until": "2099-01-02T10:00"})
        assert str(extended.url).endswith("/students/ada")
        assert "Due on 2026-10-12 10:00 CEST, an extension until 2099-01-02 10:00 CET." in extended.text
        assert penalty(served.course) == 0
        with served.browser("ada") as of_ada:
            assert "an extension until 2099-01-02 10:00 CET." in of_ada.get("/").text
        assert "Due on 2026-10-12 10:00 CEST." in browser.post(place, data=form | {"until": ""}).text
        assert penalty(served.course) > 0
        nobody = form | {"student": "nobody", "until": "2099-01-02T10:00"}
        assert browser.post(place, data=nobody).status_code == 404
        elsewhere = browser.post("/assignments/another/extensions", data=form | {"until": "2099-01-02T10:00"})
        assert elsewhere.status_code == 404


def penalty(course: Course) -> float:
    """Ada's for being late, once the class is graded."""
    done = grader("autograde", ASSIGNMENT, folder=course.root)
    assert done.returncode == 0, done.stderr
    with course.api().gradebook as gradebook:
        return float(gradebook.find_submission(ASSIGNMENT, "ada").late_submission_penalty)


def test_class_page_closes_and_opens_an_assignment(served: Served, right: bytes) -> None:
    place = f"/assignments/{ASSIGNMENT}/closed"
    with served.browser("prof") as browser:
        assert "Closed in course.toml." in browser.get("/class?assignment=transformer").text
        page = browser.get(f"/class?assignment={ASSIGNMENT}").text
        assert "Closed in course.toml." not in page
        assert "Accept submissions again" not in page
        assert 'students/kurt">kurt</a>' in page.partition("Nothing yet from")[2]
        form = token_in(page)
        assert "Accept submissions again" in browser.post(place, data=form | {"closed": "yes"}).text
        assert served.post("ada", f"/assignments/{ASSIGNMENT}", right).status_code == 403
        with served.browser("ada") as of_ada:
            assert "This assignment is closed." in of_ada.get("/").text
        assert "Accept submissions again" not in browser.post(place, data=form | {"closed": "no"}).text
    served.verdict("ada", served.submit("ada", right)["submission"])


def test_class_page_decisions_need_an_instructor_and_the_form(served: Served) -> None:
    form = {"student": "ada", "until": "2099-01-02T10:00", "closed": "yes"}
    before = (served.course.root / CHANGES_FILE).read_bytes()
    for what in ("closed", "extensions"):
        place = f"/assignments/{ASSIGNMENT}/{what}"
        for name in ("ada", "grace"):
            with served.browser(name) as browser:
                token = token_in(browser.get("/").text)
                assert browser.post(place, data=form | token).status_code == 404
        with served.browser("prof") as browser:
            assert browser.post(place, data=form).status_code == 403
            assert browser.get(place).status_code in (404, 405)
    assert (served.course.root / CHANGES_FILE).read_bytes() == before


def test_class_page_decisions_are_logged(new_course: Callable[[], Course]) -> None:
    with serving(new_course()) as one:
        with one.browser("prof") as browser:
            form = token_in(browser.get("/class").text)
            browser.post(f"/assignments/{ASSIGNMENT}/closed", data=form | {"closed": "yes"})
        assert "prof: self_attention is closed." in one.stop()


def test_autograde_when_changes_file_is_broken_names_it(course: Course, submit: Callable[..., Path]) -> None:
    submit(course, "ada", {})
    (course.root / CHANGES_FILE).write_text('{"self_attention": []}')
    done = grader("autograde", ASSIGNMENT, folder=course.root)
    assert done.returncode == 1
    assert f"{CHANGES_FILE} cannot be read" in " ".join(done.stderr.split())
