"""A function that returns a piece of a softmax: the maximum, the sum of exponentials, and the output.

Gradients are asked of the output and of the logarithm of the sum over all scores. Neither depends on which number was
subtracted from the scores, so code may let gradients through the maximum or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.sandbox.forms import exact

WORDS = True


def put(entry: Any, inputs: Sequence[Any]) -> Any:
    """What one call returns, or the gradients of it."""
    if exact.asks_for_gradients(inputs):
        return exact.gradients(lambda *arguments: _told(entry(*arguments)), inputs[:-1])
    return exact.put(entry, inputs)


def _told(piece: Any) -> Any:
    """What a piece tells, whatever was subtracted."""
    maximum, total, output = piece
    return [maximum + total.log(), output]
