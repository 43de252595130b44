"""Write what a course, an assignment or an exercise begins with. Nothing that is there is written over."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from string import Template
from typing import Any

import nbformat

from grader.course import CONFIG_FILE, Course
from grader.errors import CourseError
from grader.model.label import Label, label_of

POINTS = 2

_TEMPLATES = Path(__file__).parent / "templates"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


def new_course(folder: Path) -> list[Path]:
    """An empty course; returns what was written."""
    _must_be_plain(folder.name)
    if (folder / CONFIG_FILE).exists():
        raise CourseError(f"{folder} is a course already. Go there, and run: grader new assignment NAME")
    (folder / "source").mkdir(parents=True, exist_ok=True)
    (folder / "exercises").mkdir(exist_ok=True)
    written = [_write(folder / CONFIG_FILE, "config", name=folder.name)]
    if not (folder / ".gitignore").exists():
        written.append(_write(folder / ".gitignore", "gitignore"))
    return written


def new_assignment(course: Course, name: str) -> list[Path]:
    """An assignment without exercises."""
    _must_be_plain(name)
    path = course.notebook("source", name)
    if path.exists():
        raise CourseError(f"There is an assignment {name} already. Run: grader new exercise NAME --assignment {name}")
    path.parent.mkdir(parents=True, exist_ok=True)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    title = nbformat.v4.new_markdown_cell(f"# {name}", id="title")
    nbformat.write(nbformat.v4.new_notebook(cells=[title], metadata={"kernelspec": kernel}), path)
    return [path]


def new_exercise(course: Course, name: str, assignment: str) -> list[Path]:
    """An exercise with its section in the notebook, and code of students that is right and wrong."""
    label = label_of(name)
    if label is None:
        raise CourseError(
            f"“{name}” is no name of an exercise. Take a number, or a letter and then letters, digits, - and _."
        )
    function = f"exercise_{label}" if isinstance(label, int) else label.replace("-", "_")
    if keyword.iskeyword(function):
        raise CourseError(f"“{name}” means something in Python, and no function can be called so. Take another name.")
    course.chosen([assignment])
    _must_be_new(course, label, function, assignment)
    notebook = course.read("source", assignment)
    words: dict[str, Any] = {"label": label, "written": repr(label), "assignment": assignment, "function": function}
    words["identity"] = f"number={label}" if isinstance(label, int) else f'name="{label}"'
    notebook.cells += _section(words)
    folder = _exercises_of(course)
    written = [
        _write(folder / f"{assignment}_{label}.py".replace("-", "_"), "exercise", **words),
        _write(course.root / "corpus" / assignment / f"{label}.txt", "corpus", **words),
    ]
    nbformat.write(notebook, course.notebook("source", assignment))
    return [course.notebook("source", assignment), *written]


def _must_be_plain(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise CourseError(f"“{name}” is no name for this. Take letters, digits, - and _.")


def _must_be_new(course: Course, label: Label, function: str, assignment: str) -> None:
    for known, exercise in course.exercises(assignment).items():
        if label == known or function in [each.entry for each in exercise.functions]:
            raise CourseError(f"There is an exercise {known} in {assignment} already. Take another name.")


def _exercises_of(course: Course) -> Path:
    """The folder of the course in which they lie; one that lies in a package is somebody else's."""
    files = course.exercise_files()
    if files.package:
        raise CourseError(f"The exercises of this course are those of the package {files.package}. Add it there.")
    return Path(files.folder) if files.folder else course.root / "exercises"


def _section(words: dict[str, Any]) -> list[Any]:
    label = words["label"]
    usual = {"schema_version": 3, "task": False}
    solution = {"grade": False, "solution": True, "locked": False, "grade_id": f"exercise-{label}", **usual}
    test = {"grade": True, "solution": False, "locked": True, "grade_id": f"test-exercise-{label}", **usual}
    code, text = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    return [
        text(_text("section", **words), id=f"about-exercise-{label}"),
        code(_text("solution", **words), id=f"exercise-{label}", metadata={"nbgrader": solution}),
        code(_text("test", **words), id=f"test-exercise-{label}", metadata={"nbgrader": {**test, "points": POINTS}}),
    ]


def _text(template: str, **words: Any) -> str:
    return Template((_TEMPLATES / f"{template}.txt").read_text(encoding="utf-8")).substitute(words).rstrip("\n")


def _write(path: Path, template: str, **words: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(f"{_text(template, **words)}\n")
    except FileExistsError:
        raise CourseError(f"{path} is there already, and is left as it is. Take another name.") from None
    return path
