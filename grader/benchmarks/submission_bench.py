"""Measure what a submission costs: nbgrader's own Execute and ours run the same notebook, in turns, on one core."""

from __future__ import annotations

import contextlib
import copy
import os
import statistics
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.preprocessors import Execute
from nbgrader.utils import determine_grade
from rich import box
from rich.console import Console
from rich.table import Table

from grader.benchmarks.class_mix import MIX, Notebooks
from grader.course.folder import Course
from grader.course.loading import Exercises
from grader.host.grading import Grading
from grader.host.limits import Time
from grader.host.notebook_settings import Settings
from grader.host.sandbox_process import SandboxProcess
from grader.host.scratch import files_beside
from grader.model.answer import Answer
from grader.model.exercise import Exercise, SampledCase, Standins
from grader.model.submission import Files
from grader.notebooks.cells import demos_of, fill_in, is_test_cell, solutions

OURS_PER_THEIRS = 4  # ours is so much faster that it can run more often
ALIVE_AT_ONCE = 4  # sandboxes, while memory is measured
PARTS = ("fork and confine", "cells", "answers", "judging", "end")


@dataclass(frozen=True)
class Memory:
    """The memory of one sandbox, in bytes."""

    proportional: float  # PSS: its own pages, and its part of shared ones
    private: float


@dataclass
class MeasuredSubmission:
    """Seconds of every run, the points that the notebook earned, and the memory of a sandbox."""

    theirs: list[float] = field(default_factory=list)
    ours: list[float] = field(default_factory=list)
    parts: dict[str, list[float]] = field(default_factory=lambda: {part: [] for part in PARTS})
    their_score: str = ""
    our_score: str = ""
    memory: Memory | None = None  # None if the kernel does not let us look

    @property
    def ratio(self) -> float:
        return statistics.median(self.theirs) / statistics.median(self.ours)

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": round(self.ratio, 1)}


def bench(course: Course, assignment: str, runs: int) -> MeasuredSubmission:
    """Run a solved notebook `runs` times through nbgrader's Execute, and more often through ours."""
    course.chosen([assignment])
    notebook, files = _solved(course, assignment), course.notebook("release", assignment).parent
    exercises = course.exercises(assignment)
    measured = MeasuredSubmission()
    with on_one_core():
        _ours(notebook, files, exercises, MeasuredSubmission())  # starts the zygote, which then serves everyone
        for _ in range(runs):
            _theirs(notebook, files, measured)
            for _ in range(OURS_PER_THEIRS):
                _ours(notebook, files, exercises, measured)
        measured.memory = _memory(notebook, files, exercises)
    return measured


def _solved(course: Course, assignment: str) -> NotebookNode:
    """A right submission, without demos, which only nbgrader would run."""
    release = course.read("release", assignment)
    return without_demos(fill_in(release, solutions(course.read("source", assignment))), release)


def without_demos(notebook: NotebookNode, release: NotebookNode) -> NotebookNode:
    demos = demos_of(release)
    notebook.cells = [cell for cell in notebook.cells if cell.source not in demos]
    return notebook


@contextlib.contextmanager
def on_one_core() -> Iterator[None]:
    """Keep this process and all that it starts on one core, so that no parallel work goes unnoticed."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def _theirs(notebook: NotebookNode, files: Path, measured: MeasuredSubmission) -> None:
    """Run it as `nbgrader autograde` does, but with visible checks only: it has less to do than ours."""
    notebook = copy.deepcopy(notebook)
    start = time.perf_counter()
    Execute().preprocess(notebook, {"metadata": {"path": str(files)}})
    measured.theirs.append(time.perf_counter() - start)
    measured.their_score = _score(notebook)


def _ours(notebook: NotebookNode, files: Path, exercises: Exercises, measured: MeasuredSubmission) -> None:
    notebook = copy.deepcopy(notebook)
    parts = seconds_by_part(notebook, files, exercises)
    measured.ours.append(sum(parts.values()))
    for part, seconds in parts.items():
        measured.parts[part].append(seconds)
    measured.our_score = _score(notebook)


def seconds_by_part(notebook: NotebookNode, files: Path, exercises: Exercises) -> dict[str, float]:
    """Grade a notebook in place, and return how long each part took."""
    start = time.perf_counter()
    grading = _Timed(notebook, files_beside(files), exercises)
    grading.run()
    with grading.timed("end"):
        grading.close()
    total = time.perf_counter() - start
    grading.seconds["judging"] = total - sum(grading.seconds.values())
    return grading.seconds


class _Timed(Grading):
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


def _score(notebook: NotebookNode) -> str:
    """The score that nbgrader reads from the outputs of test cells."""
    grades = [determine_grade(cell) for cell in notebook.cells if is_test_cell(cell)]
    points, most = (sum(column) for column in zip(*grades, strict=True))
    return f"{points:g}/{most:g}"


def _memory(notebook: NotebookNode, files: Path, exercises: Exercises) -> Memory | None:
    """The mean for several sandboxes alive at once, after each has run the notebook and answered all cases."""
    gradings = [_Timed(copy.deepcopy(notebook), files_beside(files), exercises) for _ in range(ALIVE_AT_ONCE)]
    try:
        for grading in gradings:
            grading.run()
        found = [_memory_of(grading.sandbox.pid) for grading in gradings]
    except PermissionError:  # only root may look into a sandbox
        return None
    finally:
        for grading in gradings:
            grading.close()
    return Memory(*(statistics.mean(numbers) for numbers in zip(*found, strict=True)))


def _memory_of(pid: int) -> tuple[int, int]:
    """Proportional and private bytes of a process."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    kilobytes = {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)}
    return kilobytes["Pss"] * 1024, (kilobytes["Private_Clean"] + kilobytes["Private_Dirty"]) * 1024


def seconds_table(measured: MeasuredSubmission, assignment: str) -> Table:
    """A table with a row for each way to run the notebook, and for each part of ours."""
    table = Table(
        title=f"Seconds for a submission of {assignment}, on one core", title_justify="left", box=box.SIMPLE_HEAD
    )
    table.add_column("")
    for name in ("median", "fastest", "slowest", "runs", "score"):
        table.add_column(name, justify="right")
    table.add_row("nbgrader's Execute", *_figures(measured.theirs), measured.their_score)
    table.add_row("ours", *_figures(measured.ours), measured.our_score)
    for part, seconds in measured.parts.items():
        table.add_row(f"  {part}", *_figures(seconds))
    return table


def _figures(seconds: Sequence[float]) -> list[str]:
    figures = (statistics.median(seconds), min(seconds), max(seconds))
    return [*(f"{figure:.3f}" for figure in figures), str(len(seconds))]


def show(measured: MeasuredSubmission, assignment: str, console: Console) -> None:
    console.print(seconds_table(measured, assignment))
    console.print(in_words(measured), highlight=False)


def in_words(measured: MeasuredSubmission) -> str:
    """How many times as fast ours is, and how much memory it takes."""
    speed = f"Ours is {measured.ratio:.0f} times as fast."
    if measured.memory is None:
        return f"{speed}\nOnly root can see the memory of a sandbox."
    proportional, private = (
        f"{size / 2**20:.0f} MB" for size in (measured.memory.proportional, measured.memory.private)
    )
    return (
        f"{speed}\nA sandbox has {private} of its own, and {proportional} with its part of the pages that it shares "
        f"(PSS, {ALIVE_AT_ONCE} sandboxes alive)."
    )


# What a student of each kind costs, part by part.

Seconds = Mapping[str, Mapping[str, float]]  # by kind of student, and part of the work


def bench_kinds(course: Course, assignment: str, notebooks: Notebooks) -> Seconds:
    """Mean seconds for the notebooks of each kind, without demos, which are not run for a class either."""
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
        table.add_row(kind, str(MIX[kind]), *_figures_of(parts))
    mean = {part: sum(MIX[kind] * parts[part] for kind, parts in seconds.items()) / 100 for part in PARTS}
    table.add_row("a student of a class", "", *_figures_of(mean))
    return table


def _figures_of(parts: Mapping[str, float]) -> list[str]:
    return [f"{seconds:.3f}" for seconds in (*parts.values(), sum(parts.values()))]
