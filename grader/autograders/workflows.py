"""Two folders for GitHub: a template for each student's repository, and the instructor's private one that grades."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from packaging.requirements import Requirement

from grader.autograders.packages import to_install
from grader.autograders.packed import pack
from grader.course.folder import Course
from grader.notebooks.modules_beside import LEFT_BEHIND

_HERE = Path(__file__).parent
_RUNS_CHECKS = ("on_github.py", "visible.py")
_OF_NOTEBOOKS = ("ipykernel", "matplotlib", "nbclient", "nbformat", "numpy", "torch")  # needed by a student's notebook
_CHECKS = ".github/checks"


def github_folders(course: Course, assignment: str, tell: Callable[[str], None], index: str) -> dict[str, bytes]:
    """The files of both folders, by path."""
    grading = pack(course, assignment, tell, index)
    return {
        **{f"student/{place}": content for place, content in _student(course, assignment, index).items()},
        **{f"instructor/grading/{place}": content for place, content in grading.items()},
        "instructor/.github/workflows/grade.yml": _workflow("grade.yml", ""),
    }


def _student(course: Course, assignment: str, index: str) -> dict[str, bytes]:
    """The student's files: the release, which has nothing secret in it, and the programs that run its checks."""
    release = course.folder("release") / assignment
    files = {path.relative_to(release): path for path in release.rglob("*") if path.is_file()}
    given = {place.as_posix(): path.read_bytes() for place, path in files.items() if not LEFT_BEHIND & set(place.parts)}
    notebooks = [f"{name}.ipynb" for name in course.notebooks("release", assignment)]
    needed = to_install([Requirement(name) for name in _OF_NOTEBOOKS], index)
    return {
        **given,
        ".github/workflows/check.yml": _workflow("check.yml", shlex.join(notebooks)),
        **{f"{_CHECKS}/{place}": content for place, content in needed.items()},
        **{f"{_CHECKS}/{name}": _alone(_HERE / name) for name in _RUNS_CHECKS},
    }


def _alone(module: Path) -> bytes:
    """A module's text, changed to import from its own folder, since the grader is not installed there."""
    return module.read_text(encoding="utf-8").replace("from grader.autograders.", "from ").encode()


def _workflow(name: str, notebooks: str) -> bytes:
    text = (_HERE / "templates" / "github" / name).read_text(encoding="utf-8")
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return text.replace("{python}", python).replace("{notebooks}", notebooks).encode()
