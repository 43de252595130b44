"""Put the files beside a notebook inside it, so that it can be mailed, downloaded, or opened by a link.

Modules become a folded cell with their texts, and figures become data in the addresses of images. (Attachments would
be shorter, but Colab does not show them.) A submission in this form is read as the ordinary notebook: what was put in
is taken out again, so that no other code needs to know about it.
"""

from __future__ import annotations

import ast
import base64
import copy
import html
import mimetypes
import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from nbformat import NotebookNode

from grader.errors import CourseError
from grader.model.submission import Files
from grader.notebooks.cells import new_cell

_HEAD = """\
# @title The checks of this notebook: run this cell first
# They are modules that would otherwise lie beside it as files. Read them if you like: nothing here is secret.
import sys
import types


def _module(name, text):
    sys.modules[name] = types.ModuleType(name)
    exec(compile(text, f"{name}.py", "exec"), vars(sys.modules[name]))
"""
_MODULE = '\n\n_module("{name}", {text})\n'
_FOLDED = {"jupyter": {"source_hidden": True}, "cellView": "form"}  # in JupyterLab, and in Colab
_NOTE = "**This notebook is one file.** Its checks and figures are inside."
_RUN_FIRST = " Run the first cell of code before all others: it is folded, and holds the checks."
_COLAB = "\n\n[Open it in Colab]({})"
_FIGURE = '<img data-file="{}" alt="{}" src="data:{};base64,{}">'

_BESIDE = re.compile(r"!\[([^\]]*)\]\(([^()\s]+)\)")
# These match in linear time, even if a student has changed what was put in.
_TEXT = r"r?'''(?:[^'\\]++|\\.|'(?!''))*+'''"
_MODULES = re.compile(rf'{re.escape(_HEAD)}(?:\n\n_module\("\w++", {_TEXT}\)\n)++', re.DOTALL)
_FIRST = re.compile(rf"{re.escape(_NOTE)}(?:{re.escape(_RUN_FIRST)})?+(?:\n\n\[Open it in Colab\]\([^()\s]++\))?+")
_INSIDE = re.compile(_FIGURE.format('([^"<>]++)', '([^"<>]*+)', r"[\w/+.-]++", "[A-Za-z0-9+/=]*+"))


def in_one_file(notebook: NotebookNode, beside: Files, colab: str = "") -> tuple[NotebookNode, set[str]]:
    """The notebook with its modules and figures inside, and the names of the files that are now in it.

    `colab` is the address that opens it in Colab, if there is one.
    """
    single = copy.deepcopy(notebook)
    inside: set[str] = set()

    def figure(link: re.Match[str]) -> str:
        description, path = link.groups()
        mime_type = mimetypes.guess_type(path)[0] or ""
        if path not in beside or not mime_type.startswith("image/"):
            return link[0]
        inside.add(path)
        return _FIGURE.format(path, html.escape(description), mime_type, base64.b64encode(beside[path]).decode())

    for cell in single.cells:
        if cell.cell_type == "markdown":
            cell.source = _BESIDE.sub(figure, cell.source)
    modules = {path[:-3]: text.decode() for path, text in beside.items() if re.fullmatch(r"\w+\.py", path)}
    if modules:
        first_code = next((index for index, cell in enumerate(single.cells) if cell.cell_type == "code"), 0)
        source = _HEAD + "".join(_MODULE.format(name=name, text=_quoted(modules[name])) for name in _in_order(modules))
        single.cells.insert(first_code, new_cell("code", source.rstrip("\n"), "checks-inside", dict(_FOLDED)))
    note = _NOTE + (_RUN_FIRST if modules else "") + (_COLAB.format(colab) if colab else "")
    single.cells.insert(0, new_cell("markdown", note, "one-file"))
    return single, inside | {f"{name}.py" for name in modules}


def _quoted(text: str) -> str:
    """A text as a Python string literal that keeps its lines."""
    if "'''" in text or text.endswith(("'", "\\")):
        return "'''\n{}'''".format(text.replace("\\", "\\\\").replace("'", "\\'"))
    return f"r'''\n{text}'''"


def _in_order(modules: Mapping[str, str]) -> list[str]:
    """The names of the modules, each after those that it imports."""
    needs = {name: set(_imports(name, text)) & modules.keys() for name, text in modules.items()}
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        raise CourseError(
            f"The modules next to the notebook import each other in a circle: {', '.join(error.args[1])}. Remove one "
            "of these imports, or they cannot go inside the notebook."
        ) from None


def _imports(name: str, text: str) -> Iterator[str]:
    try:
        code = ast.parse(text)
    except SyntaxError as error:
        raise CourseError(f"{name}.py, line {error.lineno}: {error.msg}. Fix it, then release again.") from None
    for node in ast.walk(code):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def as_ordinary(cells: list[NotebookNode]) -> list[NotebookNode]:
    """Submitted cells without what `in_one_file` put in. A cell with anything else in it is kept whole."""
    ordinary = [cell for cell in cells if not _was_put_in(cell)]
    for cell in ordinary:
        if cell.cell_type == "markdown":
            cell.source = _INSIDE.sub(lambda figure: f"![{html.unescape(figure[2])}]({figure[1]})", cell.source)
    return ordinary


def _was_put_in(cell: NotebookNode) -> bool:
    pattern = {"code": _MODULES, "markdown": _FIRST}.get(cell.cell_type)
    return bool(pattern and pattern.fullmatch(cell.source.rstrip("\n") + "\n" * (cell.cell_type == "code")))
