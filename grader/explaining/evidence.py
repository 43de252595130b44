"""Why an answer about a changed line is right: what can be seen in the runs."""

from __future__ import annotations

import torch

from grader.explaining.observed import Observed, Tensor, numbers_of
from grader.explaining.outcomes import (
    FACTOR,
    NAN,
    SAME,
    Comparison,
    Positions,
    UnitSums,
    shape_text,
)

CLEARLY = 0.01  # differ numbers that are written with two decimals


def evidence(comparison: Comparison, right: str) -> str:
    """What shows in the first run, with the changed line, that a sentence is true."""
    error = comparison.after[0].error
    if error:
        return f"{error[0]}: {error[1]}"
    if right == SAME:
        return "In every run, with other inputs, too, the result was the same as your code's."
    return _in_first_run(comparison, right) or f"It was so in {len(comparison.after)} runs with different inputs."


def _in_first_run(comparison: Comparison, right: str) -> str:
    before, after = comparison.before[0], comparison.after[0]
    unit_sums, positions = comparison.unit_sums, comparison.positions
    if right in (FACTOR, NAN):
        return _of_numbers(before, after, right)
    if before.shape is not None and before.shape != after.shape:
        return f"With the same inputs, your code's result has shape {shape_text(before.shape)}."
    if unit_sums and right in unit_sums.all_sentences:
        tensors = next(comparison.tensors_of_unit_sums(before, after), None)
        return _of_unit_sums(unit_sums, right, *tensors) if tensors else ""
    if positions and after.pattern is not None:
        return _of_positions(positions, after.pattern)
    return ""


def _of_numbers(before: Observed, after: Observed, right: str) -> str:
    numbers, changed_numbers = numbers_of(before.result), numbers_of(after.result)
    if numbers is None or changed_numbers is None:
        return ""
    if right == NAN:
        return f"In a run, {int(changed_numbers.isnan().sum())} of {changed_numbers.numel()} numbers were NaN."
    place = int(numbers.abs().argmax())
    return f"In a run, it was multiplied by {float(changed_numbers[place] / numbers[place]):.3g}."


def _of_unit_sums(unit_sums: UnitSums, right: str, before: Tensor, after: Tensor) -> str:
    """The sums that are 1 in the student's code; or the largest numbers, which show how even all are."""
    if right in (unit_sums.more_even, unit_sums.more_peaked):
        return _of_largest(before.amax(unit_sums.axis), after.amax(unit_sums.axis), unit_sums.axis)
    sums = after.double().sum(unit_sums.axis)
    lowest, highest = float(sums.min()), float(sums.max())
    if highest - lowest < CLEARLY:
        return f"In a run, each sum along axis {unit_sums.axis} was {lowest:.2f}."
    return f"In a run, its sums along axis {unit_sums.axis} were between {lowest:.2f} and {highest:.2f}."


def _of_largest(before: Tensor, after: Tensor, axis: int) -> str:
    """Where the largest number of those that sum to one has changed most."""
    place = int((after - before).abs().argmax())
    largest, largest_after = float(before.flatten()[place]), float(after.flatten()[place])
    if abs(largest - largest_after) < CLEARLY:
        return ""
    was = f"was {largest_after:.2f}; in your code, it was {largest:.2f}"
    return f"In a run, one of the largest numbers along axis {axis} {was}."


def _of_positions(positions: Positions, pattern: Tensor) -> str:
    """A place of the input that the result should not depend on there, or should."""
    differs = pattern ^ torch.ones_like(pattern).tril()  # (places of the result, places of the argument)
    places = differs.nonzero().tolist()
    if not places:
        return ""
    place, argument_place = places[-1]
    changed = "changed, too" if pattern[place, argument_place] else "stayed the same"
    argument, result = positions.argument_at(argument_place), positions.result_at(place)
    return f"In a run with another {argument}, {result} {changed}."
