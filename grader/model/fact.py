"""Facts about a student's code, read from its text, never from what it returns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FactKind(StrEnum):
    """Kinds of mistakes that a text shows. None is a mistake where answers are right, nor are ARGUMENTS and WRITTEN
    by themselves."""

    BORROWED = "borrowed"  # it reads a variable of the notebook, which fits the notebook's inputs
    LOST = "lost"  # it computes something and does not even give it a name
    UNUSED = "unused"  # it gives a name to something and never reads it
    ALWAYS_TRUE = "always true"  # it asserts a tuple
    INFINITE = "infinite"  # it adds or multiplies infinity, which makes NaN of masked or unmasked numbers
    NEVER_CALLED = "never called"  # it makes a layer that it never uses
    MADE_ANEW = "made anew"  # `forward` makes a new layer at each call
    EMPTY = "empty"  # it makes a tensor that holds whatever was in memory: rare, but else NaN is put down to 0/0
    NO_RETURN = "no return"
    NOT_OF_SELF = "not of self"  # a method reads a variable of `__init__` alone: rare, but else it is called unused
    REPLACED = "replaced"  # by each step of a loop over `what`, so that only the last of its `parts` is left
    LEFT_EARLY = "left early"  # a loop, in its first step
    UNREAD = "unread"  # `parts` are arguments that `what` never reads
    RANDOM = "random"  # it draws random numbers
    ARGUMENTS = "arguments"  # of a function or method, by name
    WRITTEN = "written"  # an expression that a misconception asks for: see Misconception.in_code


@dataclass(frozen=True)
class Fact:
    """Something that the text of the code shows."""

    kind: FactKind
    what: str  # the name, the line, or the expression
    parts: tuple[str, ...] = ()
