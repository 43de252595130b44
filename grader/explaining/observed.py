"""What was observed of one run of a student's code, or of a version of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from grader.explaining.harness import tensor_of

Tensor = torch.Tensor
Shape = tuple[int, ...]
Place = tuple[int, str]  # a line, and a name after it or an expression in it

TOLERANCE = 1e-4
MOST_AXES = 8


class Value(NamedTuple):
    """What is known of a tensor or a number that was not sent."""

    shape: Shape | None  # None for a number
    axes_with_unit_sums: tuple[int, ...] | None  # along which it sums to one; None if that cannot be told
    figures: tuple[float, ...] | None


class Pair(NamedTuple):
    """An axis of an argument and one of the result, whose places belong together."""

    argument: int
    axis: int
    result_axis: int


@dataclass(frozen=True)
class Draw:
    """Inputs of one call. A class is built with arguments of its own, and gets weights."""

    arguments: Sequence[Any]
    built: Sequence[Any] = ()
    weights: Mapping[str, Tensor] | None = None

    def to_request(self) -> dict[str, Any]:
        weights = None if self.weights is None else dict(self.weights)
        return {"arguments": list(self.arguments), "built": list(self.built), "weights": weights}


@dataclass(frozen=True)
class Observed:
    """One run: what came out, and what the names and expressions were on the way."""

    result: Any
    error: tuple[str, str] | None  # its type, and what it says
    changes_inputs: bool
    lines: Mapping[int, int]  # how often statements ran, by the line where they begin
    names: Mapping[Place, Sequence[Value | None]]
    expressions: Mapping[Place, Sequence[Value | None]]
    tensors: Mapping[Place, Sequence[Tensor | None]]  # of the names that were asked for
    pattern: Tensor | None  # which places of the result (rows) change with which of an argument, if that was asked for

    @property
    def tensor(self) -> Tensor | None:
        """The numbers that count: a tensor, the first of several, or those of a list in one."""
        return tensor_of(self.result)

    @property
    def shape(self) -> Shape | None:
        """The shape of `tensor`, if the result is nothing else."""
        return tuple(self.result.shape) if isinstance(self.result, Tensor) else None

    def is_like(self, run: Observed) -> bool:
        """Whether the same came out, and the caller's inputs are as they would be."""
        return self.changes_inputs == run.changes_inputs and alike(self.result, run.result)


class NotObserved(ValueError):
    """What came back is nothing that the harness sends: the student's code has changed it."""


def read_observed(data: object) -> Observed:
    """Read what the harness sends. Whatever does not fit raises NotObserved."""
    try:
        return _observed(data)
    except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
        raise NotObserved("no observation") from error


def _observed(data: Any) -> Observed:
    error = None if data["error"] is None else (str(data["error"][0])[:60], str(data["error"][1])[:300])
    return Observed(
        result=data["result"],
        error=error,
        changes_inputs=data["inputs_changed"] is True,
        lines={_whole(line): _whole(count) for line, count in data["lines"]},
        names=_by_place(data["names"], _value),
        expressions=_by_place(data["expressions"], _value),
        tensors=_by_place(data["tensors"], _tensor),
        pattern=_tensor(data["pattern"]),
    )


def _by_place(rows: Any, convert: Callable[[Any], Any]) -> dict[Place, list[Any]]:
    return {(_whole(line), str(text)[:200]): [convert(value) for value in values] for line, text, values in rows}


def _value(data: Any) -> Value | None:
    if data is None:
        return None
    shape, axes, figures = data
    return Value(
        None if shape is None else tuple(map(_whole, shape)),
        None if axes is None else tuple(map(_whole, axes)),
        None if figures is None else tuple(map(float, figures)),
    )


def _whole(number: Any) -> int:
    if type(number) is not int or not 0 <= number < 2**31:
        raise NotObserved("no whole number")
    return number


def _tensor(value: Any) -> Tensor | None:
    if value is not None and not isinstance(value, Tensor):
        raise NotObserved("no tensor")
    return value


def numbers_of(result: object) -> Tensor | None:
    """All numbers of a result in a row; None if it holds anything else."""
    if isinstance(result, list | tuple):
        rows = [numbers_of(item) for item in result]
        whole = [row for row in rows if row is not None]
        return torch.cat(whole) if whole and len(whole) == len(rows) else None
    tensor = tensor_of(result)
    return None if tensor is None else tensor.double().flatten()


def alike(first: Any, second: Any) -> bool:
    """Whether two results are the same but for rounding, NaN for NaN."""
    if isinstance(first, Tensor) and isinstance(second, Tensor):
        if first.shape != second.shape or first.dtype != second.dtype:
            return False
        return torch.allclose(first.double(), second.double(), rtol=TOLERANCE, atol=TOLERANCE / 10, equal_nan=True)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(alike, first, second))
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(alike(first[key], second[key]) for key in first)
    if isinstance(first, int | float) and isinstance(second, int | float):
        return abs(first - second) <= TOLERANCE * max(abs(first), abs(second)) or first != first != second != second
    return type(first) is type(second) and bool(first == second)


def first_shape(values: Sequence[Value | None]) -> Shape | None:
    """The shape of the first of some values, if it is a tensor."""
    return values[0].shape if values and values[0] else None


def values_alike(values: Sequence[Value | None], second_values: Sequence[Value | None]) -> bool:
    """Whether a name had the same values in two runs, as far as the figures show."""
    return len(values) == len(second_values) and all(map(_value_alike, values, second_values))


def _value_alike(value: Value | None, second: Value | None) -> bool:
    if value is None or second is None or value.figures is None or second.figures is None:
        return value is second
    return value.shape == second.shape and alike(list(value.figures), list(second.figures))
