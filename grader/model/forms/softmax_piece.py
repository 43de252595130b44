"""A function that returns a piece of a softmax: its maximum, its sum, and its output."""

from __future__ import annotations

from grader.model.forms.tensors import Tensors


class SoftmaxPiece(Tensors):
    """Three tensors, whose gradients are asked of what they tell, whatever was subtracted."""

    name = "softmax_piece"


SOFTMAX_PIECE = SoftmaxPiece()
