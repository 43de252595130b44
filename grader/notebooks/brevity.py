"""Shorten graded notebooks, so that any page made from them, nbgrader's too, is written within seconds.

Code is run and judged as submitted, whatever its length; only the graded notebook shows it shortened. nbconvert's
lexers take time quadratic in the length of a line or of a run of blanks, and in the length of all code in a cell that
claims to be Ruby or HTML.
"""

from __future__ import annotations

import json
import re

import nbformat
from nbformat import NotebookNode

from grader.notebooks.cells import METADATA_KEY, is_test_cell

MAX_CELL = 20_000  # characters of code, as many as in a whole notebook of the course
MAX_CODE = 100_000  # characters of all cells
MAX_LINE = 1_000
MAX_BLANKS = 200  # in a row
MAX_OTHER = 2_000  # characters of a cell that names another language
MAX_WORK = 5_000_000  # microseconds, roughly, for nbconvert to render all outputs

SHORTENED = "# [Shortened here. All of it was run.]\n"
NOTE = "Some cells have a lot of code, very long lines or very many spaces. All of it was run, but only part is shown."

_BLANKS = re.compile(rf"(\s{{{MAX_BLANKS}}})\s++")
_OTHER = re.compile(r"%%(?:html|javascript|js|latex|perl|ruby|!)", re.IGNORECASE)


def shorten(notebook: NotebookNode) -> None:
    """Shorten the code and outputs of a graded notebook if they are far too long."""
    for cell, source in _shortened(notebook):
        cell.source = source
    left = MAX_WORK
    for cell in notebook.cells:
        if cell.cell_type == "code" and not is_test_cell(cell):
            left = _leave_out(cell, left)


def is_long(notebook: NotebookNode) -> bool:
    """Whether code will be shortened."""
    return bool(_shortened(notebook))


def _shortened(notebook: NotebookNode) -> list[tuple[NotebookNode, str]]:
    left = MAX_CODE
    changed = []
    for cell in notebook.cells:
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("locked"):
            short = _short(cell.source, min(MAX_CELL, left))
            left -= len(short)
            if short != cell.source:
                changed.append((cell, SHORTENED + short))
    return changed


def _short(source: str, most: int) -> str:
    source = source[: min(most, MAX_OTHER) if _OTHER.search(source) else most]
    return _BLANKS.sub(r"\1", "\n".join(line[:MAX_LINE] for line in source.split("\n")))


def _leave_out(cell: NotebookNode, left: int) -> int:
    """Drop outputs once nothing is `left` for them, and return what is left then. Our own notices stay."""
    kept = []
    for output in cell.outputs:
        ours = METADATA_KEY in output.get("metadata", {})
        left -= 0 if ours else _work(output)
        if ours or left >= 0:
            kept.append(output)
    if len(kept) < len(cell.outputs):
        said = "The notebook has too much output in total, so this is left out."
        name = "TooMuchOutput"
        kept.append(nbformat.v4.new_output("error", ename=name, evalue=said, traceback=[f"{name}: {said}"]))
    cell.outputs = kept
    return left


def _work(output: NotebookNode) -> int:
    """Roughly how many microseconds nbconvert takes for an output, rounded up from measurements."""
    text = json.dumps(output, ensure_ascii=False)
    data = output.get("data", {})
    work = 200 + len(text) // 5 + 3 * sum(map(text.count, "<>&")) + 100 * text.count("\\u001b")
    work += 60 * str(data.get("text/html", "")).count("<")
    return work + 80 * len(str(data.get("text/markdown", "")))
