"""The second course's assignment `words`, with a question and a cell of code that wait for points from a person."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import nbformat

from grader.course.folder import Course
from grader.notebooks.cells import new_cell, solved
from grader.release.compiling import compile_release
from grader.serving import invitations
from grader.serving.invitations import Role
from grader.term.reading import COURSE_FILE
from support.report_pages import text_of
from support.second_course import copy_of_second_course
from support.served import Served

# Ada is late by four hours begun, and kurt is not; zoe submits for max, too.
RULES = """\
timezone = "Europe/Berlin"
late = {per = "hour", share = 0.1, cap = 0.5}
groups = {blue = ["zoe", "max"]}
[assignments.words]
extensions = {kurt = "2 days"}
void = [2]
bonus = ["test-greeting"]
"""
ROSTER = "id,first_name,last_name\nada,Ada,Lovelace\nkurt,Kurt,Gödel\nmax,,\nzoe,,\nlea,,\n"
WORDS = "words"
WRITTEN = ("why", "plot")  # the cells that wait for a person


def words_course(root: Path) -> Course:
    course = copy_of_second_course(root)
    notebook: Any = course.read("source", WORDS)
    marks = {"grade": True, "solution": True, "locked": False, "task": False, "schema_version": 3}
    notebook.cells.append(new_cell("code", "...", "plot", {"nbgrader": {**marks, "grade_id": "plot", "points": 3}}))
    nbformat.write(notebook, course.notebook("source", WORDS))
    compile_release(course, WORDS)
    return course


def answered(course: Course, answers: Mapping[str, str]) -> bytes:
    """A notebook with all exercises solved, but for these answers."""
    released: Any = course.read("release", WORDS)
    notebook: Any = solved(released, course.read("source", WORDS))
    as_released = {cell.id: cell.source for cell in released.cells if cell.id in WRITTEN}
    for cell in notebook.cells:
        cell.source = {**as_released, **answers}.get(cell.id, cell.source)
    text: str = nbformat.writes(notebook)
    return text.encode()


def give_points(course: Course, student: str, cell: str, points: float) -> None:
    """Give points as the formgrader does."""
    with course.api().gradebook as gradebook:
        grade = gradebook.find_grade(cell, WORDS, WORDS, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()


def comment_on(course: Course, student: str, cell: str, comment: str) -> None:
    """Comment on an answer as the formgrader does."""
    with course.api().gradebook as gradebook:
        gradebook.find_comment(cell, WORDS, WORDS, student).manual_comment = comment
        gradebook.db.commit()


class ServedWords(Served):
    """A server of the second course's assignment, to all of whose students a link was sent."""

    def __init__(self, course: Course) -> None:
        self.course = course
        due = datetime.now(UTC) - timedelta(minutes=200)
        self.rules = f"{RULES}due = {due.isoformat(timespec='seconds')}\n"
        (course.root / COURSE_FILE).write_text(self.rules)
        (course.root / "roster.csv").write_text(ROSTER)
        self.codes = invitations.invite(course, ["ada", "kurt", "max", "zoe", "lea"])
        self.codes |= invitations.invite(course, ["prof"], Role.INSTRUCTOR)
        self.start()

    def submit(self, name: str, content: bytes) -> dict[str, Any]:
        answer = self.post(name, f"/assignments/{WORDS}", content)
        assert answer.status_code == 202, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def page(self, name: str, place: str) -> str:
        """What there is to read on a page for this person."""
        with self.browser(name) as browser:
            answer = browser.get(place)
        assert answer.status_code == 200, (place, answer.text)
        return " ".join(text_of(answer.text).split())
