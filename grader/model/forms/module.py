"""A class: a torch.nn.Module, of which parameters, outputs, gradients and more are compared."""

from __future__ import annotations

from typing import Any

from grader.model.forms.parts import InParts


class Module(InParts):
    """A class that is built, given weights, and called."""

    name = "module"
    noun = "class"
    lendable = False  # what a later class takes from it, it has in its own notebook
    methods = ("__init__", "forward")

    def is_evidence(self, wrong: Any) -> bool:
        """Not that a module cannot be built, which says nothing of what it computes."""
        return list(wrong) != ["arguments"]


MODULE = Module()
