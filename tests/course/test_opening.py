"""A course is opened once: its files are read once, and what holds for the whole process is set by entry points."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from grader.course.folder import Course, open_course
from support.second_course import copy_of_second_course


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return copy_of_second_course(tmp_path / "course")


def answers(course: Course) -> list[object]:
    """What a course says of its settings, its rules and its exercises."""
    return [course.settings, course.called("release"), course.rules("words"), course.exercise_files.digest]


def test_course_reads_its_files_once(course: Course) -> None:
    before = answers(course)
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write("\nc.CourseDirectory.release_directory = 'for students'\n")
    (course.root / "course.toml").write_text("[assignments.words]\nvoid = [1]\n")
    (course.root / "exercises/more.py").write_text("")
    assert answers(course) == before
    assert not set(map(str, answers(Course(course.root)))) & set(map(str, before))


def test_config_returns_a_copy_of_the_settings(course: Course) -> None:
    mine = course.config()
    mine.CourseDirectory.root = "elsewhere"
    mine.Autograde.sanitize_preprocessors.clear()
    assert course.config().CourseDirectory.root == str(course.root)
    assert course.config().Autograde.sanitize_preprocessors


def test_open_course_alone_changes_the_process(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    def state() -> tuple[list[str], str, int]:
        return [*sys.path], os.environ["PATH"], len(warnings.filters)

    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("PATH", "/nowhere")
    before = state()
    answers(Course(course.root))
    course.api()
    assert state() == before
    open_course(course.root)
    assert sys.path[-1] == str(course.root)
    assert shutil.which("alembic")
    once = state()
    open_course(course.root)
    assert state() == once


@pytest.mark.slow
def test_preprocessors_import_silences_warnings_on_rows() -> None:
    program = """import warnings, grader.gradebook.preprocessors
warnings.warn("Object of type <Grade> not in session", RuntimeWarning)
print("quiet")"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("quiet\n", "")


def test_course_at_another_root_keeps_its_settings(course: Course, tmp_path: Path) -> None:
    root = tmp_path / "elsewhere"
    root.mkdir()
    (root / "nbgrader_config.py").symlink_to(course.root / "nbgrader_config.py")
    moved = course.at(root, {"submitted_directory": str(course.folder("submitted"))})
    assert answers(moved) == answers(course)
    assert moved.folder("submitted") == course.folder("submitted")
    assert moved.folder("autograded") == root / "autograded"
    assert moved.config().CourseDirectory.root == str(root)
    assert course.config().CourseDirectory.root == str(course.root)
