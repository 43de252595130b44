"""A piece of a model whose right results differ by more rounding than those of others.

Sines of large angles do: 10000^(−2i/d) in float32 may be off by some parts in ten million, times a position of
thousands. So do numbers of 16 bits, which have two or three digits.
"""

from __future__ import annotations

from typing import Any

import torch

from grader.model.findings import Finding
from grader.model.forms.exact import Exact
from grader.model.forms.tensors import Tensors

ANGLES = 4e-4
OF_16_BITS = {torch.float16: 2e-2, torch.bfloat16: 8e-2}  # several roundings of 5e-4 and 4e-3


class Rounded(Exact):
    """A function whose exact result counts, with room for more rounding."""

    def finding(self, actual: object, expected: object, tolerance: float) -> Finding | None:
        """What is wrong with a result, or with gradients."""
        return super().finding(actual, expected, max(tolerance, self.allowed(expected)))

    def agrees(self, answer: Any, wrong: Any, expected: Any, tolerance: float) -> bool:
        """Whether an answer is that of a misconception."""
        return super().agrees(answer, wrong, expected, max(tolerance, self.allowed(expected)))

    def allowed(self, expected: object) -> float:
        """How far right results may be from the expected one."""
        dtype = expected.dtype if isinstance(expected, torch.Tensor) else torch.float32
        return OF_16_BITS.get(dtype, ANGLES)


ROUNDED = Rounded()


# A function that computes gradients by formulas.

# Weights that are recomputed from the logsumexp of their scores, as in kernels, lose digits where scores are large:
# in float32, a logsumexp above 64 has five decimals.
MADE_AGAIN = 1e-4


class ByFormulas(Rounded, Tensors):
    """Several tensors, made from inputs that autograd does not track."""

    one_scale = True  # for a single word, two of the gradients are zero up to rounding
    has_autograd = False  # it would compute what is asked for

    def allowed(self, _want: object) -> float:
        """How far right results may be from the expected ones."""
        return MADE_AGAIN


BY_FORMULAS = ByFormulas()
