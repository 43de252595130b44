"""What the expressions of a student's code are while a case is answered: of what kind, and of which shape.

Each is asked for by a version of the code that stops there, with an error that says it. It may say anything: all that
follows from it is which changes are not worth trying.
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
    """What an expression was when it was reached first."""

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
        """Whether it gives its items one after the other, and is then empty."""
        return self.kind in _OF_ONE_AFTER_THE_OTHER

    def is_like(self, other: Seen) -> bool:
        """Whether what can be done to the one can be done to the other."""
        return self.is_float == other.is_float if self.is_tensor and other.is_tensor else self.kind == other.kind


UNREACHED = Seen("")
FAILS = Seen("error")  # it is reached, and stops with one

SeenAt = Mapping[Span, Seen]

_REACHED = "is reached"


def asking(written: str) -> str:
    """What stops at an expression, and says what that is."""
    says = "type(it).__name__, getattr(it, 'shape', None), getattr(it, 'dtype', None)"
    return f"(lambda it: {{}}[{says}])({written})"


def asking_before() -> str:
    """What stops before an expression."""
    return f"{{}}[{_REACHED!r}]"


def seen_in(answer: Answer, as_it_is: Answer) -> Seen | None:
    """What a version says that asks; None if there is no telling. `as_it_is` is answered without being asked."""
    if answer is as_it_is:  # where that is an error, it may be an error of what is asked for
        return None if isinstance(answer, Raised) else UNREACHED
    said = _SAYS.fullmatch(answer.message) if isinstance(answer, Raised) and answer.type == "KeyError" else None
    if said is None:
        return None
    kind, sizes, dtype = said.groups()
    shape = tuple(int(size) for size in sizes.split(",") if size.strip()) if sizes is not None else None
    return Seen(kind, shape, dtype or "")


def seen_before(answer: Answer, as_it_is: Answer) -> Seen | None:
    """The same of one that stops before an expression of which there is no telling what it is."""
    if answer is as_it_is:
        return UNREACHED
    return FAILS if isinstance(answer, Raised) and answer.message == repr(_REACHED) else None


def fit_together(one: Seen, other: Seen) -> bool:
    """Whether they can be added and multiplied, number by number."""
    if not one.is_tensor or not other.is_tensor:
        return True
    pairs = zip(reversed(one.shape or ()), reversed(other.shape or ()), strict=False)
    return all(mine == others or 1 in (mine, others) for mine, others in pairs)


def can_be_multiplied(left: Seen, right: Seen) -> bool:
    """Whether there is a matrix product of the two."""
    if not left.shape or not right.shape or not left.is_float or not right.is_float:
        return False
    return left.shape[-1] == (right.shape[-2] if len(right.shape) > 1 else right.shape[-1])
