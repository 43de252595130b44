"""Export submissions as programs, one folder for each student, for JPlag and Dolos, which compare code."""

from __future__ import annotations

import ast
import logging
import re
import shutil
import warnings
from pathlib import Path

from nbformat import NotebookNode

from grader.classroom.submitted_files import NotTakenIn, take_in
from grader.course.folder import Course
from grader.errors import CourseError
from grader.export.points import FOLDER, write_export
from grader.notebooks.parsing import parse_notebook
from grader.sandbox.plain_text import listed

log = logging.getLogger(__name__)

_MAGIC = re.compile(r"^([ \t]*)[%!].*", re.MULTILINE)  # lines that only IPython understands


def export_jplag(course: Course, assignment: str) -> Path:
    """Write a folder: `submissions`, with a folder for each student, and `base-code`, the code that was released."""
    notebooks = course.notebooks("release", assignment)
    if not notebooks:
        raise CourseError(f"{assignment} has not been released yet. Run: grader release {assignment}")
    students = course.students(assignment)
    if not students:
        raise CourseError(f"Nobody has submitted {assignment}. Run: grader collect {assignment} SOURCE")
    folder = f"{assignment}-jplag"
    shutil.rmtree(course.root / FOLDER / folder, ignore_errors=True)
    for name in notebooks:
        write_export(course, f"{folder}/base-code/{name}.py", program(course.read("release", assignment, name)))
    left_out = []
    for student in students:
        try:
            submission = take_in(course.folder("submitted"), student, assignment, notebooks=notebooks)
        except NotTakenIn:
            left_out.append(student)
            continue
        for name, content in submission.notebooks.items():
            text = program(parse_notebook(content))
            write_export(course, f"{folder}/submissions/{student}/{name}.py", text)
    if left_out:
        log.warning(f"Left out, because their submissions cannot be read: {listed(sorted(left_out))}.")
    return course.root / FOLDER / folder


def program(notebook: NotebookNode) -> str:
    """The code of a notebook, in a form that any reader of Python accepts."""
    return "".join(f"{_python(cell.source)}\n\n\n" for cell in notebook.cells if cell.cell_type == "code")


def _python(source: str) -> str:
    """The source of a cell without IPython's own lines: one of them would make all the rest unreadable."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about odd escapes in strings, which are not our concern
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _MAGIC.sub(r"\1pass", source)
    return source
