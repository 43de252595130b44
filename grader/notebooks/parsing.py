"""Turn a submitted file, whatever it is, into a notebook that is safe to handle."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader.notebooks.cells import new_cell
from grader.notebooks.single_file import as_ordinary

# Convert notebooks of formats 2 and 3, which nobody has written since 2015. nbformat's own converters copy everything
# in such a file several times before anybody can count it.


def is_old(submitted: dict[str, Any]) -> bool:
    """Whether this is an old notebook, with cells on worksheets."""
    return "cells" not in submitted and isinstance(submitted.get("worksheets"), list)


def cells_of(submitted: dict[str, Any], max_cells: int) -> list[Any]:
    """The first cells of all worksheets, at most this many; None for anything that is not a cell."""
    sheets = islice(submitted["worksheets"], max_cells)
    cells = (cell for sheet in sheets if isinstance(sheet, dict) for cell in _list(sheet.get("cells")))
    return list(map(_converted, islice(cells, max_cells)))


def _list(value: object) -> Iterator[Any]:
    return iter(value if isinstance(value, list) else ())


def _converted(cell: object) -> dict[str, object] | None:
    """The parts of an old cell that `_rebuild` reads, in the current format."""
    if not isinstance(cell, dict):
        return None
    kind = cell.get("cell_type")
    source = cell.get("input" if kind == "code" else "source", "")
    if kind == "heading":
        text = "".join(filter(_is_text, source)) if isinstance(source, list) else source
        level = cell.get("level")
        hashes = "#" * (level if type(level) is int and 1 <= level <= 6 else 1)
        source = f"{hashes} {' '.join(text.splitlines())}" if _is_text(text) else None
    return {
        "cell_type": "markdown" if kind in ("heading", "html") else kind,
        "source": source,
        "metadata": cell.get("metadata"),
    }


def _is_text(value: object) -> bool:
    return isinstance(value, str)


MAX_BYTES = 20 * 2**20  # a notebook with all its figures has two or three
MAX_WITH_OUTPUTS = 3 * MAX_BYTES  # if it is only read to drop its outputs
# Texts, lists, objects and commas. An empty list is three bytes in a file and seventy in memory.
MAX_VALUES = 2**20
MAX_CELLS = 1000
MAX_SOURCE = 2 * 2**20  # characters of all cells
NOTES_KEY = "grader_notes"  # in the notebook's metadata, between reading and repairing

CELL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_KINDS = ("code", "markdown", "raw")
# A string is matched as a whole, even if it never ends, so nothing is scanned twice.
_VALUE = re.compile(rb'"(?:[^"\\]++|\\.)*+"?|[\[{,]', re.DOTALL)
# The end of a file that was cut off within a letter written as a number, or within a word.
_CUT = re.compile(r"\\u?[0-9a-fA-F]{0,4}\Z|\b(?:t|tr|tru|f|fa|fal|fals|n|nu|nul)\Z|-\Z")


def content_of(path: Path) -> bytes | None:
    """The content of a file that nbgrader found; None if it is a link, or not a file."""
    names = (path, path.parent, path.parent.parent)  # the notebook, the assignment, the student
    if any(name.is_symlink() for name in names) or not path.is_file():
        return None
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def parse_notebook(content: bytes | None) -> NotebookNode:
    """A notebook with just the sources, kinds and ids of cells. Notes say what was wrong with the file.

    The content is None if there is no file.
    """
    try:
        return read_notebook(content)
    except UnreadableNotebook as problem:
        return _new_notebook([], [f"This file could not be read as a notebook: {problem}. Please submit it again."])


def read_notebook(content: bytes | None) -> NotebookNode:
    """The same; raises UnreadableNotebook if the file cannot be read as a notebook."""
    submitted = _parse(content)
    notes = []
    if submitted.get("nbformat") != 4 and isinstance(submitted.get("cells"), list):
        notes.append("This notebook claims to have a different format, but its cells could be read.")
    elif submitted.get("nbformat") != 4:
        notes.append("This notebook has an old format and was converted.")
    cells = cells_of(submitted, MAX_CELLS + 1) if is_old(submitted) else submitted.get("cells")
    if not isinstance(cells, list):
        cells = []
        notes.append("This notebook has no cells.")
    if len(cells) > MAX_CELLS:
        raise UnreadableNotebook(f"it has more than {MAX_CELLS} cells")
    rebuilt = [_rebuild(cell) for cell in cells]
    ordinary_cells = as_ordinary([cell for cell in rebuilt if cell is not None])
    if sum(len(cell.source) for cell in ordinary_cells) > MAX_SOURCE:
        raise UnreadableNotebook("its cells have too much text")
    if None in rebuilt:
        notes.append("Some cells could not be read and were left out.")
    language = _language(submitted)
    if language not in ("", "python"):
        notes.append(f"This notebook asks for the language “{language}”; it was run as Python.")
    return _new_notebook(ordinary_cells, notes)


def why_not_whole(content: bytes) -> str:
    """Why a file is not complete JSON, as when an upload was cut off; empty if it is, or if nobody can tell."""
    try:
        _parse(content)
    except _NotWhole as problem:
        return str(problem)
    except UnreadableNotebook:
        pass
    return ""


def without_outputs(content: bytes) -> bytes | None:
    """The notebook without outputs, widgets and attachments; None if it is far too large or not a notebook."""
    try:
        notebook = _parse(content, MAX_WITH_OUTPUTS)
    except UnreadableNotebook:
        return None
    for sheet in (notebook, *_dicts(notebook.get("worksheets"))):
        for cell in _dicts(sheet.get("cells")):
            cell.pop("attachments", None)
            if "outputs" in cell:
                cell["outputs"] = []
    metadata = notebook.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("widgets", None)
    return json.dumps(notebook, ensure_ascii=False).encode("utf-8", "replace")


def _dicts(values: object) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


class UnreadableNotebook(Exception):
    """A file cannot be read as a notebook; the text is a clause that says why."""


class _NotWhole(UnreadableNotebook):
    pass


def _parse(content: bytes | None, max_bytes: int | None = None) -> dict[str, Any]:
    max_bytes = MAX_BYTES if max_bytes is None else max_bytes
    if content is None:
        raise UnreadableNotebook("it is not a file")
    if len(content) > max_bytes:
        raise UnreadableNotebook(f"it is larger than {max_bytes // 2**20} MB")
    if any(itertools.islice(_VALUE.finditer(content), MAX_VALUES * max_bytes // MAX_BYTES, None)):
        raise UnreadableNotebook("it has too many parts")
    if not content.strip():
        raise _NotWhole("it is empty")
    try:
        text = content.decode("utf-8-sig")
        submitted = json.loads(text)
    except UnicodeDecodeError as error:
        raise _NotWhole(_no_json(error.end == len(content))) from error
    except json.JSONDecodeError as error:
        is_cut = error.pos >= len(text.rstrip()) or "Unterminated" in error.msg or _CUT.search(text, error.pos - 2)
        raise _NotWhole(_no_json(bool(is_cut))) from error
    except (ValueError, RecursionError) as error:  # absurd numbers and nesting
        raise UnreadableNotebook(_no_json(False)) from error
    if submitted is None:
        raise UnreadableNotebook("it is empty")
    if not isinstance(submitted, dict):
        raise UnreadableNotebook("it does not contain a notebook")
    return submitted


def _no_json(ends_early: bool) -> str:
    return f"it is not valid JSON{', and ends in the middle' if ends_early else ''}"


def _rebuild(cell: object) -> NotebookNode | None:
    """A new cell with what we need from the submitted one; None if that cannot be read."""
    if not isinstance(cell, dict):
        return None
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return None
    kind = cell.get("cell_type")
    identity = cell.get("id")
    rebuilt = new_cell(
        kind if kind in _KINDS else "raw",
        _text(source),
        identity if isinstance(identity, str) and CELL_ID.fullmatch(identity) else "",
    )
    metadata = cell.get("metadata")
    nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    if isinstance(grade_id, str):
        rebuilt.metadata["nbgrader"] = nbformat.from_dict({"grade_id": grade_id})
    return rebuilt


def _text(source: str) -> str:
    """Replace lone surrogates, which cannot be saved, and end lines with newlines only, on which all readers agree.

    Python also ends a line, and thus a comment, at a carriage return. Other readers do not: to them, all that follows
    would still be part of the comment.
    """
    return source.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode("utf-8")


def _new_notebook(cells: list[NotebookNode], notes: list[str]) -> NotebookNode:
    # Not nbformat's random ids: the same file must always give the same notebook.
    submitted_ids = {cell["id"] for cell in cells}
    names = (f"cell-{number}" for number in itertools.count(1))
    new_ids = (name for name in names if name not in submitted_ids)
    ids = {""}
    for cell in cells:
        if cell["id"] in ids:
            cell["id"] = next(new_ids)
        ids.add(cell["id"])
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata[NOTES_KEY] = notes
    return notebook


def _language(submitted: dict[str, Any]) -> str:
    metadata = submitted.get("metadata")
    kernel = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    language = kernel.get("language", "python") if isinstance(kernel, dict) else ""
    return re.sub(r"[^\w+#. -]", "", str(language)).lower()[:30]
