"""A released notebook as a page to read, in release_html/: one file without scripts, which loads nothing.

It is made of the release, so it holds no solution; all that it shows is searched for leaks all the same.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from grader.course.folder import Course
from grader.pages.book_text import BookText, code_html
from grader.pages.sections import Sections
from grader.pages.templating import template
from grader.pages.text_html import highlighted
from grader.release.leaks import refuse_leaks
from grader.release.public_url import in_colab, public_folder

FOLDER = "release_html"


class Piece(NamedTuple):
    """A cell as the page shows it."""

    html: Markup
    is_folded: bool


def write_book(course: Course, assignment: str) -> Path:
    """Make release_html/ASSIGNMENT of release/ASSIGNMENT, a page for each notebook; returns the folder."""
    public = public_folder(course.config())
    release, target = course.folder("release") / assignment, course.root / FOLDER / assignment
    names = course.notebooks("release", assignment)
    pages = {
        name: page(course.read("release", assignment, name), name, release, in_colab(public, assignment, name))
        for name in names
    }
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for name, text in pages.items():
        (target / f"{name}.html").write_text(text, encoding="utf-8")
    refuse_leaks(course, assignment, FOLDER)
    return target


def page(notebook: Any, name: str, folder: Path, colab: str = "") -> str:
    """The page of a notebook whose figures lie in this folder."""
    text = BookText(folder)
    pieces = list(_pieces(notebook, text))
    title = Sections.of(notebook).title or name
    return template("book.html").render(title=title, name=name, pieces=pieces, sections=text.sections, colab=colab)


def _pieces(notebook: Any, text: BookText) -> Iterator[Piece]:
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text.attachments = dict(cell.get("attachments", {}))
            yield Piece(text.html(cell.source), False)
        elif cell.cell_type == "code" and cell.source.strip():
            is_folded = bool(cell.metadata.get("jupyter", {}).get("source_hidden"))
            yield Piece(Markup(code_html(highlighted(cell.source))), is_folded)
