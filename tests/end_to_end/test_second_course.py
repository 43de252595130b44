"""Another course, numpy and plain Python, far from the repository: from the built wheel to the grades."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.course.folder import Course
from grader.notebooks.cells import solved
from support.proof import some_in_ci
from support.second_course import SECOND_COURSE, WRONG, copy_of_second_course

pytestmark = pytest.mark.slow

PACK = "second_pack"
ASSIGNMENTS = ("numbers", "words")
# Looks for the exercises wherever they might be, and tells what comes of it.
SPY = """\
import glob, importlib, os, sys
print('modules', [name for name in sys.modules if 'exercise' in name or '{pack}' in name])
def tell(what):
    try:
        print('found', what())
    except Exception as error:
        print('not found', type(error).__name__)
tell(lambda: open(os.path.join({folder!r}, 'words_2_unique.py')).read())
tell(lambda: importlib.import_module('{pack}.exercises.words_2_unique'))
tell(lambda: importlib.import_module('grader.model.exercise'))
tell(lambda: [open(path).read() for path in glob.glob({folder!r} + '/**/*.py', recursive=True)])
tell(lambda: os.listdir({root!r}))
"""


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment with the wheel, and with the libraries of this one beside it."""
    environment = tmp_path_factory.mktemp("installed") / "environment"
    venv.create(environment, symlinks=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    install = [sys.executable, "-m", "pip", "--python", str(environment / "bin/python"), "install", "-q"]
    subprocess.run([*install, "--no-deps", "--no-index", str(wheel)], check=True)
    shutil.copytree(SECOND_COURSE / "exercises", packages / PACK / "exercises")
    return environment / "bin"


class Installed:
    """The course in a folder of its own, graded by what is installed."""

    def __init__(self, python: Path, root: Path) -> None:
        self.python, self.root = python, root
        copy_of_second_course(root)
        self.course = Course(root)

    def grader(self, *arguments: str) -> str:
        path = os.pathsep.join([str(self.python), str(Path(sys.executable).parent), os.defpath])
        there = {"PATH": path, "HOME": str(self.root)}
        command = [str(self.python / "grader"), *arguments]
        ended = subprocess.run(command, cwd=self.root, env=there, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return ended.stdout

    def submit(self, student: str, assignment: str, answers: Mapping[str, str] | None) -> None:
        """With these cells, and the others as the course solves them; without any, as it was handed out."""
        notebook: Any = self.course.read("release", assignment)
        if answers is not None:
            notebook = solved(notebook, self.course.read("source", assignment))
            for cell in notebook.cells:
                cell.source = answers.get(cell.id, cell.source)
        path = self.course.notebook(f"submitted/{student}", assignment)
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)

    def points(self, assignment: str) -> dict[str, float]:
        with self.course.api().gradebook as gradebook:
            return {one.student.id: one.score for one in gradebook.assignment_submissions(assignment)}


@pytest.fixture(scope="module")
def graded(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """All steps of all assignments; nobody writes into it."""
    installed = Installed(python, tmp_path_factory.mktemp("second") / "course")
    installed.grader("release")
    for assignment in ASSIGNMENTS:
        installed.submit("ada", assignment, {})
        installed.submit("grace", assignment, None)
    installed.submit("kurt", "words", WRONG)
    installed.submit("eve", "words", {"exercise-1": spy(installed.root / "exercises")})
    installed.grader("autograde")  # all that was handed in
    commands = (["feedback"], ["report"], ["export", "--to", "moodle"])
    for assignment, some in (("words", commands), ("numbers", commands)):
        for command, *options in some:
            installed.grader(command, assignment, *options)
    return installed


def spy(folder: Path) -> str:
    return SPY.format(folder=str(folder), root=str(folder.parent), pack=PACK)


def test_wheel_is_imported_and_not_the_repository(graded: Installed) -> None:
    code = "import grader, grader.exercises as e; print(grader.__file__, e.__file__)"
    said = subprocess.run([graded.python / "python", "-I", "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.count(str(graded.python.parent)) == 2


def test_second_course_points_and_sentences_of_mistakes(graded: Installed) -> None:
    assert graded.points("numbers") == {"ada": 5.0, "grace": 0.0}
    assert graded.points("words") == {"ada": 7.0, "grace": 0.0, "kurt": 3.0, "eve": 5.0}
    page = (graded.root / "feedback/kurt/words/words.html").read_text()
    for said in (
        "“A” and “a” are two words here.",
        "The words come out in the order of the alphabet.",
        "The day comes first in what is returned.",
        "A hidden test fails",
    ):
        assert said in page


def test_second_course_report_and_export_list_mistakes_and_students(graded: Installed) -> None:
    report = (graded.root / "report/words.html").read_text()
    assert "day first" in report
    assert "parse-date" in report
    assert "kurt" in (graded.root / "export/words-moodle.csv").read_text()


def output_of(installed: Installed, student: str) -> str:
    notebook = installed.course.read(f"autograded/{student}", "words")
    (cell,) = (cell for cell in notebook.cells if cell.id == "exercise-1")
    return "".join(output.get("text", "") for output in cell.outputs)


def test_student_code_cannot_read_exercises_of_course(graded: Installed) -> None:
    assert output_of(graded, "eve").splitlines() == [
        "modules []",
        "not found PermissionError",
        "not found ModuleNotFoundError",  # of the grader: this course does not use the pack that lies there
        "not found ModuleNotFoundError",
        "found []",  # no files, since the folder cannot be looked into
        "not found PermissionError",
    ]


def test_installed_pack_grades_and_is_hidden_from_students(python: Path, tmp_path: Path) -> None:
    installed = Installed(python, tmp_path / "course")
    shutil.rmtree(installed.root / "exercises")
    with (installed.root / "nbgrader_config.py").open("a") as config:
        config.write(f'c.GraderCourse.exercises = "{PACK}.exercises"\n')
    installed.grader("release", "words")
    (pack,) = python.parent.glob(f"lib/python*/site-packages/{PACK}")
    installed.submit("eve", "words", {"exercise-1": spy(pack / "exercises")})
    installed.submit("kurt", "words", WRONG)
    installed.grader("autograde", "words")
    assert installed.points("words") == {"kurt": 3.0, "eve": 5.0}
    modules, read, by_name, the_grader, searched, _ = output_of(installed, "eve").splitlines()  # names can be seen
    assert {read, by_name, searched} == {"not found PermissionError"}
    assert (the_grader, modules) == ("not found ModuleNotFoundError", "modules []")


@pytest.mark.proof
def test_demo_runs_without_course_folder(python: Path, tmp_path: Path) -> None:
    command = [str(python / "grader"), "demo"]
    path = os.pathsep.join([str(python), str(Path(sys.executable).parent), os.defpath])
    said = subprocess.run(command, cwd=tmp_path, env={"PATH": path}, capture_output=True, text=True, check=True).stdout
    assert "Created 12 made-up submissions" in said
    assert (tmp_path / "demo/report/self_attention.html").is_file()


@pytest.mark.parametrize("assignment", some_in_ci(ASSIGNMENTS, one_in=6))
def test_second_course_validates(assignment: str, python: Path, tmp_path: Path) -> None:
    assert "✗" not in Installed(python, tmp_path / "course").grader("validate", assignment)
