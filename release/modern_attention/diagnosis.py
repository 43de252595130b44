"""What a wrong result of a visible check looks like, and what a wrong function reads: what anybody could see as well.

All of it is told from the numbers of examples that the notebook shows, so it holds for any code that gives them.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

import torch

from broken_rules import HALF_PRECISION, WHOLE
from compare import paired_numbers, same
from nested import tensors_in

# The examples are printed with four decimals, so a factor is known to three digits or so.
FACTOR = 5e-4
LARGEST_WHOLE = 64
SUM_ERROR = 1e-3  # what sums of rounded weights may be off by

# The types of 16-bit numbers, and the error that a few steps in them make, as a part of the largest number.
_DIGITS = {torch.bfloat16: 3e-2, torch.float16: 4e-3}

Tensor = torch.Tensor


def looks_like(result: object, expected: object, tolerance: float) -> str:
    """How all numbers of a wrong result differ from the expected ones; empty where that has no short name."""
    sentence = (
        _in_another_form(result, expected, tolerance)
        or _one_alone(result, expected, tolerance)
        or _in_another_order(result, expected, tolerance)
    )
    if sentence:
        return sentence
    pairs = paired_numbers(result, expected)
    if not pairs or not all(bool(numbers.isfinite().all()) for numbers, _ in pairs):
        return ""
    actual, expected = (torch.cat([pair[side].reshape(-1) for pair in pairs]) for side in (0, 1))
    rows = _as_rows(pairs)
    return (
        _rounded(actual, expected)
        or _whole(actual, expected)
        or (_sums(*rows) if rows else "")
        or _times(actual, expected, tolerance)
        or (_above_the_diagonal(*rows) if rows else "")
    )


def _in_another_form(result: object, expected: object, tolerance: float) -> str:
    """All numbers are right, but in something else than tensors, or with an axis too many or too few."""
    numbers, expected_numbers = _as_tensor(result), _as_tensor(expected)
    if numbers is None or expected_numbers is None:
        return ""
    if not same(numbers.reshape(-1), expected_numbers.reshape(-1), tolerance):
        return ""
    if _is_of_numpy(result):
        return "The numbers are right, but in a NumPy array. Compute with torch throughout."
    depth = 0
    while isinstance(result, (list, tuple)) and isinstance(expected, (list, tuple)):
        result, expected, depth = result[0], expected[0], depth + 1
    if isinstance(result, torch.Tensor):
        return other_axis(numbers.shape[depth:], expected_numbers.shape[depth:], f"result{'[0]' * depth}")
    if numbers.shape != expected_numbers.shape:
        return ""
    return "The numbers are right, but in a list. Return a tensor: torch.stack for tensors, torch.tensor for numbers."


def _as_tensor(value: object) -> Tensor | None:
    """Tensors, arrays of numpy and numbers, in lists or by themselves, as one tensor."""
    items: Any = [*map(_as_tensor, value)] if isinstance(value, (list, tuple)) else None
    try:
        return torch.as_tensor(value) if items is None else torch.stack(items)
    except (TypeError, ValueError, RuntimeError):  # what is in it is of different form
        return None


def _is_of_numpy(value: object) -> bool:
    """An array, or lists of arrays."""
    if isinstance(value, (list, tuple)):
        return any(map(_is_of_numpy, value))
    return type(value).__module__ == "numpy" and hasattr(value, "shape")


def other_axis(shape: Sequence[int], expected: Sequence[int], name: str = "result") -> str:
    """A sentence if a shape is the expected one but for an axis of length 1."""
    extra_axis, missing_axis = _additional(shape, expected), _additional(expected, shape)
    if extra_axis is not None:
        return f"Axis {extra_axis}, of length 1, is one too many: {name}.squeeze({extra_axis}) would be right."
    if missing_axis is not None:
        return f"An axis of length 1 is missing: {name}.unsqueeze({missing_axis}) would be right."
    return ""


def _additional(longer: Sequence[int], shorter: Sequence[int]) -> int | None:
    """The axis of length 1 that one shape has and the other has not."""
    for axis, length in enumerate(longer):
        if length == 1 and (*longer[:axis], *longer[axis + 1 :]) == tuple(shorter):
            return axis
    return None


def has_16_bits(value: object) -> bool:
    """Whether some of its numbers have a type of 16 bits."""
    return any(tensor.dtype in _DIGITS for tensor in tensors_in(value))


def _rounded(actual: Tensor, expected: Tensor) -> str:
    """Right but for rounding to numbers of 16 bits."""
    for dtype, error in _DIGITS.items():
        if not bool(expected.isfinite().all()) or torch.equal(expected, expected.to(dtype).double()):
            continue  # of infinity everything is near, and other numbers have 16 bits by themselves
        if torch.equal(actual, actual.to(dtype).double()) and bool(
            ((actual - expected).abs() <= error * expected.abs().max()).all()
        ):
            return HALF_PRECISION
    return ""


def _whole(actual: Tensor, expected: Tensor) -> str:
    """Whole numbers alone, wrongly, and more than one. All zeros are more often a result that was never filled in."""
    is_whole = actual.numel() > 1 and bool(actual.any()) and torch.equal(actual, actual.round())
    return WHOLE if is_whole and not torch.equal(expected, expected.round()) else ""


def _one_alone(result: object, expected: object, tolerance: float) -> str:
    """One of several results, where all of them are asked for."""
    if not isinstance(expected, tuple):
        return ""
    for index, item in enumerate(expected):
        if same(result, item, tolerance):
            return f"That is what was expected as result[{index}]. Return all {len(expected)}."
    return ""


def _in_another_order(result: object, expected: object, tolerance: float) -> str:
    """Items of a list that belong in another place of it."""
    if not isinstance(result, (list, tuple)) or not isinstance(expected, (list, tuple)) or len(result) != len(expected):
        return ""
    # Numbers alone may be found anywhere by chance.
    if any(isinstance(item, float | int) for item in expected):
        return ""
    indices = []  # for each item of the result, those of equal items that are expected
    for item in result:
        indices.append([index for index, expected_item in enumerate(expected) if same(item, expected_item, tolerance)])
    moved = next((index for index, equal in enumerate(indices) if equal and index not in equal), None)
    if moved is None:
        return ""
    is_complete = sorted(indices) == [[index] for index in range(len(expected))]
    order = "Everything is there, but in another order. " if is_complete else ""
    return f"{order}Your result[{moved}] is what was expected as result[{indices[moved][0]}]."


def _times(actual: Tensor, expected: Tensor, tolerance: float) -> str:
    """All numbers are the expected ones but for one factor."""
    if int((expected.abs() > SUM_ERROR).sum()) < 2 or not bool(actual.any()):
        return ""
    factor = float(actual @ expected / (expected @ expected))
    allowed = 2 * tolerance * max(1.0, abs(factor)) * (expected.abs() + expected.abs().max())
    if not bool(((actual - factor * expected).abs() <= allowed).all()) or abs(factor - 1) < 2 * FACTOR:
        return ""
    if abs(factor + 1) < FACTOR:
        return "Each of your numbers is the expected one with the opposite sign."
    return f"Each of your numbers is {_in_words(factor)} times the expected one."


def _in_words(factor: float) -> str:
    """Such as "2", "1/3", "1.414 (√2)" and "0.7071 (1/√2)"."""
    size, sign = abs(factor), "−" if factor < 0 else ""
    for value, words in ((size, "{}"), (1 / size, "1/{}"), (size**2, "√{}"), (1 / size**2, "1/√{}")):
        whole = round(value)
        squared = 2 if "√" in words else 1
        if 1 < whole <= LARGEST_WHOLE and abs(value / whole - 1) < squared * FACTOR:
            name = sign + words.format(whole)
            return f"{sign}{size:.4g} ({name})" if squared == 2 else name
    return f"{sign}{size:.4g}"


def _as_rows(pairs: Sequence[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor] | None:
    """A matrix, a vector, or a list of vectors of one length as rows: those that came back, and the expected ones."""
    if len({expected.shape for _, expected in pairs}) > 1:
        return None
    actual, expected = (torch.stack([pair[side] for pair in pairs]) for side in (0, 1))
    if expected.dim() == 3 and len(pairs) == 1:
        actual, expected = actual[0], expected[0]
    return (actual, expected) if expected.dim() == 2 and expected.shape[1] > 1 else None


def _sums(actual: Tensor, expected: Tensor) -> str:
    """Weights that do not sum to one as they should."""
    if bool((expected < 0).any()) or not _are_one(expected.sum(1)) or _are_one(actual.sum(1)):
        return ""
    if len(actual) > 1 and _are_one(actual.sum(0)):
        return "Each of your columns sums to one, but each row should."
    row, total = next((row, total) for row, total in enumerate(actual.sum(1).tolist()) if abs(total - 1) > SUM_ERROR)
    if len(actual) == 1:
        return f"They should sum to one; yours sum to {total:.4g}."
    return f"Each row should sum to one; your row {row} sums to {total:.4g}."


def _are_one(sums: Tensor) -> bool:
    return bool(((sums - 1).abs() <= SUM_ERROR).all())


def _above_the_diagonal(actual: Tensor, expected: Tensor) -> str:
    """Weights of words that come later."""
    if expected.shape[0] != expected.shape[1] or bool(expected.triu(1).any()) or not bool(actual.triu(1).any()):
        return ""
    return "Later words are above the diagonal. All numbers there should be 0, but yours are not."


def names_read(student: object) -> set[str]:
    """The names that a function, or the methods of a class, look up outside themselves."""
    return {
        instruction.argval
        for code in _codes(student)
        for instruction in dis.get_instructions(code)
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }


def numbers_read(student: object, notebook: Mapping[str, object]) -> list[str]:
    """Variables of the notebook that it reads, and that hold a size, a tensor, or a list."""
    return sorted(name for name in names_read(student) if name in notebook and _is_data(notebook[name]))


def _is_data(value: object) -> bool:
    return type(value) in (int, list, tuple) or isinstance(value, torch.Tensor)


def _codes(student: object) -> Iterator[CodeType]:
    """The code of a function or of a class's own methods, and of what is defined in it."""
    functions = vars(student).values() if isinstance(student, type) else [student]
    waiting = [function.__code__ for function in functions if isinstance(function, FunctionType)]
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def calls(student: object, name: str, notebook: Mapping[str, object]) -> bool:
    """Whether it reads the name of a function, or a function of the notebook that it reads does, and so on."""
    visited: set[str] = set()
    pending = names_read(student)
    while pending:
        current = pending.pop()
        if current == name:
            return True
        visited.add(current)
        value = notebook.get(current)
        if _is_of_the_notebook(value, notebook):
            pending |= names_read(value) - visited
    return False


def _is_of_the_notebook(value: object, notebook: Mapping[str, object]) -> bool:
    """What a library looks up is its own affair."""
    return isinstance(value, FunctionType | type) and value.__module__ == notebook.get("__name__")
