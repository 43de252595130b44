"""The outputs of one cell in nbformat's form, up to a limit."""

from __future__ import annotations

import base64
import io
import json
from typing import Any, TypeAlias

MAX_OUTPUT = 2**20  # characters of output that a cell may leave; then comes the notice
MAX_LATE_ERROR = 2000  # characters of each part of an error that comes after the notice
MAX_LATE_RESULT = 100  # characters of a cell's value that comes after the notice
NOTICE = "\n[This cell printed too much; the rest is left out.]\n"
LEAST_OUTPUT = 100  # characters that a stream output counts for, however little is in it

Output: TypeAlias = dict[str, Any]  # as nbformat has it


class Outputs:
    """The outputs of one cell, up to a limit."""

    def __init__(self) -> None:
        self._items: list[Output] = []
        self._by_display_id: dict[str, list[Output]] = {}
        self._left = MAX_OUTPUT  # below zero: something did not fit, and nothing else is taken
        self._clear_next = False

    def write(self, stream: str, text: str) -> None:
        """Add text to a stream; neighboring texts of one stream are one output."""
        self._clear_if_due()
        if self._left < 0:
            return
        last = self._items[-1] if self._items else {}
        if last.get("name") != stream:
            last = {"output_type": "stream", "name": stream, "text": io.StringIO()}
            self._add(last, LEAST_OUTPUT)
        last["text"].write(text[: max(self._left, 0)])
        self._take(len(text))

    def add(self, output: Output, display_id: str = "") -> None:
        self._clear_if_due()
        if self._left >= 0:
            output, size = _as_json(output)
            if self._add(output, size) and display_id:
                self._by_display_id.setdefault(display_id, []).append(output)
        if self._left < 0 and output["output_type"] == "execute_result":
            self._add_late(output)

    def _add_late(self, result: Output) -> None:
        """The value of a cell, where it may be the points of a test: a number has its place in any case."""
        text = str(result["data"].get("text/plain", ""))
        if len(text) <= MAX_LATE_RESULT and self._items[-1]["output_type"] != "execute_result":
            self._items.append({**result, "data": {"text/plain": text}, "metadata": {}})

    def update(self, display_id: str, data: object, metadata: object) -> None:
        """Show something else in place of what was displayed with this id."""
        for output in self._by_display_id.get(display_id, ()):
            if self._left >= 0:
                new, size = _as_json({**output, "data": data, "metadata": metadata})
                if self._take(size - _as_json(output)[1]):
                    output.update(new)

    def add_error(self, name: str, text: str, traceback: list[str]) -> None:
        """Add an error. It says why the cell ended, so when nothing else fits it is still shown in short."""
        self.add({"output_type": "error", "ename": name, "evalue": text, "traceback": traceback})
        if self._left < 0:
            name, text, line = (part[:MAX_LATE_ERROR] for part in (name, text, f"{name}: {text}"))
            if self._items[-1]["output_type"] == "error":
                self._items.pop()
            self._items.append({"output_type": "error", "ename": name, "evalue": text, "traceback": [line]})

    def clear(self, wait: bool = False) -> None:
        self._clear_next = wait
        if not wait:
            self._items.clear()
            self._by_display_id.clear()
            self._left = MAX_OUTPUT

    def as_list(self) -> list[Output]:
        return [{**item, "text": item["text"].getvalue()} if "text" in item else item for item in self._items]

    def _clear_if_due(self) -> None:
        if self._clear_next:
            self.clear()

    def _add(self, output: Output, size: int) -> bool:
        fits = self._take(size)
        if fits:
            self._items.append(output)
        return fits

    def _take(self, size: int) -> bool:
        """Use up some of what is left, and say so when it was too much."""
        if self._left >= 0:
            self._left -= size
            if self._left < 0:
                self._items.append({"output_type": "stream", "name": "stderr", "text": io.StringIO(NOTICE)})
        return self._left >= 0


def _as_json(output: Output) -> tuple[Output, int]:
    """A copy in pure JSON, as a kernel would send it now, and its size: the objects in it may change later."""
    text = json.dumps(output, ensure_ascii=False, default=_base64_or_text)
    return json.loads(text, parse_constant=lambda name: str(float(name))), len(text)


def _base64_or_text(value: object) -> str:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
