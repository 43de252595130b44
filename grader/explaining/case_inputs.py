"""Inputs to ask about, from the hidden cases of an exercise, drawn from a seed that grading never has."""

from __future__ import annotations

from typing import Any

import torch

from grader.explaining.observed import Draw
from grader.explaining.subject import all_sizes, sizes_of
from grader.model.exercise import Case, Exercise
from grader.sandbox.nested import leaves

SEEDS = range(101, 107)
MOST_CASES = 8
LARGEST_NUMBER = 50
MOST_NUMBERS = 6_000
LARGEST_SIZE = 12  # that one can still imagine
MODULES = ("module", "new_module")  # forms whose cases also have arguments of their own and weights


def inputs_to_ask_about(exercise: Exercise) -> list[list[Draw]]:
    """Six draws of each case that is small and ordinary, the most telling sizes first. Empty if there is none."""
    rated = []
    for case in exercise.cases:
        draws = [] if case.promise or case.numpy else _draws(exercise, case)
        if draws:
            rated.append((_rating(draws[0]), draws))
    rated.sort(key=lambda pair: -pair[0])
    return [draws for _, draws in rated[:MOST_CASES]]


def _draws(exercise: Exercise, case: Case) -> list[Draw]:
    draws = []
    for seed in SEEDS:
        try:
            inputs = case.inputs(torch.Generator().manual_seed(seed))
        except Exception:  # an author's code, which `grader validate` has looked at
            return []
        draw = _draw(exercise, getattr(inputs, "inputs", inputs))
        if draw is None:
            return []
        draws.append(draw)
    return draws


def _draw(exercise: Exercise, inputs: Any) -> Draw | None:
    """The inputs of one call; None if a case asks for more than that, or has unusual numbers."""
    draw, form = None, exercise.form.name
    if form in MODULES:
        arguments, weights, calls, options = inputs
        is_one_call = exercise.probe is None and "new" not in options
        if is_one_call and not options.get("train") and not options.get("impossible"):
            draw = Draw(list(calls["output"]), list(arguments), dict(weights))
    elif form != "objects" and not (inputs and isinstance(inputs[-1], dict)):
        draw = Draw(list(inputs))
    return draw if draw and all(map(_is_ordinary, leaves(draw.arguments))) else None


def _is_ordinary(value: object) -> bool:
    if not isinstance(value, torch.Tensor):
        return value is None or isinstance(value, (bool, int, float, str))
    if not value.is_floating_point():
        return value.numel() < MOST_NUMBERS
    finite = value[value.isfinite()]
    is_small = finite.numel() == 0 or float(finite.abs().max()) <= LARGEST_NUMBER
    return value.dtype is torch.float32 and value.numel() < MOST_NUMBERS and is_small


def _rating(draw: Draw) -> float:
    """High where sizes differ from one another, few are 1, and much is used."""
    shapes = [sizes_of(value) for value in draw.arguments]
    sizes = all_sizes(draw)
    if not sizes or min(sizes) < 1:
        return -9.0
    largest = max(shapes, key=len)
    used = sum(value is not None for value in draw.arguments)
    switched = sum(value is True for value in draw.arguments)
    rating = 3.0 * (len(set(largest)) - len(largest)) + len(sizes) + 0.5 * (used + switched)
    rating += sum(1 if size > 1 else -3 for size in largest) - 2 * (max(sizes) > LARGEST_SIZE)
    return rating - 6 * (1 in draw.built)
