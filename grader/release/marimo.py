"""The released notebook for marimo, where cells run by themselves as soon as something that they use has changed.

There, a name may be defined in one cell only, and a cell runs again when a name that stands in it changes. So names
that several cells define are made unique first (unique_names.py), and each check names the functions that it checks.
The rest is done by `marimo convert`, which could rename as well, but would lose the layout of the code and the places
of comments.

All goes into release_marimo/, beside release/: that stays what nbgrader compiles, and what nbgrader and `grader
validate` compare. It is made anew from the release whenever someone asks for it, so it is not committed.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nbformat

from grader.course.folder import Course
from grader.course.loading import Exercises
from grader.errors import CourseError
from grader.model.label import Label, label_of
from grader.notebooks.cells import is_test_cell, solved_exercise
from grader.release.leaks import refuse_leaks
from grader.release.unique_names import uses, with_unique_names

FOLDER = "release_marimo"

_FIGURE = re.compile(r"^!\[([^\]]*)\]\((images/[^)]+)\)$", re.MULTILINE)
_SHOWS_RESULTS = re.compile(r"\b(?:check|solved)\(([\w\"', -]+)\)")
_SHOWS_ALL = re.compile(r"\bcheck\(\)")
_INTRODUCTION = """\
**This is the notebook for [marimo](https://marimo.io).** Cells run by themselves, checks too, whenever something that
they use has changed. A name may be defined in one cell only; names that begin with `_` belong to their cell. Keep
this file in its folder, beside whatever else is there.

To hand in, make a Jupyter notebook of it:
`marimo export ipynb {name}.py --sort top-down -o {name}.ipynb`
"""
_IN_TURN = """\
import json, runpy, sys
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["marimo", *arguments]
    try:
        runpy.run_module("marimo", run_name="__main__")
    except SystemExit as ended:
        if ended.code:
            raise
"""


def need_marimo() -> None:
    if importlib.util.find_spec("marimo") is None:
        raise CourseError("marimo is not installed. Run: pip install 'attention-grader[marimo]'")


def convert_release(course: Course, assignment: str) -> Path:
    """Make release_marimo/ASSIGNMENT of release/ASSIGNMENT; returns the notebook."""
    source, target = course.folder("release") / assignment, course.root / FOLDER / assignment
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.ipynb", "__pycache__", ".ipynb_checkpoints"))
    path = target / f"{assignment}.py"
    write_marimo(course.read("release", assignment), course.exercises(assignment), path)
    refuse_leaks(course, assignment, FOLDER)
    return path


def write_marimo(notebook: Any, exercises: Exercises, path: Path) -> None:
    """Write a notebook with these exercises, released or filled in, as one for marimo."""
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder, path.with_suffix(".ipynb").name)
        nbformat.write(_for_marimo(notebook, path.stem, exercises), ready)
        _marimo(["-y", "convert", str(ready), "-o", str(path)], ["check", "--strict", str(path)])


def _marimo(*commands: list[str]) -> None:
    """Commands of marimo, one after another until one fails, in one process: it takes a second to start."""
    order = [sys.executable, "-c", _IN_TURN, json.dumps(commands)]
    done = subprocess.run(order, capture_output=True, text=True, check=False)
    if done.returncode:
        said = (done.stdout + done.stderr).strip()
        raise CourseError(f"marimo does not take the notebook; change it in source/ and release it again:\n{said}")


def _for_marimo(notebook: Any, name: str, exercises: Exercises) -> Any:
    """The same cells, such that `marimo convert` has nothing left to change in them."""
    entries = {label: [function.entry for function in exercise.functions] for label, exercise in exercises.items()}
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    renamed = iter(with_unique_names([cell.source for cell in code]))
    cells = [nbformat.v4.new_markdown_cell(_INTRODUCTION.format(name=name))]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            source = _with_dependencies(next(renamed), entries)
            cells.append(nbformat.v4.new_code_cell(source, metadata=_metadata(cell)))
        else:
            cells += _with_figures(cell.source)
    return nbformat.v4.new_notebook(cells=cells)


def _with_figures(text: str) -> list[Any]:
    """A text as cells, where each figure has one of its own: marimo shows no files that a text points to."""
    before, *rest = _FIGURE.split(text)
    cells = [nbformat.v4.new_markdown_cell(before.strip())] if before.strip() else []
    for description, path, after in zip(*[iter(rest)] * 3, strict=True):
        code = f"mo.image(mo.notebook_dir() / {json.dumps(path)}, alt={json.dumps(description, ensure_ascii=False)})"
        cells.append(nbformat.v4.new_code_cell(code, metadata={"jupyter": {"source_hidden": True}}))
        if after.strip():
            cells.append(nbformat.v4.new_markdown_cell(after.strip()))
    return cells


def _metadata(cell: Any) -> dict[str, Any]:
    """What marimo keeps of a cell: whether it is folded, and the name of one that belongs to an exercise."""
    folded = cell.metadata.get("jupyter", {}).get("source_hidden", False)
    name = re.sub(r"\W", "_", cell.id.replace("test-exercise", "check"))  # marimo would take test_… for one of pytest's
    belongs = solved_exercise(cell) is not None or is_test_cell(cell)
    return {"jupyter": {"source_hidden": folded}, **({"marimo": {"name": name}} if belongs else {})}


def _with_dependencies(code: str, entries: Mapping[Label, Sequence[str]]) -> str:
    """A cell that asks for checks, with the names of what is checked, so that marimo knows what it uses."""
    named = [one.strip(" \"'") for asked in _SHOWS_RESULTS.findall(code) for one in asked.split(",")]
    labels = [*map(label_of, named), *(entries if _SHOWS_ALL.search(code) else ())]
    asked_for = dict.fromkeys(name for label in labels if label is not None for name in entries.get(label, ()))
    missing = asked_for.keys() - uses(code).keys()
    names = ", ".join(name for name in asked_for if name in missing)
    return f"{names}  # this cell runs again when you change it\n{code}" if names else code
