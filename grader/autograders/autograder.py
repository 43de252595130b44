"""A zip for Gradescope: an autograder that grades one assignment there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from grader.autograders.gradescope_files import zipped
from grader.autograders.packed import pack
from grader.course.folder import Course

_TEMPLATES = Path(__file__).parent / "templates" / "gradescope"


def gradescope_autograder(course: Course, assignment: str, tell: Callable[[str], None], index: str) -> bytes:
    programs = {path.name: path.read_bytes() for path in sorted(_TEMPLATES.iterdir())}
    return zipped(programs, pack(course, assignment, tell, index))
