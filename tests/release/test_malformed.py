"""A cell that nbgrader refuses is named, with its notebook."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.checks.sound_cases import must_be_releasable
from grader.course.folder import Course
from grader.errors import CourseError
from grader.release.compiling import compile_release

pytestmark = pytest.mark.slow

TASK = {"grade": False, "solution": False, "locked": True, "task": True, "points": 4.0, "schema_version": 3}
DRAW = "Draw it.\n\n=== BEGIN MARK SCHEME ===\nTwo for the axes.\n=== END MARK SCHEME ==="


@pytest.mark.parametrize(
    ("kind", "source", "metadata", "reason"),
    [
        ("code", DRAW, {}, "Task cells have to be markdown"),
        ("markdown", DRAW, {"points": None}, "None is not of type 'number'"),
        ("markdown", DRAW, {"points": "four"}, "'four' is not of type 'number'"),
        ("markdown", DRAW, {"locked": "yes"}, "'yes' is not of type 'boolean'"),
        ("markdown", DRAW, {"grade_id": "draw it"}, "'draw it' does not match '^[a-zA-Z0-9_\\\\-]*$'"),
        ("markdown", DRAW.replace("=== END MARK SCHEME ===", ""), {}, "No end mark scheme tests statement found"),
        ("markdown", DRAW, {"task": False, "locked": False}, "Mark scheme region detected in a non-grade cell"),
        ("markdown", "### BEGIN SOLUTION", {}, "no end solution statement found"),
        ("markdown", DRAW, {"grade_id": "first"}, "two cells have this grade_id"),
    ],
)
def test_release_names_a_malformed_cell(
    kind: str, source: str, metadata: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    place = tmp_path / "source/essays/second.ipynb"
    place.parent.mkdir(parents=True)
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'essays'\n")
    make = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}
    first = nbformat.v4.new_markdown_cell(DRAW, metadata={"nbgrader": {**TASK, "grade_id": "first"}})
    settings = {**TASK, "grade_id": "draw", **metadata}
    cell = make[kind](source, metadata={"nbgrader": settings})
    nbformat.write(nbformat.v4.new_notebook(cells=[first, cell]), place)
    course = Course(tmp_path)
    with contextlib.chdir(tmp_path), pytest.raises(CourseError) as caught:
        compile_release(course, "essays")
    assert f"In second.ipynb, cell {settings['grade_id']}: {reason}" in str(caught.value)
    assert "axes" not in str(caught.value)


def test_release_names_a_task_without_points(tmp_path: Path) -> None:
    place = tmp_path / "source/essays/essays.ipynb"
    place.parent.mkdir(parents=True)
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'essays'\n")
    settings = {key: value for key, value in TASK.items() if key != "points"}
    cell = nbformat.v4.new_markdown_cell(DRAW, metadata={"nbgrader": {**settings, "grade_id": "draw"}})
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), place)
    with contextlib.chdir(tmp_path), pytest.raises(CourseError, match=r"In essays\.ipynb, cell draw: .*points"):
        compile_release(Course(tmp_path), "essays")


@pytest.mark.parametrize("points", [None, -1, "four"])
def test_must_be_releasable_names_a_task_with_bad_points(points: object, tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'essays'\n")
    for name, amount in (("first", 4), ("second", points)):
        cell = nbformat.v4.new_markdown_cell(
            DRAW, metadata={"nbgrader": {**TASK, "grade_id": "draw", "points": amount}}
        )
        place = tmp_path / f"source/essays/{name}.ipynb"
        place.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), place)
    reason = r"^Nothing was released\. In second\.ipynb, cell draw: its? .*points"
    with contextlib.chdir(tmp_path), pytest.raises(CourseError, match=reason):
        must_be_releasable(Course(tmp_path), "essays")
