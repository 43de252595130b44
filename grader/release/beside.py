"""A step of nbgrader's generate_assignment that puts files beside a released notebook: the grader's modules, what its
checks know of mistakes and hints, how to start, and AGENTS.md, which tells AI assistants how to help. What the author
has written stays.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.course.folder import CONFIG_FILE, Course
from grader.errors import CourseError
from grader.model.label import Label
from grader.notebooks.cells import ANCHOR, solved_exercise
from grader.notebooks.modules_beside import for_students, given_beside, put_beside
from grader.release.first_steps import first_steps
from grader.release.known_mistakes import FILE, table_for
from grader.release.own_code import FILE as OWN_CODE
from grader.release.own_code import own_code_file

ASSISTANTS = Path(__file__).with_name("AGENTS.md")
HINTS = "hints.py"

_HINT = re.compile(r"<details><summary>Hint\b[^<]*</summary>\s*(.*?)\s*</details>", re.DOTALL)


class ModulesBeside(NbGraderPreprocessor):
    """Runs first: the gradebook keeps the cells as they are after this, and submissions are restored to that."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        for cell in nb.cells:
            if cell.cell_type == "code":
                cell.source = for_students(cell.source)
        course, assignment = CourseDirectory(parent=self), resources["nbgrader"]["assignment"]
        steps = course.source_directory, course.release_directory
        source, release = (Path(course.format_path(step, ".", assignment)) for step in steps)
        release.mkdir(parents=True, exist_ok=True)
        modules = given_beside(source)
        put_beside(release, modules)
        has_checks = "checking.py" in modules
        for name in (FILE, OWN_CODE):
            if has_checks and (source / name).exists():
                raise CourseError(f"{source.name} has a file {name}, but the release needs that name. Rename it.")
        if has_checks and not (source / HINTS).exists():
            (release / HINTS).write_text(_hints_file(hints_in(source)), encoding="utf-8")
        root = Path(course.root)
        is_ours = (root / CONFIG_FILE).is_file()  # nbgrader reads settings from elsewhere, too
        if is_ours:
            _put_tables(Course(root), assignment, release)
        if not (source / ASSISTANTS.name).exists():
            shutil.copyfile(ASSISTANTS, release / ASSISTANTS.name)
        for name, text in first_steps(source, release).items():
            if not (source / name).exists():
                (release / name).write_text(text, encoding="utf-8")
        return nb, resources


def _put_tables(course: Course, assignment: str, release: Path) -> None:
    """What checks know of mistakes, and what `explain` needs, if there are checks."""
    table = table_for(course, assignment)
    if table:
        (release / FILE).write_bytes(table)
        exercises = course.exercises(assignment).values()
        functions = [function for exercise in exercises for function in exercise.functions]
        (release / OWN_CODE).write_text(own_code_file(functions), encoding="utf-8")


def hints_in(source: Path) -> dict[Label, tuple[str, list[str]]]:
    """For each exercise, the anchor above it and the hints that are folded in the text before its solution."""
    hints: dict[Label, tuple[str, list[str]]] = {}
    for path in sorted(source.glob("*.ipynb")):
        anchor, waiting = "", []
        for cell in nbformat.read(path, as_version=4).cells:
            exercise = solved_exercise(cell)
            if cell.cell_type == "markdown":
                anchor = next(iter(ANCHOR.findall(cell.source)[-1:]), anchor)
                waiting += _HINT.findall(cell.source)
            elif exercise is not None:
                hints.setdefault(exercise, (anchor, []))[1].extend(waiting)
                waiting = []
    return hints


def _hints_file(hints: dict[Label, tuple[str, list[str]]]) -> str:
    lines = ["# The hints of the notebook. hint(n) shows those for exercise n, one at a time.\n\nHINTS = {\n"]
    for exercise, (anchor, texts) in hints.items():
        lines += [f"    {exercise!r}: ({anchor!r}, [\n", *(f"        {text!r},\n" for text in texts), "    ]),\n"]
    return "".join([*lines, "}\n"])
