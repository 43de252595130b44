"""Add a released assignment to a gradebook that does not know it, without releasing it again."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from grader.course.folder import Course
from grader.errors import CourseError

log = logging.getLogger(__name__)


def enter(course: Course, assignment: str, gradebook: Gradebook) -> None:
    """Add a released assignment to a gradebook that does not know it: in a fresh clone, say.

    If something of it was graded, nothing happens: the gradebook that knows it must be somewhere else.
    """
    if _knows(gradebook, assignment) or any(course.folder("autograded").glob(f"*/{assignment}/*.ipynb")):
        return
    from grader.release.compiling import compile_into, differing  # imports torch

    with tempfile.TemporaryDirectory(prefix="grader-release-") as folder:
        tried = Path(folder, "tried")
        compile_into(course, assignment, tried, f"sqlite:///{folder}/gradebook.db")
        release = course.folder("release") / assignment
        changed = differing(release, tried / assignment)
        if changed:
            raise CourseError(
                f"{assignment} is not in the gradebook yet, and its source has changed since the last "
                f"{course.called('release')} ({', '.join(changed)}). Run: grader release {assignment}"
            )
        compile_into(course, assignment, Path(folder, "made"))
    gradebook.db.expire_all()
    log.info(f"Added {assignment} to the gradebook.")


def _knows(gradebook: Gradebook, assignment: str) -> bool:
    try:
        return bool(gradebook.find_assignment(assignment).notebooks)
    except MissingEntry:
        return False
    finally:
        gradebook.db.rollback()  # so that nbgrader can write to it
