"""A zip for Gradescope: an autograder that grades one assignment there."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

from grader.course import Course
from grader.elsewhere.packed import pack

_TEMPLATES = Path(__file__).parent / "templates" / "gradescope"
_EXECUTABLE, _PLAIN = 0o755, 0o644


def gradescope_autograder(course: Course, assignment: str, tell: Callable[[str], None]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(_TEMPLATES.iterdir()):
            _add(archive, path.name, path.read_bytes(), _EXECUTABLE)
        for place, text in pack(course, assignment, tell).items():
            _add(archive, place, text, _PLAIN)
    return content.getvalue()


def _add(archive: zipfile.ZipFile, place: str, content: bytes, mode: int) -> None:
    information = zipfile.ZipInfo(place)
    information.external_attr = mode << 16
    information.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(information, content)
