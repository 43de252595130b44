"""Pack one assignment for a machine that grades it without a course folder or a gradebook.

The grader itself goes along, so that the same version writes and reads the files. Its own exercises are left out: the
course's exercises go as text, in the file that nobody else may read.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import hmac
import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.autograders.packages import needed_by_grader, to_install
from grader.classroom.intake import read_assignment
from grader.collecting.identifying import ReleasedNotebook, released_notebooks
from grader.course.folder import CONFIG_FILE, Course, take_plugins_from
from grader.errors import CourseError
from grader.gradebook.class_gradebook import ClassGradebook
from grader.gradebook.connection import open_gradebook
from grader.gradebook.hidden_seed import secret_of
from grader.gradebook.settings import read_settings
from grader.model.submission import Assignment
from grader.release.entering import enter

HIDDEN_FILE = "assignment.pickle"
PLUGINS = "plugins"  # the folder for the course's own modules
_PACKAGE = Path(__file__).resolve().parent.parent
_AT_HOME = ("exercises", "checks")  # folders that stay here


@dataclass(frozen=True)
class Packed:
    """One assignment, with all that is needed to grade it elsewhere."""

    assignment: Assignment
    released: Sequence[ReleasedNotebook]  # all the course's notebooks: a submission may be the wrong one
    secret: bytes


def pack(course: Course, assignment: str, index: str) -> dict[str, bytes]:
    """The files to send, by path."""
    if not course.notebooks("release", assignment):
        raise CourseError(f"{assignment} has not been released yet. Run: grader release {assignment}")
    packed = Packed(_assignment(course, assignment), released_notebooks(course), _secret(course, assignment))
    return {
        HIDDEN_FILE: pickle.dumps(packed),
        **to_install(needed_by_grader(), index),
        **{f"grader/{path.relative_to(_PACKAGE).as_posix()}": path.read_bytes() for path in _sources()},
        **{f"{PLUGINS}/{path.name}": path.read_bytes() for path in _plugins(course)},
    }


def unpack(folder: Path) -> Packed:
    """Read a packed assignment from this folder, which is hidden from submissions with everything in it."""
    packed: Packed = pickle.loads((folder / HIDDEN_FILE).read_bytes())
    if (folder / PLUGINS).is_dir():
        take_plugins_from(folder / PLUGINS)
    settings = f"{packed.assignment.settings}\nc.RunAndJudge.by_user = True\n"
    exercises = dataclasses.replace(packed.assignment.exercises, folder=str(folder / "exercises"))  # no other folder
    hidden = [str(folder.resolve())]
    assignment = dataclasses.replace(packed.assignment, settings=settings, exercises=exercises, hidden=hidden)
    return dataclasses.replace(packed, assignment=assignment)


def _assignment(course: Course, name: str) -> Assignment:
    api = course.api()
    settings = read_settings(course, api, name)
    with contextlib.closing(open_gradebook(api)) as connection:
        enter(course, name, connection)
        gradebook = ClassGradebook(connection, name)
        complete = read_assignment(course, settings, gradebook, device="cpu", confined=True)
    return dataclasses.replace(complete, db_url="", hidden=())


def _secret(course: Course, assignment: str) -> bytes:
    """A secret for use elsewhere, which gives away nothing about the course's own."""
    return hmac.new(secret_of(course.root), f"elsewhere {assignment}".encode(), hashlib.sha256).digest()


def _sources() -> Iterator[Path]:
    for path in sorted(_PACKAGE.rglob("*")):
        folders = path.relative_to(_PACKAGE).parts
        if path.is_file() and folders[0] not in _AT_HOME and "__pycache__" not in folders:
            yield path


def _plugins(course: Course) -> list[Path]:
    return [path for path in sorted(course.root.glob("*.py")) if path.name != CONFIG_FILE]
