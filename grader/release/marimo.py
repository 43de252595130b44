"""Convert a released notebook for marimo, which reruns a cell as soon as something that the cell uses has changed.

`marimo convert` does the conversion. Three things are prepared for it, since the notebook would be worse without them:

- Each name is defined in one cell only, as marimo demands. `marimo convert` renames, too, but rewrites each such cell:
  comments and layout are lost, and `table -= 1` in a loop becomes `table = table - 1`, which is not the same for
  tensors.
- Each check names the functions that it checks. Otherwise it would not rerun when one of them changes, and would keep
  showing its old result.
- Figures get their own cells, since marimo does not show the files that a text links to.

All goes into release_marimo/, beside release/, which nbgrader and `grader validate` compare. It is made from the
release on request, so it is not committed.
"""

from __future__ import annotations

import dis
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from types import CodeType
from typing import NamedTuple

import nbformat
from nbformat import NotebookNode

from grader.course.folder import Course
from grader.course.loading import Exercises
from grader.errors import CourseError
from grader.model.label import Label, label_of
from grader.notebooks.cells import is_test_cell, solved_exercise
from grader.notebooks.modules_beside import LEFT_BEHIND
from grader.release.leaks import refuse_leaks

# Rename variables that several cells of a notebook define, in place: layout and comments stay.

_ON_VARIABLES = {f"{does}_{kind}" for does in ("LOAD", "STORE", "DELETE") for kind in ("NAME", "GLOBAL")}
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


class Use(NamedTuple):
    """A place where a cell stores or reads a variable of the notebook."""

    name: str
    stores: bool
    at: dis.Positions | None


def with_unique_names(cells: Sequence[str]) -> list[str]:
    """The same code, with no variable defined in two cells.

    A variable that is only used in its own cell gets an underscore, which keeps it local; others get a number.
    """
    used = [uses(code) for code in cells]
    new_names: list[dict[str, str]] = [{} for _ in cells]
    for name in {name for use in used for name, defines in use.items() if defines}:
        defined = [index for index, use in enumerate(used) if use.get(name)]
        if len(defined) > 1:
            count = 0
            for start, end in pairwise([*defined, len(cells)]):
                users = [index for index in range(start + 1, end) if name in used[index]]
                count += bool(users)
                new = f"_{name}" if not users else name if count == 1 else f"{name}_{count}"
                for index in (start, *users):
                    new_names[index][name] = new
    return [_renamed(code, names) for code, names in zip(cells, new_names, strict=True)]


def uses(code: str) -> dict[str, bool]:
    """The notebook's variables that a cell mentions, and whether it defines them."""
    variables: dict[str, bool] = {}
    try:
        all_uses = _all_uses(code)
    except SyntaxError as error:
        raise CourseError(
            f"A cell is not plain Python, which marimo needs: {error.text or error.msg}. Change it in source/, then "
            "release again."
        ) from None
    for use in all_uses:
        if use.stores and variables.get(use.name) is False:
            raise CourseError(
                f"A cell reads the variable {use.name} before it redefines it, which marimo does not allow. "
                "Rename one of the two in source/, then release again."
            )
        variables.setdefault(use.name, use.stores)
    return variables


def _all_uses(code: str) -> list[Use]:
    return list(_uses_in(compile(code, "a cell", "exec")))


def _uses_in(code: CodeType) -> Iterator[Use]:
    """Each use of a notebook's variable, in the order in which they happen.

    This reads bytecode, since the compiler knows all scoping rules. Functions come last, as they run when called.
    """
    later = []
    steps = list(dis.get_instructions(code))
    in_class = code.co_name != "<module>"
    class_names = {step.argval for step in steps if in_class and step.opname == "STORE_NAME"}
    for step in steps:
        if isinstance(step.argval, CodeType):
            if step.argval.co_name in _COMPREHENSIONS:
                yield from _uses_in(step.argval)
            else:
                later.append(step.argval)
        elif step.opname in _ON_VARIABLES and step.argval not in class_names:
            yield Use(step.argval, step.opname.startswith("STORE"), step.positions)
    for function in later:
        yield from _uses_in(function)


def _renamed(code: str, new_names: Mapping[str, str]) -> str:
    """Rename some of the notebook's variables in code, and keep its layout."""
    text = code.encode()  # positions are lines, counted from 1, and bytes in them
    starts = [0, *accumulate(map(len, text.splitlines(keepends=True)))]
    places = set[tuple[int, int]]()
    uses_before = _all_uses(code)
    for name, _, at in uses_before:
        if name in new_names and at and at.lineno and at.end_lineno and at.col_offset is not None and at.end_col_offset:
            start, end = starts[at.lineno - 1] + at.col_offset, starts[at.end_lineno - 1] + at.end_col_offset
            if text[start:end] == name.encode():  # not a whole `def name(): …` or `import name`
                places.add((start, end))
    for start, end in sorted(places, reverse=True):
        text = text[:start] + new_names[text[start:end].decode()].encode() + text[end:]
    renamed = text.decode()
    expected = [(new_names.get(name, name), stores) for name, stores, _ in uses_before]
    if [(name, stores) for name, stores, _ in _all_uses(renamed)] != expected:
        raise CourseError(
            f"Several cells define {' and '.join(new_names)}, which marimo does not allow, and it cannot be "
            f"renamed everywhere in: {code.splitlines()[0]} … Rename it in source/, then release again."
        )
    return renamed


FOLDER = "release_marimo"

_FIGURE = re.compile(r"^!\[([^\]]*)\]\((images/[^)]+)\)$", re.MULTILINE)
_SHOWS_RESULTS = re.compile(r"\b(?:check|solved)\(([\w\"', -]+)\)")
_SHOWS_ALL = re.compile(r"\bcheck\(\)")
_INTRODUCTION = """\
**This is the notebook for [marimo](https://marimo.io).** Cells, checks too, run by themselves whenever something that
they use changes. Define each name in only one cell; names that begin with `_` belong to their cell. Keep this file in
its folder, with the other files there.

To submit it, turn it into a Jupyter notebook:
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
    """Make release_marimo/ASSIGNMENT from release/ASSIGNMENT; returns the notebook."""
    source, target = course.folder("release") / assignment, course.root / FOLDER / assignment
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.ipynb", *LEFT_BEHIND))
    path = target / f"{assignment}.py"
    write_marimo(course.read("release", assignment), course.exercises(assignment), path)
    refuse_leaks(course, assignment, FOLDER)
    return path


def write_marimo(notebook: NotebookNode, exercises: Exercises, path: Path) -> None:
    """Write a notebook with these exercises, released or filled in, as a marimo notebook."""
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder, path.with_suffix(".ipynb").name)
        nbformat.write(_for_marimo(notebook, path.stem, exercises), ready)
        _marimo(["-y", "convert", str(ready), "-o", str(path)], ["check", "--strict", str(path)])


def _marimo(*commands: list[str]) -> None:
    """Run marimo commands until one fails, all in one process, since starting takes a second."""
    order = [sys.executable, "-c", _IN_TURN, json.dumps(commands)]
    process = subprocess.run(order, capture_output=True, text=True, check=False)
    if process.returncode:
        output = (process.stdout + process.stderr).strip()
        raise CourseError(f"marimo rejected the notebook. Change it in source/, then release again:\n{output}")


def _for_marimo(notebook: NotebookNode, name: str, exercises: Exercises) -> NotebookNode:
    """The notebook with cells in which `marimo convert` has nothing left to change."""
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


def _with_figures(text: str) -> list[NotebookNode]:
    """Split a text into cells, one for each figure."""
    before, *fragments = _FIGURE.split(text)
    cells = [nbformat.v4.new_markdown_cell(before.strip())] if before.strip() else []
    for description, path, after in zip(*[iter(fragments)] * 3, strict=True):
        code = f"mo.image(mo.notebook_dir() / {json.dumps(path)}, alt={json.dumps(description, ensure_ascii=False)})"
        cells.append(nbformat.v4.new_code_cell(code, metadata={"jupyter": {"source_hidden": True}}))
        if after.strip():
            cells.append(nbformat.v4.new_markdown_cell(after.strip()))
    return cells


def _metadata(cell: NotebookNode) -> dict[str, object]:
    """The metadata that marimo keeps: whether a cell is folded, and its name if it belongs to an exercise."""
    folded = cell.metadata.get("jupyter", {}).get("source_hidden", False)
    name = re.sub(r"\W", "_", cell.id.replace("test-exercise", "check"))  # marimo would take test_… for a pytest test
    belongs = solved_exercise(cell) is not None or is_test_cell(cell)
    return {"jupyter": {"source_hidden": folded}, **({"marimo": {"name": name}} if belongs else {})}


def _with_dependencies(code: str, entries: Mapping[Label, Sequence[str]]) -> str:
    """Add the names of what is checked to a cell with checks, so that marimo knows what it uses."""
    quoted_labels = [one.strip(" \"'") for asked in _SHOWS_RESULTS.findall(code) for one in asked.split(",")]
    labels = [*map(label_of, quoted_labels), *(entries if _SHOWS_ALL.search(code) else ())]
    checked_names = dict.fromkeys(name for label in labels if label is not None for name in entries.get(label, ()))
    missing = checked_names.keys() - uses(code).keys()
    names = ", ".join(name for name in checked_names if name in missing)
    return f"{names}  # this cell runs again when you change it\n{code}" if names else code
