"""A function that computes gradients by formulas."""

from __future__ import annotations

from grader.model.forms.tensors import Tensors


class ByFormulas(Tensors):
    """Several tensors, made from inputs of which autograd notes nothing."""

    name = "by_formulas"


BY_FORMULAS = ByFormulas()
