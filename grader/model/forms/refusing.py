"""A function that is a piece of a model, and stops with a ValueError where its arguments do not fit."""

from __future__ import annotations

from typing import Any

import torch

from grader.model.findings import Broken, Finding
from grader.model.forms.exact import Exact

ACCEPTED = "Arguments that do not fit together are accepted. Raise a ValueError that says what is wrong."
ANOTHER_ERROR = (
    "Arguments that do not fit together end in some other error. Raise a ValueError that says what is wrong."
)


class Refusing(Exact):
    """A function of which the result counts as it is, gradients count, and so does what it refuses."""

    name = "refusing"

    def finding(self, got: Any, want: Any, tolerance: float) -> Finding | None:
        """What is wrong with a result, with gradients, or with a refusal."""
        if not is_refusal(want):
            return super().finding(got, want, tolerance)
        if is_refusal(got) and got["error"] == want["error"]:
            return None
        return Broken("arguments", ANOTHER_ERROR if is_refusal(got) and got["error"] else ACCEPTED)

    def agrees(self, answer: Any, wrong: Any, expected: Any, tolerance: float) -> bool:
        """Whether an answer is what a misconception answers."""
        if not is_refusal(expected):
            return super().agrees(answer, wrong, expected, tolerance)
        return is_refusal(answer) and bool(answer["error"] == wrong["error"])

    def is_evidence(self, wrong: Any) -> bool:
        """Not that arguments are refused, which says nothing of what is computed."""
        return not is_refusal(wrong)

    def paired_numbers(self, got: Any, want: Any) -> list[tuple[torch.Tensor, torch.Tensor]] | None:
        """All computed numbers with the expected ones: a refusal has none."""
        return [] if is_refusal(want) else super().paired_numbers(got, want)


REFUSING = Refusing()


def is_refusal(answer: Any) -> bool:
    """Whether this is how a call ended, as our code in the sandbox notes it."""
    return isinstance(answer, dict) and isinstance(answer.get("error"), str)
