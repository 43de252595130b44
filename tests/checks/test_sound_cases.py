"""A hidden case that a right answer fails stops grading before anybody gets a grade for it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import grader
from grader.checks.sound_cases import NOTE
from grader.course.folder import CONFIG_FILE, Course
from grader.model.label import Label
from support.command_line import Ended
from support.command_line import grader as run_grader
from support.made_class import ASSIGNMENT
from support.proof import first_in_ci

pytestmark = pytest.mark.slow

OVERFLOWS = """
from dataclasses import replace
def overflowing(items):
    return {}
exercise = replace(exercise, solution=overflowing, mistakes=[])
"""


@pytest.fixture
def course_with_exercises(course: Course, submit: Callable[..., Path], solved: dict[Label, str]) -> Course:
    """Exercises that are the course's own, and a submission with exercise 3."""
    shutil.copytree(Path(grader.__file__).parent / "exercises", course.root / "exercises")
    settings = course.root / CONFIG_FILE
    settings.write_text(settings.read_text().replace('"grader.exercises"', '"exercises"'))
    submit(course, "ada", {3: solved[3]})
    return course


def grade(course: Course, *options: str) -> Ended:
    """In one process: a crew takes longer to start than it would save."""
    return run_grader("autograde", ASSIGNMENT, "--jobs", "1", *options, folder=course.root)


UNSOUND = (
    ("torch.as_tensor(items) * 1e39 * 1e39", "the reference is not finite"),
    (
        "torch.as_tensor(items) + __import__('time').perf_counter_ns() % 1000",
        "the reference gives different answers for the same inputs",
    ),
    ("1 / 0", "the reference stops with ZeroDivisionError"),
)


@pytest.mark.parametrize("unsound", first_in_ci(UNSOUND), ids=[said for _, said in UNSOUND])
def test_autograde_when_reference_is_unsound_grades_nothing(
    unsound: tuple[str, str], course_with_exercises: Course
) -> None:
    reference, said = unsound
    path = course_with_exercises.root / "exercises/ex03_softmax.py"
    before = path.read_text()
    path.write_text(before + OVERFLOWS.format(reference))
    refused = grade(course_with_exercises)
    assert refused.returncode == 1
    assert "Nothing was graded: right answers would fail. exercise 3" in refused.stderr
    assert said in refused.stderr
    assert not (course_with_exercises.folder("autograded") / "ada").exists()
    path.write_text(before)
    assert grade(course_with_exercises).returncode == 0
    assert list(json.loads((course_with_exercises.root / NOTE).read_text())) == [ASSIGNMENT]


def test_grading_asks_first_where_all_right_answers_turn_wrong(
    course_with_exercises: Course, submit: Callable[..., Path], solved: dict[Label, str]
) -> None:
    """The new reference answers, finitely and always the same, and is wrong."""
    submit(course_with_exercises, "emmy", {3: solved[3]})
    submit(course_with_exercises, "kurt", {2: solved[2]})
    assert grade(course_with_exercises).returncode == 0
    path = course_with_exercises.root / "exercises/ex03_softmax.py"
    before = path.read_text()
    path.write_text(before + OVERFLOWS.format("torch.as_tensor(items) * 3.0"))
    refused = grade(course_with_exercises)
    assert refused.returncode == 1
    assert (
        "Nothing was graded: exercise 3 was right for ada, emmy, but the same code would now be wrong. "
        "Check the exercise file. If it is right, run this again with --yes."
    ) in refused.stderr
    assert points(course_with_exercises) == {"ada": 2, "emmy": 2, "kurt": 3}, "nothing was written"
    assert grade(course_with_exercises, "--yes").returncode == 0
    assert points(course_with_exercises) == {"ada": 0, "emmy": 0, "kurt": 3}


def test_grading_does_not_ask_where_one_right_answer_stays_right(
    course_with_exercises: Course, submit: Callable[..., Path], solved: dict[Label, str]
) -> None:
    """Nor is a class that hands in anew."""
    submit(
        course_with_exercises,
        "emmy",
        {3: solved[3].replace("def softmax", "def softmax(items): return items\ndef softmax")},
    )
    assert grade(course_with_exercises).returncode == 0
    path = course_with_exercises.root / "exercises/ex03_softmax.py"
    path.write_text(path.read_text() + "\n# a comment\n")
    assert grade(course_with_exercises).returncode == 0
    path.write_text(path.read_text() + OVERFLOWS.format("torch.as_tensor(items) * 3.0"))
    for student in ("ada", "emmy"):
        submit(course_with_exercises, student, {2: solved[2], 3: solved[3]})
    assert grade(course_with_exercises).returncode == 0


def points(course: Course) -> dict[str, float]:
    with course.api().gradebook as gradebook:
        return {one.student.id: one.score for one in gradebook.assignment_submissions(ASSIGNMENT)}


def test_exercises_when_unchanged_are_checked_once(
    course_with_exercises: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert grade(course_with_exercises).returncode == 0
    monkeypatch.setattr("grader.checks.exercise_checks.unsound_references", lambda _: 1 / 0)
    assert grade(course_with_exercises).returncode == 0
    (course_with_exercises.root / NOTE).write_text("[")
    with pytest.raises(ZeroDivisionError):
        grade(course_with_exercises)
