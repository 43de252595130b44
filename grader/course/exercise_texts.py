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
        return ExerciseFiles(str(folder), _read_texts(folder))
    if not setting:
        return ExerciseFiles()
    folder = _folder_of_package(setting)
    return ExerciseFiles(str(folder), _read_texts(folder), setting)


def hidden_folders(files: ExerciseFiles) -> list[str]:
    """The folders that student code may not read. A package may be in a different folder on another machine."""
    package_folder = _find_package(files.package.split(".")[0]) if files.package else None
    return [str(folder) for folder in (files.folder, package_folder) if folder]


def _read_texts(folder: Path) -> dict[str, bytes]:
    try:
        texts = {}
        for path in sorted(folder.rglob("*.py")):
            relative_path = path.relative_to(folder)
            if not any(segment.startswith(".") for segment in relative_path.parts):
                texts[relative_path.as_posix()] = path.read_bytes()
        return texts
    except OSError as error:
        raise CourseError(f"The exercises in {folder} cannot be read: {error.strerror}. Fix that.") from None


def _folder_of_package(name: str) -> Path:
    package, *subpackages = name.split(".")
    package_folder = _find_package(package) if _PACKAGE.fullmatch(name) else None
    folder = package_folder.joinpath(*subpackages) if package_folder else None
    if folder is None or not folder.is_dir():
        raise CourseError(
            f"{SETTING} is “{name}”, which is neither a folder in the course nor an installed package. "
            "Fix that in nbgrader_config.py."
        )
    return folder.resolve()


def _find_package(package: str) -> Path | None:
    """The folder of an installed package, found without importing it."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))
