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

    def finding(self, got: Any, want: Any, tolerance: float) -> Finding | None:
        """What is wrong with the first wrong tensor, or with gradients."""
        if isinstance(want, dict):
            return super().finding(got, want, tolerance)
        if not _are_as_many(got, want):
            found = difference(got, want, tolerance, strict=True)
            return Differs(found) if found else Broken("", f"{len(want)} tensors were expected.")
        for index, (given, wanted) in enumerate(zip(got, want, strict=True)):
            found = difference_among(want if self.one_scale else (), given, wanted, tolerance)
            if found:
                part = "type" if found.kind == Kind.DTYPE else ""
                return Differs(replace(found, where=(index, *found.where)), part, part and f"result[{index}]")
        return None

    def agrees(self, answer: Any, wrong: Any, expected: Any, tolerance: float) -> bool:
        """Whether all tensors are those of a misconception."""
        if isinstance(expected, dict):
            return super().agrees(answer, wrong, expected, tolerance)
        if not _are_as_many(wrong, expected):
            return describe_form(answer) == describe_form(wrong) and same(answer, wrong, tolerance, strict=True)
        if not _are_as_many(answer, wrong):
            return False
        written = [_where_written(*parts) for parts in zip(answer, wrong, strict=True)]
        if any(now is not then for (_, now), then in zip(written, wrong, strict=True)):
            if same(answer, expected, tolerance, strict=True):  # all is written, and right
                return False
            answer, wrong = zip(*written, strict=True)
        return all(
            super(Tensors, self).agrees(*parts, tolerance)
            or (self.one_scale and has_type_of(*parts[:2]) and same_among(wrong, *parts[:2], tolerance))
            for parts in zip(answer, wrong, expected, strict=True)
        )

    def paired_numbers(self, got: object, want: object) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
        """All finite expected numbers with the given ones; the maximum of an empty piece is not finite."""
        pairs = super().paired_numbers(got, want)
        return pairs and [(given[wanted.isfinite()], wanted[wanted.isfinite()]) for given, wanted in pairs]


class WithLogsumexp(Tensors):
    """The last tensor is a logsumexp, which kernels keep in float32 for any inputs."""

    def taken(self, value: Any, want: Any) -> Any:
        """Count a float32 logsumexp as being of the right type."""
        if not _are_as_many(value, want):
            return value
        *others, last = value
        if isinstance(last, torch.Tensor) and last.dtype == torch.float32 and isinstance(want[-1], torch.Tensor):
            last = last.to(want[-1].dtype)
        return (*others, last)

    def agrees(self, answer: Any, wrong: Any, expected: Any, tolerance: float) -> bool:
        """Whether an answer is a misconception's, whose logsumexp may be in float32, too."""
        return super().agrees(answer, self.taken(wrong, expected), expected, tolerance)


WITH_LOGSUMEXP = WithLogsumexp()


def _are_as_many(got: object, want: object) -> bool:
    """Whether lists or tuples are equally long."""
    return isinstance(got, (list, tuple)) and isinstance(want, (list, tuple)) and len(got) == len(want)


def _where_written(got: object, wrong: object) -> tuple[Any, Any]:
    """A tensor and a misconception's, both zero where the latter is unwritten."""
    if not isinstance(wrong, torch.Tensor) or not isinstance(got, torch.Tensor) or got.shape != wrong.shape:
        return got, wrong
    unwritten = wrong == UNWRITTEN
    return (got.masked_fill(unwritten, 0), wrong.masked_fill(unwritten, 0)) if unwritten.any() else (got, wrong)


# A function that returns a piece of a softmax: its maximum, its sum, and its output.


class SoftmaxPiece(Tensors):
    """Three tensors; gradients are asked of what they represent, for any subtracted number."""

    name = "softmax_piece"


SOFTMAX_PIECE = SoftmaxPiece()
