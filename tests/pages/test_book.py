"""A release as pages to read: everything in them, nothing to fetch, readable in every look."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from selenium.webdriver import Chrome

from grader.course.folder import Course
from grader.notebooks.cells import solutions
from grader.pages import book
from grader.pages.book import BookText
from grader.release.leaks import LeakError
from support.accessibility import SCHEMES, WIDTHS, seen_as, violations, violations_in
from support.chromium import Page
from support.proof import some_in_ci

pytestmark = pytest.mark.slow

ASSIGNMENTS = ["self_attention", "causal_attention", "multi_head_attention", "transformer", "fast_attention"]
PUBLIC = 'c.GraderCourse.public_url = "https://github.com/ada/notes/tree/main"\n'
FORMULA = re.compile(r"\$\$.+?\$\$|(?<!\$)\$[^$\n]+\$(?!\$)", re.DOTALL)


class Read(HTMLParser):
    """The tags of a page with their attributes, and the text outside of code."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self._silent = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._silent += tag in ("pre", "code", "style")

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in ("pre", "code", "style")

    def handle_data(self, data: str) -> None:
        self.text += "" if self._silent else data

    def all(self, tag: str, attribute: str) -> list[str]:
        return [attributes[attribute] for name, attributes in self.tags if name == tag and attribute in attributes]


class Made(NamedTuple):
    path: Path
    release: Any
    page: Read


@pytest.fixture(scope="module", params=some_in_ci(ASSIGNMENTS, one_in=5))
def made(request: pytest.FixtureRequest, new_course: Callable[[], Course]) -> Made:
    course, assignment = new_course(), request.param
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write(PUBLIC)
    path = book.write_book(course, assignment) / f"{assignment}.html"
    return Made(path, course.read("release", assignment), Read(path.read_text()))


def texts(notebook: Any) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def test_every_formula_is_one_that_browsers_know(made: Made) -> None:
    prose = re.sub(r"`[^`\n]+`", "", texts(made.release))
    formulas = FORMULA.findall(prose)
    assert len(made.page.all("math", "display")) <= [tag for tag, _ in made.page.tags].count("math")
    in_sections = sum(len(FORMULA.findall(line)) for line in re.findall(r"^## .*", prose, re.MULTILINE))
    assert [tag for tag, _ in made.page.tags].count("math") == len(formulas) + in_sections > 50
    assert "$" not in made.page.text
    assert not re.search(r"\\[a-z\\]|\[\d+pt\]", made.page.text)


def test_every_figure_is_in_it_and_says_what_it_shows(made: Made) -> None:
    shown = re.findall(r"!\[([^\]]+)\]\(images/", texts(made.release))
    assert made.page.all("img", "alt") == shown != []
    assert all(source.startswith("data:image/svg+xml;base64,") for source in made.page.all("img", "src"))


def test_every_section_is_in_the_list_and_every_link_leads_there(made: Made) -> None:
    names = [attributes["id"] for _, attributes in made.page.tags if "id" in attributes]
    assert len(names) == len(set(names))
    inside = [link[1:] for link in made.page.all("a", "href") if link.startswith("#")]
    assert set(inside) <= set(names)
    headings = re.findall(r"^## ", texts(made.release), re.MULTILINE)
    assert [link for link in inside if link.startswith("section-")] == [
        f"section-{number}" for number in range(1, len(headings) + 1)
    ]


def test_all_code_is_in_it_and_hints_fold(made: Made) -> None:
    code = [cell for cell in made.release.cells if cell.cell_type == "code"]
    tags = [tag for tag, _ in made.page.tags]
    assert tags.count("pre") >= len(code)
    drawings = sum(bool(cell.metadata.get("jupyter", {}).get("source_hidden")) for cell in code)
    assert tags.count("details") == texts(made.release).count("<details") + drawings + 1  # and the list of sections
    hint = re.search(r"<details><summary>Hint[^<]*</summary>(.*?)</details>", made.path.read_text(), re.DOTALL)
    assert hint is not None
    assert "<p>" in hint[1]


def test_it_asks_for_nothing_and_runs_nothing(made: Made) -> None:
    tags = {tag for tag, _ in made.page.tags}
    assert not tags & {"script", "link", "iframe", "object", "base"}
    outside = [link for link in made.page.all("a", "href") if not link.startswith("#")]
    assert f"https://colab.research.google.com/github/ada/notes/blob/main/{made.path.stem}/" in "".join(outside)
    assert "default-src 'none'" in made.page.all("meta", "content")[0]


def test_everybody_can_read_it(made: Made, browser: Chrome) -> None:
    browser.get(made.path.as_uri())
    # A page takes seconds to be looked through: the shortest in several looks, the others, of the same parts, in one.
    is_shortest = made.path.stem == "multi_head_attention"
    assert (violations(browser) if is_shortest else violations_in(browser, "dark", 390)) == []
    assert browser.get_log("browser") == []  # type: ignore[no-untyped-call]
    for scheme in SCHEMES:
        for width in WIDTHS:
            with seen_as(browser, scheme, width):
                wide = Page(browser).script("return document.documentElement.scrollWidth > innerWidth")
                assert not wide, f"at {width} px the page scrolls sideways"
    with seen_as(browser, width=390):
        wide = Page(browser).script(
            "return $('table').filter(one => one.getBoundingClientRect().right > innerWidth).length"
        )
        assert wide == 0, "on a phone, part of a table is out of sight"


def test_on_paper_hints_and_code_are_whole(made: Made, browser: Chrome) -> None:
    browser.get(made.path.as_uri())
    page = Page(browser)
    with printed(browser):
        hidden = page.script("return $('details > :not(summary)').filter(one => !one.checkVisibility()).length")
        wide = page.script("return $('pre').filter(one => one.scrollWidth > one.clientWidth + 1).length")
        background = page.script("return getComputedStyle(document.body).backgroundColor")
    assert (hidden, wide, background) == (0, 0, "rgb(255, 255, 255)")


@contextmanager
def printed(browser: Chrome) -> Iterator[None]:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    yield
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_leak_stops_it(course: Course) -> None:
    path = course.notebook("release", "self_attention")
    changed = nbformat.read(path, 4)
    changed.cells[4].source += f"\n\n\n{solutions(course.read('source', 'self_attention'))[2]}"
    nbformat.write(changed, path)
    with pytest.raises(LeakError, match=rf"{book.FOLDER}/self_attention(.|\n)*exercise-2, `D = all_queries"):
        book.write_book(course, "self_attention")


# --- any notebook ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        (r"$\nosuchthing{x}$ & <b>y</b>", r"<code>\nosuchthing{x}</code> &amp; <b>y</b>"),
        ("```python\nx = 1 < 2\n```", '<span class="py-mi">1</span> &lt; <span'),
        ("```mermaid\na --> b\n```", "<code>a --&gt; b\n</code>"),
        ("## A [b](c)", '<h2 id="section-1">A <a href="c">b</a></h2>'),
        (r"\begin{align} a &= b \\[4pt] &= c \end{align}", "<mtable"),
        ("![x](dot.png)", 'src="data:image/png;base64,YWJj" alt="x"'),
        ('<img src="dot.png" width="3">', '<img src="data:image/png;base64,YWJj" width="3">'),
        ("![x](../secret.png)", 'src="../secret.png"'),
        ("![x](attachment:a.png)", 'src="data:image/png;base64,QQ=="'),
    ],
)
def test_what_a_text_may_hold(markdown: str, html: str, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"secret")
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside/dot.png").write_bytes(b"abc")
    text = BookText(tmp_path / "beside")
    text.attachments = {"a.png": {"image/png": "QQ=="}}
    assert html in text.html(markdown)


def test_a_notebook_without_headings_has_no_list_of_them(tmp_path: Path) -> None:
    cells = [new_markdown_cell("plain"), new_code_cell("x = 1"), new_code_cell("")]
    page = Read(book.page(new_notebook(cells=cells), "week1", tmp_path))
    assert "nav" not in {tag for tag, _ in page.tags}
    assert [tag for tag, _ in page.tags].count("pre") == 1
    assert "Colab" not in page.text
