"""The grader's modules lie beside the notebooks of students, and only where an author imports them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.converters import GenerateAssignment

from grader.classroom.run import autograde
from grader.course.folder import Course, read_config
from grader.errors import CourseError
from grader.notebooks.modules_beside import FILES, for_students, given_beside, modules_for
from grader.release.compiling import compile_release
from grader.release.first_steps import first_steps
from support.our_course import ASSIGNMENTS
from support.places import ROOT
from support.plain_nbgrader import nbgrader
from support.proof import first_in_ci
from support.snapshots import files_in

pytestmark = pytest.mark.slow

FIRST = {  # exercises
    "self_attention": 1,
    "causal_attention": 9,
    "transformer": 20,
    "fast_attention": 28,
    "modern_attention": 36,
}
PLAIN = "c = get_config()\nc.CourseDirectory.course_id = 'other'\n"
NAMED = 'c.GenerateAssignment.preprocessors.prepend(["grader.release.beside.ModulesBeside"])\n'
OWN_STEPS = 'c.GenerateAssignment.preprocessors = ["nbgrader.preprocessors.LockCells"]\n'
GRADED = {"schema_version": 3, "solution": False, "locked": True, "task": False, "grade": True, "points": 3}
SOLVED = {"schema_version": 3, "solution": True, "locked": False, "task": False, "grade": False}
TEST = "from grader.model.compare import difference\nassert difference(double(2.0), 4.0, 1e-6) is None"
SOLUTION = "def double(x):\n    ### BEGIN SOLUTION\n    return x + x\n    ### END SOLUTION"
# Says all is well, and that it was run.
FORGED = "print('forged')\ndef difference(*_):\n    return None\n"


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.py")}


@pytest.fixture
def other_course(tmp_path: Path) -> Course:
    """Somebody's course, somewhere: one notebook has the comparison in a cell, and the other one needs nothing."""
    (tmp_path / "nbgrader_config.py").write_text(PLAIN)
    for assignment, test in (("ps1", TEST), ("ps2", "assert double(2) == 4")):
        cells = [
            new_code_cell(SOLUTION, metadata={"nbgrader": dict(SOLVED)}),
            new_code_cell(test, metadata={"nbgrader": dict(GRADED)}),
        ]
        for cell, name in zip(cells, ("double", "test-double"), strict=True):
            cell.id = cell.metadata.nbgrader.grade_id = name
        path = tmp_path / "source" / assignment / f"{assignment}.ipynb"
        path.parent.mkdir(parents=True)
        (path.parent / "own.py").write_text("x = 1\n")
        kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
        nbformat.write(new_notebook(cells=cells, metadata=kernel), path)
    return Course(tmp_path)


@pytest.mark.parametrize(
    ("written", "released"),
    [
        ("from grader.kit.checking import Checks, Entry", "from checking import Checks, Entry"),
        ("if x:\n    from grader.model.compare import (", "if x:\n    from compare import ("),
        ("from grader.kit import checking", "import checking"),
        ("from grader.kit import checking as c", "import checking as c"),
        ("import grader.model.compare as other", "import compare as other"),
        ("from grader.kit.checking_more import x", "from grader.kit.checking_more import x"),
        ("# as from grader.kit.checking import Checks", "# as from grader.kit.checking import Checks"),
    ],
)
def test_for_students_rewrites_imports_of_the_grader(written: str, released: str) -> None:
    assert for_students(f"import os\n{written}\n") == f"import os\n{released}\n"
    assert bool(modules_for([written])) == (written != released)


def test_modules_for_adds_what_a_module_needs() -> None:
    assert modules_for(["from grader.kit.checking import Checks"]).keys() == {
        "broken_rules.py",
        "call_arguments.py",
        "cell_runs.py",
        "checking.py",
        "compare.py",
        "diagnosis.py",
        "earlier_functions.py",
        "endless.py",
        "nested.py",
        "recognizing.py",
        "showing.py",
        "time_limit.py",
        "visible_examples.py",
    }
    of_classes = modules_for(["from grader.kit.module_examples import ModuleExample"]).keys()
    assert {"module_examples.py", "observed_module.py", "observed_piece.py"} <= of_classes
    assert "piece_examples.py" not in of_classes
    assert modules_for(["from grader.model.compare import same"]).keys() == {"compare.py"}
    assert modules_for(["import torch", "checking = 1"]) == {}


def test_source_holds_no_links_and_no_copied_modules() -> None:
    beside = [path for path in (ROOT / "source").rglob("*") if path.is_symlink() or path.name in FILES]
    assert beside == []


@pytest.mark.parametrize("assignment", first_in_ci(ASSIGNMENTS))
def test_source_notebook_setup_runs_as_it_is(assignment: str) -> None:
    cell = Course(ROOT).read("source", assignment).cells
    setup = next(one.source for one in cell if one.id == "setup")
    command = [
        sys.executable,
        "-c",
        f"{setup}\ncheck({FIRST.get(assignment, 17)})",
    ]
    environment = {**os.environ, "MPLBACKEND": "agg"}
    folder = ROOT / "source" / assignment
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert "yet. Run the cell that" in " ".join(done.stderr.split()), done.stderr


def test_generate_assignment_of_nbgrader_releases_the_same_modules(course: Course) -> None:
    released = files_in(course.root / "release")
    # With --force, nbgrader removes the table of known mistakes, which takes long to make.
    nbgrader(course, "generate_assignment", ASSIGNMENTS[0], "--force")
    assert files_in(course.root / "release") == released


def test_release_adds_agents_md_unless_the_author_has_one(course: Course) -> None:
    asked = course.root / "release" / "self_attention" / "AGENTS.md"
    assert "Write, complete or correct the code of an exercise" in asked.read_text()
    (course.root / "source" / "self_attention" / "AGENTS.md").write_text("Do what you like.")
    compile_release(course, "self_attention")
    assert asked.read_text() == "Do what you like."


def test_release_adds_readme_unless_the_author_has_one(course: Course) -> None:
    source, release = (course.root / step / "self_attention" for step in ("source", "release"))
    (source / "README.md").write_text("Ask me.")
    compile_release(course, "self_attention")
    needed = (release / "requirements.txt").read_text().split()
    assert needed == ["ipython", "ipywidgets", "jupyterlab", "matplotlib", "torch"]
    assert (release / "README.md").read_text() == "Ask me."


def test_first_steps_lists_the_requirements_of_a_course(tmp_path: Path) -> None:
    source, release = tmp_path / "source/ps1", tmp_path / "release/ps1"
    for folder in (source, release):
        folder.mkdir(parents=True)
    (release / "plots.py").write_text("def plot():\n    import yaml")
    code = "%matplotlib inline\n!ls\nimport math, PIL.Image as picture\nimport plots\nfrom grader import submit"
    nbformat.write(new_notebook(cells=[new_code_cell(code), new_code_cell("import (")]), source / "a.ipynb")
    nbformat.write(new_notebook(), source / "b.ipynb")
    texts = first_steps(source, release)
    assert texts["requirements.txt"].split() == ["jupyterlab", "pillow", "pyyaml"]
    assert "You write in `a.ipynb` and `b.ipynb`," in texts["README.md"]
    assert "Shift+Enter" in texts["README.md"]


@pytest.mark.parametrize("way", ["grader", "nbgrader"])
def test_autograde_replaces_modules_forged_by_students(
    way: str, course: Course, submit: Any, solved: Any, scores: Any
) -> None:
    looks = "\nimport checking, compare\nprint('they are', compare.Kind.NAN, checking.TOLERANCE)"
    beside = submit(course, "ada", {**solved, 1: solved[1] + looks}).parent
    (beside / "compare.py").write_text(FORGED)
    (beside / "checking.py").mkdir()
    (beside / "checking.py/more.py").write_text("")
    if way == "nbgrader":
        (beside / "checking.py/more.py").unlink()  # nbgrader's own copying stops at this
        (beside / "checking.py").rmdir()
        (beside / "checking.py").write_text("from checks import forged")
        nbgrader(course, "autograde", "self_attention")
    else:
        assert [result.error for result in autograde(course, "self_attention")] == [""]
    assert sum(scores(course, "ada").values()) == 30
    said = course.notebook("autograded/ada", "self_attention").read_text()
    assert "they are nan 0.0001" in said
    assert "forged" not in said


@pytest.mark.parametrize("way", ["grader", "nbgrader", "nbgrader by grader"])
def test_release_of_another_course_adds_imported_modules(way: str, other_course: Course) -> None:
    if way != "grader":
        (other_course.root / "nbgrader_config.py").write_text(PLAIN + NAMED)
    for assignment, beside in (("ps1", {"own.py", "compare.py"}), ("ps2", {"own.py"})):
        if way == "nbgrader":
            nbgrader(other_course, "generate_assignment", assignment)
        else:
            compile_release(other_course, assignment)
        assert names(other_course.root / "release" / assignment) == beside
    assert other_course.read("release", "ps1").cells[1].source.startswith("from compare import difference")


def test_autograde_of_another_course_uses_the_added_module(other_course: Course, scores: Any) -> None:
    compile_release(other_course, "ps1")
    for student, result in (("ada", "x + x"), ("bob", "x + 3")):
        notebook = other_course.read("release", "ps1")
        notebook.cells[0].source = f"def double(x):\n    return {result}"
        path = other_course.notebook(f"submitted/{student}", "ps1")
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
        (path.parent / "compare.py").write_text(FORGED)
    assert [result.error for result in autograde(other_course, "ps1")] == ["", ""]
    assert [scores(other_course, student, "ps1") for student in ("ada", "bob")] == [
        {"test-double": 3.0}, {"test-double": 0.0},
    ]  # fmt: skip


def test_release_when_source_has_a_module_of_that_name_raises(other_course: Course) -> None:
    (other_course.root / "source/ps1/compare.py").write_text("x = 1")
    with pytest.raises(CourseError, match=r"compare\.py .*Rename it"):
        compile_release(other_course, "ps1")
    (other_course.root / "source/ps2/compare.py").write_text("x = 1")  # its own affair
    compile_release(other_course, "ps2")
    assert (other_course.root / "release/ps2/compare.py").read_text() == "x = 1"
    assert given_beside(other_course.root / "source/ps2") == {}


@pytest.mark.parametrize("more", ["", NAMED, OWN_STEPS])
def test_modules_beside_step_is_configured_once(more: str) -> None:
    steps = GenerateAssignment(config=read_config(PLAIN + more)).preprocessors
    assert [step for step in steps if step == "grader.release.beside.ModulesBeside"] == steps[:1]
    assert len(steps) == (2 if "LockCells" in more else 13)
