"""The tolerance lies between what rounding does to right answers and what throwing digits away does."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from oracle import DEFINITIONS, float64
from solution_cells import corpus, define, from_notebook, notebook, run, undisturbed

from grader.answer import Answer, Returned
from grader.compare import paired_numbers
from grader.exercise import DEFAULT_SEED, Inputs
from grader.exercises import EXERCISES
from grader.judge import TOLERANCE, judge
from grader.verdict import Verdict

SEEDS = range(DEFAULT_SEED, DEFAULT_SEED + 20)


@functools.cache
def cases(number: int) -> list[tuple[Inputs, Any]]:
    """The hidden inputs of all seeds, with the answers that the definition gives in float64."""
    drawn = [case.inputs for seed in SEEDS for case in EXERCISES[number].draw(seed)]
    return [(inputs, tensors(DEFINITIONS[number](*map(float64, inputs)))) for inputs in drawn]


def tensors(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    return [tensors(item) for item in value] if isinstance(value, list) else value


def spread(number: int, value: Callable[[Inputs], Any]) -> float:
    """The largest error of a function over all hidden inputs, relative as `compare.difference` has it."""
    return max(error(value(inputs), want) for inputs, want in cases(number))


def error(got: Any, want: Any) -> float:
    pairs = paired_numbers(got, want)
    assert pairs is not None
    given, wanted = (torch.cat([pair[side].reshape(-1) for pair in pairs]) for side in (0, 1))
    return float(((given - wanted).abs() / (wanted.abs() + wanted.abs().max())).max())


def answer(ask: Callable[[Inputs], Answer]) -> Callable[[Inputs], Any]:
    def value(inputs: Inputs) -> Any:
        given = ask(inputs)
        assert isinstance(given, Returned)
        return given.value

    return value


@pytest.mark.parametrize("number", EXERCISES)
def test_rounding_errors_stay_below_a_fifth_of_the_tolerance(number: int) -> None:
    """Those of the reference and of every right solution of the corpus, in float32."""
    exercise = EXERCISES[number]
    spreads = {"reference": spread(number, lambda inputs: exercise.reference(*inputs))}
    with undisturbed():
        for style, source in corpus(number).items():
            spreads[style] = spread(number, answer(run(source, exercise.entry, notebook(number))))
    worst = max(spreads, key=lambda style: spreads[style])
    assert spreads[worst] < TOLERANCE["cpu"] / 5, f"{worst}: {spreads[worst]:.1e}"


def verdict(number: int, function: Callable[..., Any]) -> Verdict:
    exercise = EXERCISES[number]
    drawn = exercise.draw()
    return judge(exercise, drawn, [Returned(function(*case.inputs), list(case.inputs)) for case in drawn])


def changed(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The same lists with every tensor changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    return type(value)(changed(item, change) for item in value)


@pytest.mark.parametrize("number", EXERCISES)
def test_a_part_in_a_thousand_is_refused(number: int) -> None:
    found = verdict(number, lambda *inputs: changed(EXERCISES[number].reference(*inputs), lambda one: one * 1.001))
    assert not found.right


@pytest.mark.parametrize("number", EXERCISES)
def test_two_decimals_are_refused_and_named(number: int) -> None:
    found = verdict(
        number, lambda *inputs: changed(EXERCISES[number].reference(*inputs), lambda one: one.round(decimals=2))
    )
    assert (found.right, found.reason) == (False, "rounded")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("number", EXERCISES)
def test_sixteen_bits_are_refused_and_named(number: int, dtype: torch.dtype) -> None:
    """The notebook's solution, computed in 16 bits from the start and given back as float32."""
    namespace = notebook(number)
    define(from_notebook()[number], namespace)
    solution = namespace[EXERCISES[number].entry]

    def in_sixteen_bits(*inputs: Any) -> Any:
        low = [torch.tensor(one) if isinstance(one, list) and isinstance(one[0], float) else one for one in inputs]
        return changed(solution(*changed(low, lambda one: one.to(dtype))), lambda one: one.float())

    found = verdict(number, in_sixteen_bits)
    assert (found.right, found.reason) == (False, "half precision")
