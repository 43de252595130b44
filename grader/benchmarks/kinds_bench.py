"""What a student of each kind costs, part by part, on one core: a class is so many of each."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

import nbformat
from rich import box
from rich.table import Table

from grader.benchmarks.class_mix import MIX, Notebooks
from grader.benchmarks.submission_bench import PARTS, on_one_core, seconds_by_part, without_demos
from grader.course.folder import Course

Seconds = Mapping[str, Mapping[str, float]]  # by kind of student, and part of the work


def bench_kinds(course: Course, assignment: str, notebooks: Notebooks) -> Seconds:
    """Means over the notebooks of a kind, without demos, which a class leaves out as well."""
    files, exercises = course.notebook("release", assignment).parent, course.exercises(assignment)
    release = course.read("release", assignment)
    found: dict[str, dict[str, float]] = {}
    with on_one_core():
        for kind, texts in notebooks.items():
            several = [
                seconds_by_part(without_demos(nbformat.reads(text, as_version=4), release), files, exercises)
                for text in texts
            ]
            found[kind] = {part: statistics.mean(one[part] for one in several) for part in PARTS}
    return found


def kinds_table(assignment: str, seconds: Seconds) -> Table:
    title = f"Seconds for a student of each kind, {assignment}, on one core"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for name in ("kind", "of 100", *PARTS, "in all"):
        table.add_column(name, justify="left" if name == "kind" else "right")
    for kind, parts in seconds.items():
        table.add_row(kind, str(MIX[kind]), *_figures(parts))
    mean = {part: sum(MIX[kind] * parts[part] for kind, parts in seconds.items()) / 100 for part in PARTS}
    table.add_row("a student of a class", "", *_figures(mean))
    return table


def _figures(parts: Mapping[str, float]) -> list[str]:
    return [f"{seconds:.3f}" for seconds in (*parts.values(), sum(parts.values()))]
