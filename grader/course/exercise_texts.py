"""Read the exercise files of a course, to be sent as text to the processes that grade.

They are in a folder of the course or in an installed package. No process that runs a student's code may read them.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import CourseError
from grader.model.exercise_files import ExerciseFiles

if TYPE_CHECKING:
    from traitlets.config import Config

FOLDER = "exercises"  # by default
SETTING = "c.GraderCourse.exercises"  # a folder of the course, or an installed package, with its exercise files

_PACKAGE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def read_exercise_files(config: Config, root: Path) -> ExerciseFiles:
    """Read the exercise files of the course in this folder, with these settings; none for an ordinary course."""
    setting = str(config.GraderCourse.get("exercises", ""))
    folder = (root / (setting or FOLDER)).resolve()
    if folder.is_dir() and root.resolve() in folder.parents:
        return ExerciseFiles(str(folder), _texts(folder))
    if not setting:
        return ExerciseFiles()
    folder = _folder_of_package(setting)
    return ExerciseFiles(str(folder), _texts(folder), setting)


def hidden_folders(files: ExerciseFiles) -> list[str]:
    """The folders that student code may not read. A package may be in a different folder on another machine."""
    installed = _installed(files.package.split(".")[0]) if files.package else None
    return [folder for folder in (files.folder, installed and str(installed)) if folder]


def _texts(folder: Path) -> dict[str, bytes]:
    try:
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*.py"))
            if not any(part.startswith(".") for part in path.relative_to(folder).parts)
        }
    except OSError as error:
        raise CourseError(f"The exercises in {folder} cannot be read: {error.strerror}. Fix that.") from None


def _folder_of_package(name: str) -> Path:
    top, *below = name.split(".")
    found = _installed(top) if _PACKAGE.fullmatch(name) else None
    folder = found.joinpath(*below) if found else None
    if folder is None or not folder.is_dir():
        raise CourseError(
            f"{SETTING} is “{name}”, which is neither a folder in the course nor an installed package. "
            "Fix that in nbgrader_config.py."
        )
    return folder.resolve()


def _installed(package: str) -> Path | None:
    """The folder of an installed package, found without importing it."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    return Path(next(iter(spec.submodule_search_locations))) if spec and spec.submodule_search_locations else None
