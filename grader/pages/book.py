"""Turn a released notebook into a page to read, in release_html/: one file without scripts that loads nothing.

It is made from the release, so it holds no solution. It is searched for leaks all the same.
"""

from __future__ import annotations

import re
import shutil
from base64 import b64encode
from collections.abc import Iterator, Mapping
from html import escape
from mimetypes import guess_type
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from markupsafe import Markup
from math_core import LatexError, LatexToMathML
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

from grader.course.folder import Course
from grader.pages.page_parts import template
from grader.pages.sections import Sections
from grader.pages.text_html import highlighted
from grader.release.leaks import refuse_leaks
from grader.release.one_file import in_colab, public_folder

# The texts of a notebook as self-contained HTML: formulas as MathML, figures as data.

_MATHML = LatexToMathML()
_SPACE_BELOW_A_LINE = re.compile(r"(\\\\)\[[\d.]+\s*(?:pt|em|ex|mm|cm)\]")  # the library takes it for text
_ANCHOR = re.compile(r'<a id="[^"]*">')
_SOURCE = re.compile(r"""(<img\b[^>]*\bsrc=["'])([^"'>]+)""")
_WIDE = '<{0} class="wide" tabindex="0" role="group" aria-label="{1}">{2}</{0}>'  # scrolls on its own, also by keyboard


class Section(NamedTuple):
    """An entry in the table of contents."""

    name: str  # its anchor on the page
    title: Markup


class BookText(IPythonRenderer):
    """Render the texts of a notebook one by one, and collect the sections that begin in them."""

    def __init__(self, folder: Path) -> None:
        super().__init__(escape=False, exclude_anchor_links=True)
        self.attachments: Mapping[str, object] = {}  # of the cell being rendered
        self.sections: list[Section] = []
        self._folder = folder.resolve()

    def html(self, markdown: str) -> Markup:
        return Markup(MarkdownWithMath(renderer=self).render(markdown))

    def heading(self, text: str, level: int, **_: object) -> str:
        if level != 2:
            return f"<h{level}>{text}</h{level}>\n"
        section = Section(f"section-{len(self.sections) + 1}", Markup(_ANCHOR.sub("", text).replace("</a>", "")))
        self.sections.append(section)
        return f'<h2 id="{section.name}">{text}</h2>\n'

    # (The renderer can embed figures itself, but then closes each <details> at the end of its line.)
    def block_html(self, html: str) -> str:
        return _SOURCE.sub(lambda found: found[1] + self._data(found[2]), html) + "\n"

    def inline_html(self, html: str) -> str:
        return _SOURCE.sub(lambda found: found[1] + self._data(found[2]), html)

    def image(self, text: str, url: str, title: str | None = None) -> str:
        return str(super().image(text, self._data(url), title))

    def _data(self, place: str) -> str:
        """A data address with the figure, if it is a file beside the notebook."""
        path = (self._folder / unquote(place)).resolve()
        if not path.is_relative_to(self._folder) or not path.is_file():
            return place
        return f"data:{guess_type(path)[0]};base64,{b64encode(path.read_bytes()).decode()}"

    def block_code(self, code: str, info: str | None = None) -> str:
        is_python = (info or "").strip().lower() in ("py", "python", "python3", "ipython3")
        return code_html(highlighted(code) if is_python else escape(code))

    def table(self, text: str) -> str:
        return _WIDE.format("div", "Table", f"<table>{text}</table>")

    def inline_math(self, body: str) -> str:
        return _formula(body, displayed=False)

    def block_math(self, body: str) -> str:
        return _WIDE.format("span", "Formula", _formula(body, displayed=True))

    def latex_environment(self, name: str, body: str) -> str:
        return self.block_math(rf"\begin{{{name}}}{body}\end{{{name}}}")


def code_html(code: str) -> str:
    """A block of code that is already highlighted or escaped."""
    return f'<pre tabindex="0" aria-label="Code"><code>{code}</code></pre>'


def _formula(latex: str, displayed: bool) -> str:
    """A formula as MathML, which browsers show and read aloud. If the library does not know it, it stays as written."""
    try:
        return str(_MATHML.convert_with_local_state(_SPACE_BELOW_A_LINE.sub(r"\1", latex), displaystyle=displayed))
    except LatexError:
        return f"<code>{escape(latex.strip())}</code>"


FOLDER = "release_html"


class BookPiece(NamedTuple):
    """A cell as the page shows it."""

    html: Markup
    is_folded: bool


def write_book(course: Course, assignment: str) -> Path:
    """Make release_html/ASSIGNMENT from release/ASSIGNMENT, a page for each notebook; returns the folder."""
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


def page(notebook: NotebookNode, name: str, folder: Path, colab: str = "") -> str:
    """The page for a notebook whose figures are in this folder."""
    text = BookText(folder)
    pieces = list(_pieces(notebook, text))
    title = Sections.of(notebook).title or name
    return template("book.html").render(title=title, name=name, pieces=pieces, sections=text.sections, colab=colab)


def _pieces(notebook: NotebookNode, text: BookText) -> Iterator[BookPiece]:
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            text.attachments = dict(cell.get("attachments", {}))
            yield BookPiece(text.html(cell.source), False)
        elif cell.cell_type == "code" and cell.source.strip():
            is_folded = bool(cell.metadata.get("jupyter", {}).get("source_hidden"))
            yield BookPiece(Markup(code_html(highlighted(cell.source))), is_folded)
