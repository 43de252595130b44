"""The second course's assignment `words`, with a question and a cell of code that wait for points from a person."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat

from grader.course.folder import Course
from grader.notebooks.cells import new_cell, solved
from grader.release.compiling import compile_release
from support.places import DATA

WORDS = "words"
WRITTEN = ("why", "plot")  # the cells that wait for a person


def words_course(root: Path) -> Course:
    shutil.copytree(DATA / "second_course", root, ignore=shutil.ignore_patterns("__pycache__"))
    course = Course(root)
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
    return str(nbformat.writes(notebook)).encode()


def give_points(course: Course, student: str, cell: str, points: float) -> None:
    """Give points as the formgrader does."""
    with course.api().gradebook as gradebook:
        grade = gradebook.find_grade(cell, WORDS, WORDS, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()
