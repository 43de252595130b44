"""A piece of a model: its result has exactly the shape and type asked for, and gradients flow through it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from grader.model.broken_rules import argument, missing_gradient
from grader.model.compare import Difference, Kind, describe_form, difference, same
from grader.model.findings import Broken, Differs, Finding
from grader.model.forms.function import Form

NO_RESULT = Differs(Difference(Kind.TYPE))
# How much more gradients may differ: the way back through softmax subtracts numbers that are nearly the same.
GRADIENTS = 10


class Exact(Form):
    """A function whose exact result and gradients count."""

    name = "exact"

    def finding(self, actual: object, expected: object, tolerance: float) -> Finding | None:
        """What is wrong with a result, or with gradients."""
        if isinstance(expected, dict):
            gradients = expected.get("gradients")  # without them, it is an argument with options, and no result
            return _wrong_gradients(actual, gradients, GRADIENTS * tolerance) if gradients else NO_RESULT
        wrong = exact_difference(actual, expected, tolerance)
        if wrong and wrong.kind == Kind.DTYPE:
            return Differs(wrong, "type", "result")
        return Differs(wrong) if wrong else None

    def agrees(self, answer: Any, wrong: Any, expected: Any, tolerance: float) -> bool:
        """Whether an answer is that of a misconception.

        As with any function, the answer must have the form of the misconception only where this is the mistake. The
        same holds for its type.
        """
        if isinstance(expected, dict):
            return _agree(answer, wrong, GRADIENTS * tolerance)
        if _is_just_the_same(wrong, expected, tolerance):  # then the answer must be right, too
            return _is_just_the_same(answer, expected, tolerance)
        if _type(answer) != _type(wrong) != _type(expected) and same(wrong, expected, tolerance):
            return False
        return same(answer, wrong, tolerance, strict=describe_form(wrong) != describe_form(expected))

    def result(self, answer: object) -> Any:
        """The computed result."""
        return answer

    def paired_numbers(self, actual: object, expected: object) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
        """All computed numbers with the expected ones: gradients say nothing of precision."""
        return [] if isinstance(expected, dict) else super().paired_numbers(actual, expected)


EXACT = Exact()


def _type(value: object) -> torch.dtype | None:
    return value.dtype if isinstance(value, torch.Tensor) else None


def _gradients(answer: object) -> Mapping[str, Any]:
    """The gradients in an answer, by the number of the argument."""
    gradients = answer.get("gradients") if isinstance(answer, dict) else None
    return gradients if isinstance(gradients, dict) else {}


def _is_ruined(answer: object) -> bool:
    return isinstance(answer, dict) and answer.get("ruined") is True


def _flows(answer: object) -> bool:
    return any(gradient is not None for gradient in _gradients(answer).values())


def _agree(answer: object, wrong: object, tolerance: float) -> bool:
    """Whether gradients are those of a misconception."""
    gradients, wrong_gradients = _gradients(answer), _gradients(wrong)
    if not _flows(answer) or not _flows(wrong):
        return not _flows(answer) and not _flows(wrong) and _is_ruined(answer) == _is_ruined(wrong)
    together = [gradient for gradient in wrong_gradients.values() if gradient is not None]
    for name, wrong_gradient in wrong_gradients.items():
        gradient = gradients.get(name)
        if wrong_gradient is None:
            if gradient is not None:
                return False
        elif not same_among(together, gradient, wrong_gradient, tolerance):
            return False
    return True


def _wrong_gradients(answer: object, expected: Mapping[str, torch.Tensor], tolerance: float) -> Finding | None:
    """What is wrong with the first missing or wrong gradient."""
    gradients, numbers = _gradients(answer), list(expected)
    missing = missing_gradient(gradients, numbers, ruined=_is_ruined(answer))
    if missing:
        return Broken("gradient", missing)
    for number, gradient in expected.items():
        wrong = difference_among(list(expected.values()), gradients[number], gradient, tolerance)
        if wrong:
            return Differs(wrong, "gradient", f"gradient for {argument(number, numbers)}")
    return None


def difference_among(together: Sequence[Any], actual: Any, expected: Any, tolerance: float) -> Difference | None:
    """The difference of one of several tensors that belong together, and so share one scale for errors.

    Where one is zero or tiny, as some gradients are, rounding on the others' scale would be a mistake by itself.
    """
    wrong = exact_difference(actual, expected, tolerance)
    if wrong and has_type_of(actual, expected) and same_among(together, actual, expected, tolerance):
        return None
    return wrong


def same_among(together: Sequence[Any], actual: Any, expected: Any, tolerance: float) -> bool:
    """Whether a tensor is right on this scale, of any type."""
    return same([actual, *together], [expected, *together], tolerance, strict=True)


def exact_difference(actual: Any, expected: Any, tolerance: float) -> Difference | None:
    """The first difference where shape and type of the numbers count as well."""
    wrong = difference(actual, expected, tolerance, strict=True)
    if wrong or has_type_of(actual, expected):
        return wrong
    return Difference(Kind.DTYPE, forms=(_dtype(actual), _dtype(expected)))


def _is_just_the_same(actual: object, expected: object, tolerance: float) -> bool:
    """Whether shape, type and numbers are right: much quicker than saying how they differ."""
    return same(actual, expected, tolerance, strict=True) and has_type_of(actual, expected)


def has_type_of(actual: object, expected: object) -> bool:
    """Whether types agree. Plain numbers have none: their lack of gradients is shown as such."""
    return None in (_type(actual), _type(expected)) or _type(actual) == _type(expected)


def _dtype(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")
