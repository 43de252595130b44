"""What a sandbox says that it did, read as what anybody may have written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.model.answer import Answer, Loss, Lost, Missing, Raised, Returned
from grader.notebooks.outputs import rebuild_outputs
from grader.sandbox import wire
from grader.sandbox.plain_text import one_line
from grader.sandbox.values import decode, devices


@dataclass(frozen=True)
class CellResult:
    outputs: list[Any]  # nbformat outputs
    error: str = ""  # such as "SyntaxError: invalid syntax"


def read_cell(frame: wire.Frame) -> CellResult:
    error = frame.header.get("error")
    text = f"{error.get('type')}: {error.get('message')}" if isinstance(error, dict) else ""
    return CellResult(rebuild_outputs(frame.header.get("outputs")), one_line(text, 600))


def read_answer(header: Mapping[str, Any], tensors: Mapping[str, Any]) -> Answer:
    if header.get("missing") is True:
        return Missing()
    raised = header.get("raised")
    if isinstance(raised, dict):
        return Raised(*(one_line(raised.get(key, ""), 500) for key in ("type", "message", "line", "function")))
    values = header.get("values")
    items = values.get("list") if isinstance(values, dict) else None
    if not isinstance(items, list) or len(items) != 2:
        return Lost(Loss.FORGED)
    value, inputs_after = decode(values, tensors, words=True)
    return Returned(value, inputs_after, frozenset(devices(items[0])))
