"""Compare a value with the expected one, and say in words where they differ.

This one file is used on both sides: the grader judges hidden cases with it, and a copy lies beside the
notebooks of students, where the visible checks use it. So it needs torch alone and holds comparison only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import torch

Where = tuple[int, ...]
_Leaf = tuple[Where, torch.Tensor, torch.Tensor]  # what is given and expected in a place, as float64


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
    where: Where = ()  # which item of the lists
    entry: Where = ()  # which entry of the tensor there
    forms: tuple[str, str] | None = None  # the given and the expected form or shape, if they differ
    worst: float = 0.0  # the largest error
    numbers: str = ""  # the expected and the given number, for visible checks only
    right_numbers: bool = False  # all numbers are there, only their arrangement is wrong

    def sentence(self, name: str = "") -> str:
        """The difference in words: of what a student would index as "result[0][2]", or of something with a name."""
        place = _place(self.where, self.entry)
        return f"{subject(place, name)} {self._in_words(place)}"

    def _in_words(self, place: str) -> str:
        given, expected = self.forms or ("", "")
        match self.kind:
            case Kind.NAN:
                return f"is {given} where {expected} was expected."
            case Kind.COMPLEX:
                return "holds complex numbers, but real ones were expected."
            case Kind.TYPE | Kind.LENGTH:
                return f"is {given}, but {expected} was expected."
            case Kind.SHAPE:
                return f"has shape {given}, but {expected} was expected."
            case Kind.DTYPE:
                return f"has numbers of type {given}, but {expected} was expected."
            case Kind.TRANSPOSED if self.forms:
                return f"has shape {given}, but {expected} was expected. It looks transposed."
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

    def __init__(self, kind: Kind, where: Where, forms: Callable[[], tuple[str, str]] | None = None) -> None:
        self.kind = kind
        self.where = where
        self.forms = forms  # made only if somebody reads them: to describe a long value takes its time

    def difference(self, right_numbers: bool) -> Difference:
        forms = self.forms() if self.forms else None
        return Difference(self.kind, self.where, forms=forms, right_numbers=right_numbers)


def difference(got: object, want: object, tolerance: float, strict: bool = False) -> Difference | None:
    """The first difference between `got` and `want`, or None when every number is right.

    An error up to `tolerance` times (the expected number + the largest expected number) is rounding.

    Lists, tuples and stacked tensors are the same thing. Where one number is expected, it may come in any shape,
    and a vector may be a column; a tensor with two dimensions or more must have exactly the expected shape.
    `strict` takes these liberties away: only a tensor stands for a tensor of just that shape.
    """
    try:
        leaves = list(_leaves(got, want, (), strict))
    except _Mismatch as mismatch:
        return mismatch.difference(right_numbers=_only_rearranged(got, want, tolerance))
    return _compare_numbers(leaves, tolerance) if leaves else None


def same(got: object, want: object, tolerance: float, strict: bool = False) -> bool:
    """Whether there is no difference."""
    try:
        leaves = list(_leaves(got, want, (), strict))
    except _Mismatch:
        return False
    return not leaves or _are_the_same(leaves, tolerance)


def paired_numbers(got: object, want: object) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
    """All given numbers with the expected ones, as float64 tensors, or None when the values are built differently."""
    try:
        return [(got, want) for _, got, want in _leaves(got, want, (), strict=False)]
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


def _leaves(got: object, want: object, where: Where, strict: bool) -> Iterator[_Leaf]:
    """Walk both values together and yield pairs of float64 tensors of one shape."""
    if isinstance(want, (list, tuple)):
        items = _items(got, want, where, strict)
        for index, (item, expected) in enumerate(zip(items, want, strict=True)):
            yield from _leaves(item, expected, (*where, index), strict)
    elif isinstance(want, torch.Tensor) and want.dim() > 0:
        yield where, *_same_shape(_tensor(got, where), _double(want), where, strict)
    else:
        number = _one_number(got, where)  # before `want` is read, which is something else where `got` is no number
        right = want if isinstance(want, torch.Tensor) else torch.tensor(want, dtype=torch.float64)  # no digit is lost
        yield where, number, _double(right).reshape(())


def _items(got: Any, want: list[object] | tuple[object, ...], where: Where, strict: bool) -> list[object]:
    stacked = isinstance(got, torch.Tensor) and got.dim() > 0 and not strict
    if not isinstance(got, (list, tuple)) and not stacked:
        raise _Mismatch(Kind.TYPE, where, lambda: (describe_form(got), describe_form(want)))
    if len(got) != len(want):  # before anything is taken apart: it may be long
        raise _Mismatch(Kind.LENGTH, where, lambda: (describe_form(got), describe_form(want)))
    return list(got)


def _tensor(got: object, where: Where) -> torch.Tensor:
    if not isinstance(got, torch.Tensor):
        raise _Mismatch(Kind.TYPE, where, lambda: (describe_form(got), "a torch tensor"))
    if got.is_complex():
        raise _Mismatch(Kind.COMPLEX, where)
    return _double(got)


def _same_shape(got: torch.Tensor, want: torch.Tensor, where: Where, strict: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Both tensors, if they have the same shape or the expected one is a vector with as many numbers."""
    if got.shape == want.shape:
        return got, want
    if want.dim() == 1 and tuple(got.shape) == (*want.shape, *[1] * (got.dim() - 1)) and not strict:
        return got.reshape(want.shape), want  # a column is a vector, too
    transposed = want.dim() >= 2 and got.shape == want.mT.shape
    kind = Kind.TRANSPOSED if transposed else Kind.SHAPE
    raise _Mismatch(kind, where, lambda: (str(tuple(got.shape)), str(tuple(want.shape))))


def _only_rearranged(got: Any, want: object, tolerance: float) -> bool:
    """Whether every tensor that is expected is there with all its numbers, transposed or in another shape."""
    if isinstance(want, (list, tuple)):
        alike = isinstance(got, (list, tuple)) and len(got) == len(want)
        return alike and all(_only_rearranged(*pair, tolerance) for pair in zip(got, want, strict=True))
    want = torch.as_tensor(want)
    if not isinstance(got, torch.Tensor) or got.is_complex() or got.numel() != want.numel():
        return False
    got, want = _double(got), _double(want)
    if want.dim() >= 2 and got.shape == want.mT.shape and _all_close(got.mT, want, tolerance):
        return True
    return _all_close(got.reshape(want.shape), want, tolerance)


def _one_number(got: Any, where: Where) -> torch.Tensor:
    if isinstance(got, torch.Tensor) and got.numel() == 1 and not got.is_complex():
        return _double(got).reshape(())
    if _is_number(got):
        return torch.tensor(float(got.item() if hasattr(got, "item") else got), dtype=torch.float64)
    raise _Mismatch(Kind.TYPE, where, lambda: (describe_form(got), "a single number"))


def _compare_numbers(leaves: list[_Leaf], tolerance: float) -> Difference | None:
    got, want = _in_one(leaves)
    if _is_finite(want) and _all_close(got, want, tolerance):
        return None
    for where, got, want in leaves:
        other = _not_finite(got) != _not_finite(want)
        if bool(other.any()):
            entry = tuple(other.nonzero()[0].tolist())
            return Difference(Kind.NAN, where, entry, forms=(_kind_of(got[entry]), _kind_of(want[entry])))
    # What is not finite is the same in both. As a number it would be so large that every error were rounding.
    zero = {"nan": 0.0, "posinf": 0.0, "neginf": 0.0}
    leaves = [(where, got.nan_to_num(**zero), want.nan_to_num(**zero)) for where, got, want in leaves]
    # One scale for the whole answer: a sum of large terms that cancel keeps the rounding error of the terms.
    scale = max(float(want.abs().max()) for _, _, want in leaves if want.numel())
    worst = max(float((got - want).abs().max()) for _, got, want in leaves if want.numel())
    for where, got, want in leaves:
        wrong = (got - want).abs() > tolerance * (want.abs() + scale)
        if bool(wrong.any()):
            entry = tuple(wrong.nonzero()[0].tolist())
            numbers = f"expected {_number(float(want[entry]))}, your code gave {_number(float(got[entry]))}"
            kind = Kind.TRANSPOSED if _looks_transposed(leaves, tolerance) else Kind.VALUE
            return Difference(kind, where, entry, worst=worst, numbers=numbers)
    return None


def _are_the_same(leaves: list[_Leaf], tolerance: float) -> bool:
    """All numbers in one go, which is quick. What is not finite is looked at one by one."""
    got, want = _in_one(leaves)
    return _all_close(got, want, tolerance) if _is_finite(want) else _compare_numbers(leaves, tolerance) is None


def _is_finite(tensor: torch.Tensor) -> bool:
    return bool(tensor.isfinite().all())


def _in_one(leaves: list[_Leaf]) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.cat([got.reshape(-1) for _, got, _ in leaves]), torch.cat([want.reshape(-1) for _, _, want in leaves])


def _kind_of(number: torch.Tensor) -> str:
    if _is_finite(number):
        return "a number"
    return "NaN" if bool(number.isnan()) else "infinity" if bool(number > 0) else "minus infinity"


def _not_finite(tensor: torch.Tensor) -> torch.Tensor:
    """The entries that are NaN or infinite, and 0 elsewhere, with NaN as a number so that it can be compared."""
    return torch.where(tensor.isfinite(), 0.0, tensor).nan_to_num(nan=1.0)


def _looks_transposed(leaves: list[_Leaf], tolerance: float) -> bool:
    """Whether the numbers are right after exchanging rows and columns, in a square of any of our forms."""
    if any(want.shape != leaves[0][2].shape for _, _, want in leaves):
        return False
    got, want = _in_one(leaves)
    side = math.isqrt(want.numel())
    if side < 2 or side * side != want.numel():
        return False
    return _all_close(got.reshape(side, side).mT, want.reshape(side, side), tolerance)


def _all_close(got: torch.Tensor, want: torch.Tensor, tolerance: float) -> bool:
    if want.numel() == 0:
        return True
    allowed = tolerance * (want.abs() + want.abs().max())
    return bool(((got - want).abs() <= allowed).all())


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


def _place(where: Where, entry: Where) -> str:
    """A place the way a student would index it: "[0][2]", "[1][3, 0]"."""
    text = "".join(f"[{index}]" for index in where)
    return text + (f"[{', '.join(map(str, entry))}]" if entry else "")


def _magnitude(error: float) -> str:
    """The size of an error to one digit: enough to tell rounding from a mistake, too little to leak a number."""
    return f"about {float(f'{error:.0e}'):g}" if math.isfinite(error) else "infinity"


def _number(value: float) -> str:
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e5 or value == 0 else f"{value:.4e}"
