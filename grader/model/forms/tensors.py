"""A function that returns several tensors, each with a scale of its own unless they belong together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from grader.model.compare import Kind, describe_form, difference, same
from grader.model.findings import Broken, Differs, Finding
from grader.model.forms.exact import Exact, difference_among, has_type_of, same_among

UNWRITTEN = -1.5e30  # what a misconception has where a student's code leaves whatever is there, as in torch.empty


class Tensors(Exact):
    """Shape, type and numbers of each count, and gradients where a case asks for them."""

    one_scale = False

    def finding(self, got: Any, want: Any, tolerance: float) -> Finding | None:
        """What is wrong with the first tensor that is, or with gradients."""
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
        """Whether an answer is what a misconception answers, in all of them."""
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
        """All finite numbers with those that came back; the maximum of an empty piece is none."""
        pairs = super().paired_numbers(got, want)
        return pairs and [(given[wanted.isfinite()], wanted[wanted.isfinite()]) for given, wanted in pairs]


class WithLogsumexp(Tensors):
    """A logsumexp comes last, which kernels keep in float32 whatever the inputs are."""

    def taken(self, value: Any, want: Any) -> Any:
        """In float32, it counts as being of the right type."""
        if not _are_as_many(value, want):
            return value
        *others, last = value
        if isinstance(last, torch.Tensor) and last.dtype == torch.float32 and isinstance(want[-1], torch.Tensor):
            last = last.to(want[-1].dtype)
        return (*others, last)

    def agrees(self, answer: Any, wrong: Any, expected: Any, tolerance: float) -> bool:
        """The same leave for a misconception, since it has been given to the answer."""
        return super().agrees(answer, self.taken(wrong, expected), expected, tolerance)


WITH_LOGSUMEXP = WithLogsumexp()


def _are_as_many(got: object, want: object) -> bool:
    """A list is as good as a tuple."""
    return isinstance(got, (list, tuple)) and isinstance(want, (list, tuple)) and len(got) == len(want)


def _where_written(got: object, wrong: object) -> tuple[Any, Any]:
    """A tensor and that of a misconception, both zero where the latter says nothing."""
    if not isinstance(wrong, torch.Tensor) or not isinstance(got, torch.Tensor) or got.shape != wrong.shape:
        return got, wrong
    unwritten = wrong == UNWRITTEN
    return (got.masked_fill(unwritten, 0), wrong.masked_fill(unwritten, 0)) if unwritten.any() else (got, wrong)


# A function that returns a piece of a softmax: its maximum, its sum, and its output.


class SoftmaxPiece(Tensors):
    """Three tensors, whose gradients are asked of what they tell, whatever was subtracted."""

    name = "softmax_piece"


SOFTMAX_PIECE = SoftmaxPiece()
