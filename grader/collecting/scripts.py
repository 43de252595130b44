"""Notebooks that were handed in as Python: as jupytext writes them, or `jupyter nbconvert --to script`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from grader.notebooks.parsing import MAX_SOURCE

_PERCENT = re.compile(r"^# ?%%[^\n]*$", re.MULTILINE)
_IN = re.compile(r"^# In ?\[[ \d]*\]:?[ \t]*$", re.MULTILINE)
_MARIMO = re.compile(r"^(?:import marimo\b|app = marimo\.App\()", re.MULTILINE)
_GRADE_ID = re.compile(r'"grade_id": ?"([^"\\]+)"')
_MAGIC = re.compile(r"^# (?=(?:# )*[%!])", re.MULTILINE)  # as jupytext hides them from Python
_COMMENT_LINE = re.compile(r"[ \t]*(?:#.*)?")

MARIMO = "it is a notebook of marimo; make an ordinary one of it: marimo export ipynb FILE --sort top-down -o NEW.ipynb"


def is_marimo(text: str) -> bool:
    return bool(_MARIMO.search(text))


def text_of(content: bytes) -> str:
    """A script as text; empty if it is none."""
    if len(content) > MAX_SOURCE:
        return ""
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return ""


def script_as_notebook(text: str) -> bytes | None:
    """The cells that a script says it has, as a notebook; None if it says nothing of cells."""
    if _PERCENT.search(text):
        cells = list(_percent_cells(text))
    elif _IN.search(text):
        cells = list(_converted_cells(text))
    else:
        return None
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _percent_cells(text: str) -> Iterator[dict[str, Any]]:
    marks = [*_PERCENT.finditer(text)]
    before = text[: marks[0].start()]
    if without_comments_at_end(before):
        yield _cell("code", before)
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        source = text[mark.end() : following.start() if following else len(text)].strip("\n")
        named = _GRADE_ID.search(mark[0])
        kind = next((kind for kind in ("markdown", "raw") if f"[{kind}]" in mark[0]), "code")
        source = _MAGIC.sub("", source) if kind == "code" else re.sub(r"^# ?", "", source, flags=re.MULTILINE)
        yield _cell(kind, source, named[1] if named else "")


def _converted_cells(text: str) -> Iterator[dict[str, Any]]:
    """What stands between two cells of code is text, as comments: it stays one, in a cell of its own."""
    _, *chunks = _IN.split(text)
    for chunk in chunks:
        code = without_comments_at_end(chunk)
        yield _cell("code", code)
        if comments := chunk.strip("\n")[len(code) :].strip("\n"):
            yield _cell("markdown", re.sub(r"^# ?", "", comments, flags=re.MULTILINE))


def without_comments_at_end(code: str) -> str:
    """All lines up to the last one with code."""
    lines = code.strip("\n").split("\n")
    while lines and _COMMENT_LINE.fullmatch(lines[-1]):
        lines.pop()
    return "\n".join(lines)


def _cell(kind: str, source: str, grade_id: str = "") -> dict[str, Any]:
    metadata = {"nbgrader": {"grade_id": grade_id}} if grade_id else {}
    return {"cell_type": kind, "source": source.strip("\n"), "metadata": metadata}


def as_converted(source: str) -> str:
    """The code of a given cell, as nbconvert writes it into a script."""
    from IPython.core.inputtransformer2 import TransformerManager  # takes its time, and few hand in scripts

    transformer: Any = TransformerManager()  # type: ignore[no-untyped-call]
    return without_comments_at_end(transformer.transform_cell(source))
