"""Other forms of a release, made on request, each in its own folder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from grader.course.folder import Course
from grader.release.marimo import convert_release, need_marimo
from grader.release.one_file import public_folder, write_single_files


class OtherForm(NamedTuple):
    """How to make a form, and what to say about the resulting folder or file."""

    make: Callable[[Course, str], Path]
    said: str


_FORMS = {
    "single-file": OtherForm(write_single_files, "{path} is ready, too. Its notebooks need no other files."),
    "marimo": OtherForm(convert_release, "{folder} is ready, too. Try it: marimo edit {path}"),
}


def need_all_for(course: Course, wanted: Collection[str]) -> None:
    """Raise an error right away if one of these forms would fail later."""
    if "marimo" in wanted:
        need_marimo()
    if wanted:
        public_folder(course.config())


def other_forms(course: Course, assignment: str, wanted: Collection[str]) -> Iterator[tuple[Path, str]]:
    """Make the forms one by one; yields each path, and what to say about it."""
    for name in wanted:
        yield _FORMS[name].make(course, assignment), _FORMS[name].said
