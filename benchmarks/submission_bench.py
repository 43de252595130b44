"""Measure what a submission costs: nbgrader's own Execute, and ours for each kind of student.

Run it in a course, on one core: taskset -c 0 python benchmarks/submission_bench.py self_attention
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute
from rich import box
from rich.console import Console
from rich.table import Table

from class_mix import MIX, Notebooks, notebooks_of_class
from grader.course.folder import Course, open_course
from grader.course.loading import Exercises
from grader.host.grading import Grading
from grader.host.limits import Time
from grader.host.notebook_settings import Settings
from grader.host.sandbox_process import SandboxProcess
from grader.host.scratch import files_beside
from grader.model.answer import Answer
from grader.model.exercise import Exercise, SampledCase, Standins
from grader.model.submission import Files
from grader.notebooks.cells import demos_of

PARTS = ("fork and confine", "cells", "answers", "judging", "end")
PartSeconds = Mapping[str, float]


def measure_nbgrader(notebook: NotebookNode, folder: Path, runs: int) -> list[float]:
    """Seconds of `nbgrader autograde`'s Execute. It only runs visible checks, so it has less to do than ours."""
    seconds = []
    for _ in range(runs):
        fresh = copy.deepcopy(notebook)
        start = time.perf_counter()
        Execute().preprocess(fresh, {"metadata": {"path": str(folder)}})
        seconds.append(time.perf_counter() - start)
    return seconds


def measure_kinds(course: Course, assignment: str, notebooks: Notebooks) -> dict[str, PartSeconds]:
    """Mean seconds for each kind of student. Demos are left out, as in a class."""
    folder = course.notebook("release", assignment).parent
    exercises = course.exercises(assignment)
    means: dict[str, PartSeconds] = {}
    for kind, texts in notebooks.items():
        runs = [seconds_by_part(without_demos(text, course, assignment), folder, exercises) for text in texts]
        means[kind] = {part: statistics.mean(seconds[part] for seconds in runs) for part in PARTS}
    return means


def without_demos(text: str, course: Course, assignment: str) -> NotebookNode:
    demos = demos_of(course.read("release", assignment))
    notebook = nbformat.reads(text, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.source not in demos]
    return notebook


def seconds_by_part(notebook: NotebookNode, folder: Path, exercises: Exercises) -> PartSeconds:
    """Grade a notebook in place, and return how long each part took."""
    start = time.perf_counter()
    grading = TimedGrading(notebook, files_beside(folder), exercises)
    grading.run()
    with grading.timed("end"):
        grading.close()
    total = time.perf_counter() - start
    grading.seconds["judging"] = total - sum(grading.seconds.values())
    return grading.seconds


class TimedGrading(Grading):
    """Measures how long it waits for the sandbox, and for what."""

    def __init__(self, notebook: NotebookNode, files: Files, exercises: Exercises) -> None:
        self.seconds = dict.fromkeys(PARTS, 0.0)
        super().__init__(notebook, files, Settings(exercises))

    @contextlib.contextmanager
    def timed(self, part: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[part] += time.perf_counter() - start

    def _new_sandbox(self, time: Time) -> SandboxProcess:
        with self.timed("fork and confine"):
            sandbox = super()._new_sandbox(time)
            sandbox.wait_until_ready()
            return sandbox

    def _run(self, cell: NotebookNode) -> None:
        with self.timed("cells"):
            super()._run(cell)

    def ask(self, exercise: Exercise, drawn: Sequence[SampledCase], standins: Standins) -> list[Answer]:
        """The answers, measured."""
        with self.timed("answers"):
            return super().ask(exercise, drawn, standins)


def kinds_table(assignment: str, nbgrader_seconds: Sequence[float], kinds: Mapping[str, PartSeconds]) -> Table:
    title = f"Seconds for a submission of {assignment}"
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("kind of student")
    for name in ("of 100", *PARTS, "in all"):
        table.add_column(name, justify="right")
    for kind, seconds in kinds.items():
        table.add_row(kind, str(MIX[kind]), *_row(seconds))
    mean = {part: sum(MIX[kind] * kinds[kind][part] for kind in kinds) / 100 for part in PARTS}
    table.add_row("mean of a class", "", *_row(mean))
    table.add_row("right, nbgrader's Execute", *[""] * (1 + len(PARTS)), f"{statistics.median(nbgrader_seconds):.3f}")
    return table


def _row(seconds: PartSeconds) -> list[str]:
    return [f"{number:.3f}" for number in (*seconds.values(), sum(seconds.values()))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assignment")
    parser.add_argument("--runs", type=int, default=5, help="how many times nbgrader's Execute runs a notebook")
    chosen = parser.parse_args()
    course = open_course()
    (assignment,) = course.chosen([chosen.assignment])
    notebooks = notebooks_of_class(course, assignment)
    right = without_demos(notebooks["right"][0], course, assignment)
    folder = course.notebook("release", assignment).parent
    kinds = measure_kinds(course, assignment, notebooks)
    nbgrader_seconds = measure_nbgrader(right, folder, chosen.runs)
    Console().print(kinds_table(assignment, nbgrader_seconds, kinds))


if __name__ == "__main__":
    main()
