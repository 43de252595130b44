"""`grader bench`: what a class, a submission and its verdicts cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from grader.benchmarks import class_bench, judging_bench, submission_bench
from grader.benchmarks.class_mix import notebooks_of_class
from grader.checks.demo import demonstrated
from grader.course.folder import Course
from grader.host.devices import need_device


@dataclass(frozen=True)
class Plan:
    """What to measure, and how often."""

    assignments: Sequence[str]
    students: Sequence[int]  # sizes of classes
    growth: Sequence[int]  # sizes that show how the cost grows
    sample: int  # how many of a class nbgrader grades as well
    runs: int
    device: str


def run_bench(course: Course, plan: Plan, output: Path, console: Console) -> None:
    """Measure, show the numbers and write them to a file; classes, with pictures, only for the demo's assignments."""
    need_device(plan.device)
    numbers: dict[str, Any] = {}
    for assignment in plan.assignments:
        if assignment in demonstrated():
            notebooks = notebooks_of_class(course, assignment)
            measured = class_bench.bench_class(
                course, assignment, notebooks, plan.students, plan.growth, plan.sample, plan.device, console
            )
            class_bench.show(measured, console)
            class_bench.draw_class(measured, output.with_name(f"{output.stem}-{assignment}.svg"))
            numbers.setdefault("class", {})[assignment] = measured.to_json()
            kinds = submission_bench.bench_kinds(course, assignment, notebooks)
            console.print(submission_bench.kinds_table(assignment, kinds))
            numbers.setdefault("kinds", {})[assignment] = kinds
        submission = submission_bench.bench(course, assignment, plan.runs)
        submission_bench.show(submission, assignment, console)
        costs = judging_bench.bench_judging(course.exercises(assignment), plan.runs)
        console.print(judging_bench.judging_table(assignment, costs))
        numbers.setdefault("submission", {})[assignment] = submission.to_json()
        numbers.setdefault("judging", {})[assignment] = [asdict(cost) for cost in costs]
    output.write_text(json.dumps(numbers, indent=2) + "\n")
