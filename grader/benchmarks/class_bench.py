"""Measure what a class costs: the same submissions through nbgrader alone and through ours, in one run."""

from __future__ import annotations

import itertools
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from rich import box
from rich.console import Console
from rich.table import Table
from traitlets.config import PyFileConfigLoader

from grader.benchmarks.accounted import TimeTaken, taken
from grader.benchmarks.class_mix import MISHAPS, Notebooks, kind, members
from grader.course.folder import CONFIG_FILE, Course, copy_course
from grader.host.machine import cores
from grader.release.compiling import compile_release

# Plain nbgrader, without our parts.
PLAIN_SETTINGS = """\
c = get_config()
c.CourseDirectory.course_id = "bench"
c.GraderCourse.exercises = "grader.exercises"
"""
FEW = 2  # students in the smallest class, whose time is nearly all startup
STARTS = 3  # how often that class is measured


@dataclass
class Size:
    """A class of some size, graded by ours."""

    students: int
    taken: TimeTaken
    unchanged: TimeTaken  # a second run, which finds nothing new


@dataclass
class MeasuredClass:
    assignment: str
    machine: str
    jobs: int
    device: str
    theirs: dict[str, list[float]] = field(default_factory=dict)  # seconds of each submission of the sample, by kind
    ours: list[Size] = field(default_factory=list)
    compared: int = 0  # scores of honest submissions of the sample
    differences: int = 0
    kinds: dict[int, dict[str, int]] = field(default_factory=dict)  # how many of each kind, by size of the class
    # Seconds for classes where nothing hangs or crashes: one of FEW students, for the startup, and larger ones.
    start: float = 0.0
    growth: dict[int, TimeTaken] = field(default_factory=dict)

    def theirs_for(self, size: Size) -> float:
        """nbgrader's seconds for a class of this size, extrapolated from its sample."""
        counts = self.kinds[size.students]
        return sum(count * statistics.mean(self.theirs[kind]) for kind, count in counts.items())

    def ratio(self, size: Size) -> float:
        return self.theirs_for(size) / size.taken.seconds

    def each(self, students: int) -> float:
        """Seconds for a submission without the startup. They must not depend on the size of the class."""
        return (self.growth[students].seconds - self.start) / (students - FEW)

    def to_json(self) -> dict[str, Any]:
        ratios = {size.students: round(self.ratio(size), 1) for size in self.ours}
        each = {students: round(self.each(students), 4) for students in self.growth}
        versions = {name: version(name) for name in ("nbgrader", "torch")}
        return {**asdict(self), **versions, "ratio": ratios, "each": each}


def bench_class(
    course: Course,
    assignment: str,
    notebooks: Notebooks,
    sizes: Sequence[int],
    growth: Sequence[int],
    sample: int,
    device: str,
    console: Console,
) -> MeasuredClass:
    """Measure classes of these `sizes`, nbgrader on a sample, and how our cost grows with the class."""
    measured = MeasuredClass(assignment, f"{platform.machine()}, {cores()} cores", cores(), device)
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        released = copy_course(course, Path(scratch, "released"))
        compile_release(released, assignment)
        _both(released, Path(scratch), notebooks, sizes, sample, measured, console)
        honest = {kind: several for kind, several in notebooks.items() if kind not in MISHAPS}

        def by_honest(students: int) -> TimeTaken:
            console.print(f"ours: a class of {students} without hangs and crashes", highlight=False)
            ours = _course(released, Path(scratch, "honest"), assignment, honest, students)
            numbers = _ours(ours, assignment, device)
            shutil.rmtree(ours.root)
            return numbers

        if growth:
            measured.start = statistics.median(by_honest(FEW).seconds for _ in range(STARTS))
        measured.growth = {students: by_honest(students) for students in growth}
    return measured


def _both(
    released: Course, scratch: Path, notebooks: Notebooks, sizes: Sequence[int], sample: int,
    measured: MeasuredClass, console: Console,
) -> None:  # fmt: skip
    assignment = measured.assignment
    plain = _course(released, scratch / "plain", assignment, notebooks, max(sizes))
    (plain.root / CONFIG_FILE).write_text(PLAIN_SETTINGS)
    chosen = _sample(plain.students(assignment), sample)
    for place, student in enumerate(chosen, start=1):
        console.print(f"nbgrader alone: {place} of {len(chosen)}", highlight=False)
        measured.theirs.setdefault(kind(student), []).append(_theirs(plain, assignment, student))
    for size in sizes:
        console.print(f"ours: a class of {size}", highlight=False)
        ours = _course(released, scratch / "ours", assignment, notebooks, size)
        measured.kinds[size] = dict(Counter(map(kind, ours.students(assignment))))
        measured.ours.append(Size(size, *(_ours(ours, assignment, measured.device) for _ in range(2))))
        if size == max(sizes):
            measured.compared, measured.differences = _compare(plain, ours, assignment, chosen)
        shutil.rmtree(ours.root)


def _course(released: Course, folder: Path, assignment: str, notebooks: Notebooks, students: int) -> Course:
    shutil.copytree(released.root, folder)
    course = Course(folder)
    for student, text in itertools.islice(members(notebooks), students):
        path = course.notebook(f"submitted/{student}", assignment)
        path.parent.mkdir(parents=True)
        path.write_text(text)
    return course


def _sample(students: Sequence[str], count: int) -> list[str]:
    """One student of each kind, and right ones from all over the class."""
    first = {kind(student): student for student in reversed(students)}
    right = [student for student in students if kind(student) == "right" and student not in first.values()]
    left = min(count - len(first), len(right))
    return sorted({*first.values(), *(right[index * len(right) // left] for index in range(left))})


def nbgrader_alone(course: Course) -> Any:
    """nbgrader's own interface with the settings as written: `course.api()` without arguments adds our parts."""
    config = PyFileConfigLoader(CONFIG_FILE, path=str(course.root)).load_config()
    config.CourseDirectory.root = str(course.root)
    return course.api(config)


def _theirs(course: Course, assignment: str, student: str) -> float:
    start = time.perf_counter()
    nbgrader_alone(course).autograde(assignment, student)
    return time.perf_counter() - start


def _ours(course: Course, assignment: str, device: str) -> TimeTaken:
    """Includes all startup: of Python, the crew and its zygotes."""
    return taken([sys.executable, "-m", "grader", "autograde", assignment, "--quiet", "--device", device], course.root)


def _compare(one: Course, other: Course, assignment: str, students: Sequence[str]) -> tuple[int, int]:
    """How many scores of honest students there are, and how many differ."""
    honest = {student for student in students if kind(student) not in MISHAPS}
    scores, others = (_scores(course, assignment) for course in (one, other))
    keys = [key for key in scores if key[0] in honest]
    return len(keys), sum(scores[key] != others.get(key) for key in keys)


def _scores(course: Course, assignment: str) -> dict[tuple[str, str], float | None]:
    with course.api().gradebook as gradebook:
        return {
            (submission.student.id, grade.cell.name): grade.auto_score
            for submission in gradebook.assignment_submissions(assignment)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


def class_table(measured: MeasuredClass) -> Table:
    names = ("students", "ours", "each", "CPU", "memory", "again", "nbgrader", "times as fast")
    table = _table(f"A class, {measured.assignment}", names)
    for size in measured.ours:
        table.add_row(
            str(size.students), *_figures(size.taken, size.students), f"{size.unchanged.seconds:.1f} s",
            f"{measured.theirs_for(size):.0f} s", f"{measured.ratio(size):.0f}",
        )  # fmt: skip
    return table


def growth_table(measured: MeasuredClass) -> Table:
    names = ("students", "ours", "each", "CPU", "memory", "each after the start")
    table = _table("As the class grows, without hangs and crashes", names)
    table.add_row(str(FEW), f"{measured.start:.1f} s")
    for students, numbers in measured.growth.items():
        table.add_row(str(students), *_figures(numbers, students), f"{measured.each(students):.3f} s")
    return table


def _table(title: str, names: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for name in names:
        table.add_column(name, justify="right")
    return table


def _figures(numbers: TimeTaken, students: int) -> tuple[str, ...]:
    seconds = f"{numbers.seconds:.1f} s", f"{numbers.seconds / students:.3f} s", f"{numbers.cpu_seconds:.1f} s"
    return *seconds, f"{numbers.memory / 2**20:.0f} MB"


def class_in_words(measured: MeasuredClass) -> str:
    sample = sum(map(len, measured.theirs.values()))
    kinds = ", ".join(
        f"{len(seconds)} {kind} ({statistics.mean(seconds):.1f} s each)" for kind, seconds in measured.theirs.items()
    )
    return (
        "Ours: seconds in total, per student, and of CPU time; peak memory of the process that reads and writes; and "
        "seconds for a second run, with nothing changed.\n"
        f"nbgrader was measured on a sample of {sample}: {kinds}. Its time for a class is estimated from that.\n"
        f"Score differences: {measured.differences} of {measured.compared} scores of honest students in the sample."
    )


def show(measured: MeasuredClass, console: Console) -> None:
    console.print(class_table(measured))
    if measured.growth:
        console.print(growth_table(measured))
    console.print(class_in_words(measured), highlight=False)


# A picture of what a submission costs, by the size of the class.

_OURS, _THEIRS = "#1d3f72", "#c2571a"
_STYLE = {"font.size": 10, "svg.hashsalt": "class", "axes.spines.top": False, "axes.spines.right": False}


def draw_class(measured: MeasuredClass, path: Path) -> None:
    """Draw the seconds per submission, beside nbgrader alone, and how they grow, if that was measured."""
    ours = {size.students: size.taken.seconds / size.students for size in measured.ours}
    theirs = {size.students: measured.theirs_for(size) / size.students for size in measured.ours}
    growth = {students: numbers.seconds / students for students, numbers in measured.growth.items()}
    each = {students: measured.each(students) for students in growth}
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7, 4), layout="constrained")
        ax: Any = figure.subplots()
        _draw(ax, theirs, "nbgrader alone, from a sample", "s", _THEIRS)
        _draw(ax, ours, "grader autograde, the same class", "s", _OURS)
        _draw(ax, growth, "grader autograde, nothing hangs", "o-", _OURS, last=True)
        _draw(ax, each, "beyond the start", "o:", _OURS, below=True)
        ax.set(xscale="log", yscale="log", xlabel="students in the class", ylabel="seconds for a submission")
        sizes = sorted({*ours, *growth})
        ax.set_xticks(sizes, [f"{students:,}" for students in sizes])
        ax.set_xlim(min(sizes) / 1.5, max(sizes) * 1.5)
        ax.set_ylim(min(ours.values()) / 6, max(theirs.values()) * 2.5)
        ax.yaxis.set_major_formatter("{x:g}")
        ax.minorticks_off()
        ax.grid(axis="y", color="#dddddd")
        ax.set_title(f"What a submission of {measured.assignment} costs, {measured.machine}", loc="left")
        figure.savefig(path, metadata={"Date": None})


def _draw(
    ax: Any,
    seconds: Mapping[int, float],
    label: str,
    style: str,
    color: str,
    *,
    below: bool = False,
    last: bool = False,
) -> None:
    if not seconds:
        return
    ax.plot(seconds.keys(), seconds.values(), style, color=color)
    place = {"xytext": (0, -9), "va": "top"} if below else {"xytext": (0, 8), "va": "bottom"}
    at = list(seconds.items())[-1 if last else 0]
    ax.annotate(label, at, textcoords="offset points", color=color, ha="right" if last else "left", **place)
