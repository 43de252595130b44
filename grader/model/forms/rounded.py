"""A function that is a piece of a model, whose right results differ by rounding more than those of others.

Sines of large angles do: 10000^(−2i/d) in float32 may be off by some parts in ten million, and that many times a
position of thousands. So do numbers of 16 bits, which have two or three digits.
"""

from __future__ import annotations

from typing import Any

import torch

from grader.model.findings import Finding
from grader.model.forms.exact import Exact

ANGLES = 4e-4
OF_16_BITS = {torch.float16: 2e-2, torch.bfloat16: 8e-2}  # several roundings of 5e-4 and 4e-3


class Rounded(Exact):
    """A function of which the result counts as it is, but for more rounding."""

    name = "rounded"

    def finding(self, got: Any, want: Any, tolerance: float) -> Finding | None:
        """What is wrong with a result, or with gradients."""
        return super().finding(got, want, max(tolerance, self.allowed(want)))

    def agrees(self, answer: Any, wrong: Any, expected: Any, tolerance: float) -> bool:
        """Whether an answer is what a misconception answers."""
        return super().agrees(answer, wrong, expected, max(tolerance, self.allowed(expected)))

    def allowed(self, want: Any) -> float:
        """How far right results may be from the expected one."""
        dtype = want.dtype if isinstance(want, torch.Tensor) else torch.float32
        return OF_16_BITS.get(dtype, ANGLES)


ROUNDED = Rounded()
