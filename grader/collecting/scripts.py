"""Notebooks handed in as Python, as jupytext, `jupyter nbconvert --to script`, VS Code or Colab writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import takewhile
from typing import Any

MAX_SCRIPT = 2**19  # bytes; the longest notebook of the course has thirty thousand of code
_MARK = re.compile(r"^# ?(?:%%[^\n]*|In ?\[[ \d]*\]:?[ \t]*)$", re.MULTILINE)
_MARIMO = re.compile(r"^(?:import marimo\b|app = marimo\.App\()", re.MULTILINE)
_GRADE_ID = re.compile(r'"grade_id": ?"([^"\\]+)"')
_MAGIC = re.compile(r"^# (?=(?:# )*[%!])", re.MULTILINE)  # as jupytext hides them from Python
_COMMENT_LINE = re.compile(r"[ \t]*(?:#.*)?")
_QUOTES = ('"""', "'''")

MARIMO = "it is a notebook of marimo; make an ordinary one of it: marimo export ipynb FILE --sort top-down -o NEW.ipynb"
Cells = list[dict[str, Any]]


def is_marimo(text: str) -> bool:
    return bool(_MARIMO.search(text))


def text_of(content: bytes) -> str:
    """A script as text; empty if it is none."""
    if len(content) > MAX_SCRIPT:
        return ""
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return ""


def cells_of(text: str) -> Cells:
    """The cells that a script says it has; none if it says nothing of cells."""
    if not (marks := [*_MARK.finditer(text)]):
        return []
    before = text[: marks[0].start()]
    found = [_cell("code", before)] if without_comments_at_end(before) else []
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        source = text[mark.end() + 1 : following.start() if following else len(text)]
        found += _percent_cells(mark[0], source) if "%%" in mark[0] else _converted_cells(source.strip("\n"))
    return found


def split_at(cells: Cells, given: re.Pattern[str]) -> Cells:
    """The same cells, and each that the course gave by itself: an export may tell of few cells, or of none."""
    found = []
    for cell in cells:
        parts = given.split(cell["source"]) if cell["cell_type"] == "code" else [cell["source"]]
        found += [{**cell, "source": part.strip("\n")} for part in parts if part.strip()]
    return found


def any_of(given: Sequence[str]) -> re.Pattern[str]:
    """One of these codes, where it takes up whole lines."""
    codes = {code for source in given for code in as_given(source) if code}
    return re.compile(rf"^({'|'.join(map(re.escape, sorted(codes, key=len, reverse=True))) or '(?!)'})$", re.MULTILINE)


def as_notebook(cells: Cells) -> bytes:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def whole(text: str) -> Cells:
    """A script in which no cell is marked."""
    return [_cell("code", text)]


def _percent_cells(mark: str, source: str) -> Iterator[dict[str, Any]]:
    named = _GRADE_ID.search(mark)
    grade_id = named[1] if named else ""
    kind = next((kind for kind in ("markdown", "raw") if f"[{kind}]" in mark), "code")
    text, code = ("", source) if kind == "code" else _text_and_code(source, to_the_end=bool(grade_id))
    if kind != "code":
        yield _cell(kind, _uncommented(text.strip("\n")), grade_id)
        grade_id = ""
    if kind == "code" or code.strip():
        yield _cell("code", _MAGIC.sub("", code), grade_id)


def _text_and_code(source: str, to_the_end: bool) -> tuple[str, str]:
    """A cell of text ends with its comments, whether or not a mark says that code follows; with the first ones, since
    those behind a gap may be the code's."""
    if source.lstrip().lstrip("r").startswith(_QUOTES) or not without_comments_at_end(source):
        return source, ""
    lines = source.split("\n")
    number = len(list(takewhile(lambda line: _COMMENT_LINE.fullmatch(line) and (to_the_end or line.strip()), lines)))
    return "\n".join(lines[:number]), "\n".join(lines[number:])


def _converted_cells(source: str) -> Iterator[dict[str, Any]]:
    """What stands between two cells of code is text, as comments: it stays one, in a cell of its own."""
    code = without_comments_at_end(source)
    yield _cell("code", code)
    if comments := source[len(code) :].strip("\n"):
        yield _cell("markdown", _uncommented(comments))


def _uncommented(text: str) -> str:
    return re.sub(r"^# ?", "", text, flags=re.MULTILINE)


def without_comments_at_end(code: str) -> str:
    """All lines up to the last one with code."""
    lines = code.strip("\n").split("\n")
    while lines and _COMMENT_LINE.fullmatch(lines[-1]):
        lines.pop()
    return "\n".join(lines)


def _cell(kind: str, source: str, grade_id: str = "") -> dict[str, Any]:
    metadata = {"nbgrader": {"grade_id": grade_id}} if grade_id else {}
    return {"cell_type": kind, "source": source.strip("\n"), "metadata": metadata}


@cache
def as_given(source: str) -> frozenset[str]:
    """The code of a given cell, as scripts may have it: as it is, and as nbconvert writes it."""
    from IPython.core.inputtransformer2 import TransformerManager  # takes its time, and few hand in scripts

    transformer: Any = TransformerManager()  # type: ignore[no-untyped-call]
    return frozenset(map(without_comments_at_end, (source, transformer.transform_cell(source))))
