"""What is in a folder or in a graded course, in a form to compare with another: rows by names, files by content."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Assignment, Comment, Grade, Student, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import select

from grader.course.folder import Course


def files_in(folder: Path) -> dict[str, bytes]:
    """The content of each file, by its path in the folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def rows(course: Course) -> dict[str, set[tuple[Any, ...]]]:
    """All rows of submissions, without their random ids."""
    with course.api().gradebook as gradebook:
        session = gradebook.db
        cells = [
            (kind, one.cell.name, one.cell.type, one.notebook.name, one.notebook.student.id)
            for kind in (Grade, Comment)
            for one in session.scalars(select(kind))
        ]
        return {
            "students": {(one.id, one.first_name, one.last_name) for one in session.scalars(select(Student))},
            "assignments": {(one.name, one.duedate, one.max_score) for one in session.scalars(select(Assignment))},
            "submissions": {
                (one.name, one.student.id, one.timestamp, one.extension, one.score, one.max_score,
                 one.needs_manual_grade, one.late_submission_penalty, one.total_seconds_late)
                for one in session.scalars(select(SubmittedAssignment))
            },
            "notebooks": {
                (one.name, one.student.id, one.flagged, one.late_submission_penalty, one.score, one.failed_tests)
                for one in session.scalars(select(SubmittedNotebook))
            },
            "grades": {
                (one.notebook.name, one.notebook.student.id, one.cell.name, one.auto_score, one.manual_score,
                 one.extra_credit, one.needs_manual_grade, one.score, one.max_score)
                for one in session.scalars(select(Grade))
            },
            "comments": {
                (one.notebook.name, one.notebook.student.id, one.cell.name, one.auto_comment, one.manual_comment)
                for one in session.scalars(select(Comment))
            },
            "how many": {(kind.__name__, len([one for one in cells if one[0] is kind])) for kind in (Grade, Comment)},
        }  # fmt: skip


def files(course: Course) -> dict[str, tuple[str, Any]]:
    """The mode and content of each file in autograded/, cell by cell for notebooks."""
    folder = course.root / "autograded"
    return {
        str(path.relative_to(folder)): (stat.filemode(path.stat().st_mode), _content(path))
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _content(path: Path) -> Any:
    if path.suffix != ".ipynb":
        return path.read_bytes()
    notebook = nbformat.read(path, as_version=4)
    return notebook.metadata, [dict(cell) for cell in notebook.cells]
