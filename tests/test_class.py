"""A class at once: the same as nbgrader leaves, nothing twice, nothing lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

from whole_course import files, rows

from grader.autograde import autograde
from grader.course import Course
from grader.demo import make_up_class

ASSIGNMENT = "self_attention"
DUE = datetime(2026, 11, 20, 12)


def hand_in_all_kinds(course: Course, submit: Callable[..., Path], solved: dict[int, str]) -> None:
    """The class of the demo, and what else nbgrader makes something of: late ones, files, broken notebooks."""
    make_up_class(course)
    shutil.rmtree(course.root / "submitted/henri")  # an endless loop, which costs time
    for student, hours in (("late", 30), ("extended", 30), ("early", -5)):
        folder = submit(course, student, {1: solved[1], 3: solved[3]}).parent
        (folder / "timestamp.txt").write_text(f"{DUE + timedelta(hours=hours)} UTC")
    folder = submit(course, "files", {3: "from mine import softmax"}).parent
    (folder / "mine.py").write_text(solved[3])
    (folder / "data").mkdir()
    (folder / "data/words.txt").write_text("one two")
    (folder / "checks.py").write_text("raise RuntimeError")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/mine.pyc").write_bytes(b"")
    submit(course, "broken", b"{no json")
    submit(course, "empty", b"")
    noisy = {3: solved[3] + "\nfor number in range(5000):\n    print(number)\nraise ValueError('after all')"}
    submit(course, "noisy", noisy)


def settle(course: Course) -> None:
    """What an instructor has arranged before: a due date, an extension, points and words given by hand."""
    with course.api().gradebook as gradebook:
        gradebook.update_or_create_assignment(ASSIGNMENT, duedate=DUE)
        for student in ("extended", "late", "ada"):
            gradebook.update_or_create_student(student, first_name=student.title())
            gradebook.update_or_create_submission(ASSIGNMENT, student)
        gradebook.grant_extension(ASSIGNMENT, "extended", days=2)
        gradebook.find_grade("test-exercise-2", ASSIGNMENT, ASSIGNMENT, "ada").manual_score = 1.5
        gradebook.find_grade("test-exercise-3", ASSIGNMENT, ASSIGNMENT, "late").extra_credit = 0.5
        gradebook.find_comment("exercise-3", ASSIGNMENT, ASSIGNMENT, "ada").manual_comment = "Nicely done."
        gradebook.db.commit()


PENALTY = """
from nbgrader.plugins import BasePlugin


class Tenth(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score / 10 if student_id != "early" else 1000


c.AssignLatePenalties.plugin_class = Tenth
"""


def test_rows_and_notebooks_are_those_of_nbgrader(
    new_course: Callable[[], Course], submit: Callable[..., Path], solved: dict[int, str]
) -> None:
    """In the same course, with the same preprocessors: ours by two workers, nbgrader's one by one."""
    ours, theirs = new_course(), new_course()
    for course in (ours, theirs):
        with (course.root / "nbgrader_config.py").open("a") as config:
            config.write(PENALTY)
        hand_in_all_kinds(course, submit, solved)
        settle(course)
    results = list(autograde(ours, ASSIGNMENT, jobs=2))
    assert [one.error for one in results if one.error] == []
    api = theirs.api()
    for student in theirs.students(ASSIGNMENT):
        assert api.autograde(ASSIGNMENT, student)["success"]
    assert rows(ours) == rows(theirs)
    assert files(ours) == files(theirs)
