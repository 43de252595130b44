"""Write the released notebook as one file, in release_single/, for students who get it without the files beside it.

It is made from the release on request, so it is not committed. A submission of it is graded as the ordinary notebook;
the code that reads submissions is tried on it here.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from urllib.parse import quote

import nbformat
from nbformat import NotebookNode
from traitlets.config import Config

from grader.course.folder import Course
from grader.errors import CourseError
from grader.notebooks.modules_beside import LEFT_BEHIND
from grader.notebooks.parsing import parse_notebook
from grader.notebooks.single_file import in_one_file
from grader.release.beside import ASSISTANTS
from grader.release.first_steps import FIRST_STEPS
from grader.release.leaks import refuse_leaks

# Where single-file notebooks are published, and the addresses that open them in Colab.

SETTING = "c.GraderCourse.public_url"  # the folder on GitHub that holds the single-file notebooks, for Colab

_ON_GITHUB = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)/(?:tree|blob)/([^\s?#()<>\"]+)")


def public_folder(config: Config) -> str:
    """The public folder that a course names, as an address of Colab's; empty if it names none."""
    setting = str(config.GraderCourse.get("public_url", "")).strip()
    match = _ON_GITHUB.fullmatch(setting.rstrip("/"))
    if setting and not match:
        raise CourseError(
            f"{SETTING} is “{setting}”, which is not the address of a GitHub folder. Colab links only work from there. "
            "In nbgrader_config.py, set it to the folder on GitHub with the files of release_single/, such as "
            "https://github.com/OWNER/REPOSITORY/tree/main/notebooks."
        )
    return f"https://colab.research.google.com/github/{match[1]}/blob/{match[2]}" if match else ""


def in_colab(folder: str, assignment: str, name: str) -> str:
    """The address that opens a notebook in Colab; empty if there is no public folder."""
    return f"{folder}/{quote(assignment)}/{quote(name)}.ipynb" if folder else ""


FOLDER = "release_single"


def write_single_files(course: Course, assignment: str) -> Path:
    """Make release_single/ASSIGNMENT from release/ASSIGNMENT; returns the folder."""
    public = public_folder(course.config())
    release, target = course.folder("release") / assignment, course.root / FOLDER / assignment
    beside = {
        path.relative_to(release).as_posix(): path.read_bytes()
        for path in sorted(release.rglob("*"))
        if path.is_file() and path.suffix != ".ipynb" and not LEFT_BEHIND & set(path.parts)
    }
    singles, all_inside = {}, set()
    for name in course.notebooks("release", assignment):
        ordinary = course.read("release", assignment, name)
        singles[name], inside = in_one_file(ordinary, beside, in_colab(public, assignment, name))
        _need_readable(ordinary, singles[name], name)
        all_inside |= inside
    leftover = sorted(beside.keys() - all_inside - {ASSISTANTS.name, *FIRST_STEPS})
    if leftover:  # all of it about a folder
        raise CourseError(
            f"{assignment} cannot be a single file: only modules, and figures shown as `![…](…)`, fit in a notebook, "
            f"but there is also {', '.join(leftover)}. Remove that from the notebook, or give students the folder."
        )
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name, single in singles.items():
        nbformat.write(single, target / f"{name}.ipynb")
    refuse_leaks(course, assignment, FOLDER)
    return target


def _need_readable(ordinary: NotebookNode, single: NotebookNode, name: str) -> None:
    """Check that a submission of the single file would be read as the ordinary notebook, however large it is."""
    as_read = [parse_notebook(nbformat.writes(each).encode()).cells for each in (ordinary, single)]
    if as_read[0] != as_read[1]:
        raise CourseError(
            f"{name}.ipynb would be too large to read as a single file, perhaps because of its figures. Give students "
            "the folder instead."
        )
