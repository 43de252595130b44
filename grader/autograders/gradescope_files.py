"""Files for Gradescope: zips with programs in them, and results that are plain text."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from grader.autograders.packed import pack
from grader.course.folder import Course

# Gradescope shows these as plain text.
AS_TEXT = {
    "output_format": "text",
    "test_output_format": "text",
    "test_name_format": "text",
    "visibility": "visible",
}
_EXECUTABLE, _PLAIN = 0o755, 0o644


def zip_files(programs: Mapping[str, bytes], readable: Mapping[str, bytes]) -> bytes:
    """A zip of files, given by path: programs to run there, and others that are only read."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for files, mode in ((programs, _EXECUTABLE), (readable, _PLAIN)):
            for path, file in files.items():
                information = zipfile.ZipInfo(path)
                information.external_attr = mode << 16
                information.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(information, file)
    return content.getvalue()


# The autograder for Gradescope: a zip that grades one assignment there.

_TEMPLATES = Path(__file__).parent / "templates" / "gradescope"


def gradescope_autograder(course: Course, assignment: str, index: str) -> bytes:
    programs = {path.name: path.read_bytes() for path in sorted(_TEMPLATES.iterdir())}
    return zip_files(programs, pack(course, assignment, index))
