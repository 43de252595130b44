"""Measure what a class costs: the same submissions through nbgrader alone and through ours, in one run.

Run it in a course: python benchmarks/class_bench.py self_attention --students 300 --growth 30 3000
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from traitlets.config import PyFileConfigLoader

from class_mix import MISHAPS, Notebooks, kind, members, notebooks_of_class
from grader.course.folder import CONFIG_FILE, Course, copy_course, open_course
from grader.release.compiling import compile_release
from time_taken import TimeTaken, measure

# Plain nbgrader, without our parts.
PLAIN_SETTINGS = """\
c = get_config()
c.CourseDirectory.course_id = "bench"
c.GraderCourse.exercises = "grader.exercises"
"""
FEW = 2  # students in the smallest class, whose time is nearly all startup
STARTS = 3  # how often that class is measured


@dataclass
class ClassCost:
    """The cost of a class, and that of larger ones where nothing hangs or crashes."""

    students: int
    kinds: Counter[str]
    first: TimeTaken
    again: TimeTaken  # a second run, which finds nothing new
    nbgrader: dict[str, list[float]] = field(default_factory=dict)  # seconds of each submission of the sample, by kind
    compared: int = 0  # scores of honest submissions of the sample
    differences: int = 0
    start: float = 0.0  # seconds for a class of FEW, where nothing hangs
    growth: dict[int, TimeTaken] = field(default_factory=dict)

    @property
    def nbgrader_seconds(self) -> float:
        """nbgrader's seconds for this class, extrapolated from its sample."""
        return sum(count * statistics.mean(self.nbgrader[kind]) for kind, count in self.kinds.items())

    def seconds_each(self, students: int) -> float:
        """Seconds for a submission without the startup. They must not depend on the size of the class."""
        return (self.growth[students].seconds - self.start) / (students - FEW)


@dataclass(frozen=True)
class Bench:
    """Classes of some assignment, in a scratch folder."""

    released: Course
    scratch: Path
    assignment: str
    notebooks: Notebooks
    console: Console

    def measure_class(self, students: int, sample: int) -> ClassCost:
        """Grade a class twice with ours, and a sample of it with nbgrader alone."""
        self.console.print(f"ours: a class of {students}", highlight=False)
        ours = self.course("ours", self.notebooks, students)
        names = ours.students(self.assignment)
        cost = ClassCost(students, Counter(map(kind, names)), self.autograde(ours), self.autograde(ours))
        plain = self.course("plain", self.notebooks, students)
        (plain.root / CONFIG_FILE).write_text(PLAIN_SETTINGS)
        chosen = sample_of(names, sample)
        for place, student in enumerate(chosen, start=1):
            self.console.print(f"nbgrader alone: {place} of {len(chosen)}", highlight=False)
            start = time.perf_counter()
            nbgrader_alone(plain).autograde(self.assignment, student)
            cost.nbgrader.setdefault(kind(student), []).append(time.perf_counter() - start)
        plain_scores, our_scores = (self.honest_scores(course, chosen) for course in (plain, ours))
        cost.compared = len(plain_scores)
        cost.differences = sum(score != our_scores.get(key) for key, score in plain_scores.items())
        return cost

    def measure_honest_class(self, students: int) -> TimeTaken:
        self.console.print(f"ours: a class of {students} without hangs and crashes", highlight=False)
        honest = {kind: texts for kind, texts in self.notebooks.items() if kind not in MISHAPS}
        course = self.course("honest", honest, students)
        cost = self.autograde(course)
        shutil.rmtree(course.root)
        return cost

    def course(self, name: str, notebooks: Notebooks, students: int) -> Course:
        course = Course(Path(shutil.copytree(self.released.root, self.scratch / name)))
        for student, text in itertools.islice(members(notebooks), students):
            path = course.notebook(f"submitted/{student}", self.assignment)
            path.parent.mkdir(parents=True)
            path.write_text(text)
        return course

    def autograde(self, course: Course) -> TimeTaken:
        """Includes all startup: of Python, the crew and its zygotes."""
        return measure([sys.executable, "-m", "grader", "autograde", self.assignment, "--quiet"], course.root)

    def honest_scores(self, course: Course, students: Sequence[str]) -> dict[tuple[str, str], float | None]:
        with course.api().gradebook as gradebook:
            return {
                (submission.student.id, grade.cell.name): grade.auto_score
                for submission in gradebook.assignment_submissions(self.assignment)
                for notebook in submission.notebooks
                for grade in notebook.grades
                if submission.student.id in students and kind(submission.student.id) not in MISHAPS
            }


def sample_of(students: Sequence[str], count: int) -> list[str]:
    """One student of each kind, and right ones from all over the class."""
    first = {kind(student): student for student in reversed(students)}
    right = [student for student in students if kind(student) == "right" and student not in first.values()]
    room = min(count - len(first), len(right))
    return sorted({*first.values(), *(right[index * len(right) // room] for index in range(room))})


def nbgrader_alone(course: Course) -> Any:
    """nbgrader's own interface with the settings as written; `course.api()` without arguments adds our parts."""
    config = PyFileConfigLoader(CONFIG_FILE, path=str(course.root)).load_config()
    config.CourseDirectory.root = str(course.root)
    return course.api(config)


def cost_table(assignment: str, cost: ClassCost) -> Table:
    table = Table(title=f"A class of {assignment}", title_justify="left", box=box.SIMPLE_HEAD)
    for name in ("students", "ours", "each", "CPU", "memory", "beyond the start", "again", "nbgrader"):
        table.add_column(name, justify="right")
    again = f"{cost.again.seconds:.1f} s", f"{cost.nbgrader_seconds:.0f} s"
    table.add_row(str(cost.students), *_figures(cost.first, cost.students), "", *again)
    for students, growth in cost.growth.items():
        table.add_row(f"honest: {students}", *_figures(growth, students), f"{cost.seconds_each(students):.3f} s")
    return table


def _figures(cost: TimeTaken, students: int) -> list[str]:
    seconds = f"{cost.seconds:.1f} s", f"{cost.seconds / students:.3f} s", f"{cost.cpu_seconds:.1f} s"
    return [*seconds, f"{cost.memory / 2**20:.0f} MB"]


def sample_in_words(cost: ClassCost) -> str:
    kinds = [f"{len(times)} {kind} ({statistics.mean(times):.1f} s each)" for kind, times in cost.nbgrader.items()]
    differences = f"{cost.differences} of {cost.compared} scores of honest students in it differ."
    return f"nbgrader's time is estimated from a sample: {', '.join(kinds)}. {differences}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assignment")
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--sample", type=int, default=20, help="how many of them nbgrader grades, too")
    parser.add_argument("--growth", type=int, nargs="*", default=[], help="sizes of classes where nothing hangs")
    chosen = parser.parse_args()
    course = open_course()
    (assignment,) = course.chosen([chosen.assignment])
    console = Console()
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        released = copy_course(course, Path(scratch, "released"))
        compile_release(released, assignment)
        bench = Bench(released, Path(scratch), assignment, notebooks_of_class(course, assignment), console)
        cost = bench.measure_class(chosen.students, chosen.sample)
        if chosen.growth:
            cost.start = statistics.median(bench.measure_honest_class(FEW).seconds for _ in range(STARTS))
        cost.growth = {students: bench.measure_honest_class(students) for students in chosen.growth}
    console.print(cost_table(assignment, cost))
    console.print(sample_in_words(cost), highlight=False)


if __name__ == "__main__":
    main()
