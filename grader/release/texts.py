"""Collect all texts in a release, each with its place: cells, attachments, outputs, anything packed or encoded; and the
names of what could not be read, or only in part."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from nbformat import NotebookNode

from grader.release.decoding import LARGEST, Content, TooMuchToRead, decodings_of, forms_of, plain, printable, text_of

_DEEPEST = 8  # archives in archives, and texts in texts
_MOST = 4 * LARGEST  # of one file, with everything unpacked from it


class Text(NamedTuple):
    """A text, and in words, where it is."""

    file: str
    place: str
    text: str


def _is_compiled(path: Path) -> bool:
    """Whether Python compiled this from a module beside it, as when somebody has tried the notebook."""
    return path.parent.name == "__pycache__" and (path.parent.parent / f"{path.name.split('.')[0]}.py").is_file()


class Reading:
    """The texts in a folder, and the files that could not be read."""

    def __init__(self, folder: Path) -> None:
        self.texts: list[Text] = []
        self.in_part: dict[str, None] = {}  # such as pictures; in the order in which they were found
        self.unread: dict[str, None] = {}
        self._file, self._left = "", 0
        for path in sorted(folder.rglob("*")):
            if (path.is_symlink() or not path.is_dir()) and not _is_compiled(path):
                self._read(str(path.relative_to(folder)), path)

    def _read(self, name: str, path: Path) -> None:
        self._file, self._left = name, _MOST
        try:
            if not path.is_file() or path.stat().st_size > LARGEST:
                raise TooMuchToRead
            self._take(name, path.read_bytes(), 0)
        except (TooMuchToRead, RecursionError, OSError):
            self.unread[name] = None

    def _take(self, place: str, content: Content | None, depth: int) -> None:
        if not content:
            if content is None:
                self.unread[place] = None
            return
        self._left -= len(content)
        if self._left < 0:
            raise TooMuchToRead
        if depth > _DEEPEST:
            self.unread[place] = None
        elif isinstance(content, str):
            self._take_text(place, content, depth)
        else:
            self._take_bytes(place, content, depth)

    def _take_bytes(self, place: str, content: bytes, depth: int) -> None:
        text = text_of(content)
        if text is not None:
            self._take_text(place, text, depth)
        read = [text is not None]  # whether each format gives all there is
        for form in forms_of(content):
            try:
                for name, part in form.parts(content):
                    self._take(f"{place}, {name}" if name else place, part, depth + 1)
            except (TooMuchToRead, RecursionError):
                raise
            except Exception:  # a file can be broken in many ways
                continue
            read.append(form.is_all)
        if not any(read):
            (self.in_part if len(read) > 1 else self.unread)[place] = None
            self._add(place, printable(content))

    def _take_text(self, place: str, text: str, depth: int) -> None:
        data = _json(text) if text.lstrip()[:1] in ("{", "[") else None
        if data is not None:
            self._take_json(place, data, depth)
            return
        self._add(place, plain(text))
        for content in decodings_of(text):
            self._take(place, content, depth + 1)

    def _add(self, place: str, text: str) -> None:
        self.texts.append(Text(self._file, place, text))

    def _take_json(self, place: str, data: object, depth: int) -> None:
        if not isinstance(data, dict) or not isinstance(cells := data.get("cells"), list):
            self._take_strings(place, data, depth)
            return
        for index, cell in enumerate(cells, 1):
            name = _name(cell) or str(index)
            for part, value in (cell if isinstance(cell, dict) else {"": cell}).items():
                where = "" if part == "source" else f", {part}"
                self._take_strings(f"{place}, cell {name}{where}", value, depth)
        self._take_strings(f"{place}, metadata", {key: value for key, value in data.items() if key != "cells"}, depth)

    def _take_strings(self, place: str, value: object, depth: int) -> None:
        """Take all strings in a value; a list of strings is one text, as in notebooks."""
        for text in _strings(value):
            self._take(place, text, depth + 1)


def _json(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_whole)
    except (ValueError, RecursionError):
        return None


def _whole(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    if len(data := dict(pairs)) < len(pairs):
        raise ValueError("a name that stands there twice hides what comes first")
    return data


def _name(cell: NotebookNode) -> str:
    """The name by which an author finds a cell: its grade id, or else its own id."""
    try:
        return str(cell["metadata"]["nbgrader"]["grade_id"])
    except (KeyError, TypeError):
        return str(cell.get("id", "")) if isinstance(cell, dict) else ""


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)
    elif isinstance(value, list) and all(isinstance(item, str) for item in value):
        yield "\n".join(line.removesuffix("\n") for line in value)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
