"""Which attempt of a student counts, by the points and times of all of them."""

from __future__ import annotations

from datetime import datetime
from unittest.mock import Mock

import pytest

from grader.gradebook.class_gradebook import GradebookEntry
from grader.gradebook.counting import Attempts
from grader.gradebook.hidden_seed import Attempt
from grader.gradebook.marks import Marks
from grader.gradebook.records import Record

MONDAY = datetime(2026, 10, 12, 8)
TUESDAY = datetime(2026, 10, 13, 8)


@pytest.fixture
def attempts() -> Attempts:
    """Of an assignment without points, so that all attempts are equal."""
    gradebook = Mock(items=[], duedate=None)
    gradebook.records.return_value = gradebook.marks.return_value = gradebook.submitted.return_value = {}
    gradebook.rules.late = gradebook.rules.late_by.return_value = None
    gradebook.rules.due = None
    gradebook.marks_after.return_value = Marks()
    return Attempts(gradebook)


@pytest.mark.parametrize(
    ("times", "best"),
    [
        ({"first": MONDAY, "second": TUESDAY}, "second"),
        ({"first": TUESDAY, "second": MONDAY}, "first"),
        ({"first": MONDAY, "second": MONDAY}, "second"),
        ({"first": MONDAY, "second": None}, "first"),
        ({"first": None, "second": None}, "second"),
    ],
)
def test_choose_of_equal_attempts_takes_the_newer(
    times: dict[str, datetime | None], best: str, attempts: Attempts
) -> None:
    numbered = {Attempt(number, digest): time for number, (digest, time) in enumerate(times.items(), start=1)}
    assert attempts.choose("ada", numbered, dict.fromkeys(times, Mock(GradebookEntry)))[0] == best


def test_note_reads_the_marks_of_those_whose_records_are_new(attempts: Attempts) -> None:
    gradebook: Mock = attempts.gradebook  # type: ignore[assignment]
    gradebook.marks.return_value = {"ada": Marks()}
    attempts.note({})
    assert attempts.marks == {}
    attempts.note({"ada": Mock(Record)})
    assert attempts.marks == {"ada": Marks()}
    gradebook.marks.assert_called_with(["ada"])
