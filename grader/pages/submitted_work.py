"""Read the files of submissions, to compare them."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable

from nbformat import NotebookNode

from grader.classroom.folder_walk import read_plain
from grader.course.folder import Course
from grader.gradebook.records import digest_of
from grader.notebooks.parsing import MAX_BYTES, parse_notebook


def files_of(course: Course, assignment: str, students: Iterable[str]) -> dict[str, str]:
    """Digests of the notebooks in submitted/, by student; empty where all cells are as they were handed out."""
    digests = {student: digest_of(_contents(course, assignment, student)) for student in students}
    counts = Counter(digests.values())
    student_of = {digest: student for student, digest in digests.items() if counts[digest] > 1}
    untouched = {digest for digest, student in student_of.items() if _is_untouched(course, assignment, student)}
    return {student: "" if digest in untouched else digest for student, digest in digests.items()}


def _is_untouched(course: Course, assignment: str, student: str) -> bool:
    """Whether no cell was changed; they may have been run."""
    return all(
        _texts(parse_notebook(content)) == _texts(course.read("release", assignment, name))
        for name, content in _contents(course, assignment, student).items()
    )


def _texts(notebook: NotebookNode) -> list[list[str]]:
    return [cell.source.split() for cell in notebook.cells]


def _contents(course: Course, assignment: str, student: str) -> dict[str, bytes]:
    contents = {}
    for name in course.notebooks("release", assignment):
        path = course.notebook(f"submitted/{student}", assignment, name)
        with contextlib.suppress(OSError):
            size = path.lstat().st_size
            if size <= MAX_BYTES:
                contents[name] = read_plain(path, size)
    return contents
