"""Examples for visible checks: known inputs, and what a student's function must make of them.

Each says in words what is wrong, with the method `problem`. Nothing here is secret.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import torch

from diagnosis import has_16_bits, looks_like
from broken_rules import HALF_PRECISION, INPUT_MODIFIED, returned_nothing
from compare import difference
from nested import map_tensors

Student: TypeAlias = Callable[..., Any]  # a function or a class

# The examples are printed with four decimals.
TOLERANCE = 1e-4

NEW_LINE = "\n  "
MOST_NAMES = 6
RIGHT_BUT = f"the result is right, but:{NEW_LINE}"


def right_but(sentence: str) -> str | None:
    """The problem with a right result, if a sentence says that a rule is broken."""
    return RIGHT_BUT + sentence if sentence else None


def not_what_was_asked(called: str, sentence: str) -> str:
    return f"{called} is not what was asked for:{NEW_LINE}{sentence}"


class VisibleExample(Protocol):
    """An example of a visible check."""

    @property
    def name(self) -> str: ...
    def problem(self, function: Student, called: str) -> str | None: ...


class Example(NamedTuple):
    """One call of the student's function and what it must return."""

    name: str
    inputs: tuple[object, ...]
    expected: object  # or a function that says in words what is wrong with a result, or nothing

    def problem(self, function: Student, called: str) -> str | None:  # noqa: ARG002  as the others
        inputs = copy_inputs(self.inputs)
        problem = wrong_result(function(*inputs), self.expected, "function")
        if not _are_changed(inputs, self.inputs):
            return problem
        if problem is None:
            return INPUT_MODIFIED[:1].lower() + INPUT_MODIFIED[1:]
        return f"{problem}{NEW_LINE}Also, your function changes its input."


class Several(NamedTuple):
    """Eight calls with the same arguments, for what chance has a part in."""

    name: str
    inputs: tuple[object, ...]
    expected: Callable[[list[torch.Tensor]], str | None]  # says in words what is wrong with their results

    def problem(self, function: Student, called: str) -> str | None:  # noqa: ARG002  as the others
        results = [function(*copy_inputs(self.inputs)) for _ in range(8)]
        return self.expected(results) if all(isinstance(result, torch.Tensor) for result in results) else None


def wrong_result(result: object, expected: object, noun: str) -> str | None:
    """What is wrong with what a function or class returned, in words."""
    if result is None:
        return f"nothing came back:{NEW_LINE}{returned_nothing(noun)}"
    if callable(expected):
        problem: str | None = expected(result)
        return problem
    differing = difference(result, expected, TOLERANCE)
    if differing is None:  # numbers that are near enough here, and would not be elsewhere
        return RIGHT_BUT + HALF_PRECISION if has_16_bits(result) else None
    lines = [differing.sentence()]
    if differing.numbers:
        lines.append(f"There: {differing.numbers}.")
    lines.append(looks_like(result, expected, TOLERANCE))
    return NEW_LINE.join(filter(None, lines))


def copy_inputs(value: object) -> Any:
    """Copy the tensors and lists of nested inputs."""
    return map_tensors(torch.Tensor.clone, value)


def _are_changed(inputs: Sequence[object], before: Sequence[object]) -> bool:
    pairs = [pair for pair in zip(inputs, before, strict=True) if isinstance(pair[0], torch.Tensor | list)]
    return any(difference(now, then, 0.0) is not None for now, then in pairs)


def list_names(names: Sequence[str]) -> str:
    count_left = len(names) - MOST_NAMES
    return ", ".join(names) if count_left < 2 else f"{', '.join(names[:MOST_NAMES])} and {count_left} more"


def is_to_do(error: Exception, called: str) -> bool:
    """Whether it stopped as it was handed out, or has no forward. PyTorch says what else is not implemented."""
    lacks_forward = f"[{called}] is missing the required" in str(error)
    return isinstance(error, NotImplementedError) and (not error.args or lacks_forward)


def described(error: BaseException) -> str:
    """The error in one line, with the line of the notebook where it happened."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{type(error).__name__}: {error.msg}, in line {error.lineno}."
    text = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    place = line_of(error)
    return f"{text}{NEW_LINE}{place}" if place else f"{text.rstrip('.')}."


def line_of(error: BaseException) -> str:
    """Where it happened: the innermost line of the notebook, in words; empty if there is none."""
    lines = [
        frame.line
        for frame in traceback.extract_tb(error.__traceback__)
        if "ipython-input" in frame.filename or "ipykernel" in frame.filename
    ]
    return f"at the line `{lines[-1]}`" if lines and lines[-1] else ""
