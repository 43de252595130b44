"""Compare a value with the expected one, and say in words where they differ.

This one file is used on both sides: the grader judges hidden cases with it, and a copy lies beside the
notebooks of students, where the visible checks use it. So it needs torch alone and holds comparison only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

import torch

Indices = tuple[int, ...]


class _Leaf(NamedTuple):
    """Numbers to compare, as float64 tensors of one shape."""

    path: Indices
    actual: torch.Tensor
    expected: torch.Tensor


class Kind(StrEnum):
    """In what a value differs."""

    TYPE = "type"
    COMPLEX = "complex"
    LENGTH = "length"
    SHAPE = "shape"
    TRANSPOSED = "transposed"
    NAN = "nan"
    VALUE = "value"
    DTYPE = "dtype"


@dataclass(frozen=True)
class Difference:
    """What is wrong with a value. All but `numbers` may be shown for hidden cases: it holds no expected number."""

    kind: Kind
    path: Indices = ()  # to an item of the lists
    entry: Indices = ()  # which entry of the tensor there
    forms: tuple[str, str] | None = None  # the actual and the expected form or shape, if they differ
    worst: float = 0.0  # the largest error
    numbers: str = ""  # the expected and the actual number, for visible checks only
    right_numbers: bool = False  # all numbers are there, only their arrangement is wrong

    def sentence(self, name: str = "") -> str:
        """The difference in words: of what a student would index as "result[0][2]", or of something with a name."""
        place = _place(self.path, self.entry)
        return f"{subject(place, name)} {self._in_words(place)}"

    def _in_words(self, place: str) -> str:
        actual_form, expected_form = self.forms or ("", "")
        match self.kind:
            case Kind.NAN:
                return f"is {actual_form} where {expected_form} was expected."
            case Kind.COMPLEX:
                return "holds complex numbers, but real ones were expected."
            case Kind.TYPE | Kind.LENGTH:
                return f"is {actual_form}, but {expected_form} was expected."
            case Kind.SHAPE:
                return f"has shape {actual_form}, but {expected_form} was expected."
            case Kind.DTYPE:
                return f"has numbers of type {actual_form}, but {expected_form} was expected."
            case Kind.TRANSPOSED if self.forms:
                return f"has shape {actual_form}, but {expected_form} was expected. It looks transposed."
        if not place:  # there is just one number
            return f"is off by {_magnitude(self.worst)}."
        text = f"is the first wrong number. The largest error is {_magnitude(self.worst)}."
        return f"{text} Rows and columns look swapped." if self.kind == Kind.TRANSPOSED else text


def subject(place: str, name: str) -> str:
    """What a sentence on a place is about. Of a result it begins in lower case, as code does."""
    if name:
        return f"Entry {place} of the {name}" if place else f"The {name}"
    return f"result{place}" if place else "the result"


class _Mismatch(Exception):
    """The two values are not built alike, so there are no numbers to compare."""

    def __init__(self, kind: Kind, path: Indices, forms: Callable[[], tuple[str, str]] | None = None) -> None:
        self.kind = kind
        self.path = path
        self.forms = forms  # made only if somebody reads them: to describe a long value takes its time

    def difference(self, right_numbers: bool) -> Difference:
        forms = self.forms() if self.forms else None
        return Difference(self.kind, self.path, forms=forms, right_numbers=right_numbers)


def difference(actual: object, expected: object, tolerance: float, strict: bool = False) -> Difference | None:
    """The first difference between `actual` and `expected`, or None when every number is right.

    An error up to `tolerance` times (the expected number + the largest expected number) is rounding.

    Lists, tuples and stacked tensors are the same thing. Where one number is expected, it may come in any shape,
    and a vector may be a column; a tensor with two dimensions or more must have exactly the expected shape.
    `strict` takes these liberties away: only a tensor stands for a tensor of just that shape.
    """
    try:
        leaves = list(_leaves(actual, expected, (), strict))
    except _Mismatch as mismatch:
        return mismatch.difference(right_numbers=_only_rearranged(actual, expected, tolerance))
    return _compare_numbers(leaves, tolerance) if leaves else None


def same(actual: object, expected: object, tolerance: float, strict: bool = False) -> bool:
    """Whether there is no difference."""
    try:
        leaves = list(_leaves(actual, expected, (), strict))
    except _Mismatch:
        return False
    return not leaves or _are_the_same(leaves, tolerance)


def paired_numbers(actual: object, expected: object) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
    """All numbers with the expected ones, as float64 tensors, or None when the values are built differently."""
    try:
        return [(leaf.actual, leaf.expected) for leaf in _leaves(actual, expected, (), strict=False)]
    except _Mismatch:
        return None


def describe_form(value: object) -> str:
    """How a value is built, such as "a list of 3 items (each a tensor of shape (4, 1))"."""
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}" if value.dim() else "a tensor with one number"
    if isinstance(value, (list, tuple)):
        return describe_list(value, describe_form)
    if value is None:
        return "None"
    if _is_number(value):
        return "a number"
    return f"a value of type {'numpy.ndarray' if _is_numpy(value) else type(value).__name__}"


def describe_list(value: list[object] | tuple[object, ...], describe: Callable[[object], str]) -> str:
    """How a list or a tuple is built, where it is known how its items are described."""
    name = type(value).__name__ if type(value) in (list, tuple) else "list"
    if not value:
        return f"an empty {name}"
    inner = {describe(item) for item in value}
    if len(inner) > 1:
        return f"a {name} of {len(value)} items of different forms"
    item = inner.pop()
    return f"a {name} of 1 item ({item})" if len(value) == 1 else f"a {name} of {len(value)} items (each {item})"


def _leaves(actual: object, expected: object, path: Indices, strict: bool) -> Iterator[_Leaf]:
    """Walk both values together and yield pairs of float64 tensors of one shape."""
    if isinstance(expected, (list, tuple)):
        items = _items(actual, expected, path, strict)
        for index, (item, expected_item) in enumerate(zip(items, expected, strict=True)):
            yield from _leaves(item, expected_item, (*path, index), strict)
    elif isinstance(expected, torch.Tensor) and expected.dim() > 0:
        yield _Leaf(path, *_same_shape(_tensor(actual, path), _double(expected), path, strict))
    else:
        number = _one_number(actual, path)  # first, since `expected` is something else where there is no number
        if not isinstance(expected, torch.Tensor):
            expected = torch.tensor(expected, dtype=torch.float64)  # no digit is lost
        yield _Leaf(path, number, _double(expected).reshape(()))


def _items(actual: Any, expected: list[object] | tuple[object, ...], path: Indices, strict: bool) -> list[object]:
    stacked = isinstance(actual, torch.Tensor) and actual.dim() > 0 and not strict
    if not isinstance(actual, (list, tuple)) and not stacked:
        raise _Mismatch(Kind.TYPE, path, lambda: (describe_form(actual), describe_form(expected)))
    if len(actual) != len(expected):  # before anything is taken apart: it may be long
        raise _Mismatch(Kind.LENGTH, path, lambda: (describe_form(actual), describe_form(expected)))
    return list(actual)


def _tensor(actual: object, path: Indices) -> torch.Tensor:
    if not isinstance(actual, torch.Tensor):
        raise _Mismatch(Kind.TYPE, path, lambda: (describe_form(actual), "a torch tensor"))
    if actual.is_complex():
        raise _Mismatch(Kind.COMPLEX, path)
    return _double(actual)


def _same_shape(
    actual: torch.Tensor, expected: torch.Tensor, path: Indices, strict: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Both tensors, if they have the same shape or the expected one is a vector with as many numbers."""
    if actual.shape == expected.shape:
        return actual, expected
    if expected.dim() == 1 and tuple(actual.shape) == (*expected.shape, *[1] * (actual.dim() - 1)) and not strict:
        return actual.reshape(expected.shape), expected  # a column is a vector, too
    transposed = expected.dim() >= 2 and actual.shape == expected.mT.shape
    kind = Kind.TRANSPOSED if transposed else Kind.SHAPE
    raise _Mismatch(kind, path, lambda: (str(tuple(actual.shape)), str(tuple(expected.shape))))


def _only_rearranged(actual: Any, expected: object, tolerance: float) -> bool:
    """Whether every tensor that is expected is there with all its numbers, transposed or in another shape."""
    if isinstance(expected, (list, tuple)):
        alike = isinstance(actual, (list, tuple)) and len(actual) == len(expected)
        return alike and all(_only_rearranged(*pair, tolerance) for pair in zip(actual, expected, strict=True))
    expected = torch.as_tensor(expected)
    if not isinstance(actual, torch.Tensor) or actual.is_complex() or actual.numel() != expected.numel():
        return False
    actual, expected = _double(actual), _double(expected)
    if expected.dim() >= 2 and actual.shape == expected.mT.shape and _all_close(actual.mT, expected, tolerance):
        return True
    return _all_close(actual.reshape(expected.shape), expected, tolerance)


def _one_number(actual: Any, path: Indices) -> torch.Tensor:
    if isinstance(actual, torch.Tensor) and actual.numel() == 1 and not actual.is_complex():
        return _double(actual).reshape(())
    if _is_number(actual):
        return torch.tensor(float(actual.item() if hasattr(actual, "item") else actual), dtype=torch.float64)
    raise _Mismatch(Kind.TYPE, path, lambda: (describe_form(actual), "a single number"))


def _compare_numbers(leaves: list[_Leaf], tolerance: float) -> Difference | None:
    actual, expected = _in_one(leaves)
    if _is_finite(expected) and _all_close(actual, expected, tolerance):
        return None
    for path, actual, expected in leaves:
        differs = _not_finite(actual) != _not_finite(expected)
        if bool(differs.any()):
            entry = tuple(differs.nonzero()[0].tolist())
            return Difference(Kind.NAN, path, entry, forms=(_kind_of(actual[entry]), _kind_of(expected[entry])))
    # What is not finite is the same in both. As a number it would be so large that every error were rounding.
    zero = {"nan": 0.0, "posinf": 0.0, "neginf": 0.0}
    leaves = [_Leaf(leaf.path, leaf.actual.nan_to_num(**zero), leaf.expected.nan_to_num(**zero)) for leaf in leaves]
    # One scale for the whole answer: a sum of large terms that cancel keeps the rounding error of the terms.
    actual, expected = _in_one(leaves)
    scale, worst = float(expected.abs().max()), float((actual - expected).abs().max())
    for path, actual, expected in leaves:
        wrong = (actual - expected).abs() > tolerance * (expected.abs() + scale)
        if bool(wrong.any()):
            entry = tuple(wrong.nonzero()[0].tolist())
            numbers = f"expected {_number(float(expected[entry]))}, your code gave {_number(float(actual[entry]))}"
            kind = Kind.TRANSPOSED if _looks_transposed(leaves, tolerance) else Kind.VALUE
            return Difference(kind, path, entry, worst=worst, numbers=numbers)
    return None


def _are_the_same(leaves: list[_Leaf], tolerance: float) -> bool:
    """All numbers in one go, which is quick. What is not finite is looked at one by one."""
    actual, expected = _in_one(leaves)
    if _is_finite(expected):
        return _all_close(actual, expected, tolerance)
    return _compare_numbers(leaves, tolerance) is None


def _is_finite(tensor: torch.Tensor) -> bool:
    return bool(tensor.isfinite().all())


def _in_one(leaves: list[_Leaf]) -> tuple[torch.Tensor, torch.Tensor]:
    actual = torch.cat([leaf.actual.reshape(-1) for leaf in leaves])
    return actual, torch.cat([leaf.expected.reshape(-1) for leaf in leaves])


def _kind_of(number: torch.Tensor) -> str:
    if _is_finite(number):
        return "a number"
    return "NaN" if bool(number.isnan()) else "infinity" if bool(number > 0) else "minus infinity"


def _not_finite(tensor: torch.Tensor) -> torch.Tensor:
    """The entries that are NaN or infinite, and 0 elsewhere, with NaN as a number so that it can be compared."""
    return torch.where(tensor.isfinite(), 0.0, tensor).nan_to_num(nan=1.0)


def _looks_transposed(leaves: list[_Leaf], tolerance: float) -> bool:
    """Whether the numbers are right after exchanging rows and columns, in a square of any of our forms."""
    if any(leaf.expected.shape != leaves[0].expected.shape for leaf in leaves):
        return False
    actual, expected = _in_one(leaves)
    side = math.isqrt(expected.numel())
    if side < 2 or side * side != expected.numel():
        return False
    return _all_close(actual.reshape(side, side).mT, expected.reshape(side, side), tolerance)


def _all_close(actual: torch.Tensor, expected: torch.Tensor, tolerance: float) -> bool:
    if expected.numel() == 0:
        return True
    allowed = tolerance * (expected.abs() + expected.abs().max())
    return bool(((actual - expected).abs() <= allowed).all())


def _double(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().cpu().double()


def _is_number(value: Any) -> bool:
    """Python and numpy numbers, without importing numpy; a bool is no number."""
    if type(value) is bool or isinstance(value, (str, bytes)):
        return False
    single = _is_numpy(value) and getattr(value, "size", 0) == 1
    return isinstance(value, (int, float)) or (single and value.dtype.kind in "fiu")


def _is_numpy(value: object) -> bool:
    return type(value).__module__ == "numpy"


def _place(path: Indices, entry: Indices) -> str:
    """A place the way a student would index it: "[0][2]", "[1][3, 0]"."""
    text = "".join(f"[{index}]" for index in path)
    return text + (f"[{', '.join(map(str, entry))}]" if entry else "")


def _magnitude(error: float) -> str:
    """The size of an error to one digit: enough to tell rounding from a mistake, too little to leak a number."""
    return f"about {float(f'{error:.0e}'):g}" if math.isfinite(error) else "infinity"


def _number(value: float) -> str:
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e5 or value == 0 else f"{value:.4e}"
