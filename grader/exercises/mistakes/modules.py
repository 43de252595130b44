"""What a module does not do that is right in all numbers. The last step of making one: `begin` with some parameters."""

from __future__ import annotations

from typing import Any

from torch import nn

from grader import Misconception, wrong

from . import pieces, softmax


def zeros(module: nn.Module) -> None:
    for parameter in module.parameters():
        if parameter.dim() > 1:
            nn.init.zeros_(parameter)


def exponentials_shared(scores: Any) -> Any:
    return scores.exp() / scores.exp().sum(-1, keepdim=True)


# Of every module.
BESIDE_NUMBERS = [
    Misconception(
        "weights not random",
        kind="missing step",
        credit=0.75,
        says="In a new module, all weights are the same number. Begin with random numbers: otherwise words would "
        "differ in nothing that training could make use of.",
        change={"begin": zeros},
    ),
    Misconception(
        "float64 returned",
        kind="type",
        credit=0.75,
        says=pieces.ALWAYS_FLOAT64.says,
        change={"dtype": pieces.ALWAYS_FLOAT64.change["dtype"]},
    ),
    Misconception(
        "not the input's dtype",
        kind="type",
        credit=0.75,
        says="With float64 inputs and weights, your result has a different type. Make new tensors with x.new_zeros(…) "
        "or dtype=x.dtype, and leave out .float().",
        change=pieces.ALWAYS_FLOAT32.change,
    ),
]

# Of the modules of exercises 12, 13, 16, 18 and 19.
IN_MODULES = [softmax.not_shifted(normalise=exponentials_shared), *BESIDE_NUMBERS]


def of_any(last: str, result: str) -> list[Misconception]:
    """Of every module. `last` is the mark of the last line of `__init__`, and `result` what is returned."""
    zeros = "for parameter in self.parameters():\n    if parameter.dim() > 1:\n        nn.init.zeros_(parameter)"
    types = [{"before result": f"{result} = {result}.{to}()"} for to in ("double", "float")]
    return [
        wrong(one.name, changes, one.says, credit=one.credit, kind=one.kind)
        for one, changes in zip(BESIDE_NUMBERS, [{f"after {last}": zeros}, *types], strict=True)
    ]
