"""What somebody has learned of hidden inputs is worth nothing afterwards."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ASSIGNMENT
from grader.classroom.run import autograde
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.hidden_seed import SECRET_FILE, Attempt, hidden_seed, secret_of

pytestmark = pytest.mark.slow

# An error tells the student what the code was asked, in letters where numbers are left out.
SPY = """def softmax(items_in):
    raise ValueError("".join(chr(ord("a") + int(digit)) for digit in repr(items_in) if digit.isdigit()))
"""


@pytest.fixture
def hidden_inputs(course: Course, submit: Callable[..., Path]) -> Callable[..., str]:
    """The hidden inputs that a hand-in is told of on its feedback page."""

    def hand_in(source: str = SPY, student: str = "ada", force: bool = False) -> str:
        submit(course, student, {3: source})
        (graded,) = autograde(course, ASSIGNMENT, [student], force=force)
        (said,) = (scored.verdict.sentences for scored in graded.verdicts if scored.verdict.exercise == 3)
        found = re.search(r"ValueError: (\w+)", said[0])
        assert found, said
        return found[1]

    return hand_in


def test_same_submission_meets_the_same_inputs(hidden_inputs: Callable[..., str]) -> None:
    assert hidden_inputs() == hidden_inputs(force=True) == hidden_inputs()


def test_submission_again_after_another_meets_other_inputs(hidden_inputs: Callable[..., str]) -> None:
    first = hidden_inputs()
    other = hidden_inputs(f"{SPY}  # another try")
    again = hidden_inputs()
    assert len({first, other, again}) == 3


def test_inputs_differ_between_students_and_courses(course: Course, hidden_inputs: Callable[..., str]) -> None:
    ada, bob = hidden_inputs(), hidden_inputs(student="bob")
    (course.root / SECRET_FILE).unlink()
    assert len({ada, bob, hidden_inputs(), hidden_inputs(student="bob")}) == 4


def test_autograde_when_secret_is_empty_says_so(course: Course, hidden_inputs: Callable[..., str]) -> None:
    first = hidden_inputs()
    (course.root / SECRET_FILE).write_bytes(b"")
    with pytest.raises(CourseError, match=f"{SECRET_FILE} is empty"):
        hidden_inputs()
    (course.root / SECRET_FILE).unlink()
    assert hidden_inputs() != first


def test_same_submission_with_another_time_meets_other_inputs(
    course: Course, hidden_inputs: Callable[..., str]
) -> None:
    """So that what lies elsewhere on the machine, where code can ask whether a file exists, holds no answers either."""
    first = hidden_inputs()
    (course.notebook("submitted/ada", ASSIGNMENT).parent / "timestamp.txt").write_text("2026-11-22 10:00:00 UTC")
    assert hidden_inputs() != first


def test_secret_of_makes_one_secret_readable_by_owner_only(tmp_path: Path) -> None:
    made: list[bytes] = []
    threads = [threading.Thread(target=lambda: made.append(secret_of(tmp_path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8
    assert len(set(made)) == 1
    assert len(made[0]) == 32
    assert [path.name for path in tmp_path.iterdir()] == [SECRET_FILE]
    assert (tmp_path / SECRET_FILE).stat().st_mode & 0o777 == 0o600


def test_hidden_seed_depends_on_every_argument() -> None:
    told: list[Any] = [
        (b"s", "a", "b", 1),
        (b"t", "a", "b", 1),
        (b"s", "ab", "", 1),
        (b"s", "a", "c", 1),
        (b"s", "a", "b", 2),
    ]
    assert len({hidden_seed(*one) for one in told}) == len(told)


def test_attempts_are_counted_by_their_content() -> None:
    first = Attempt.after(None, "one")
    assert (first.number, Attempt.after(first, "one")) == (1, first)
    second = Attempt.after(first, "two")
    assert [second.number, Attempt.after(second, "one").number] == [2, 3]
