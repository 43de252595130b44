"""The released notebook for marimo, where cells run by themselves as soon as something that they use has changed.

There, a name may be defined in one cell only, and a cell runs again when a name that stands in it changes. So names
that several cells define are made unique first (unique_names.py), and each check names the functions that it checks.
The rest is done by `marimo convert`, which could rename as well, but would lose the layout of the code and the places
of comments.

All goes into release_marimo/, beside release/: that stays what nbgrader compiles, and what nbgrader and `grader
validate` compare. It is made anew from the release whenever someone asks for it, so it is not committed.
"""

from __future__ import annotations

import ast
import dis
import importlib.util
import json
import re
import shutil
import subprocess
import symtable
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from types import CodeType
from typing import Any

import nbformat

from grader.course.folder import Course
from grader.course.loading import Exercises
from grader.errors import CourseError
from grader.model.label import Label, label_of
from grader.notebooks.cells import is_test_cell, solved_exercise
from grader.release.leaks import refuse_leaks

# Names that several cells of a notebook define, made unique in place: layout and comments stay as they are.

_BODIES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_ON_VARIABLES = {f"{does}_{kind}" for does in ("LOAD", "STORE", "DELETE") for kind in ("NAME", "GLOBAL")}


def with_unique_names(cells: Sequence[str]) -> list[str]:
    """The same code, where no variable is defined in two cells.

    A variable that is used in its own cell alone gets an underscore, which keeps it there; another one gets a number.
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
    """The notebook's variables that a cell mentions, and whether it is the cell that defines them."""
    found: dict[str, bool] = {}
    try:
        compiled = compile(code, "a cell", "exec")
    except SyntaxError as error:
        raise CourseError(
            f"A cell is no plain Python, which marimo does not take: {error.text or error.msg}. Change it in source/, "
            "and release again."
        ) from None
    for stores, name in _operations(compiled):
        if stores and found.get(name) is False:
            raise CourseError(
                f"A cell reads the variable {name} before it defines it anew, which marimo does not allow. "
                "Give one of the two another name in source/, and release again."
            )
        found.setdefault(name, stores)
    return found


def _operations(code: CodeType) -> Iterator[tuple[bool, str]]:
    """Each use of a global variable, in the order in which they happen: whether it is stored, and its name.

    Asked from the compiler, which knows all rules of scopes. What a function does, it does when it is called: last.
    """
    later = []
    own = _stored_in(code) if code.co_name != "<module>" else set()
    for instruction in dis.get_instructions(code):
        if isinstance(instruction.argval, CodeType):
            if instruction.argval.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"):
                yield from _operations(instruction.argval)
            else:
                later.append(instruction.argval)
        elif instruction.opname in _ON_VARIABLES and instruction.argval not in own:
            yield instruction.opname.startswith("STORE"), instruction.argval
    for function in later:
        yield from _operations(function)


def _stored_in(code: CodeType) -> set[str]:
    """The names that the body of a class defines."""
    return {each.argval for each in dis.get_instructions(code) if each.opname == "STORE_NAME"}


def _renamed(code: str, new_names: Mapping[str, str]) -> str:
    """Code with other names for some of the notebook's variables, and its layout as it was."""
    if not new_names:
        return code
    tree = ast.parse(code)
    if any(isinstance(node, (ast.Global, ast.Nonlocal)) for node in ast.walk(tree)):
        raise CourseError(
            f"A cell uses `global` or `nonlocal`, and defines {' and '.join(new_names)} as another cell does, which "
            "marimo does not allow. Give it other names in source/, and release again."
        )
    changed = [name for name in _variables(tree) if name.id in new_names]
    for name in changed:
        name.id = new_names[name.id]
    text = code.encode()  # positions in a syntax tree count lines from 1, and bytes in them
    starts = [0, *accumulate(map(len, text.splitlines(keepends=True)))]
    for node in reversed(list(_pieces(tree, set(map(id, changed))))):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
        text = text[:start] + _written(node).encode() + text[end:]
    return text.decode()


def _pieces(node: ast.AST, changed: set[int]) -> Iterator[ast.expr]:
    """What must be written anew, in the order of the text: names, and f-strings as a whole.

    (Where in an f-string a name stands, Python says from 3.12 on.)
    """
    if isinstance(node, ast.JoinedStr):
        if changed & set(map(id, ast.walk(node))):
            yield node
    elif isinstance(node, ast.Name) and id(node) in changed:
        yield node
    else:
        below = [piece for child in ast.iter_child_nodes(node) for piece in _pieces(child, changed)]
        yield from sorted(below, key=lambda piece: (piece.lineno, piece.col_offset))


def _written(node: ast.expr) -> str:
    text = ast.unparse(node)
    plain = text.startswith("f'") and not set(text[2:-1]) & {"'", '"', "\\"}
    return f'f"{text[2:-1]}"' if plain else text


def _variables(
    node: ast.AST, local: frozenset[str] = frozenset(), in_class: frozenset[str] = frozenset()
) -> Iterator[ast.Name]:
    """The names in a cell that mean variables of the notebook: not those of functions, classes and comprehensions."""
    if isinstance(node, ast.Name) and node.id not in local | in_class:
        yield node
    outside, inside = _parts(node)
    for child in outside:
        yield from _variables(child, local, in_class)
    if inside:
        own = _own_names(node)
        local, in_class = (local, own) if isinstance(node, ast.ClassDef) else (local | own, frozenset())
        for child in inside:
            yield from _variables(child, local, in_class)


def _parts(node: ast.AST) -> tuple[list[ast.AST], list[ast.AST]]:
    """What is below a node: computed where it stands, and computed where its own names count."""
    children = list(ast.iter_child_nodes(node))
    if isinstance(node, _COMPREHENSIONS):
        first = node.generators[0].iter
        parts = [part for child in children for part in _below(child)]
        return [first], [part for part in parts if part is not first]
    if isinstance(node, _BODIES):
        body = node.body if isinstance(node.body, list) else [node.body]
        return [child for child in children if child not in body], list(body)
    return children, []


def _below(child: ast.AST) -> list[ast.AST]:
    return list(ast.iter_child_nodes(child)) if isinstance(child, ast.comprehension) else [child]


def _own_names(node: ast.AST) -> frozenset[str]:
    """The names that a function, class or comprehension defines for itself."""
    table = symtable.symtable(ast.unparse(node), "a cell", "exec").get_children()[-1]
    return frozenset(symbol.get_name() for symbol in table.get_symbols() if symbol.is_local())


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
