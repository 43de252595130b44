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
MAX_OTHER_LANGUAGE = 2_000  # characters of a cell that names another language
MAX_WORK = 5_000_000  # microseconds, roughly, for nbconvert to render all outputs

SHORTENED = "# [Shortened here. All of it was run.]\n"
NOTE = "Some cells have a lot of code, very long lines or very many spaces. All of it was run, but only part is shown."

_BLANKS = re.compile(rf"(\s{{{MAX_BLANKS}}})\s++")
_OTHER_LANGUAGE = re.compile(r"%%(?:html|javascript|js|latex|perl|ruby|!)", re.IGNORECASE)


def shorten(notebook: NotebookNode) -> None:
    """Shorten the code and outputs of a graded notebook if they are far too long."""
    for cell, source in _shortened(notebook):
        cell.source = source
    work = MAX_WORK
    for cell in notebook.cells:
        if cell.cell_type == "code" and not is_test_cell(cell):
            work = _drop_outputs(cell, work)


def is_long(notebook: NotebookNode) -> bool:
    """Whether code will be shortened."""
    return bool(_shortened(notebook))


def _shortened(notebook: NotebookNode) -> list[tuple[NotebookNode, str]]:
    """The cells that are too long, each with its new source."""
    characters = MAX_CODE  # that may still follow
    shortened = []
    for cell in notebook.cells:
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader", {}).get("locked"):
            source = _short(cell.source, min(MAX_CELL, characters))
            characters -= len(source)
            if source != cell.source:
                shortened.append((cell, SHORTENED + source))
    return shortened


def _short(source: str, max_length: int) -> str:
    if _OTHER_LANGUAGE.search(source):
        max_length = min(max_length, MAX_OTHER_LANGUAGE)
    source = source[:max_length]
    return _BLANKS.sub(r"\1", "\n".join(line[:MAX_LINE] for line in source.split("\n")))


def _drop_outputs(cell: NotebookNode, work: int) -> int:
    """Drop outputs that take more than this work, and return what remains of it. Our own notices stay."""
    outputs = []
    for output in cell.outputs:
        is_notice = METADATA_KEY in output.get("metadata", {})
        if not is_notice:
            work -= _work(output)
        if is_notice or work >= 0:
            outputs.append(output)
    if len(outputs) < len(cell.outputs):
        sentence = "The notebook has too much output in total, so this is left out."
        name = "TooMuchOutput"
        outputs.append(nbformat.v4.new_output("error", ename=name, evalue=sentence, traceback=[f"{name}: {sentence}"]))
    cell.outputs = outputs
    return work


def _work(output: NotebookNode) -> int:
    """Roughly how many microseconds nbconvert takes for an output, rounded up from measurements."""
    text = json.dumps(output, ensure_ascii=False)
    data = output.get("data", {})
    work = 200 + len(text) // 5 + 3 * sum(map(text.count, "<>&")) + 100 * text.count("\\u001b")
    work += 60 * str(data.get("text/html", "")).count("<")
    return work + 80 * len(str(data.get("text/markdown", "")))
