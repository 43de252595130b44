"""A made-up class of twelve, from source to feedback and report."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import nbformat
from rich.console import Console

from grader.checks.student_code import read_pieces
from grader.classroom.progress import Onlooker
from grader.classroom.run import autograde
from grader.course.folder import CONFIG_FILE, Course, copy_course, open_course
from grader.errors import CourseError
from grader.host.machine import cores
from grader.model.label import Label, label_of
from grader.model.submission import Graded
from grader.notebooks.cells import fill_in, solutions
from grader.pages.feedback import write_feedback
from grader.pages.report import write_report
from grader.release.compiling import compile_release

ASSIGNMENT = "self_attention"
# One of the twelve wrote an endless loop, which times out in both its check and its hidden cases.
IMPATIENCE = "\nc.RunAndJudge.timeout = 5\nc.RunAndJudge.case_timeout = 3\n"
STUDENTS = Path(__file__).parent / "students"  # a text for each assignment, in the format of corpus/
BY_THE_BOOK = "ada"  # her solutions are the source's own
PACKED = Path(__file__).parent / "course.zip"  # made by setup.py


def run_demo(
    folder: Path, console: Console, assignment: str = ASSIGNMENT
) -> tuple[list[Graded], dict[str, Path], Path]:
    """Grade the class in a scratch course folder; returns the results, each student's feedback page, and the report."""
    course = released_course(folder, console, assignment)
    count = make_up_class(course, assignment)
    console.print(f"Created {count} made-up submissions in {folder}/submitted.")
    onlooker = Onlooker(console, count, quiet=False)
    run = autograde(course, assignment, jobs=cores(), watch=onlooker.show_running)
    results = sorted(onlooker.follow(run), key=lambda graded: graded.student)
    pages: dict[str, Path] = {}
    for page in write_feedback(course, assignment):
        student = page.parent.parent.name
        pages[student] = folder / page.relative_to(course.root)
    report, *_ = write_report(course, assignment)
    return results, pages, folder / report.relative_to(course.root)


def released_course(folder: Path, console: Console, assignment: str = ASSIGNMENT) -> Course:
    """A scratch course folder in which the assignment is released."""
    if assignment not in demonstrated():
        raise CourseError(f"The demo has no submissions for {assignment}. Choose one of: {', '.join(demonstrated())}.")
    console.print(f"Compiling the release of {assignment} into {folder}/release …")
    with the_course() as source:
        course = copy_course(source, folder)
    with (course.root / CONFIG_FILE).open("a") as config:
        config.write(IMPATIENCE)
    compile_release(course, assignment)
    return course


@contextlib.contextmanager
def the_course() -> Iterator[Course]:
    """The attention course: packed into an installed grader, or else the repository around this file."""
    if not PACKED.exists():
        yield open_course(Path(__file__).parents[3])
        return
    with tempfile.TemporaryDirectory() as folder, ZipFile(PACKED) as archive:
        archive.extractall(folder)
        yield open_course(Path(folder))


def most_to_read(results: list[Graded]) -> str:
    """The student whose feedback has the most to say."""

    def count_mistakes(graded: Graded) -> int:
        return sum(len(scored.verdict.misconceptions) for scored in graded.verdicts)

    return max(results, key=count_mistakes).student


def make_up_class(course: Course, assignment: str = ASSIGNMENT) -> int:
    """Write the submissions: one for each student, an empty one and a broken file."""
    notebooks = notebooks_of_all(course, assignment)
    for student, text in notebooks.items():
        path = course.notebook(f"submitted/{student}", assignment)
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    return len(notebooks)


def notebooks_of_all(course: Course, assignment: str = ASSIGNMENT) -> dict[str, str]:
    """What each student submits."""
    release = course.read("release", assignment)
    right_solutions = solutions(course.read("source", assignment))
    notebooks: dict[str, str] = {}
    for student, student_solutions in answers_of_all(assignment).items():
        notebooks[student] = nbformat.writes(fill_in(release, {**right_solutions, **student_solutions}))
    notebooks["kurt"] = nbformat.writes(release)
    notebooks["luca"] = nbformat.writes(release)[:2000]  # an upload that broke off
    return notebooks


def demonstrated() -> list[str]:
    """The assignments that the made-up class has done."""
    return sorted(path.stem for path in STUDENTS.glob("*.txt"))


def answers_of_all(assignment: str) -> dict[str, dict[Label, str]]:
    """Each student's solutions, by exercise. Those left out are solved as in the source."""
    answers: dict[str, dict[Label, str]] = {BY_THE_BOOK: {}}
    for piece in read_pieces((STUDENTS / f"{assignment}.txt").read_text(encoding="utf-8")):
        student, _, name = piece.name.partition("-")
        answers.setdefault(student, {})[label_of(name) or name] = piece.code.strip("\n")
    return answers
