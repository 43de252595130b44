"""Read the replies of a sandbox, which a student's code may have written."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from nbformat import NotebookNode

from grader.model.answer import UNCHANGED, Answer, Loss, Lost, Missing, Raised, Returned
from grader.model.untrusted import Count, Texts, converted
from grader.notebooks.outputs import rebuild_outputs
from grader.sandbox import wire
from grader.sandbox.decoder import devices
from grader.sandbox.forms import decode_value
from grader.sandbox.plain_text import one_line

MAX_KEPT = 2**24  # bytes of answers


@dataclass(frozen=True)
class CellResult:
    outputs: list[NotebookNode]
    error: str = ""  # such as "SyntaxError: invalid syntax"
    kind: str = ""  # of the error
    message: str = ""
    line: int = 0  # of the cell; 0 if unknown
    changed: tuple[str, ...] = ()  # names that a test relies on, and that had changed


def read_cell(frame: wire.Frame) -> CellResult:
    error = frame.header.get("error")
    text = f"{error.get('type')}: {error.get('message')}" if isinstance(error, dict) else ""
    details = error if isinstance(error, dict) else {}
    return CellResult(
        rebuild_outputs(frame.header.get("outputs")),
        one_line(text, 600),
        one_line(details.get("type", ""), 500),
        one_line(details.get("message", ""), 500),
        converted(details.get("line"), Count) or 0,
        tuple(one_line(name, 60) for name in converted(frame.header.get("changed"), Texts) or ()),
    )


def read_answer(
    header: Mapping[str, Any], tensors: Mapping[str, Any], form: str = "function", exceeds_standin: bool = False
) -> Answer:
    """Read an answer of the student's code; `exceeds_standin` says that it asked too much of a lent function."""
    if header.get("missing") is True:
        return Missing()
    raised = header.get("raised")
    if isinstance(raised, dict):
        kind, message, line, function = (
            one_line(raised.get(key, ""), 500) for key in ("type", "message", "line", "function")
        )
        return Raised(kind, message, line, function, exceeds_standin)
    values = header.get("values")
    items = values.get("list") if isinstance(values, dict) else None
    if not isinstance(items, list) or len(items) not in (1, 2):
        return Lost(Loss.FORGED)
    value, *inputs = decode_value(form, {"list": items}, tensors)  # inputs come back only if they were changed
    return Returned(value, inputs[0] if inputs else UNCHANGED, devices(items[0]))


class AnswersOfEdited:
    """Answers of several versions of some code. Most are equal, so each different answer is read only once."""

    def __init__(self, form: str) -> None:
        self.form = form
        self._cache: dict[bytes, Answer] = {}
        self._room = MAX_KEPT

    def read_answers(self, frame: wire.Frame, count: int) -> list[Answer]:
        """Read one answer for each version; equal answers are the same object."""
        messages = _split(frame)
        if len(messages) != count:
            return [Lost(Loss.FORGED)] * count
        return list(map(self._answer, messages))

    def _answer(self, message: bytes) -> Answer:
        if message in self._cache:
            return self._cache[message]
        try:
            frame = wire.unpack(message)
        except wire.ChannelError:
            return Lost(Loss.FORGED)
        answer = read_answer(frame.header, frame.tensors, self.form)
        if len(message) <= self._room:
            self._room -= len(message)
            self._cache[message] = answer
        return answer


def _split(frame: wire.Frame) -> list[bytes]:
    """The frames within a frame; none if their lengths do not add up."""
    lengths, packed = frame.header.get("lengths"), frame.tensors.get("answers")
    if packed is None or packed.dtype is not torch.uint8 or not isinstance(lengths, list):
        return []
    if not all(type(length) is int and length > 0 for length in lengths) or sum(lengths) != packed.numel():
        return []
    content, ends = packed.flatten().numpy().tobytes(), itertools.accumulate(lengths)
    return [content[end - length : end] for length, end in zip(lengths, ends, strict=True)]
