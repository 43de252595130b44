"""Rebuild the outputs of a cell from what a sandbox sent, which may be any JSON.

Nothing is passed through: every output is made here, from texts and numbers of known kinds, within bounds.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any

import nbformat
from nbformat import NotebookNode

from grader.notebooks.safe_html import is_image, safe_html, safe_markdown
from grader.sandbox.cell_outputs import MAX_LATE_ERROR, MAX_LATE_RESULT, MAX_OUTPUT, NOTICE

MAX_OUTPUTS = 1000
MAX_COLORS = 5000  # changes of color; nbconvert is slow with more
MAX_TAGS = 10_000  # nh3 is slow with more, if they are nested
COST_OF_VALUE = 100  # characters: even an empty list or object takes a thousand bytes of memory, and a line some time
SIGNS_A_TAG = 20  # this many "&" take as long as a tag
MAX_DEPTH = 50
MAX_PIXELS = 10_000

_TEXTS = ("text/plain", "text/latex")
IMAGES = ("image/png", "image/jpeg")
NOT_SHOWN = "(This picture is not shown. Draw it as a PNG or JPEG, and not too large.)"
_ESCAPE = re.compile(r"\x1b(?:\[[0-?]*+[ -/]*+[@-~])?+")
# Codes 38 and 48 are followed by a color; nbconvert fails if it is missing.
_CODE = r"(?:[34]8;5;\d{1,3}|[34]8;2(?:;\d{1,3}){3}|(?!0?[34]8(?!\d))\d{1,3})"
_COLOR = re.compile(rf"\x1b\[(?:{_CODE}(?:;{_CODE}){{0,9}})?m")


def rebuild_outputs(value: Any) -> list[NotebookNode]:
    """Turn any value into outputs in nbformat's form that are safe to save and show."""
    room = _Room(MAX_OUTPUT)
    outputs: list[dict[str, Any]] = []
    for output in value if isinstance(value, list) else []:
        try:
            if len(outputs) == MAX_OUTPUTS or _is_notice(output):
                raise _Full
            rebuilt = _rebuild(output, room)
        except _Full:
            outputs += [{"output_type": "stream", "name": "stderr", "text": NOTICE}, *_late_end(value[-1])]
            break
        if rebuilt is not None:
            outputs.append(rebuilt)
    return [nbformat.from_dict(output) for output in outputs]


def size_of(outputs: list[NotebookNode]) -> int:
    """The size of outputs in characters, or in what takes as much memory."""
    text = str(outputs)
    return len(text) + COST_OF_VALUE * (text.count("{") + text.count("["))


class _Full(Exception):
    """The cell has shown all that it may."""


class _Room:
    """What a cell may still show."""

    def __init__(self, characters: int) -> None:
        self._characters = characters
        self._colors = MAX_COLORS
        self._tags = MAX_TAGS

    def take(self, characters: int) -> None:
        self._characters -= characters
        if self._characters < 0:
            raise _Full

    def text(self, value: object) -> str:
        """A text, which may also be a list of lines in nbformat; empty for anything else."""
        lines = value if isinstance(value, list) else [value]
        text = "".join(line for line in lines if isinstance(line, str))
        self.take(len(text))
        text = text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
        return _ESCAPE.sub(self._color, text)

    def markup(self, value: object) -> str:
        """A text with tags; empty if there are far too many."""
        text = self.text(value)
        self._tags -= text.count("<") + text.count("&") // SIGNS_A_TAG
        return text if self._tags >= 0 else ""

    def _color(self, sequence: re.Match[str]) -> str:
        if not _COLOR.fullmatch(sequence[0]) or self._colors == 0:
            return ""
        self._colors -= 1
        return sequence[0]


def _late_end(output: object) -> list[dict[str, Any]]:
    """The final error or value of a cell, which is always shown if it is as short as the sandbox makes it."""
    rooms = {"error": 3 * MAX_LATE_ERROR + 1, "execute_result": MAX_LATE_RESULT}
    kind = output.get("output_type") if isinstance(output, dict) else None
    if kind not in rooms:
        return []
    with contextlib.suppress(_Full):
        end = _rebuild(output, _Room(rooms[kind]))
        return [end] if end else []
    return []


def _is_notice(output: object) -> bool:
    """Whether the sandbox has already cut the output off."""
    return isinstance(output, dict) and output.get("name") == "stderr" and output.get("text") == NOTICE


def _rebuild(output: Any, room: _Room) -> dict[str, Any] | None:
    kind = output.get("output_type") if isinstance(output, dict) else None
    if kind == "stream" and output.get("name") in ("stdout", "stderr"):
        return {"output_type": kind, "name": output["name"], "text": room.text(output.get("text"))}
    if kind == "error":
        lines = output.get("traceback")
        return {
            "output_type": kind,
            "ename": room.text(output.get("ename")),
            "evalue": room.text(output.get("evalue")),
            "traceback": [_line(line, room) for line in lines] if isinstance(lines, list) else [],
        }
    if kind in ("display_data", "execute_result"):
        return _rebuild_data(kind, output, room)
    return None


def _line(line: object, room: _Room) -> str:
    room.take(COST_OF_VALUE // 10)  # an empty line counts, too
    return room.text(line)


def _rebuild_data(kind: str, output: dict[str, Any], room: _Room) -> dict[str, Any] | None:
    data = output.get("data")
    safe_data = _safe_data(data, room) if isinstance(data, dict) else {}
    if not safe_data:
        return None
    sizes = _sizes(output.get("metadata"), safe_data)
    rebuilt: dict[str, Any] = {"output_type": kind, "data": safe_data, "metadata": sizes}
    if kind == "execute_result":
        count = output.get("execution_count")
        rebuilt["execution_count"] = count if type(count) is int and 0 <= count < 2**31 else None
    return rebuilt


def _safe_data(data: dict[str, Any], room: _Room) -> dict[str, Any]:
    """What a page may show of an output, by MIME type. Scripts and widgets have no type here.

    A line of text replaces pictures of other kinds: a drawing (SVG) can keep a browser busy forever.
    """
    safe: dict[str, Any] = {name: room.text(data[name]) for name in _TEXTS if name in data}
    for name in IMAGES:
        if name in data:
            image = room.text(data[name])
            if is_image(name, image):
                safe[name] = image
    if "application/json" in data:
        with contextlib.suppress(ValueError):
            safe["application/json"] = _json(data["application/json"], room, MAX_DEPTH)
    html, markdown = room.markup(data.get("text/html")), room.text(data.get("text/markdown"))
    markup = {"text/html": safe_html(html), "text/markdown": safe_markdown(markdown)}
    room.take(max(0, sum(map(len, markup.values())) - len(html) - len(markdown)))
    safe |= {name: text for name, text in markup.items() if text}
    has_picture = any(name.startswith("image/") for name in data)
    if has_picture and not safe.keys() & {*IMAGES, "text/html"}:
        safe["text/plain"] = room.text(NOT_SHOWN)
    return safe


def _json(value: object, room: _Room, depth: int) -> Any:
    """A copy of the value. ValueError if no browser could read it."""
    room.take(COST_OF_VALUE if isinstance(value, (list, dict)) else 1)
    if isinstance(value, str):
        return room.text(value)
    if isinstance(value, list) and depth:
        return [_json(inner, room, depth - 1) for inner in value]
    if isinstance(value, dict) and depth:
        return {room.text(name): _json(inner, room, depth - 1) for name, inner in value.items()}
    if value is None or (isinstance(value, (int, float)) and abs(value) < 2**63):
        return value
    raise ValueError


def _sizes(metadata: object, data: dict[str, Any]) -> dict[str, Any]:
    """The widths and heights at which to show images."""
    sizes = {}
    for name in IMAGES:
        size = metadata.get(name) if name in data and isinstance(metadata, dict) else None
        if isinstance(size, dict):
            sizes[name] = {side: size[side] for side in ("width", "height") if _is_length(size.get(side))}
    return {name: size for name, size in sizes.items() if size}


def _is_length(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value <= MAX_PIXELS
