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


def gradients_lost(result: str, place: str = "before result") -> list[Misconception]:
    """Where no gradient comes through a function whose result is called so."""
    return [
        wrong("gradients cut off", {place: f"{result} = {result}.detach()"}, exact.CUT_OFF, kind="gradient"),
        wrong(
            "gradients ruined in place",
            {place: f"needed = torch.sigmoid({result}.nan_to_num())\n{result} = {result} + needed.zero_()"},
            exact.RUINED,
            kind="gradient",
        ),
    ]


def another_type(names: str, place: str) -> list[Misconception]:
    """Where what is called so, as in "result" or "queries, keys", has numbers of a type of its own from then on."""
    return [
        wrong(
            one.name,
            {place: f"{names} = {', '.join(f'{name}.{to}()' for name in names.split(', '))}"},
            one.says,
            credit=0.75,
            kind="type",
        )
        for one, to in ((ALWAYS_FLOAT32, "float"), (ALWAYS_FLOAT64, "double"))
    ]
