"""Run nbgrader by itself."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.tests import run_nbgrader

from grader.course.folder import Course


def instructor(course: Course) -> dict[str, str]:
    """The environment of an instructor who has only the course's settings."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    own = {"USER": "instructor", "HOME": str(course.root), "JUPYTER_CONFIG_DIR": str(course.root / ".jupyter")}
    return {**os.environ, "PATH": path, **own}


def nbgrader(course: Course, *arguments: str) -> str:
    """Run nbgrader's command line in the course folder, in this process, which has already imported it.

    nbgrader replaces the environment by a copy, which later tests would otherwise be left with.
    """
    environment = os.environ
    try:
        with contextlib.chdir(course.root):
            said: str = run_nbgrader(list(arguments), env=instructor(course))
    finally:
        os.environ = environment  # noqa: B003  the same object as before
    return said


def added_cell(name: str, source: str, cell_type: str = "code", **more: Any) -> Any:
    make = nbformat.v4.new_code_cell if cell_type == "code" else nbformat.v4.new_markdown_cell
    settings = {"grade_id": name, "grade": True, "solution": False, "locked": True, "points": 7, "task": False}
    return make(source, id=name, metadata={"nbgrader": {**settings, "schema_version": 3, **more}})
