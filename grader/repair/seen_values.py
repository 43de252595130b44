"""The kinds and shapes of the values in a student's code while it answers a case.

Each is found by a version of the code that stops there with an error that says it. The error may lie: all that depends
on it is which edits are not worth trying.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from grader.model.answer import Answer, Raised

Span = tuple[int, int]

_SHAPE = r"None|(?:torch\.Size\()?[\[(]([\d, ]{0,60})[\])]\)?"
_SAYS = re.compile(rf"\('(\w{{1,40}})', (?:{_SHAPE}), (?:None|torch\.(\w{{1,20}}))\)")
_NUMBERS = ("int", "float")
_OF_ONE_AFTER_THE_OTHER = ("map", "zip", "filter", "generator", "reversed", "dict_values")


class Seen(NamedTuple):
    """The value of an expression when it was first reached."""

    kind: str
    shape: tuple[int, ...] | None = None  # of a tensor
    dtype: str = ""

    @property
    def is_tensor(self) -> bool:
        return self.shape is not None and bool(self.dtype)

    @property
    def is_float(self) -> bool:
        return self.is_tensor and "float" in self.dtype

    @property
    def is_number(self) -> bool:
        return self.kind in _NUMBERS

    @property
    def is_read_once(self) -> bool:
        """Whether it is an iterator, which is empty after one pass."""
        return self.kind in _OF_ONE_AFTER_THE_OTHER

    def is_like(self, other: Seen) -> bool:
        """Whether the same operations suit both."""
        return self.is_float == other.is_float if self.is_tensor and other.is_tensor else self.kind == other.kind


UNREACHED = Seen("")
FAILS = Seen("error")  # it was reached, and raised one

SeenAt = Mapping[Span, Seen]

_REACHED = "is reached"


def asking(written: str) -> str:
    """Code that stops at an expression and says what its value is."""
    says = "type(it).__name__, getattr(it, 'shape', None), getattr(it, 'dtype', None)"
    return f"(lambda it: {{}}[{says}])({written})"


def asking_before() -> str:
    """Code that stops before an expression."""
    return f"{{}}[{_REACHED!r}]"


def seen_in(answer: Answer, as_it_is: Answer) -> Seen | None:
    """What a version with `asking` reports; None if nothing can be said. `as_it_is` is the unedited code's answer."""
    if answer is as_it_is:  # an error may come from the expression itself
        return None if isinstance(answer, Raised) else UNREACHED
    said = _SAYS.fullmatch(answer.message) if isinstance(answer, Raised) and answer.type == "KeyError" else None
    if said is None:
        return None
    kind, sizes, dtype = said.groups()
    shape = tuple(int(size) for size in sizes.split(",") if size.strip()) if sizes is not None else None
    return Seen(kind, shape, dtype or "")


def seen_before(answer: Answer, as_it_is: Answer) -> Seen | None:
    """What a version with `asking_before` reports; None if nothing can be said."""
    if answer is as_it_is:
        return UNREACHED
    return FAILS if isinstance(answer, Raised) and answer.message == repr(_REACHED) else None


def fit_together(one: Seen, other: Seen) -> bool:
    """Whether they can be added and multiplied element by element."""
    if not one.is_tensor or not other.is_tensor:
        return True
    pairs = zip(reversed(one.shape or ()), reversed(other.shape or ()), strict=False)
    return all(mine == others or 1 in (mine, others) for mine, others in pairs)


def can_be_multiplied(left: Seen, right: Seen) -> bool:
    """Whether they have a matrix product."""
    if not left.shape or not right.shape or not left.is_float or not right.is_float:
        return False
    return left.shape[-1] == (right.shape[-2] if len(right.shape) > 1 else right.shape[-1])
