"""Examples for visible checks of functions that are pieces of a model: what they keep besides right numbers.

They look at a function as hidden cases do, and say the same about it.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.kit.diagnosis import other_axis
from grader.kit.visible_examples import NEW_LINE, Student, copy_inputs, not_what_was_asked, right_but
from grader.model.broken_rules import (
    ACCEPTED,
    ANOTHER_ERROR,
    FLOAT64,
    LARGE,
    argument,
    missing_gradient,
    other_type,
)
from grader.model.compare import Kind, difference
from grader.sandbox.forms.exact import gradients, refusal, result_of
from grader.sandbox.nested import first_numbers, in_double, map_tensors, tensors_in


class PieceExample(NamedTuple):
    """Shape, type, gradients, and no NaN for large numbers."""

    name: str
    inputs: tuple[object, ...]
    shape: tuple[int, ...]
    large: tuple[object, ...] = ()

    def problem(self, function: Student, called: str) -> str | None:  # noqa: ARG002  as the others
        result = function(*copy_inputs(self.inputs))
        return _wrong_form(result, self.shape) or right_but(
            other_type(result, first_numbers(self.inputs))
            or wrong_in_double(function, self.inputs)
            or _lost_gradient(function, self.inputs)
            or (_not_finite(function(*copy_inputs(self.large))) if self.large else "")
        )


class InDouble(NamedTuple):
    """The same numbers in float64, for functions with several results, of which the first ones must be of that type."""

    name: str
    inputs: tuple[object, ...]
    results: int | None = None  # how many of them; None for all

    def problem(self, function: Student, called: str) -> str | None:  # noqa: ARG002  as the others
        return right_but(wrong_in_double(function, self.inputs, self.results))


class FiniteGradients(NamedTuple):
    """Whether gradients are finite, also where a query sees no key."""

    name: str
    inputs: tuple[Any, ...]

    def problem(self, function: Student, called: str) -> str | None:  # noqa: ARG002  as the others
        all_gradients = gradients(function, copy_inputs(self.inputs))["gradients"]
        for number, gradient in all_gradients.items():
            wrong = gradient is not None and difference(gradient, gradient.nan_to_num(0.0, 0.0, 0.0), 0.0)
            if wrong:
                return right_but(wrong.sentence(f"gradient for {argument(number, list(all_gradients))}"))
        return None


class Unfitting(NamedTuple):
    """Arguments that do not fit together, for which a ValueError is asked for."""

    name: str
    inputs: tuple[Any, ...]

    def problem(self, function: Student, called: str) -> str | None:
        error = refusal(function, copy_inputs(self.inputs))
        sentence = ANOTHER_ERROR if error else ACCEPTED
        return None if error == "ValueError" else not_what_was_asked(called, sentence)


def wrong_in_double(function: Student, inputs: tuple[object, ...], results: int | None = None) -> str:
    """A sentence if a result has another type than inputs in float64."""
    double = map_tensors(in_double, inputs)
    result = result_of(function, double)
    tensors = list(tensors_in(result))[:results]
    wrong = next(filter(None, (other_type(tensor, first_numbers(double)) for tensor in tensors)), "")
    return wrong and f"{FLOAT64}{NEW_LINE}{wrong}"


def _wrong_form(result: object, shape: tuple[int, ...]) -> str | None:
    differing = difference(result, torch.zeros(shape), 0.0, strict=True)
    if differing is None or differing.kind in (Kind.VALUE, Kind.NAN):
        return None
    if differing.kind == Kind.TRANSPOSED and not differing.forms:
        return None
    axis = other_axis(result.shape, shape) if isinstance(result, torch.Tensor) else ""
    return f"{differing.sentence()}{NEW_LINE}{axis}" if axis else differing.sentence()


def _lost_gradient(function: Student, inputs: tuple[object, ...]) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch says in its own words that a gradient is lost
        observation = gradients(function, copy_inputs(inputs))
    return missing_gradient(observation["gradients"], observation["gradients"], ruined=observation["ruined"])


def _not_finite(result: object) -> str:
    return LARGE if isinstance(result, torch.Tensor) and not bool(result.isfinite().all()) else ""


class LargestTensor(TorchDispatchMode):
    """Notes the largest new tensor."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.entries = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """PyTorch would load its compiler first, which takes a second."""
        return False

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else (result,):
            if isinstance(tensor, torch.Tensor):
                storage = tensor.untyped_storage()
                self.entries = max(self.entries, storage.nbytes() // tensor.element_size())
        return result
