"""Feedback pages of groups: the page of the one who has handed in is that of all members."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Mapping
from typing import Any

from grader.course.folder import Course
from grader.gradebook.class_rows import ClassRows
from grader.gradebook.connection import open_gradebook
from grader.term.rules import AssignmentRules

_COPIED = "group.txt"  # beside a page that is a copy


def handed_in_by(api: Any, assignment: str, rules: AssignmentRules, tell: Callable[[str], None]) -> Mapping[str, str]:
    """For each student whose group has handed in by somebody else, by whom."""
    if not rules.groups:
        return {}
    with contextlib.closing(open_gradebook(api, tell)) as gradebook:
        submissions = ClassRows(gradebook, assignment, rules).submissions
    return {student: row.student_id for student, row in submissions.items() if student != row.student_id}


def remove_copies(course: Course, assignment: str) -> None:
    """Groups may be others now."""
    for mark in course.folder("feedback").glob(f"*/{assignment}/{_COPIED}"):
        shutil.rmtree(mark.parent)


def copy_pages(course: Course, assignment: str, by: Mapping[str, str]) -> None:
    feedback = course.folder("feedback")
    for student, other in by.items():
        target = feedback / student / assignment
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for page in (feedback / other / assignment).glob("*.html"):
            shutil.copyfile(page, target / page.name)
        (target / _COPIED).write_text(f"Handed in by {other}, for the group.\n")
