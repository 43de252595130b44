"""Grade the notebooks that nbgrader comes with, by nbgrader and by us, and show the scores side by side.

python tests/end_to_end/nbgrader_notebooks.py            all of them, in minutes
python tests/end_to_end/nbgrader_notebooks.py --ratio    a class of 60 in the course of nbgrader's documentation
"""

from __future__ import annotations

import contextlib
import io
import logging
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbgrader
from nbgrader.api import Grade, Gradebook
from nbgrader.apps.api import NbGraderAPI
from rich.console import Console
from sqlalchemy import select
from traitlets.config import Config

from grader.classroom.run import autograde
from grader.course.folder import CONFIG_FILE, Course

WHEEL = Path(nbgrader.__file__).parent
GUIDE, FILES = WHEEL / "docs/source/user_guide", WHEEL / "tests/apps/files"
SECONDS = 5
SETTINGS = f"c = get_config()\nc.CourseDirectory.course_id = 'proof'\nc.Execute.timeout = {SECONDS}\n"
BESIDE = ("data.txt", "jupyter.png")
# nbgrader skips its own test of this one, since it "consumes a LOT of memory".
TOO_MUCH_FOR_NBGRADER = "infinite-loop-with-output"

say = Console(width=250, highlight=False, markup=False).print

Scores = dict[tuple[str, str, str], tuple[float | None, bool]]  # student, notebook, cell: score, waits for a person


@dataclass
class Assignment:
    """The notebooks of an assignment, and each student's submission. None stands for the released notebook."""

    name: str
    source: Mapping[str, Path]
    students: Mapping[str, Mapping[str, Path | None]]
    beside: list[Path] = field(default_factory=list)


@dataclass
class Compared:
    assignment: str
    released: bool
    theirs: Mapping[str, Scores | None]  # by student; None if nbgrader fails to grade
    ours: Mapping[str, Scores | None]

    @property
    def differences(self) -> list[str]:
        return [f"{self.assignment}, {student}" for student in self.theirs if self._differs(student)]

    def _differs(self, student: str) -> bool:
        theirs, ours = self.theirs[student], self.ours[student]
        return theirs is not None and theirs != ours


def documentation() -> Assignment:
    """The course in nbgrader's documentation, with its submissions."""
    names = ("problem1", "problem2")
    submitted = {
        path.name: {name: path / "ps1" / f"{name}.ipynb" for name in names} for path in (GUIDE / "submitted").iterdir()
    }
    source = {name: GUIDE / "source/ps1" / f"{name}.ipynb" for name in names}
    solved: dict[str, Mapping[str, Path | None]] = {"solved": source, "untouched": dict.fromkeys(names)}
    return Assignment("ps1", source, {**submitted, **solved}, [GUIDE / "source/ps1/jupyter.png"])


def test_files() -> list[Assignment]:
    """The notebooks that nbgrader's own tests submit for one another."""
    families = {"submitted": "submitted-unchanged", **{name: name for name in _autotests()}}
    found = []
    for family, source in families.items():
        handed_in = sorted(FILES.glob(f"{family}-*.ipynb"))
        students = {path.stem: {"p1": path} for path in handed_in}
        found.append(Assignment(f"of-{family}", {"p1": FILES / f"{source}.ipynb"}, students))
    return found


def _autotests() -> list[str]:
    return ["autotest-simple", "autotest-hashed", "autotest-hidden", "autotest-multi"]


def each_by_itself() -> list[Assignment]:
    """Each notebook in the wheel as an assignment, submitted both solved by its author and as released."""
    paths = {path.read_bytes(): path for path in sorted(WHEEL.rglob("*.ipynb")) if path.stem != TOO_MUCH_FOR_NBGRADER}
    return [
        Assignment(
            f"n{number:02}-{path.stem.replace('_', '-')}",
            {"p1": path},
            {"solved": {"p1": path}, "untouched": {"p1": None}},
        )
        for number, path in enumerate(sorted(paths.values()), start=1)
    ]


def compare(assignments: Iterable[Assignment], folder: Path) -> list[Compared]:
    """Grade all assignments in two course folders that start out equal."""
    theirs = folder / "theirs"
    theirs.mkdir(parents=True)
    (theirs / CONFIG_FILE).write_text(SETTINGS)
    shutil.copy(GUIDE / "autotests.yml", theirs / "autotests.yml")
    released = {one.name: _release(one, theirs) for one in assignments}
    ours = folder / "ours"
    shutil.copytree(theirs, ours)
    found = []
    for one in assignments:
        if not released[one.name]:
            found.append(Compared(one.name, False, {}, {}))
            continue
        students = list(one.students)
        by_nbgrader = {student: _by_nbgrader(theirs, one.name, student) for student in students}
        with contextlib.chdir(ours):
            results = {result.student: result for result in autograde(Course(ours), one.name)}
        by_us = {name: None if results[name].error else _scores(ours, one.name, name) for name in students}
        found.append(Compared(one.name, True, by_nbgrader, by_us))
    return found


def _release(one: Assignment, course: Path) -> bool:
    source, release = course / "source" / one.name, course / "release" / one.name
    source.mkdir(parents=True)
    for path in (*one.beside, *(FILES / name for name in BESIDE)):
        shutil.copy(path, source)
    for name, path in one.source.items():
        shutil.copy(path, source / f"{name}.ipynb")
    with _quiet(), contextlib.chdir(course):
        done = plain_api(course).generate_assignment(one.name, force=True, create=True)
    if not done["success"]:
        return False
    for student, notebooks in one.students.items():
        folder = course / "submitted" / student / one.name
        folder.mkdir(parents=True)
        for name, handed_in in notebooks.items():
            shutil.copy(handed_in or release / f"{name}.ipynb", folder / f"{name}.ipynb")
    return True


def plain_api(course: Path) -> NbGraderAPI:
    """nbgrader without any of our parts."""
    config = Config()
    config.CourseDirectory.root = str(course.resolve())
    config.CourseDirectory.course_id = "proof"
    config.Execute.timeout = SECONDS
    return NbGraderAPI(config=config)


@contextlib.contextmanager
def _quiet() -> Any:
    logging.disable(logging.CRITICAL)
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            logging.disable(logging.NOTSET)


def _by_nbgrader(course: Path, assignment: str, student: str) -> Scores | None:
    with _quiet(), contextlib.chdir(course):
        done = plain_api(course).autograde(assignment, student, force=True)
    return _scores(course, assignment, student) if done["success"] else None


def _scores(course: Path, assignment: str, student: str) -> Scores:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as gradebook:
        return {
            (student, grade.notebook.name, grade.cell.name): (grade.auto_score, grade.needs_manual_grade)
            for grade in gradebook.db.scalars(select(Grade))
            if grade.notebook.student.id == student and grade.notebook.assignment.assignment.name == assignment
        }


def _shown(scores: Scores | None) -> str:
    if scores is None:
        return "no grade"
    return " ".join("by hand" if score is None else f"{score:g}" for score, _ in scores.values()) or "nothing to score"


def print_table(found: Iterable[Compared]) -> int:
    cells = differences = 0
    for one in found:
        if not one.released:
            say(f"{one.assignment:48} is refused by nbgrader's generate_assignment")
        for student, theirs in one.theirs.items():
            differs = f"{one.assignment}, {student}" in one.differences
            cells += len(theirs or ())
            differences += differs
            said = "DIFFERS" if differs else "the same" if theirs is not None else "nbgrader fails"
            say(f"{one.assignment:48} {student:38} {said:15} {_shown(theirs)} | {_shown(one.ours[student])}")
    say(f"{cells} scores of cells, {differences} submissions with a difference")
    return differences


def print_ratio(folder: Path, students: int = 60, sample: int = 6) -> None:
    """Time a class that submits the documentation's course; nbgrader's time is estimated from a sample."""
    some = documentation()
    kinds = list(some.students.items())
    some.students = {f"s{number:02}": kinds[number % len(kinds)][1] for number in range(students)}
    course = folder / "course"
    course.mkdir(parents=True)
    (course / CONFIG_FILE).write_text(SETTINGS)
    assert _release(some, course)
    began = time.perf_counter()
    results = list(autograde(Course(course), some.name, jobs=2))
    ours = time.perf_counter() - began
    began = time.perf_counter()
    for number in range(sample):
        assert _by_nbgrader(course, some.name, f"s{number:02}") is not None
    theirs = (time.perf_counter() - began) / sample * students
    say(f"{len(results)} graded in {ours:.1f} s; nbgrader {theirs:.0f} s (from {sample}); ratio {theirs / ours:.0f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        if "--ratio" in sys.argv:
            print_ratio(Path(scratch), *map(int, sys.argv[2:]))
        else:
            sys.exit(bool(print_table(compare([documentation(), *test_files(), *each_by_itself()], Path(scratch)))))
