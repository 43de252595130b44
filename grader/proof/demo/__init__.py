"""A made-up class of twelve, from source to feedback and report."""

from __future__ import annotations

import ast
import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import nbformat
from rich.console import Console

from grader.catalogue.loading import Exercises
from grader.classroom.progress import Onlooker
from grader.classroom.run import autograde
from grader.course import CONFIG_FILE, Course, copy_course
from grader.machine import cores
from grader.model.label import Label
from grader.model.submission import Graded
from grader.notebooks.solutions import fill_in, solutions
from grader.pages.feedback import write_feedback
from grader.pages.report import write_report
from grader.release.compiling import compile_release

ASSIGNMENT = "self_attention"
# One of the twelve has written an endless loop, which its check and its hidden cases run into again.
IMPATIENCE = "\nc.RunAndJudge.timeout = 5\nc.RunAndJudge.case_timeout = 3\n"
STUDENTS = Path(__file__).parent / "students"
PACKED = Path(__file__).parent / "course.zip"  # setup.py makes it


def run_demo(folder: Path, console: Console) -> tuple[list[Graded], dict[str, Path], Path]:
    """Grade the class in a scratch course folder; the results, and where each feedback page and the report lie."""
    console.print(f"Compiling the release of {ASSIGNMENT} into {folder}/release …")
    with the_course() as source:
        course = copy_course(source, folder)
    with (course.root / CONFIG_FILE).open("a") as config:
        config.write(IMPATIENCE)
    compile_release(course, ASSIGNMENT)
    count = make_up_class(course)
    console.print(f"Made up {count} submissions in {folder}/submitted.")
    onlooker = Onlooker(console, count, quiet=False)
    results = sorted(
        onlooker.follow(autograde(course, ASSIGNMENT, jobs=cores(), watcher=onlooker)),
        key=lambda graded: graded.student,
    )
    pages = {
        page.parent.parent.name: folder / page.relative_to(course.root)
        for page in write_feedback(course, ASSIGNMENT, console.print)
    }
    report, *_ = write_report(course, ASSIGNMENT, console.print)
    return results, pages, folder / report.relative_to(course.root)


@contextlib.contextmanager
def the_course() -> Iterator[Course]:
    """The attention course: packed into an installed grader, or beside one that is not installed."""
    if not PACKED.exists():
        yield Course(Path(__file__).parents[3])
        return
    with tempfile.TemporaryDirectory() as folder, ZipFile(PACKED) as archive:
        archive.extractall(folder)
        yield Course(Path(folder))


def most_to_read(results: list[Graded]) -> str:
    """The student whose feedback has the most to say."""
    return max(
        results, key=lambda graded: sum(len(scored.verdict.misconceptions) for scored in graded.verdicts)
    ).student


def make_up_class(course: Course) -> int:
    """Write the submissions: one for each file of students/, an empty one and a broken file."""
    release = course.read("release", ASSIGNMENT)
    right = solutions(course.read("source", ASSIGNMENT))
    exercises = course.exercises(ASSIGNMENT)
    notebooks: dict[str, str] = {
        file.stem: nbformat.writes(fill_in(release, {**right, **answers_of(file, exercises)}))
        for file in student_files()
    }
    notebooks["kurt"] = nbformat.writes(release)
    notebooks["luca"] = nbformat.writes(release)[:2000]  # an upload that broke off
    for student, text in notebooks.items():
        path = course.notebook(f"submitted/{student}", ASSIGNMENT)
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    return len(notebooks)


def student_files() -> list[Path]:
    return sorted(STUDENTS.glob("*.py"))


def answers_of(file: Path, exercises: Exercises) -> dict[Label, Any]:
    """The functions in a student's file, by exercise. What a file leaves out is solved as in the source."""
    text = file.read_text(encoding="utf-8")
    labels = {exercise.entry: label for label, exercise in exercises.items()}
    return {
        labels[node.name]: ast.get_source_segment(text, node)
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and node.name in labels
    }
