"""Compile the source notebooks into those for students.

This is first tried in a separate folder, with a copy of the gradebook. Only if nbgrader accepts it and nothing leaks is
it compiled into the real gradebook, and the former release replaced.
"""

from __future__ import annotations

import contextlib
import filecmp
import json
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from grader.course.folder import Course, reason_of
from grader.errors import CourseError
from grader.gradebook.connection import check_gradebook, copy_gradebook
from grader.host.scratch import replace_folder
from grader.notebooks.modules_beside import LEFT_BEHIND
from grader.release.leaks import Searched, refuse_leaks
from grader.release.malformed import malformed_cells


def compile_release(course: Course, assignment: str) -> Searched:
    """Compile an assignment with nbgrader and search the result for leaks; returns what was searched.

    A failure leaves release and gradebook as they were, unless the gradebook itself fails while nbgrader writes to it.
    """
    course.need_plain_path()
    check_gradebook(course.api())
    release = course.folder("release")
    release.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=release, prefix=".") as folder:  # on the same disk, for renaming
        tried, compiled = Path(folder, "tried"), Path(folder, "made")
        compile_into(course, assignment, tried, copy_gradebook(course.api(), Path(folder, "gradebook.db")))
        searched = refuse_leaks(course, assignment, tried, course.called("release"))
        with _without_interrupts():
            compile_into(course, assignment, compiled)
            replace_folder(compiled / assignment, release / assignment, Path(folder, "former"))
    return searched


def differing(left: Path, right: Path) -> list[str]:
    """The files that are in only one of two folders, or have different contents.

    The ids of cells do not count: nbgrader draws new ones each time for cells that have none, such as those of the
    header that `nbgrader quickstart` writes.
    """
    return sorted(str(file) for file in _files(left) | _files(right) if not _same(left / file, right / file))


def _files(folder: Path) -> set[Path]:
    """The files of a folder, without those that Python and Jupyter leave behind."""
    files = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {file for file in files if not LEFT_BEHIND & set(file.parts)}


def _same(left: Path, right: Path) -> bool:
    if not (left.is_file() and right.is_file()):
        return False
    return filecmp.cmp(left, right, shallow=False) or (
        left.suffix == ".ipynb" and _without_ids(left) == _without_ids(right)
    )


def _without_ids(path: Path) -> Any:
    """A notebook without the ids of its cells; its bytes if it is none."""
    content = path.read_bytes()
    try:
        notebook = json.loads(content)
        cells = [{key: value for key, value in cell.items() if key != "id"} for cell in notebook["cells"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return content
    return {**notebook, "cells": cells}


def compile_into(course: Course, assignment: str, release: Path, db_url: str = "") -> None:
    config = course.config()
    config.CourseDirectory.release_directory = str(release)
    if db_url:
        config.CourseDirectory.db_url = db_url
    result = course.api(config).generate_assignment(assignment, force=True, create=True)
    if result["success"]:
        return
    if result["error"].rstrip().endswith("KeyboardInterrupt"):  # which nbgrader takes for an error
        raise KeyboardInterrupt
    source, target = (f"{course.called(step)}/{assignment}" for step in ("source", "release"))
    if "submissions associated" in reason_of(result):
        raise CourseError(
            f"Submissions of {assignment} were already graded, so nbgrader cannot change which cells have points. "
            f"{target} was not changed. Put the new cells in another assignment. Or, if the grading was just a trial, "
            "delete all its points, manual ones too (files stay), then release and grade again. To delete them, run: "
            f"nbgrader db assignment remove {assignment} --force"
        )
    malformed = malformed_cells(course, assignment)
    if malformed:
        raise CourseError(
            f"nbgrader could not compile {assignment}. {' '.join(malformed)} {target} was not changed. Fix that, then "
            "run this again."
        )
    raise CourseError(
        f"nbgrader could not compile {assignment}. It says:\n{reason_of(result)}\n{target} was not changed. "
        f"Fix {source}, then run this again. For all of nbgrader's output, run: nbgrader generate_assignment "
        f"{assignment} --force"
    )


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Delay Ctrl-C for the second in which gradebook and release are replaced together."""
    usual = signal.getsignal(signal.SIGINT)
    if not callable(usual) or threading.current_thread() is not threading.main_thread():
        yield  # it is ignored or ends us at once, or another thread deals with it
        return
    interrupts: list[Any] = []
    signal.signal(signal.SIGINT, lambda number, frame: interrupts.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if interrupts:
        usual(*interrupts[0])
