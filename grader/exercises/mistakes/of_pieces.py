"""Right numbers that are useless in a model: a different type, or gradients that do not get through."""

from __future__ import annotations

from grader import CUT_OFF, RUINED, Misconception, wrong

ANOTHER_TYPE_RETURNED = (
    "Your result has the type float64 although the inputs are float32. Return the dtype of the inputs."
)


# fmt: off
def gradients_lost(results: str, place: str = "before result") -> list[Misconception]:
    """Code that lets no gradient through to its results, which are `outputs` or `m, l, o`."""
    cut_off = each_of(results, "{0} = {0}.detach()")
    ruined = each_of(results, "needed = torch.sigmoid({0}.nan_to_num())\n{0} = {0} + needed.zero_()")
    return [
        wrong("gradients cut off", {place: cut_off}, CUT_OFF, kind="gradient"),
        wrong("gradients ruined in place", {place: ruined}, RUINED, kind="gradient"),
    ]


def another_type(results: str, *places: str) -> list[Misconception]:
    """Code in which the variables of these names have a type of their own."""
    single, double = (each_of(results, f"{{0}} = {{0}}.{to}()") for to in ("float", "double"))
    return [
        wrong("not the input's dtype", dict.fromkeys(places, single),
              "With float64 inputs, your code stops or its result has another type. Make new tensors with "
              "x.new_zeros(…) or dtype=x.dtype, and where you need .float(), end with .to(x.dtype).", kind="type"),
        wrong("float64 returned", dict.fromkeys(places, double), ANOTHER_TYPE_RETURNED, kind="type"),
    ]
# fmt: on


def each_of(names: str, line: str) -> str:
    """The line for each of the names."""
    return "\n".join(line.format(name) for name in names.split(", "))
