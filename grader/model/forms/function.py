"""A function that returns what is compared; what other forms do otherwise, they say."""

from __future__ import annotations

from typing import Any

import torch

from grader.model.compare import describe_form, difference, paired_numbers, same
from grader.model.findings import Differs, Finding


class Form:
    """What an exercise asks for, and how answers to it are compared."""

    name = "function"  # of the file in grader/sandbox/forms
    noun = "function"
    lendable = True  # to later exercises, in place of a student's own
    methods: tuple[str, ...] = ()  # that are handed out empty, too

    def is_well_formed(self, observed: Any) -> bool:  # noqa: ARG002  what a function returns may be anything
        """Whether it is of the kind that our code in the sandbox sends, if nobody forges it."""
        return True

    def returned_nothing(self, observed: Any) -> bool:
        """Whether there is None where a result should be, for want of a return statement."""
        return observed is None

    def finding(self, got: Any, want: Any, tolerance: float) -> Finding | None:
        """What is wrong with an answer."""
        found = difference(got, want, tolerance)
        return Differs(found) if found else None

    def agrees(self, answer: Any, wrong: Any, expected: Any, tolerance: float) -> bool:
        """Whether an answer is what a misconception answers.

        Where the misconception returns the form that is asked for, the same liberties are taken as with right
        answers; where its form is the mistake, the answer must have just this form.
        """
        strict = describe_form(wrong) != describe_form(expected)
        return same(answer, wrong, tolerance, strict=strict)

    def is_evidence(self, wrong: Any) -> bool:  # noqa: ARG002  other forms look at it
        """Whether it means something to agree with this wrong answer."""
        return True

    def result(self, answer: Any) -> Any:
        """What was computed, if anything was."""
        return answer

    def paired_numbers(self, got: Any, want: Any) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
        """All computed numbers with the expected ones, or None when they do not belong together."""
        return paired_numbers(got, want)


FUNCTION = Form()
