"""A course folder for trials: it reads the course's own files, and nothing that is written stays."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from grader.classroom.attempts import FOLDER as KEPT
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.connection import copy_gradebook, gradebook_file
from grader.gradebook.hidden_seed import secret_of

GRADEBOOK = "gradebook.db"
_READ = ("source", "release", "submitted")
_WRITTEN = ("autograded", "feedback")


@contextlib.contextmanager
def rehearsal(course: Course) -> Iterator[Course]:
    """The course with copies of its grades. Its settings are exactly the same, since grades depend on their text."""
    api = course.api()
    if gradebook_file(api) is None:
        raise CourseError(
            "--dry-run needs a gradebook in a file, to work on a copy. c.CourseDirectory.db_url names a server."
        )
    secret_of(course.root)  # made now, so that both have the same
    written = {*map(str, map(course.folder, _WRITTEN)), str(course.root / KEPT)}
    with tempfile.TemporaryDirectory(prefix="grader-rehearsal-") as folder:
        root = Path(folder, course.root.name)
        root.mkdir()
        for entry in course.root.iterdir():
            if entry.name != GRADEBOOK and str(entry) not in written:
                (root / entry.name).symlink_to(entry)
        _copy(course.folder("autograded"), root / "autograded")
        if (course.root / KEPT).is_dir():
            shutil.copytree(course.root / KEPT, root / KEPT)  # real copies, since hard links are not taken in
        places = {f"{step}_directory": str(course.folder(step)) for step in _READ}
        places |= {f"{step}_directory": step for step in _WRITTEN}
        places["db_url"] = copy_gradebook(api, root / GRADEBOOK)
        yield course.at(root, places)


def _copy(folder: Path, target: Path) -> None:
    """Copy a folder, by hard links if the disk has them: grading writes new files, and changes no old ones."""

    def linked(source: str, place: str) -> None:
        try:
            os.link(source, place)
        except OSError:
            shutil.copyfile(source, place)

    if folder.is_dir():
        shutil.copytree(folder, target, copy_function=linked)
