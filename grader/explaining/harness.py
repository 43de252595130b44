"""Call a student's function, and observe what it computes on the way. Only the text of this file is used.

It runs where the student's code is, in a sandbox or in the student's notebook, in a namespace of its own. It needs
nothing but torch.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

import torch

Tensor = torch.Tensor

MOST_VALUES = 24  # of one name or expression
MOST_NUMBERS = 5_000  # of one value
CLOSE = 1e-4
NOTES = "_notes"  # what the written-in calls are made on

_WEIGHTS = torch.arange(1, MOST_NUMBERS + 1).double().sin()

student: dict[str, Any] = {}  # the names of the student's code, put here by whoever runs this text


def answer(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What is observed for each draw of inputs."""
    return [_observation(request, draw) for draw in request["draws"]]


def _observation(request: Mapping[str, Any], draw: Mapping[str, Any]) -> dict[str, Any]:
    watched = request["watched"]
    notes: Notes = TracedNotes(watched["statements"], watched["expressions"]) if watched else Notes()
    notes.wanted = {tuple(place) for place in request["wanted"]}
    arguments = _copies(draw["arguments"])
    result, error = None, None
    before = sys.gettrace()
    try:
        student[NOTES] = notes
        if isinstance(notes, TracedNotes):
            sys.settrace(notes)
        result = _copies(_call(request["entry"], draw, arguments, request["seed"]))
    except Exception as exception:
        error = [type(exception).__name__, str(exception)[:300]]
    finally:
        sys.settrace(before)
        student[NOTES] = Notes()
    return {
        "result": result,
        "error": error,
        "inputs_changed": not _are_same(arguments, draw["arguments"]),
        "lines": [[line, count] for line, count in notes.lines.items()],
        "names": [[line, name, values] for (line, name), values in notes.names.items()],
        "expressions": [[line, text, values] for (line, text), values in notes.expressions.items()],
        "tensors": [[line, name, tensors] for (line, name), tensors in notes.tensors.items()],
        "pattern": _pattern(request["entry"], draw, result, request["pair"]) if request["pair"] else None,
    }


def _call(entry: str, draw: Mapping[str, Any], arguments: Sequence[Any], seed: int = 0) -> Any:
    """What a function returns; of a class, what a module with the weights of this draw returns, in evaluation mode."""
    torch.default_generator.manual_seed(seed)
    function = student[entry]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if draw["weights"] is None:
            return function(*arguments)
        module = function(*draw["built"])
        parameters = dict(module.named_parameters(remove_duplicate=False))
        module.eval()
        with torch.no_grad():
            for name, weight in draw["weights"].items():
                parameters[name].copy_(weight)
            return module(*arguments)


class Notes:
    """What the calls that are written into code note in one run."""

    def __init__(self) -> None:
        self.lines: Counter[int] = Counter()
        self.names: defaultdict[tuple[int, str], list[Any]] = defaultdict(list)
        self.expressions: defaultdict[tuple[int, str], list[Any]] = defaultdict(list)
        self.tensors: defaultdict[tuple[int, str], list[Any]] = defaultdict(list)
        self.wanted: set[tuple[Any, ...]] = set()  # names whose numbers are asked for

    def line(self, number: int) -> None:
        """Count a statement that begins in this line."""
        self.lines[number] += 1

    def name(self, line: int, name: str, value: object) -> None:
        """Note what a name is after a line."""
        values = self.names[line, name]
        if len(values) < MOST_VALUES:
            values.append(_summary(value))
            if (line, name) in self.wanted:
                self.tensors[line, name].append(_copies(value) if isinstance(value, Tensor) else None)

    def value(self, line: int, text: str, value: Any) -> Any:
        """Note what an expression in a line is, and pass it on."""
        values = self.expressions[line, text]
        if len(values) < MOST_VALUES:
            values.append(_summary(value))
        return value


class TracedNotes(Notes):
    """The same, seen from outside: a trace function, for code that is as the student wrote it."""

    def __init__(self, statements: Sequence[Sequence[Any]], expressions: Sequence[Sequence[Any]]) -> None:
        super().__init__()
        self.statements: dict[int, Sequence[Any]] = {}  # by each of its lines
        for statement in statements:  # first line, last line, names that it assigns
            self.statements.update(dict.fromkeys(range(statement[0], statement[1] + 1), statement))
        self.texts: defaultdict[int, list[str]] = defaultdict(list)
        for line, text in expressions:
            self.texts[line].append(text)
        self.running: dict[FrameType, Sequence[Any]] = {}

    def __call__(self, frame: FrameType, event: str, _argument: object) -> Callable[..., Any] | None:
        if frame.f_globals is not student or frame.f_code.co_name.startswith("<"):
            return None
        if event == "exception":
            self.running.pop(frame, None)  # what it assigns was not assigned
            return self
        before = self.running.get(frame)
        now = self.statements.get(frame.f_lineno) if event == "line" else None
        if before is not None and (now is not before or event == "return"):
            self._note_names(before, frame)
            del self.running[frame]
        if now is not None and now is not before:
            self.running[frame] = now
            self._enter(now, frame)
        return self

    def _note_names(self, statement: Sequence[Any], frame: FrameType) -> None:
        for name in statement[2]:
            if name in frame.f_locals:
                self.name(statement[1], name, frame.f_locals[name])

    def _enter(self, statement: Sequence[Any], frame: FrameType) -> None:
        self.line(statement[0])
        for line in range(statement[0], statement[1] + 1):
            for text in self.texts.get(line, ()):
                try:
                    value = eval(text, frame.f_globals, dict(frame.f_locals))
                except Exception:
                    continue
                self.value(line, text, value)


def _summary(value: object) -> list[Any] | None:
    """The shape of a tensor, the axes along which it sums to one, and two figures; of a number, itself."""
    if isinstance(value, bool) or not isinstance(value, Tensor | int | float):
        return None
    if not isinstance(value, Tensor):
        return [None, None, [float(value)]] if abs(value) < 1e30 else None
    try:
        if value.numel() > MOST_NUMBERS:
            return [list(value.shape), None, None]
        numbers = value.detach().double().flatten()
        weights = _WEIGHTS[: len(numbers)]
        figures = [float(numbers.sum()), float(numbers @ weights)]
        axes = axes_with_unit_sums(value.detach()) if value.is_floating_point() else None
        return [list(value.shape), axes, figures]
    except (RuntimeError, TypeError):  # such as within vmap, where a tensor has no numbers of its own
        return None


def axes_with_unit_sums(tensor: Tensor) -> list[int] | None:
    """The axes along which it sums to one; None if some axis has one place only, and nothing can be told."""
    if tensor.dim() == 0 or min(tensor.shape) < 2:
        return None
    tensor = tensor.double()
    total = float(tensor.sum())
    if not any(abs(total - tensor.numel() / size) < 1 for size in tensor.shape):  # as nearly always
        return []
    return [axis for axis in range(tensor.dim()) if bool(((tensor.sum(axis) - 1).abs() < CLOSE).all())]


def _pattern(entry: str, draw: Mapping[str, Any], result: Any, pair: Sequence[int]) -> Tensor | None:
    """Which places of the result (rows) change with which places of an argument (columns).

    `pair` has the argument's number, its axis, and the axis of the result.
    """
    number, axis, result_axis = pair
    tensor = tensor_of(result)
    if tensor is None or tensor.dim() <= result_axis:
        return None
    places = tensor.shape[result_axis]
    pattern = torch.zeros(places, places, dtype=torch.bool)
    for place in range(places):
        arguments = _copies(draw["arguments"])
        if not _changed(arguments, number, axis, place):
            return None
        try:
            changed_tensor = tensor_of(_call(entry, draw, arguments))
        except Exception:
            return None
        if changed_tensor is None or changed_tensor.shape != tensor.shape:
            return None
        moved = ~torch.isclose(changed_tensor.double(), tensor.double(), rtol=1e-5, atol=1e-6, equal_nan=True)
        features = moved.movedim(result_axis, 0)
        rows = (features.any(-1) if features.dim() > 1 else features).reshape(places, -1)
        if not bool((rows.all(1) | ~rows.any(1)).all()):  # what is true of one text, or one head, is not of another
            return None
        pattern[:, place] = rows.any(1)
    return pattern


def _changed(arguments: list[Any], number: int, axis: int, place: int) -> bool:
    """Put other numbers at one place of an argument, which is a tensor or a list of them; False if it has none."""
    argument = arguments[number]
    if isinstance(argument, list):
        if axis != 0 or place >= len(argument) or not isinstance(argument[place], Tensor):
            return False
        element = argument[place]
    else:
        if place >= argument.shape[axis]:
            return False
        element = argument.select(axis, place)
    if not element.is_floating_point():
        return False
    element += torch.randn(element.shape, generator=torch.Generator().manual_seed(place)) * 0.7 + 0.1
    return True


def tensor_of(result: object) -> Tensor | None:
    """The numbers that count: a tensor, the first of several, or those of nested lists in one."""
    if isinstance(result, tuple) and result:
        result = result[0]
    if isinstance(result, int | float):
        return torch.tensor(float(result))
    if isinstance(result, list) and result:
        tensors = [tensor_of(element) for element in result]
        whole = [tensor for tensor in tensors if tensor is not None]
        is_even = len(whole) == len(tensors) and len({tensor.shape for tensor in whole}) == 1
        return torch.stack(whole) if is_even else None
    return result if isinstance(result, Tensor) else None


def _copies(value: Any) -> Any:
    """The same, with copies of all tensors, lists and tuples."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if type(value) in (list, tuple):
        return type(value)(_copies(element) for element in value)
    return value


def _are_same(value: Any, other: Any) -> bool:
    if isinstance(value, Tensor) and isinstance(other, Tensor):
        return value.shape == other.shape and torch.equal(value, other)
    if isinstance(value, list | tuple):
        return len(value) == len(other) and all(map(_are_same, value, other))
    return bool(value == other)
