"""A course folder as `nbgrader quickstart` makes it, its nbgrader_config.py untouched, through all commands."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Grade
from nbgrader.tests import run_nbgrader
from nbgrader_notebooks import GUIDE, compare, documentation
from sqlalchemy import select

from grader.classroom.run import autograde
from grader.course.folder import Course, read_config
from grader.errors import CourseError
from grader.export.moodle import export_moodle
from grader.pages.feedback import write_feedback
from grader.pages.report import write_report
from grader.release.compiling import compile_release
from support.command_line import grader
from support.places import ROOT

pytestmark = pytest.mark.slow

NAMES = ("problem1", "problem2")


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Released, with what nbgrader's documentation has handed in and a student who lacks a notebook, and graded."""
    folder = tmp_path_factory.mktemp("classic")
    environment = os.environ
    own = {"USER": "instructor", "HOME": str(folder), "JUPYTER_CONFIG_DIR": str(folder / ".jupyter")}
    try:
        with contextlib.chdir(folder):
            run_nbgrader(["quickstart", "course101"], env={**environment, **own})
    finally:
        os.environ = environment  # noqa: B003  it is the one that was there before
    course = Course(folder / "course101")
    with contextlib.chdir(course.root):
        compile_release(course, "ps1")
    shutil.copytree(GUIDE / "submitted", course.root / "submitted")
    half = course.root / "submitted/half/ps1"
    half.mkdir(parents=True)
    shutil.copy(course.notebook("source", "ps1", "problem1"), half)
    (half / "notes.txt").write_text("beside")
    (half / "scratch.ipynb").write_text("{}")
    assert [graded.error for graded in autograde(course, "ps1")] == ["", "", ""]
    return course


def scores(course: Course, student: str) -> dict[str, tuple[float | None, bool]]:
    with course.api().gradebook as gradebook:
        return {
            grade.cell.name: (grade.auto_score, grade.needs_manual_grade)
            for grade in gradebook.db.scalars(select(Grade))
            if grade.notebook.student.id == student
        }


def test_autograde_grades_all_notebooks_and_copies_companion_files(quickstart: Course) -> None:
    found = scores(quickstart, "hacker")
    assert {name: score for name, (score, _) in found.items() if score is not None} == {
        "correct_squares": 1.0, "squares_invalid_input": 1.0, "correct_sum_of_squares": 0.5,
        "sum_of_squares_uses_squares": 0.5,
    }  # fmt: skip
    assert [name for name, (_, waits) in found.items() if waits]
    beside = {path.name for path in (quickstart.root / "autograded/hacker/ps1").iterdir()}
    assert beside == {"problem1.ipynb", "problem2.ipynb", "jupyter.png", "timestamp.txt"}


def test_autograde_when_a_notebook_is_missing_scores_it_zero(quickstart: Course) -> None:
    found = scores(quickstart, "half")
    assert found["correct_squares"] == (1.0, False)
    in_second = {
        cell.metadata.nbgrader.grade_id
        for cell in quickstart.read("release", "ps1", "problem2").cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }
    assert in_second
    assert {found[name] for name in in_second} == {(0.0, False)}
    beside = {path.name for path in (quickstart.root / "autograded/half/ps1").iterdir()}
    assert beside == {"problem1.ipynb", "jupyter.png", "notes.txt"}


def test_autograde_when_nothing_changed_grades_nobody_again(quickstart: Course) -> None:
    assert [graded.unchanged for graded in autograde(quickstart, "ps1")] == [True] * 3


def test_feedback_has_page_for_each_notebook_with_failed_test(quickstart: Course) -> None:
    pages = {str(path.relative_to(quickstart.root / "feedback")): path for path in write_feedback(quickstart, "ps1")}
    assert sorted(pages) == [
        f"{student}/ps1/{name}.html"
        for student, names in (("bitdiddle", NAMES), ("hacker", NAMES), ("half", NAMES[:1]))
        for name in names
    ]
    failed = pages["bitdiddle/ps1/problem1.html"].read_text()
    assert "The test fails" in failed
    assert "squares(1) == [1]" in failed
    assert "same process" not in failed, "that is for instructors"


def test_readme_commands_lead_from_source_to_feedback_page(quickstart: Course, tmp_path: Path) -> None:
    folder = tmp_path / "course101"
    for name in ("source", "submitted"):
        shutil.copytree(quickstart.root / name, folder / name)
    shutil.copy(quickstart.root / "nbgrader_config.py", folder)
    readme = (ROOT / "README.md").read_text()
    commands = re.findall(r"`grader (\w+ ps1)`", readme)
    assert [command.split()[0] for command in commands] == ["release", "autograde", "feedback"]
    for command in commands:
        ended = grader(*command.split(), folder=folder)
        assert ended.returncode == 0, ended.stderr
    assert (folder / "feedback/hacker/ps1/problem1.html").is_file()


def test_release_with_header_of_nbgrader_stays_up_to_date(quickstart: Course, tmp_path: Path) -> None:
    """Released, checked, cloned with git, and graded there by somebody who has no gradebook yet."""
    folder, clone = tmp_path / "course101", tmp_path / "clone"
    shutil.copytree(quickstart.root / "source", folder / "source")
    shutil.copy(quickstart.root / "nbgrader_config.py", folder)
    for command in ("new assignment week1", "new exercise mean --assignment week1", "release week1", "validate week1"):
        ended = grader(*command.split(), folder=folder)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert "MissingIDFieldWarning" not in ended.stderr
    assert "Before you turn this problem in" in Course(folder).read("release", "week1").cells[0].source
    (folder / ".gitignore").write_text("gradebook.db\n.*\n")
    commit = ("-c", "user.name=ada", "-c", "user.email=ada@example.org", "commit", "-q", "-m", "Week 1")
    for arguments in (("init", "-q"), ("add", "."), commit, ("clone", "-q", ".", str(clone))):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    place = clone / "submitted/ada/week1/week1.ipynb"
    place.parent.mkdir(parents=True)
    shutil.copy(clone / "release/week1/week1.ipynb", place)
    ended = grader("autograde", "week1", folder=clone)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (clone / "autograded/ada/week1/week1.ipynb").is_file()
    notebook = Course(folder).read("source", "week1")
    notebook.cells[0].source += "\n\nA line that students do not have yet."
    nbformat.write(notebook, folder / "source/week1/week1.ipynb")
    ended = grader("validate", "week1", folder=folder)
    assert "release/ is out of date: week1.ipynb" in ended.stdout


def test_release_when_submissions_are_graded_refuses_new_test_cell(quickstart: Course) -> None:
    notebook, place = quickstart.read("source", "ps1", "problem1"), quickstart.notebook("source", "ps1", "problem1")
    before = place.read_bytes()
    marks = {"grade_id": "new", "grade": True, "solution": False, "locked": True, "points": 1, "schema_version": 3}
    notebook.cells.append(nbformat.v4.new_code_cell("assert True", metadata={"nbgrader": {**marks, "task": False}}))
    nbformat.write(notebook, place)
    try:
        with (
            contextlib.chdir(quickstart.root),
            pytest.raises(CourseError, match=r"^Submissions of ps1 were already graded"),
        ):
            compile_release(quickstart, "ps1")
    finally:
        place.write_bytes(before)


def test_report_and_export_list_tests_that_can_be_fooled(quickstart: Course) -> None:
    paths = write_report(quickstart, "ps1")
    told = json.loads(next(path for path in paths if path.suffix == ".json").read_text())
    assert told["in process"] == [
        "correct_squares", "squares_invalid_input", "correct_sum_of_squares", "sum_of_squares_uses_squares"
    ]  # fmt: skip
    assert "Tests that can be fooled" in paths[0].read_text()
    exported = export_moodle(quickstart, "ps1", "username", "").read_text().splitlines()
    assert exported[1:] == ["bitdiddle,1.5", "hacker,3", "half,3"]


def test_config_keeps_course_settings_and_replaces_nbgrader_steps() -> None:
    config = read_config(
        "c = get_config()\nc.Execute.timeout = 7\n"
        "c.Autograde.sanitize_preprocessors = ['nbgrader.preprocessors.ClearOutput', 'mine.Own']\n"
        "from nbgrader.preprocessors import Execute\nc.Autograde.autograde_preprocessors = ['mine.Other', Execute]\n"
        "c.GenerateFeedback.preprocessors = ['mine.Third']\n"
    )
    assert config.Autograde.sanitize_preprocessors == [
        "grader.gradebook.preprocessors.RepairSubmission", "nbgrader.preprocessors.ClearOutput", "mine.Own"
    ]  # fmt: skip
    assert config.Autograde.autograde_preprocessors == ["mine.Other", "grader.gradebook.preprocessors.RunAndJudge"]
    assert config.GenerateFeedback == {"preprocessors": ["mine.Third"]}
    assert "timeout" not in config.RunAndJudge
    assert read_config("c = get_config()").RunAndJudge.timeout == 30


def test_autograde_scores_equal_those_of_nbgrader(tmp_path: Path) -> None:
    """Of nbgrader's own course and its submissions; support/nbgrader_notebooks.py compares all of its wheel."""
    (compared,) = compare([documentation()], tmp_path)
    assert compared.released
    assert sorted(compared.theirs) == ["bitdiddle", "hacker", "solved", "untouched"]
    assert None not in compared.theirs.values()
    assert compared.theirs == compared.ours
    assert not compared.differences


# One notebook with an exercise of hidden cases, a test of assertions, and two tasks for a person.


def cell(name: str, source: str, kind: str = "code", **marks: Any) -> Any:
    make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
    usual = {"grade_id": name, "grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return make(source, id=name, metadata={"nbgrader": {**usual, **marks}})


def mixed_notebook(answers: Mapping[str, str]) -> Any:
    test: Any = {"grade": True, "locked": True, "points": 2.0}
    hidden = "\n### BEGIN HIDDEN TESTS\nassert twice(21) == 42\n### END HIDDEN TESTS"
    begin, end = "### BEGIN SOLUTION\n", "\n### END SOLUTION"
    return nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        cells=[
            cell("given", "import torch", locked=True),
            cell("exercise-softmax", f"{begin}{answers['softmax']}{end}", solution=True),
            cell("test-exercise-softmax", "'checked with hidden cases'", **test),
            cell("twice", f"{begin}{answers['twice']}{end}", solution=True),
            cell("test-twice", f"assert twice(1) == 2, 'one'{hidden}", **test),
            cell("why", "Your answer", "markdown", grade=True, solution=True, points=3.0),
            cell("draw", "Draw it.", "markdown", task=True, locked=True, points=4.0),
        ],
    )


SOFTMAX = """\
import torch

from grader import Case, Exercise, randn, wrong


def softmax(x):
    return torch.softmax(x, 0)  #: result


exercise = Exercise(
    name="softmax",
    assignment="mixed",
    title="softmax",
    solution=softmax,
    cases=[Case("five numbers", catches="a constant", inputs=lambda rng: (randn(rng, 5),))],
    mistakes=[
        wrong("not normalized", {"result": "return torch.exp(x)"}, "These do not sum to one.", kind="missing step")
    ],
)
"""


@pytest.mark.filterwarnings("ignore::nbformat.warnings.MissingIDFieldWarning")  # nbgrader's own header has no ids
def test_notebook_with_cases_assertions_and_tasks_is_graded(quickstart: Course) -> None:
    right = {"softmax": "def softmax(x):\n    return torch.softmax(torch.as_tensor(x), 0)"}
    right["twice"] = "def twice(x):\n    return 2 * x"
    wrong = {"softmax": "def softmax(x):\n    return torch.exp(torch.as_tensor(x))", "twice": "def twice(x): return 2"}
    course = quickstart
    (course.root / "source/mixed").mkdir()
    (course.root / "exercises").mkdir()
    (course.root / "exercises/ex_softmax.py").write_text(SOFTMAX)
    nbformat.write(mixed_notebook(right), course.notebook("source", "mixed"))
    course = Course(course.root)
    with contextlib.chdir(course.root):
        compile_release(course, "mixed")
    assert "twice(21)" not in course.notebook("release", "mixed").read_text()
    for student, answers in (("ada", right), ("bob", wrong)):
        notebook = course.read("release", "mixed")
        for name, answer in (("exercise-softmax", answers["softmax"]), ("twice", answers["twice"])):
            next(each for each in notebook.cells if each.id == name).source = answer
        next(each for each in notebook.cells if each.id == "why").source = "Because."
        folder = course.notebook(f"submitted/{student}", "mixed")
        folder.parent.mkdir(parents=True)
        nbformat.write(notebook, folder)
    ada, bob = autograde(course, "mixed")
    assert [scored.points for scored in ada.verdicts] == [2.0, 2.0]
    assert [scored.verdict.in_process for scored in ada.verdicts] == [False, True]
    assert [scored.points for scored in bob.verdicts] == [1.0, 0.0]
    assert bob.verdicts[0].verdict.exercise == "softmax"
    assert bob.verdicts[0].verdict.sentences == ("These do not sum to one.",)
    assert bob.verdicts[1].verdict.sentences == ("A hidden test fails.",)
    assert scores(course, "ada")["why"] == (None, True)
    assert scores(course, "ada")["draw"] == (None, True)
    pages = {path.parts[-3]: path.read_text() for path in write_feedback(course, "mixed")}
    assert "A hidden test fails." in pages["bob"]
    assert "twice(21)" not in pages["bob"]
