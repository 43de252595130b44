"""What students were given is never taken for what they wrote, whatever a release leaves out of it."""

from __future__ import annotations

import contextlib
import copy
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.preprocessors import NbGraderPreprocessor

from grader.classroom.run import autograde
from grader.course.folder import Course
from grader.gradebook.preprocessors import recorded_cells
from grader.notebooks.cells import NOTES, ours
from grader.pages.report import write_report
from grader.release.compiling import compile_release

pytestmark = pytest.mark.slow

USUAL = {"solution": "SOLUTION", "tests": "HIDDEN TESTS", "scheme": "MARK SCHEME"}
OWN = {"solution": "ANSWER KEY", "tests": "SECRET CHECKS", "scheme": "RUBRIC"}
SETTINGS = """
c = get_config()
c.CourseDirectory.course_id = "essays"
"""
OWN_SETTINGS = """
c.ClearSolutions.begin_solution_delimeter = "BEGIN ANSWER KEY"
c.ClearSolutions.end_solution_delimeter = "END ANSWER KEY"
c.ClearHiddenTests.begin_test_delimeter = "BEGIN SECRET CHECKS"
c.ClearHiddenTests.end_test_delimeter = "END SECRET CHECKS"
c.ClearMarkScheme.begin_mark_scheme_delimeter = "BEGIN RUBRIC"
c.ClearMarkScheme.end_mark_scheme_delimeter = "END RUBRIC"
"""
ANOTHER_STEP = """
from nbgrader.preprocessors import NbGraderPreprocessor

class Translate(NbGraderPreprocessor):
    def preprocess_cell(self, cell, resources, index):
        cell.source = cell.source.replace("legend", "key")
        return cell, resources

c.GenerateAssignment.preprocessors.append(Translate)
"""
STUDENTS = ("ada", "bob", "cyd")


def marked(name: str, source: str, kind: str = "markdown", **marks: Any) -> Any:
    make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
    usual = {"grade_id": name, "grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return make(source, id=name, metadata={"nbgrader": {**usual, **marks}})


def essays(words: dict[str, str]) -> Any:
    """A notebook with every kind of cell that a release changes."""
    answered, hidden, scheme = ([f"### BEGIN {word}", f"### END {word}"] for word in words.values())
    draw = "Draw the function, and say what you see in your picture.  "
    rubric = f"{scheme[0]}\nTwo points for both axes, and one for the legend.\n{scheme[1]}\n"
    checked = f"# The legend is checked, too.\nassert twice(1) == 2\n\n{hidden[0]}\nassert twice(21) == 42\n{hidden[1]}"
    why = "Explain why softmax is used, in two sentences."
    key = f"{answered[0]}\nBecause it is differentiable everywhere.\n{answered[1]}"
    twice = f"def twice(x):\n    {answered[0]}\n    return 2 * x\n    {answered[1]}"
    return nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        cells=[
            marked("given", "import math  \r\nlegend = 'given code'\r\n", "code", locked=True),
            marked("read", "This text with a legend is locked, and nobody can change it.", locked=True),
            marked("draw", f"{draw}\n\n{rubric}", task=True, locked=True, points=4.0),
            marked("windows", f"{draw}\n\n{rubric}".replace("\n", "\r\n"), task=True, locked=True, points=4.0),
            marked("why", f"{why}\n\n{key}", grade=True, solution=True, points=3.0),
            marked("twice", twice, "code", solution=True),
            marked("test-twice", checked, "code", grade=True, locked=True, points=2.0),
            marked("plot", twice.replace("twice", "plot"), "code", grade=True, solution=True, points=2.0),
        ],
    )


def released(folder: Path, settings: str, words: dict[str, str]) -> Course:
    (folder / "source/essays").mkdir(parents=True)
    (folder / "nbgrader_config.py").write_text(SETTINGS + settings)
    course = Course(folder)
    course.notebook("source", "essays").write_text(nbformat.writes(essays(words)))
    with contextlib.chdir(folder):
        compile_release(course, "essays")
    return course


def hand_in(course: Course, student: str, **sources: str) -> None:
    notebook = copy.deepcopy(course.read("release", "essays"))
    for cell in notebook.cells:
        cell.source = sources.get(cell.metadata.nbgrader.grade_id.replace("-", "_"), cell.source)
    path = course.notebook(f"submitted/{student}", "essays")
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)


def notes(course: Course, student: str) -> list[str]:
    cells = course.read(f"autograded/{student}", "essays").cells
    return [note for cell in cells for note in ours(cell).get(NOTES, ())]


@pytest.mark.parametrize(
    ("settings", "words"),
    [("", USUAL), (OWN_SETTINGS, OWN), (ANOTHER_STEP, USUAL)],
    ids=["usual marks", "other marks", "another step"],
)
def test_given_cells_when_unedited_have_no_notes(settings: str, words: dict[str, str], tmp_path: Path) -> None:
    course = released(tmp_path, settings, words)
    for student in STUDENTS:
        hand_in(course, student, twice=f"def twice({student}):\n    return {student} * 2", why=f"I am {student}.")
    hand_in(course, "eve", draw="I have drawn it already.", test_twice="assert True", given="import random")
    for student in ("untouched", "as-untouched"):
        hand_in(course, student)
    assert [graded.error for graded in autograde(course, "essays") if graded.error] == []
    assert [notes(course, student) for student in (*STUDENTS, "untouched")] == [[]] * 4
    edited = "The given cell “{}” was edited; the original was restored."
    assert notes(course, "eve") == [edited.format(name) for name in ("given", "draw", "test-twice")]
    as_json = next(path for path in write_report(course, "essays") if path.suffix == ".json")
    assert json.loads(as_json.read_text())["identical"] == []


def test_report_identical_ignores_notes_of_the_grader(tmp_path: Path) -> None:
    course = released(tmp_path, "", USUAL)
    for student in STUDENTS:
        hand_in(course, student, why=f"I am {student}.", draw=f"I have drawn it, too, says {student}.")
    assert [graded.error for graded in autograde(course, "essays") if graded.error] == []
    assert all(notes(course, student) for student in STUDENTS)
    as_json = next(path for path in write_report(course, "essays") if path.suffix == ".json")
    assert json.loads(as_json.read_text())["identical"] == []


@pytest.mark.parametrize(("settings", "words"), [("", USUAL), (OWN_SETTINGS, OWN)], ids=["usual marks", "other marks"])
def test_recorded_cells_without_release_folder_come_from_gradebook(
    settings: str, words: dict[str, str], tmp_path: Path
) -> None:
    """nbgrader needs no release/ to grade."""
    course = released(tmp_path, settings, words)
    names = {"assignment": "essays", "notebook": "essays", "db_url": course.api().coursedir.db_url}
    part = NbGraderPreprocessor(config=course.config())
    with contextlib.chdir(course.root):
        usual = recorded_cells(part, names)
        course.folder("release").rename(tmp_path / "away")
        alone = recorded_cells(part, names)
    given = {cell.grade_id: cell.handed_out.split() for cell in usual if cell.is_provided}
    assert {cell.grade_id: cell.handed_out.split() for cell in alone if cell.is_provided} == given
    assert not any("points for both axes" in cell.handed_out for cell in alone)
