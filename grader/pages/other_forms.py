"""Other forms of a release, each made of it in a folder of its own, for those who ask for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from grader.course.folder import Course
from grader.pages.book import write_book
from grader.release.marimo import convert_release, need_marimo
from grader.release.one_file import public_folder, write_single_files


class OtherForm(NamedTuple):
    """How a form is made, and what is to be said of the folder or file that it makes."""

    make: Callable[[Course, str], Path]
    said: str


_FORMS = {
    "single-file": OtherForm(write_single_files, "{path} is ready, too: what is in it needs no file beside it."),
    "html": OtherForm(write_book, "{path} is ready, too: pages to read."),
    "marimo": OtherForm(convert_release, "{folder} is ready, too. Try it: marimo edit {path}"),
}


def need_all_for(course: Course, wanted: Collection[str]) -> None:
    """What would stop one of these forms at last is said at once."""
    if "marimo" in wanted:
        need_marimo()
    if wanted:
        public_folder(course.config())


def other_forms(course: Course, assignment: str, wanted: Collection[str]) -> Iterator[tuple[Path, str]]:
    """Make them one after another; each path with what is to be said of it."""
    for name in wanted:
        yield _FORMS[name].make(course, assignment), _FORMS[name].said
