"""Folders that a course has elsewhere, and plugins beside its settings, work as they do in nbgrader."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.run import autograde
from grader.course.folder import STEPS, Course, copy_course, open_course
from grader.errors import CourseError
from grader.pages.feedback import write_feedback
from grader.pages.report import write_report
from grader.release.compiling import compile_release

pytestmark = pytest.mark.slow

ASSIGNMENT = "self_attention"
STEP = """
from nbgrader.preprocessors import NbGraderPreprocessor


class Stamp(NbGraderPreprocessor):
    def preprocess(self, nb, resources):
        nb.metadata["stamp"] = "made by the course"
        return nb, resources
"""


def append_to_config(course: Course, *lines: str) -> None:
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.writelines(f"\n{line}\n" for line in lines)


@pytest.fixture
def moved(course: Course, tmp_path: Path) -> Course:
    """The same course with all folders elsewhere: in it under other names, deeper, and outside of it."""
    places: dict[str, str | Path] = {
        "source": tmp_path / "elsewhere/masters", "release": "for students", "submitted": "hand_ins/2026",
        "autograded": tmp_path / "elsewhere/graded", "feedback": tmp_path / "pages",
    }  # fmt: skip
    for step in ("source", "release"):
        target = course.root / places[step]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(course.root / step, target)
    append_to_config(
        course, *(f"c.CourseDirectory.{step}_directory = {str(place)!r}" for step, place in places.items())
    )
    return course


def test_commands_work_with_folders_elsewhere(
    moved: Course, submit: Callable[..., Path], solved: dict[int, str], scores: Any, tmp_path: Path
) -> None:
    before = moved.notebook("release", ASSIGNMENT).read_bytes()
    compile_release(moved, ASSIGNMENT)
    assert (moved.root / f"for students/{ASSIGNMENT}/{ASSIGNMENT}.ipynb").read_bytes() == before
    handed_in = submit(moved, "ada", solved)
    assert handed_in == moved.root / f"hand_ins/2026/ada/{ASSIGNMENT}/{ASSIGNMENT}.ipynb"
    assert [(one.student, one.error) for one in autograde(moved, ASSIGNMENT)] == [("ada", "")]
    assert sum(scores(moved, "ada").values()) == 30
    graded = tmp_path / f"elsewhere/graded/ada/{ASSIGNMENT}"
    assert {"checking.py", "checks.py", "compare.py", f"{ASSIGNMENT}.ipynb"} <= {path.name for path in graded.iterdir()}
    assert write_feedback(moved, ASSIGNMENT) == [tmp_path / f"pages/ada/{ASSIGNMENT}/{ASSIGNMENT}.html"]
    assert "ada" in write_report(moved, ASSIGNMENT)[0].read_text()
    assert not [step for step in STEPS if (moved.root / step).exists()]


def test_nbgrader_finds_graded_notebooks_in_folders_elsewhere(
    moved: Course, submit: Any, solved: Any, tmp_path: Path
) -> None:
    submit(moved, "ada", {3: solved[3]})
    list(autograde(moved, ASSIGNMENT))
    ours = (tmp_path / f"elsewhere/graded/ada/{ASSIGNMENT}/checks.py").read_bytes()
    assert moved.api().get_autograded_students(ASSIGNMENT) == {"ada"}
    assert moved.api().autograde(ASSIGNMENT, "ada")["success"]
    assert (tmp_path / f"elsewhere/graded/ada/{ASSIGNMENT}/checks.py").read_bytes() == ours


def test_errors_with_folders_elsewhere_name_the_real_folder(moved: Course) -> None:
    with pytest.raises(CourseError, match="into hand_ins/2026/STUDENT/self_attention"):
        list(autograde(moved, ASSIGNMENT))
    (moved.folder("source") / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").write_text("no notebook")
    with pytest.raises(CourseError, match=r"elsewhere/masters/self_attention"):
        compile_release(moved, ASSIGNMENT)
    shutil.rmtree(moved.folder("source"))
    with pytest.raises(CourseError, match=r"elsewhere/masters/NAME/"):
        moved.chosen([ASSIGNMENT])


def test_submissions_cannot_read_folders_elsewhere(moved: Course, submit: Any, solved: Any) -> None:
    canaries = [moved.folder(step) / "canary.txt" for step in STEPS]
    for canary in canaries:
        canary.parent.mkdir(parents=True, exist_ok=True)
        canary.write_text("sings")
    code = "".join(
        f"\ntry:\n    print(open({str(path)!r}).read())\nexcept OSError as e:\n    print(e)" for path in canaries
    )
    submit(moved, "eve", {3: solved[3] + code})
    assert [one.error for one in autograde(moved, ASSIGNMENT)] == [""]
    said = moved.notebook("autograded/eve", ASSIGNMENT).read_text()
    assert said.count("[Errno 13] Permission denied") == len(STEPS)
    assert "sings" not in said


def test_directory_structure_when_different_is_refused(course: Course) -> None:
    append_to_config(course, "c.CourseDirectory.directory_structure = '{nbgrader_step}/{student_id}/{assignment_id}'")
    assert course.assignments()
    course = Course(course.root)
    append_to_config(course, "c.CourseDirectory.directory_structure = '{nbgrader_step}/{assignment_id}/{student_id}'")
    with pytest.raises(CourseError, match=r"directory_structure in nbgrader_config\.py does not work here"):
        course.chosen([ASSIGNMENT])


def test_scratch_course_writes_only_into_itself(moved: Course, tmp_path: Path) -> None:
    """The demo and validation must not touch folders and gradebook of the course that they copy."""
    append_to_config(moved, f"c.CourseDirectory.db_url = 'sqlite:///{tmp_path}/other.db'")
    scratch = copy_course(moved, tmp_path / "scratch")
    compile_release(scratch, ASSIGNMENT)
    assert all(scratch.folder(step) == tmp_path / "scratch" / step for step in STEPS)
    assert (tmp_path / f"scratch/release/{ASSIGNMENT}/checks.py").is_file()
    assert (tmp_path / "scratch/gradebook.db").is_file()
    assert not (tmp_path / "other.db").exists()


@pytest.mark.parametrize("jobs", [1, 2])
def test_autograde_from_elsewhere_finds_modules_of_the_course(
    jobs: int, course: Course, submit: Any, solved: Any, tmp_path: Path
) -> None:
    """Also by those who grade, where the settings themselves import one."""
    (course.root / f"stamp_{jobs}.py").write_text(STEP)
    append_to_config(
        course,
        f"from stamp_{jobs} import Stamp",
        f'c.Autograde.autograde_preprocessors.append("stamp_{jobs}.Stamp")',
    )
    course = open_course(course.root)
    for student in ("ada", "bob"):
        submit(course, student, {3: solved[3]})
    with contextlib.chdir(tmp_path):
        assert [one.error for one in autograde(course, ASSIGNMENT, jobs=jobs)] == ["", ""]
    stamps = [course.read(f"autograded/{student}", ASSIGNMENT).metadata.get("stamp") for student in ("ada", "bob")]
    assert stamps == ["made by the course"] * 2
