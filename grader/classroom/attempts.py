"""Copies of all attempts, kept if the best of several counts: beside submitted/, where nbgrader does not look."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from grader.classroom.submitted_files import MAX_BYTES, NotTakenIn, SubmittedFiles, take_in
from grader.course.folder import Course
from grader.gradebook.fingerprint import digest, digest_parts
from grader.host.scratch import write_files

FOLDER = "hand_ins"  # holds STUDENT/ASSIGNMENT/ with a folder for each attempt, whose name is a digest of its files

MOST_ATTEMPTS = 100  # attempts of a student …
MOST_BYTES = 10 * MAX_BYTES  # … and in all of them together, since all are read: a small zip can hold a hundred MB


class NoRoom(OSError):
    """A student has submitted too often, or too much, for everything to be kept."""

    def __init__(self, folder: Path) -> None:
        super().__init__(errno.EDQUOT, "there is no more room for this student's attempts", str(folder))


def kept_attempts(course: Course, student: str, assignment: str) -> list[str]:
    """The names of all kept attempts of a student."""
    folder = course.root / FOLDER / student / assignment
    return sorted(path.name for path in folder.iterdir() if path.name[0] != ".") if folder.is_dir() else []


def keep_submitted(course: Course, student: str, assignment: str) -> None:
    """Keep a copy of what is in submitted/, unless it has no notebook: then it could not count."""
    names = course.notebooks("release", assignment)
    try:
        submitted = take_in(course.folder("submitted"), student, assignment, notebooks=names)
    except NotTakenIn:
        return
    keep(course, student, assignment, submitted)


def is_kept(course: Course, student: str, assignment: str, submitted: SubmittedFiles) -> bool:
    return _attempt_folder(course, student, assignment, submitted).is_dir()


def keep(course: Course, student: str, assignment: str, submitted: SubmittedFiles) -> None:
    """Keep a copy of an attempt, whole or not at all. NoRoom is raised if there are too many others."""
    folder = _attempt_folder(course, student, assignment, submitted)
    if folder.is_dir():
        return
    if _is_full(folder.parent):
        raise NoRoom(folder.parent)
    unfinished = folder.with_name(f".{folder.name}")
    shutil.rmtree(unfinished, ignore_errors=True)
    files = _all_files(submitted)
    write_files({name: content for name, content in files.items() if content is not None}, unfinished)
    for name, content in files.items():
        if content is None:  # the student had a folder in place of the notebook
            (unfinished / name).mkdir(parents=True)
    unfinished.rename(folder)


def _is_full(folder: Path) -> bool:
    if not folder.is_dir():
        return False
    sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return len(list(folder.iterdir())) >= MOST_ATTEMPTS or sum(sizes) >= MOST_BYTES


def _attempt_folder(course: Course, student: str, assignment: str, submitted: SubmittedFiles) -> Path:
    name = digest(*digest_parts(_all_files(submitted)))[:16]
    return course.root / FOLDER / student / assignment / name


def _all_files(submitted: SubmittedFiles) -> dict[str, bytes | None]:
    return {f"{name}.ipynb": content for name, content in submitted.notebooks.items()} | submitted.files
