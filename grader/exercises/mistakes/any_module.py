"""Mistakes of a module whose numbers are all right."""

from __future__ import annotations

from grader import Misconception, wrong

from .of_pieces import ANOTHER_TYPE_RETURNED

ZEROS = "for parameter in self.parameters():\n    if parameter.dim() > 1:\n        nn.init.zeros_(parameter)"


# fmt: off
def of_any(last: str, result: str) -> list[Misconception]:
    """For every module. `last` is the mark of the last line of `__init__`, and `result` the variable returned."""
    return [
        wrong("weights not random", {f"after {last}": ZEROS},
              "In a new module, all your weights are the same number, so training has no differences between words to "
              "work with. Start with random numbers.", credit=0.75, kind="missing step"),
        wrong("float64 returned", {"before result": f"{result} = {result}.double()"},
              ANOTHER_TYPE_RETURNED, kind="type"),
        wrong("not the input's dtype", {"before result": f"{result} = {result}.float()"},
              "With float64 inputs and weights, your result has another dtype. Make new tensors with x.new_zeros(…) or "
              "dtype=x.dtype, and leave out .float().", kind="type"),
    ]
# fmt: on
