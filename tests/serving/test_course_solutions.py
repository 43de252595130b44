"""When students who have full marks read the course's own solution, and that others never do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from words_course import ServedWords, answered, words_course

from grader.term.reading import COURSE_FILE
from grader.term.rules import AssignmentRules, Serving, ShowSolutions
from support.second_course import WRONG

NOON = datetime(2026, 10, 12, 12)
DAY = timedelta(days=1)


def rules(solutions: ShowSolutions, **more: object) -> AssignmentRules:
    return AssignmentRules(serving=Serving(solutions=solutions), **more)  # type: ignore[arg-type]


def test_solutions_without_a_setting_are_never_shown() -> None:
    assert not AssignmentRules(due=NOON).shows_solutions(NOON + 99 * DAY)


def test_solutions_after_full_marks_are_shown_at_once() -> None:
    assert rules(ShowSolutions.AFTER_FULL_MARKS, due=NOON).shows_solutions(NOON - DAY)


def test_solutions_after_the_due_date_wait_for_everybody() -> None:
    later = rules(ShowSolutions.AFTER_DUE_DATE, due=NOON, extensions={"emmy": 2 * DAY})
    assert not later.shows_solutions(NOON + DAY)
    assert later.shows_solutions(NOON + 2 * DAY)
    assert rules(ShowSolutions.AFTER_DUE_DATE, due=NOON).shows_solutions(NOON)
    assert not rules(ShowSolutions.AFTER_DUE_DATE).shows_solutions(NOON + 99 * DAY), "there is no due date"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedWords]:
    server = ServedWords(words_course(tmp_path_factory.mktemp("words") / "course"))
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="module")
def submission(served: ServedWords) -> int:
    """Kurt's: exercise 1 is right, and parse-date is not."""
    answers = {"exercise-parse-date": WRONG["exercise-parse-date"], "exercise-2": WRONG["exercise-2"]}
    number: int = served.submit("kurt", answered(served.course, answers))["submission"]
    assert served.verdict("kurt", number)["state"] == "graded"
    return number


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "before", "is_shown"),
    [
        ("never", "everything", False),
        ("after full marks", "everything", True),
        ("after full marks", "exercises", True),
        ("after full marks", "points", False),
        ("after the due date", "everything", False),
    ],
)
def test_solutions_on_the_page_are_those_with_full_marks(
    served: ServedWords, submission: int, setting: str, before: str, is_shown: bool
) -> None:
    serving = f'[assignments.words.serving]\nsolutions = "{setting}"\nbefore = "{before}"\n'
    (served.course.root / COURSE_FILE).write_text(served.rules + serving)
    with served.browser("kurt") as browser:
        page = browser.get(f"/submissions/{submission}").text
    _, heading, solutions = page.partition('id="solutions"')
    assert bool(heading) is is_shown
    if is_shown:
        assert "<summary>Exercise 1: Count words</summary>" in solutions
        assert "parse_date" not in solutions
        assert "BEGIN SOLUTION" not in solutions
