"""A function whose result is compared; other forms say what they do otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
import torch

from grader.errors import CourseError
from grader.model import plain_values
from grader.model.compare import describe_form, difference, paired_numbers, same
from grader.model.findings import Differs, Finding, first_unusable
from grader.model.plain_parts import describe, is_plain
from grader.model.untrusted import converted
from grader.sandbox.decoder import plain
from grader.sandbox.tables import Table
from grader.sandbox.values import Unusable, unboxed

# Results where tensors and numbers are expected: only the names of other kinds are kept.


def only_numbers(value: object) -> Any:
    """A value without words, truth values, dicts, sets and tables: they cannot be compared with numbers."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(only_numbers, value))
    value = unboxed(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return _as_float(value)
    if isinstance(value, Table):
        return _unusable("Series" if value.is_series else "DataFrame")
    if isinstance(value, (bool, str, bytes, dict, set, frozenset)):
        return _unusable(type(value).__name__)
    if isinstance(value, np.ndarray) and value.dtype.kind not in "fiub":
        return _unusable("ndarray")
    return value


def _unusable(kind: str) -> Unusable:
    return Unusable(f"a value of type {kind}")


def _as_float(value: int) -> float | Unusable:
    try:
        return float(value)
    except OverflowError:
        return Unusable("a whole number far too large")


class Malformed(ValueError):
    """This is not what our code in the sandbox sends: somebody has forged it."""


class Observation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that our code in the sandbox has seen: just these fields, each of its type."""


T = TypeVar("T", bound=Observation)


def observation(value: object, cls: type[T]) -> T:
    """An observation of this class; raises Malformed if it is forged."""
    instance = converted(value, cls)
    if instance is None:
        raise Malformed
    return instance


class Form:
    """What an exercise asks for, and how answers to it are compared."""

    name = "function"  # of the row in grader/sandbox/forms
    noun = "function"
    lendable = True  # to later exercises, in place of a student's own
    has_autograd = True  # here, and in the earlier functions that are lent
    methods: tuple[str, ...] = ()  # that are handed out empty, too
    at_a_glance = True  # whether the calls of a class show all that counts

    def is_handed_out(self, function: str, entry: str) -> bool:
        """Whether students get this function or method empty."""
        return function in (entry, *(f"{entry}.{method}" for method in self.methods))

    def observed(self, value: object) -> Any:
        """What our code in the sandbox has seen, for an exercise to read; raises Malformed if it is forged.

        A function may return anything.
        """
        return value

    def returned_nothing(self, observation: Any) -> bool:
        """Whether there is None where a result should be, for want of a return statement."""
        return observation is None

    def right_answer(self, value: object) -> Any:
        """An answer of the reference or a misconception, ready for comparison."""
        return value

    def is_in_kind(self, expected: object) -> bool:  # noqa: ARG002  a function may return anything
        """Whether a value is compared in kind: words as words, a dict as a dict."""
        return False

    def compared_part(self, value: object, expected: object) -> Any:  # noqa: ARG002  a function's depends on what is expected
        """The compared part of a result."""
        return value

    def finding(self, actual: object, expected: object, tolerance: float) -> Finding | None:
        """What is wrong with an answer."""
        wrong = difference(actual, expected, tolerance)
        return Differs(wrong) if wrong else None

    def agrees(self, answer: Any, wrong: Any, expected: Any, tolerance: float) -> bool:
        """Whether an answer is that of a misconception.

        Where the misconception returns the form that is asked for, the same liberties are taken as with right
        answers; where its form is the mistake, the answer must have just this form.
        """
        strict = describe_form(wrong) != describe_form(expected)
        return same(answer, wrong, tolerance, strict=strict)

    def is_evidence(self, wrong: object) -> bool:  # noqa: ARG002  other forms look at it
        """Whether agreeing with this wrong answer means something."""
        return True

    def failing_steps(self, answers: Sequence[Any]) -> Mapping[str, str]:  # noqa: ARG002  only an object has steps
        """The steps that raise an error wherever they are taken, with the name of the error."""
        return {}

    def result(self, answer: object) -> Any:
        """The computed result, if any."""
        return answer

    def describe(self, answer: object) -> str:
        """An answer's form in words."""
        return describe_form(answer)

    def rules_broken(self, answer: object) -> Mapping[str, str]:  # noqa: ARG002  there are none for a result
        """A sentence for each broken rule besides the results, by part: true whatever else is wrong."""
        return {}

    def paired_numbers(self, actual: object, expected: object) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
        """All computed numbers with the expected ones, or None when they do not belong together."""
        return paired_numbers(actual, expected)


class Function(Form):
    """A function that returns a value of any kind; the one that counts is the reference's."""

    def right_answer(self, value: object) -> Any:
        """Tensors, and lists of them, unchanged; others as they would come back from a student's code."""
        return plain(value) if is_plain(value) else value

    def is_in_kind(self, expected: object) -> bool:
        """Whether a value is neither tensors nor lists of them and numbers."""
        return is_plain(expected)

    def compared_part(self, value: object, expected: object) -> Any:
        """The whole value, unless numbers are expected: then other kinds cannot be compared."""
        if first_unusable(expected):
            raise CourseError(f"The reference answers {first_unusable(expected)}, which cannot be compared.")
        return value if is_plain(expected) else only_numbers(value)

    def finding(self, actual: object, expected: object, tolerance: float) -> Finding | None:
        """What is wrong with an answer, compared in kind."""
        if not is_plain(expected):
            return super().finding(actual, expected, tolerance)
        wrong = plain_values.difference(actual, expected, tolerance)
        return Differs(wrong) if wrong else None

    def agrees(self, answer: Any, wrong: Any, expected: Any, tolerance: float) -> bool:
        """Whether an answer is that of a misconception, in kind."""
        if not is_plain(expected) and not is_plain(wrong):
            return super().agrees(answer, wrong, expected, tolerance)
        if first_unusable(wrong) or first_unusable(answer):
            return False
        return plain_values.same(answer, wrong, tolerance, strict=describe(wrong) != describe(expected))

    def describe(self, answer: object) -> str:
        """Any answer's form in words."""
        return describe(answer)

    def paired_numbers(self, actual: object, expected: object) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
        """All real numbers, wherever they are."""
        return (
            plain_values.paired_numbers(actual, expected)
            if is_plain(expected)
            else super().paired_numbers(actual, expected)
        )


FUNCTION = Function()
