"""A function that returns several tensors, each with a scale of its own unless they belong together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from grader.model.compare import Kind, describe_form, difference, same
from grader.model.findings import Broken, Differs, Finding
from grader.model.forms.exact import Exact, difference_among, has_type_of, same_among

UNWRITTEN = -1.5e30  # marks what a misconception leaves unwritten, as in torch.empty


class Tensors(Exact):
    """Several tensors: shape, type and numbers count, and gradients if a case asks for them."""

    one_scale = False

    def finding(self, actual: Any, expected: Any, tolerance: float) -> Finding | None:
        """What is wrong with the first wrong tensor, or with gradients."""
        if isinstance(expected, dict):
            return super().finding(actual, expected, tolerance)
        if not _are_as_many(actual, expected):
            wrong = difference(actual, expected, tolerance, strict=True)
            return Differs(wrong) if wrong else Broken("", f"{len(expected)} tensors were expected.")
        for index, (tensor, expected_tensor) in enumerate(zip(actual, expected, strict=True)):
            wrong = difference_among(expected if self.one_scale else (), tensor, expected_tensor, tolerance)
            if wrong:
                wrong = replace(wrong, path=(index, *wrong.path))
                return Differs(wrong, "type", f"result[{index}]") if wrong.kind == Kind.DTYPE else Differs(wrong)
        return None

    def agrees(self, answer: Any, wrong: Any, expected: Any, tolerance: float) -> bool:
        """Whether all tensors are those of a misconception."""
        if isinstance(expected, dict):
            return super().agrees(answer, wrong, expected, tolerance)
        if not _are_as_many(wrong, expected):
            return describe_form(answer) == describe_form(wrong) and same(answer, wrong, tolerance, strict=True)
        if not _are_as_many(answer, wrong):
            return False
        if any(map(_has_unwritten, answer, wrong)):
            if same(answer, expected, tolerance, strict=True):  # all is written, and right
                return False
            answer, wrong = zip(*map(_without_unwritten, answer, wrong), strict=True)
        for tensor, wrong_tensor, expected_tensor in zip(answer, wrong, expected, strict=True):
            if super().agrees(tensor, wrong_tensor, expected_tensor, tolerance):
                continue
            has_type = self.one_scale and has_type_of(tensor, wrong_tensor)
            if not (has_type and same_among(wrong, tensor, wrong_tensor, tolerance)):
                return False
        return True

    def paired_numbers(self, actual: object, expected: object) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
        """All finite expected numbers with the actual ones; the maximum of an empty piece is not finite."""
        pairs = super().paired_numbers(actual, expected)
        return pairs and [(numbers[expected.isfinite()], expected[expected.isfinite()]) for numbers, expected in pairs]


TENSORS = Tensors()


class WithLogsumexp(Tensors):
    """The last tensor is a logsumexp, which kernels keep in float32 for any inputs."""

    def compared_part(self, value: Any, expected: Any) -> Any:
        """Count a float32 logsumexp as being of the right type."""
        if not _are_as_many(value, expected):
            return value
        *tensors, last = value
        if isinstance(last, torch.Tensor) and last.dtype == torch.float32 and isinstance(expected[-1], torch.Tensor):
            last = last.to(expected[-1].dtype)
        return (*tensors, last)

    def agrees(self, answer: Any, wrong: Any, expected: Any, tolerance: float) -> bool:
        """Whether an answer is a misconception's, whose logsumexp may be in float32, too."""
        return super().agrees(answer, self.compared_part(wrong, expected), expected, tolerance)


WITH_LOGSUMEXP = WithLogsumexp()


def _are_as_many(actual: object, expected: object) -> bool:
    """Whether lists or tuples are equally long."""
    return isinstance(actual, (list, tuple)) and isinstance(expected, (list, tuple)) and len(actual) == len(expected)


def _has_unwritten(answer: object, wrong: object) -> bool:
    """Whether a misconception leaves entries of a tensor unwritten, which the answer has."""
    if not isinstance(wrong, torch.Tensor) or not isinstance(answer, torch.Tensor) or answer.shape != wrong.shape:
        return False
    return bool((wrong == UNWRITTEN).any())


def _without_unwritten(answer: Any, wrong: Any) -> tuple[Any, Any]:
    """A tensor and a misconception's, both zero where the latter is unwritten."""
    if not _has_unwritten(answer, wrong):
        return answer, wrong
    unwritten = wrong == UNWRITTEN
    return answer.masked_fill(unwritten, 0), wrong.masked_fill(unwritten, 0)
