"""All texts in the files of a release, each with its place: cells, attachments, outputs, what is packed in archives."""

from __future__ import annotations

import base64
import binascii
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

_LARGEST = 50 * 2**20  # bytes that are unpacked of one file in an archive
_DEEPEST = 3  # archives in archives
_DATA = re.compile(r"data:[\w.+/;=-]*;base64,([A-Za-z0-9+/=\s%]+)")
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]{16,}={0,2}\s*")


class Text(NamedTuple):
    """A text, and where it stands, in words."""

    place: str
    text: str


def texts_in(folder: Path) -> Iterator[Text]:
    """The texts of all files of a folder."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield from _of_file(str(path.relative_to(folder)), path.read_bytes())


def _of_file(place: str, content: bytes, depth: int = 0) -> Iterator[Text]:
    text = content.decode("utf-8", errors="replace")
    if place.endswith((".ipynb", ".json")) and (data := _json(text)) is not None:
        yield from _of_json(place, data)
    elif depth < _DEEPEST and zipfile.is_zipfile(io.BytesIO(content)):
        yield from _of_archive(place, content, depth + 1)
    else:
        yield from _of_text(place, text)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _of_archive(place: str, content: bytes, depth: int) -> Iterator[Text]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for entry in archive.infolist():
            if entry.is_dir() or entry.flag_bits & 1:  # what is encrypted, we cannot read
                continue
            with archive.open(entry) as file:
                yield from _of_file(f"{place}, {entry.filename}", file.read(_LARGEST), depth)


def _of_json(place: str, data: Any) -> Iterator[Text]:
    cells = data.get("cells") if isinstance(data, dict) else None
    if not isinstance(cells, list):
        yield from _strings(place, data)
        return
    for index, cell in enumerate(cells, 1):
        name = _name(cell) or str(index)
        for part, value in (cell if isinstance(cell, dict) else {"": cell}).items():
            where = "" if part == "source" else f", {part}"
            yield from _strings(f"{place}, cell {name}{where}", value)
    yield from _strings(f"{place}, metadata", {key: value for key, value in data.items() if key != "cells"})


def _name(cell: Any) -> str:
    """How an author finds a cell: by its grade id, or the cell's own."""
    try:
        return str(cell["metadata"]["nbgrader"]["grade_id"])
    except (KeyError, TypeError):
        return str(cell.get("id", "")) if isinstance(cell, dict) else ""


def _strings(place: str, value: Any) -> Iterator[Text]:
    """All strings in a value; a list of them is a text, as notebooks have it."""
    if isinstance(value, str):
        yield from _of_text(place, value)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield Text(place, str(key))
            yield from _strings(place, item)
    elif _is_text(value):
        yield from _of_text(place, "\n".join(line.removesuffix("\n") for line in value))
    elif isinstance(value, list):
        for item in value:
            yield from _strings(place, item)


def _is_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _of_text(place: str, text: str) -> Iterator[Text]:
    """A text, and what is written in it as base64: all of it, as in attachments, or an address that holds its data."""
    yield Text(place, text)
    coded = [text] if _BASE64.fullmatch(text) else _DATA.findall(text)
    for one in coded:
        try:
            content = base64.b64decode("".join(one.split()), validate=True)
        except (binascii.Error, ValueError):
            continue
        yield from _of_file(place, content, _DEEPEST - 1)
