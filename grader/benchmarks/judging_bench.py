"""Measure what judging costs: right answers, a known mistake, and one that nothing explains."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from rich import box
from rich.table import Table

from grader.course.loading import Exercises
from grader.judging.answer_key import answers_of_code
from grader.judging.judge import judge
from grader.model.answer import Answer
from grader.model.exercise import Exercise, SampledCase
from grader.model.label import Label

NOISE = 0.3  # relative: more than rounding, and unlike any mistake


@dataclass(frozen=True)
class Cost:
    """Seconds for verdicts on one function, each the median of several runs."""

    exercise: Label
    entry: str
    right: float
    named: float  # the misconception that the judge tries last
    unexplained: float


def bench_judging(exercises: Exercises, runs: int) -> list[Cost]:
    torch.set_num_threads(1)  # tensors are small: threads would only wait for each other
    return [_cost(function, runs) for exercise in exercises.values() for function in exercise.functions]


def _cost(exercise: Exercise, runs: int) -> Cost:
    cases = exercise.sample()
    last = exercise.mistakes[-1:]

    def seconds(code: Callable[..., Any]) -> float:
        return _seconds(exercise, cases, answers_of_code(cases, code), runs)

    return Cost(
        exercise.label,
        exercise.entry,
        right=seconds(exercise.reference),
        named=seconds(lambda *inputs: exercise.wrong_answer(last, inputs)),
        unexplained=seconds(lambda *inputs: disturbed(exercise.reference(*inputs))),
    )


def disturbed(value: object) -> Any:
    """The same value with other numbers, which no misconception can explain."""
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        steps = torch.arange(value.numel(), dtype=value.dtype).reshape(value.shape)
        return value.detach() * (1 + NOISE * torch.sin(1 + steps))
    if isinstance(value, torch.Tensor) and value.dim():
        return value.flip(0)
    if isinstance(value, dict):
        return {name: disturbed(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [disturbed(item) for item in value]
    return value


def _seconds(exercise: Exercise, cases: Sequence[SampledCase], answers: Sequence[Answer], runs: int) -> float:
    measured = []
    for _ in range(runs):
        start = time.perf_counter()
        judge(exercise, cases, answers)
        measured.append(time.perf_counter() - start)
    return statistics.median(measured)


def judging_table(assignment: str, costs: Sequence[Cost]) -> Table:
    table = Table(title=f"Seconds of judging, {assignment}", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("exercise", justify="right")
    table.add_column("")
    for name in ("right", "last mistake named", "unexplained"):
        table.add_column(name, justify="right")
    for cost in costs:
        figures = (f"{seconds:.3f}" for seconds in (cost.right, cost.named, cost.unexplained))
        table.add_row(str(cost.exercise), cost.entry, *figures)
    return table
