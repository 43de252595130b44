"""One total for a student: console, report, feedback page, export, publication, pages and programs say the same."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from markupsafe import escape
from words_course import WORDS, ServedWords, answered, comment_on, give_points, words_course

from grader.gradebook.published import Publications
from grader.pages.page_parts import contents_of
from grader.pages.text_html import sentence_html
from grader.term.reading import COURSE_FILE, SERVING
from grader.term.rules import Detail
from support.command_line import grader
from support.report_pages import text_of
from support.second_course import WRONG
from support.served import token_in

pytestmark = pytest.mark.slow

STUDENTS = ("ada", "kurt", "zoe")
COMMENT = "Say which of them, please."


@dataclass(frozen=True)
class Standing:
    """What counts for a student, wherever it is read."""

    total: float
    most: float
    penalty: float
    waits: tuple[str, ...]

    @property
    def words(self) -> str:
        return f"{round(self.total, 2):g} of {self.most:g}{' so far' if self.waits else ''}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedWords]:
    one = ServedWords(words_course(tmp_path_factory.mktemp("words") / "course"))
    try:
        yield one
    finally:
        one.stop()


@pytest.fixture(scope="module")
def numbers(served: ServedWords) -> dict[str, int]:
    """The submission of each student that counts; zoe has another one, and a person gave ada points for one answer."""
    answers = {student: {"why": "The second."} for student in STUDENTS}
    answers["ada"] |= {**WRONG, "plot": "print(1)"}
    first = served.submit("zoe", answered(served.course, WRONG))["submission"]
    served.verdict("zoe", first)
    found = {"zoe, first": first}
    for student in STUDENTS:
        found[student] = served.submit(student, answered(served.course, answers[student]))["submission"]
        assert served.verdict(student, found[student])["state"] == "graded"
    give_points(served.course, "ada", "why", 1.5)
    comment_on(served.course, "ada", "why", COMMENT)
    give_points(served.course, "zoe", "why", 2.0)
    give_points(served.course, "zoe", "plot", 1.0)
    give_points(served.course, "zoe", "test-exercise-1", 1.5)
    return found


@pytest.fixture(scope="module")
def published(served: ServedWords, numbers: dict[str, int]) -> dict[str, int]:
    """The same submissions, whose points were published."""
    run(served, "publish", WORDS, "--waiting-anyway", "--yes")
    return numbers


def run(served: ServedWords, *words: str) -> str:
    done = grader(*words, folder=served.course.root)
    assert done.returncode == 0, done.stderr
    return done.stdout


# --- where it is read ------------------------------------------------------------------------------------------------


def in_console(served: ServedWords) -> dict[str, Standing]:
    told = json.loads(run(served, "autograde", WORDS, "--json"))
    most = told["max_points"]
    return {
        student: Standing(one["total"], most, one["penalty"], tuple(one["waits"]))
        for student, one in told["students"].items()
    }


def in_report(served: ServedWords) -> dict[str, Standing]:
    run(served, "report", WORDS)
    told = json.loads((served.course.root / f"report/{WORDS}.json").read_text())
    most = told["points"]["max"]
    lines = {one["student"]: one for one in told["students"]}
    return {
        name: Standing(lines[name]["points"], most, lines[name]["penalty"], tuple(lines[name]["waiting"]))
        for name in STUDENTS
    }


def in_publication(served: ServedWords) -> dict[str, Standing]:
    found = Publications(served.course, WORDS).last()
    assert found is not None
    told = {student: found.students[student] for student in STUDENTS}
    return {name: Standing(one.total, found.max_points, one.penalty, tuple(one.waits)) for name, one in told.items()}


def for_programs(served: ServedWords, numbers: dict[str, int], asks: str = "") -> dict[str, Standing]:
    results = {
        student: served.get(asks or student, f"/submissions/{numbers[student]}").json()["result"]
        for student in STUDENTS
    }
    return {
        student: Standing(one["points"], one["max_points"], one["penalty"], tuple(one["waits"]))
        for student, one in results.items()
    }


def in_class_for_programs(served: ServedWords) -> dict[str, tuple[float, float, list[str]]]:
    lines = served.get("prof", "/class").json()["submissions"]
    return {one["student"]: (one["points"], one["max_points"], one["waits"]) for one in lines}


def exported(served: ServedWords) -> dict[str, float]:
    run(served, "export", WORDS, "--to", "moodle")
    text = (served.course.root / f"export/{WORDS}-moodle.csv").read_text(encoding="utf-8-sig")
    _, *rows = csv.reader(io.StringIO(text))
    return {student: float(points) for student, points in rows}


def feedback_page(served: ServedWords, student: str) -> str:
    path = served.course.root / f"feedback/{student}/{WORDS}/{WORDS}.html"
    return " ".join(text_of(path.read_text()).split())


# --- it is the same --------------------------------------------------------------------------------------------------


def test_total_is_the_same_everywhere_before_and_after_publishing(served: ServedWords, numbers: dict[str, int]) -> None:
    told = in_console(served)
    assert [name for name in told if told[name].waits] == ["ada", "kurt"], "the class is as awkward as it should be"
    assert [name for name in told if told[name].penalty] == ["ada", "zoe"]
    assert_same_everywhere(served, numbers, told)
    run(served, "publish", WORDS, "--waiting-anyway")
    assert in_publication(served) == told
    assert_same_everywhere(served, numbers, told)


def assert_same_everywhere(served: ServedWords, numbers: dict[str, int], told: dict[str, Standing]) -> None:
    assert in_report(served) == told == for_programs(served, numbers) == for_programs(served, numbers, "prof")
    assert in_class_for_programs(served) == {name: (one.total, one.most, [*one.waits]) for name, one in told.items()}
    points = exported(served)
    assert {name: points[name] for name in told} == {name: round(one.total, 2) for name, one in told.items()}
    run(served, "feedback", WORDS)
    whole_class = served.page("prof", "/class")
    for student, one in told.items():
        page = served.page(student, f"/submissions/{numbers[student]}")
        assert f"Your points: {one.words}" in served.page(student, "/")
        assert one.words in whole_class
        file = served.get(student, f"/submissions/{numbers[student]}/feedback").text
        for feedback in (page, feedback_page(served, student), " ".join(text_of(file).split())):
            assert f"{one.words.removesuffix(' so far')} points{' so far' if one.waits else ''}" in feedback
            assert ("taken off" in feedback) == (f"{one.penalty:g} taken off" in feedback) == bool(one.penalty)
            waiting = feedback.partition("Waiting for your instructor:")[2].partition(".")[0]
            assert all(exercise in waiting for exercise in one.waits)
    assert f"Your points: {told['zoe'].words}" in served.page("max", "/"), "who submits for a group submits for all"


def test_submission_page_is_the_feedback_page(served: ServedWords, numbers: dict[str, int]) -> None:
    run(served, "feedback", WORDS)
    for student in STUDENTS:
        page = served.page(student, f"/submissions/{numbers[student]}")
        path = served.course.root / f"feedback/{student}/{WORDS}/{WORDS}.html"
        assert " ".join(text_of(contents_of(path.read_text())).split()) in page
        exercises = served.get(student, f"/submissions/{numbers[student]}").json()["result"]["exercises"]
        assert [one["state"] for one in exercises if one["state"] == "void"] == ["void"]
        assert "`" not in page


def test_sentences_alone_are_those_of_the_feedback_page(served: ServedWords, numbers: dict[str, int]) -> None:
    """With the same points. What is missing is code, pictures, comments, and what to read again in the notebook."""
    for student in STUDENTS:
        place = f"/submissions/{numbers[student]}"
        page, feedback = html_with(served, student, place, Detail.MISTAKES), html_with(served, student, place)
        for pattern in (
            r'<p class="total">.*?</p>',
            r"<p>Under the course rules, .*?</p>",
            r'<tr class="\w+">|<td>[^<]*</td>',  # the table of points
            r'<div class="(?:wrong|right)">.*?</div>',
            r'<p class="verdict">.*?</p>',
        ):
            of_page, of_feedback = (re.findall(pattern, html, re.DOTALL) for html in (page, feedback))
            assert of_page
            assert set(of_page) <= set(of_feedback)
            assert of_page == of_feedback or "verdict" in pattern, "written answers have no verdict"
        assert "Your code" not in page


def test_late_submission_is_marked_wherever_it_is_listed(served: ServedWords, numbers: dict[str, int]) -> None:
    for reader, place, student, is_late in (
        ("prof", f"/class?assignment={WORDS}", "ada", True),
        ("prof", f"/class?assignment={WORDS}", "kurt", False),
        ("prof", "/students/ada", "ada", True),
        ("ada", "/", "ada", True),
        ("kurt", "/", "kurt", False),
    ):
        with served.browser(reader) as browser:
            rows = re.findall(r"<tr>.*?</tr>", browser.get(place).text, re.DOTALL)
        (row,) = [row for row in rows if f'href="/submissions/{numbers[student]}"' in row]
        assert ('<span class="late">late</span>' in row) == is_late, (reader, place, student)


def html_with(served: ServedWords, student: str, place: str, detail: Detail = Detail.EVERYTHING) -> str:
    """The feedback on a page where as much of a verdict as this is shown."""
    return served_with(served, student, place, detail).partition('<p class="over">')[2]


def served_with(served: ServedWords, student: str, place: str, detail: Detail) -> str:
    rules = served.course.root / COURSE_FILE
    usual = rules.read_text()
    try:
        rules.write_text(f'{usual}[serving]\nbefore = "{detail}"\nafter = "{detail}"\n')
        with served.browser(student) as browser:
            return browser.get(place).text
    finally:
        rules.write_text(usual)


def test_submission_page_when_not_counted_says_which_one_counts(served: ServedWords, numbers: dict[str, int]) -> None:
    page = served.page("zoe", f"/submissions/{numbers['zoe, first']}")
    assert "Submission 2 counts, not this one." in page
    assert "so far" in page
    result = served.get("zoe", f"/submissions/{numbers['zoe, first']}").json()["result"]
    sentences = [one["sentences"][0] for one in result["exercises"] if one["state"] == "part"]
    assert sentences
    assert all(sentence.partition("`")[0].strip() in page for sentence in sentences)
    assert "Your code" not in page
    assert served.get("zoe", f"/submissions/{numbers['zoe, first']}/feedback").status_code == 404


def test_unpublished_points_are_shown_only_to_instructors(served: ServedWords, published: dict[str, int]) -> None:
    place = f"/submissions/{published['kurt']}"
    before = read_by_kurt(served, place)
    give_points(served.course, "kurt", "why", 1.0)
    comment_on(served.course, "kurt", "why", "Not published.")
    assert read_by_kurt(served, place) == before
    assert "Not published." in served.page("prof", place)
    assert served.get("prof", place).json()["result"]["points"] == in_report(served)["kurt"].total
    run(served, "publish", WORDS, "--waiting-anyway", "--yes")
    assert "Not published." in served.page("kurt", place)
    total = in_publication(served)["kurt"].total
    news = "These points were published on 20"
    for detail in Detail:
        for page in (served_with(served, "kurt", place, detail), served_with(served, "kurt", "/", detail)):
            assert (news in page) == (f"Before, you had {total - 1:g}." in page) == (detail is not Detail.NOTHING)
            reason = "why: waits → 1, because of manual points for why."
            assert (reason in page) == ("manual points" in page) == (detail not in (Detail.NOTHING, Detail.POINTS))


def test_rule_newer_than_the_points_is_on_no_page_before_it_is_published(
    served: ServedWords, published: dict[str, int]
) -> None:
    rules, place = served.course.root / COURSE_FILE, f"/submissions/{published['ada']}"
    usual = rules.read_text()
    before = [html_with(served, "ada", place, detail) for detail in Detail]
    try:
        rules.write_text(usual.replace("void = [2]", 'void = [1]\nfull = ["parse-date"]'))
        assert [html_with(served, "ada", place, detail) for detail in Detail] == before
        assert "Full marks for everyone" in served.page("prof", place)
    finally:
        rules.write_text(usual)


def read_by_kurt(served: ServedWords, place: str) -> list[str]:
    """All that he reads, however much of a verdict is shown."""
    pages = [html_with(served, "kurt", place, detail) for detail in Detail]
    return [*pages, served.page("kurt", "/"), served.get("kurt", f"{place}/feedback").text]


# --- being late ------------------------------------------------------------------------------------------------------


def test_late_penalty_is_shown_before_and_after_submitting(served: ServedWords, numbers: dict[str, int]) -> None:
    home, page = served.page("ada", "/"), served.page("ada", f"/submissions/{numbers['ada']}")
    assert re.search(
        r"This would be late and lose 40% of its points \(10% of the points for each hour started, at most 50%\)\. "
        r"Your submission of 20\d\d-\d\d-\d\d \d\d:\d\d CES?T counts now, and would be replaced\.",
        home,
    )
    assert re.search(r"\d\S* taken off for submitting late \(10% of the points for each hour started", page)
    assert "by zoe counts now" in served.page("max", "/")
    for student, is_late in (("ada", True), ("kurt", False), ("lea", False)):
        known = served.get(student, "/me").json()["assignments"][WORDS]
        assert known["late_costs_points"] is is_late
        assert bool(known["late"]) is (student != "kurt")
    assert "late" not in served.page("kurt", "/").replace("late 10", "")
    state = served.get("ada", f"/submissions/{numbers['ada']}").json()
    assert state["remarks"][0].startswith("This is late: ")


def test_form_from_before_the_due_date_submits_nothing_late(served: ServedWords) -> None:
    content = answered(served.course, {"why": "In time, as far as I know."})
    place, files = f"/assignments/{WORDS}", {"notebook": ("my words.ipynb", content)}
    before = len(served.get("prof", "/class?student=ada").json()["submissions"])
    with served.browser("ada") as browser:
        home = browser.get("/").text
        assert '<input type="hidden" name="late" value="yes">' in home
        refused = browser.post(place, data=token_in(home), files=files)
        assert refused.status_code == 409
        assert "Nothing was submitted. This would be late and lose 40% of its points (10% of the points" in refused.text
        assert "Back to the course" in refused.text
    assert len(served.get("prof", "/class?student=ada").json()["submissions"]) == before


# --- each setting, on each page --------------------------------------------------------------------------------------

NOW = datetime.now(UTC).replace(microsecond=0, tzinfo=None)
DUE = {"before": NOW + timedelta(days=2), "after": NOW - timedelta(days=2)}
ALL = {
    "attempts": ("1", "You have used your only attempt."),
    "a_day": ("1", "You have used your only attempt for today."),
    "pause": ('"3 days"', ""),  # only before a third attempt
    "closed": ("true", "This assignment is closed."),
}


def test_every_serving_setting_has_a_test() -> None:
    assert {*SERVING} == {*ALL, *DUE, "questions", "solutions"}  # the last two have tests of their own


@pytest.mark.parametrize("when", DUE)
@pytest.mark.parametrize("shown", Detail)
def test_pages_show_as_much_as_the_setting_says(
    served: ServedWords, published: dict[str, int], when: str, shown: Detail
) -> None:
    rules, number = served.course.root / COURSE_FILE, published["ada"]
    usual, texts = rules.read_text(), texts_by_detail(served, number)
    try:
        other = {"before": "after", "after": "before"}[when]
        due = DUE[when].isoformat()
        hidden = "nothing" if shown is not Detail.NOTHING else "everything"
        rules.write_text(f'[serving]\n{when} = "{shown}"\n{other} = "{hidden}"\n[assignments.words]\ndue = {due}Z\n')
        with served.browser("ada") as browser:
            home, page = browser.get("/").text, browser.get(f"/submissions/{number}").text
        allowed = list(Detail)[: list(Detail).index(shown) + 1]
        for detail in Detail:
            for text in texts[detail]:
                assert (text in page) == (detail in allowed), text
                assert text not in home or detail in (Detail.NOTHING, Detail.POINTS), text
        result = served.get("ada", f"/submissions/{number}").json()["result"]
        sentences = [sentence for one in result.get("exercises", ()) for sentence in one["sentences"]]
        assert bool(sentences) == (Detail.MISTAKES in allowed)
        assert ("Your points" in home) == ("points" in result) == (Detail.POINTS in allowed)
        assert ("Results are hidden for now." in page) == (shown is Detail.NOTHING)
        feedback = served.get("ada", f"/submissions/{number}/feedback")
        assert feedback.status_code == (200 if shown is Detail.EVERYTHING else 404)
        assert "Exercise 1" in served.page("prof", f"/submissions/{number}")
    finally:
        rules.write_text(usual)


def texts_by_detail(served: ServedWords, number: int) -> dict[Detail, list[str]]:
    """What is on the HTML of ada's page from each setting on, as it is written there."""
    result = served.get("prof", f"/submissions/{number}").json()["result"]
    exercises = result["exercises"]
    wrong = [one for one in exercises if one["sentences"]]
    assert wrong
    return {
        Detail.NOTHING: ["Submission 1, arrived on", "Receipt"],
        Detail.POINTS: [f"<strong>{round(result['points'], 2):g}</strong> of {result['max_points']:g} points"],
        Detail.EXERCISES: [
            *(str(escape(one["title"])) for one in exercises if one["exercise"]),
            *(
                f"{one['points']:g} of {one['max_points']:g}</td>"
                for one in wrong
                if one["exercise"] and one["state"] != "void"
            ),
            'class="part"',
        ],
        Detail.MISTAKES: [
            *(str(sentence_html(sentence)) for one in wrong for sentence in one["sentences"]),
            *(name.capitalize() for one in wrong for name in one["misconceptions"]),
            "What is wrong",
            "hidden cases",
        ],
        Detail.EVERYTHING: ["Your code", "py-k", "Reread", COMMENT, "The second."],
    }


@pytest.mark.parametrize("setting", ALL)
def test_page_says_each_limit(served: ServedWords, numbers: dict[str, int], setting: str) -> None:
    rules = served.course.root / COURSE_FILE
    usual = rules.read_text()
    value, refusal = ALL[setting]
    try:
        rules.write_text(f"[serving]\n{setting} = {value}\n")
        home = served.page("ada", "/")
        assert refusal in home
        assert ("Your notebook" in home) == (not refusal)
        assert "Your next attempt is possible at" in served.page("zoe", "/") or setting != "pause"
        served.page("ada", f"/submissions/{numbers['ada']}")
    finally:
        rules.write_text(usual)


def test_test_that_has_changed_is_a_reason_once_the_points_are_published(
    served: ServedWords, published: dict[str, int]
) -> None:
    before = in_publication(served)["ada"].total
    with (served.course.root / "exercises/words_1_count.py").open("a") as file:
        file.write("# Corrected.\n")
    run(served, "autograde", WORDS)
    give_points(served.course, "ada", "why", 1.0)
    run(served, "publish", WORDS, "--waiting-anyway", "--yes")
    reason = "why: 1.5 → 1, because of changed tests, manual points for why and the penalty for being late."
    for page in (served.page("ada", "/"), served.page("ada", f"/submissions/{published['ada']}")):
        assert f"Before, you had {before:g}." in page
        assert reason in page


def test_submissions_when_best_counts_have_their_own_verdicts(served: ServedWords, numbers: dict[str, int]) -> None:
    """The last test: lea is in no other."""
    assert "lea" not in numbers
    rules = served.course.root / COURSE_FILE
    rules.write_text('counts = "best"\n' + served.rules)
    found = [served.submit("lea", answered(served.course, answers))["submission"] for answers in ({}, WRONG)]
    results = [served.verdict("lea", number)["result"] for number in found]
    states = [[one["state"] for one in result["exercises"] if one["exercise"] == 1] for result in results]
    assert states == [["full"], ["part"]]
    assert "Submission 1 counts, not this one." in served.page("lea", f"/submissions/{found[1]}")
    assert "This is the best of 2 attempts" in served.page("lea", f"/submissions/{found[0]}")
    assert "It counts only if it is better than what was submitted before." in served.page("lea", "/")
    assert results[0]["points"] == served.get("prof", "/class?student=lea").json()["submissions"][0]["points"]
