"""Right numbers, but no piece of a model: another type or shape, or gradients that do not get through.

The last steps of a reference: `finish` what it computed, and return it in some `dtype`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Misconception, wrong
from grader.model.forms import exact

Tensor = torch.Tensor
Finish = Callable[[Any], Any]


def unchanged(result: Any) -> Any:
    return result


def each(change: Callable[[Tensor], Tensor]) -> Finish:
    """The same for every tensor that is returned."""

    def changed(result: Any) -> Any:
        if isinstance(result, Tensor):
            return change(result)
        return type(result)(map(changed, result)) if isinstance(result, list | tuple) else result

    return changed


def ruined(result: Tensor) -> Tensor:
    """The same numbers, on whose way back a tensor is needed that was changed in place."""
    nothing = torch.sigmoid(result.nan_to_num())
    return result + nothing.zero_()


CUT_OFF = Misconception(
    "gradients cut off",
    kind="gradient",
    credit=0.5,
    says=exact.CUT_OFF,
    change={"finish": each(torch.detach)},
)

RUINED = Misconception(
    "gradients ruined in place",
    kind="gradient",
    credit=0.5,
    says=exact.RUINED,
    change={"finish": each(ruined)},
)

ALWAYS_FLOAT32 = Misconception(
    "not the input's dtype",
    kind="type",
    credit=0.75,
    says="With float64 inputs your code stops, or its result has a different type. Make new tensors with "
    "x.new_zeros(…) or dtype=x.dtype, and where you need .float(), end with .to(x.dtype).",
    change={"dtype": each(lambda result: result.float())},
)

ALWAYS_FLOAT64 = Misconception(
    "float64 returned",
    kind="type",
    credit=0.75,
    says="Your result has numbers of type float64 although the inputs have float32. Return the dtype of the inputs.",
    change={"dtype": each(lambda result: result.double())},
)

# Of any function, and of one of which no gradients are asked.
OF_ANY_TYPE = (ALWAYS_FLOAT32, ALWAYS_FLOAT64)
PIECES = (CUT_OFF, RUINED, *OF_ANY_TYPE)


def gradients_lost(results: str, place: str = "before result") -> list[Misconception]:
    """Where no gradient comes through a function that returns these, `outputs` or `m, l, o`."""
    cut_off = each_of(results, "{0} = {0}.detach()")
    ruined = each_of(results, "needed = torch.sigmoid({0}.nan_to_num())\n{0} = {0} + needed.zero_()")
    return [
        wrong("gradients cut off", {place: cut_off}, exact.CUT_OFF, kind="gradient"),
        wrong("gradients ruined in place", {place: ruined}, exact.RUINED, kind="gradient"),
    ]


def another_type(results: str, *places: str) -> list[Misconception]:
    """Where the numbers that are called so have a type of their own."""
    lines = {to: each_of(results, f"{{0}} = {{0}}.{to}()") for to in ("float", "double")}
    return [
        wrong(one.name, dict.fromkeys(places, lines[to]), one.says, credit=0.75, kind="type")
        for one, to in ((ALWAYS_FLOAT32, "float"), (ALWAYS_FLOAT64, "double"))
    ]


def each_of(names: str, line: str) -> str:
    """This line for each of the names."""
    return "\n".join(line.format(name) for name in names.split(", "))
