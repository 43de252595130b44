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
ONE = 1e-3  # what sums of rounded weights may be off by

# The types of 16-bit numbers, and the error that a few steps in them make, as a part of the largest number.
_DIGITS = {torch.bfloat16: 3e-2, torch.float16: 4e-3}

Tensor = torch.Tensor


def looks_like(result: object, expected: object, tolerance: float) -> str:
    """How all numbers of a wrong result differ from the expected ones; empty where that has no short name."""
    said = (
        _in_another_form(result, expected, tolerance)
        or _one_alone(result, expected, tolerance)
        or _in_another_order(result, expected, tolerance)
    )
    pairs = [] if said else paired_numbers(result, expected) or []
    if not pairs or not all(bool(got.isfinite().all()) for got, _ in pairs):
        return said
    got, want = (torch.cat([pair[side].reshape(-1) for pair in pairs]) for side in (0, 1))
    rows = _as_rows(pairs)
    return (
        _rounded(got, want)
        or _whole(got, want)
        or (_sums(*rows) if rows else "")
        or _times(got, want, tolerance)
        or (_above_the_diagonal(*rows) if rows else "")
    )


def _in_another_form(result: object, expected: object, tolerance: float) -> str:
    """All numbers are right, but in something else than tensors, or with an axis too many or too few."""
    numbers, wanted = _as_tensor(result), _as_tensor(expected)
    if numbers is None or wanted is None or not same(numbers.reshape(-1), wanted.reshape(-1), tolerance):
        return ""
    if _is_of_numpy(result):
        return "The numbers are right, but in a NumPy array. Compute with torch throughout."
    depth = 0
    while isinstance(result, (list, tuple)) and isinstance(expected, (list, tuple)):
        result, expected, depth = result[0], expected[0], depth + 1
    if isinstance(result, torch.Tensor):
        return other_axis(numbers.shape[depth:], wanted.shape[depth:], f"result{'[0]' * depth}")
    if numbers.shape != wanted.shape:
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


def other_axis(shape: Sequence[int], wanted: Sequence[int], name: str = "result") -> str:
    """A sentence if a shape is the wanted one but for an axis of length 1."""
    if (axis := _additional(shape, wanted)) is not None:
        return f"Axis {axis}, of length 1, is one too many: {name}.squeeze({axis}) would be right."
    if (axis := _additional(wanted, shape)) is not None:
        return f"An axis of length 1 is missing: {name}.unsqueeze({axis}) would be right."
    return ""


def _additional(more: Sequence[int], fewer: Sequence[int]) -> int | None:
    """The axis of length 1 that one shape has and the other has not."""
    axes = (axis for axis, length in enumerate(more) if length == 1)
    return next((axis for axis in axes if (*more[:axis], *more[axis + 1 :]) == tuple(fewer)), None)


def has_16_bits(value: object) -> bool:
    """Whether some of its numbers have a type of 16 bits."""
    return any(tensor.dtype in _DIGITS for tensor in tensors_in(value))


def _rounded(got: Tensor, want: Tensor) -> str:
    """Right but for rounding to numbers of 16 bits."""
    for dtype, error in _DIGITS.items():
        if not bool(want.isfinite().all()) or torch.equal(want, want.to(dtype).double()):
            continue  # of infinity everything is near, and other numbers have 16 bits by themselves
        if torch.equal(got, got.to(dtype).double()) and bool(((got - want).abs() <= error * want.abs().max()).all()):
            return HALF_PRECISION
    return ""


def _whole(got: Tensor, want: Tensor) -> str:
    """Whole numbers alone, wrongly, and more than one. All zeros are more often a result that was never filled in."""
    is_whole = got.numel() > 1 and bool(got.any()) and torch.equal(got, got.round())
    return WHOLE if is_whole and not torch.equal(want, want.round()) else ""


def _one_alone(result: object, expected: object, tolerance: float) -> str:
    """One of several results, where all of them are asked for."""
    if not isinstance(expected, tuple):
        return ""
    alone = next((i for i, item in enumerate(expected) if same(result, item, tolerance)), None)
    return "" if alone is None else f"That is what was expected as result[{alone}]. Return all {len(expected)}."


def _in_another_order(result: object, expected: object, tolerance: float) -> str:
    """Items of a list that belong in another place of it."""
    if not isinstance(result, (list, tuple)) or not isinstance(expected, (list, tuple)) or len(result) != len(expected):
        return ""
    # Numbers alone may be found anywhere by chance.
    if any(isinstance(item, float | int) for item in expected):
        return ""
    places = [[j for j, want in enumerate(expected) if same(got, want, tolerance)] for got in result]
    moved = next((i for i, found in enumerate(places) if found and i not in found), None)
    if moved is None:
        return ""
    all_there = sorted(places) == [[i] for i in range(len(expected))]
    order = "Everything is there, but in another order. " if all_there else ""
    return f"{order}Your result[{moved}] is what was expected as result[{places[moved][0]}]."


def _times(got: Tensor, want: Tensor, tolerance: float) -> str:
    """All numbers are the expected ones but for one factor."""
    if int((want.abs() > ONE).sum()) < 2 or not bool(got.any()):
        return ""
    factor = float(got @ want / (want @ want))
    allowed = 2 * tolerance * max(1.0, abs(factor)) * (want.abs() + want.abs().max())
    if not bool(((got - factor * want).abs() <= allowed).all()) or abs(factor - 1) < 2 * FACTOR:
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
    if len({want.shape for _, want in pairs}) > 1:
        return None
    got, want = (torch.stack([pair[side] for pair in pairs]) for side in (0, 1))
    if want.dim() == 3 and len(pairs) == 1:
        got, want = got[0], want[0]
    return (got, want) if want.dim() == 2 and want.shape[1] > 1 else None


def _sums(got: Tensor, want: Tensor) -> str:
    """Weights that do not sum to one as they should."""
    if bool((want < 0).any()) or not _are_one(want.sum(1)) or _are_one(got.sum(1)):
        return ""
    if len(got) > 1 and _are_one(got.sum(0)):
        return "Each of your columns sums to one, but each row should."
    row, total = next((row, total) for row, total in enumerate(got.sum(1).tolist()) if abs(total - 1) > ONE)
    if len(got) == 1:
        return f"They should sum to one; yours sum to {total:.4g}."
    return f"Each row should sum to one; your row {row} sums to {total:.4g}."


def _are_one(sums: Tensor) -> bool:
    return bool(((sums - 1).abs() <= ONE).all())


def _above_the_diagonal(got: Tensor, want: Tensor) -> str:
    """Weights of words that come later."""
    if want.shape[0] != want.shape[1] or bool(want.triu(1).any()) or not bool(got.triu(1).any()):
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
    seen: set[str] = set()
    waiting = names_read(student)
    while waiting:
        read = waiting.pop()
        if read == name:
            return True
        seen.add(read)
        if _is_of_the_notebook(value := notebook.get(read), notebook):
            waiting |= names_read(value) - seen
    return False


def _is_of_the_notebook(value: object, notebook: Mapping[str, object]) -> bool:
    """What a library looks up is its own affair."""
    return isinstance(value, FunctionType | type) and value.__module__ == notebook.get("__name__")
