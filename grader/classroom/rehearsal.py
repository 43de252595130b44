"""A course folder for trials: it reads the course's own files, and nothing that is written stays."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from grader.classroom.attempts import FOLDER as ATTEMPTS
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.connection import copy_gradebook, gradebook_file
from grader.gradebook.hidden_seed import secret_of

GRADEBOOK = "gradebook.db"
_STEPS_READ = ("source", "release", "submitted")
_STEPS_WRITTEN = ("autograded", "feedback")


@contextlib.contextmanager
def rehearsal(course: Course) -> Iterator[Course]:
    """The course with copies of its grades. Its settings are exactly the same, since grades depend on their text."""
    api = course.api()
    if gradebook_file(api) is None:
        raise CourseError(
            "--dry-run needs a gradebook in a file, to work on a copy. c.CourseDirectory.db_url names a server."
        )
    secret_of(course.root)  # made now, so that both have the same
    written_folders = {*map(str, map(course.folder, _STEPS_WRITTEN)), str(course.root / ATTEMPTS)}
    with tempfile.TemporaryDirectory(prefix="grader-rehearsal-") as folder:
        root = Path(folder, course.root.name)
        root.mkdir()
        for entry in course.root.iterdir():
            if entry.name != GRADEBOOK and str(entry) not in written_folders:
                (root / entry.name).symlink_to(entry)
        _copy(course.folder("autograded"), root / "autograded")
        if (course.root / ATTEMPTS).is_dir():
            shutil.copytree(course.root / ATTEMPTS, root / ATTEMPTS)  # real copies, since hard links are not taken in
        settings = {f"{step}_directory": str(course.folder(step)) for step in _STEPS_READ}
        settings |= {f"{step}_directory": step for step in _STEPS_WRITTEN}
        settings["db_url"] = copy_gradebook(api, root / GRADEBOOK)
        yield course.at(root, settings)


def _copy(folder: Path, target: Path) -> None:
    """Copy a folder, by hard links if the disk has them: grading writes new files, and changes no old ones."""

    def copy_file(source: str, path: str) -> None:
        try:
            os.link(source, path)
        except OSError:
            shutil.copyfile(source, path)

    if folder.is_dir():
        shutil.copytree(folder, target, copy_function=copy_file)
