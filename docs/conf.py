"""The site: `make site` builds these pages into build/site. docs/README.md is its front page and its contents."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils.nodes import Node
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import gallery  # noqa: E402
import reference  # noqa: E402

project = "Attention Grader"
root_doc = "README"
extensions = ["myst_parser"]
exclude_patterns = ["images"]

myst_heading_anchors = 4  # as on GitHub
highlight_language = "text"
smartquotes = False

html_theme = "furo"
html_title = project
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_use_index = False
html_show_search_summary = False  # a browser fetches no summaries from a disk
EXTRA = HERE.parent / "build/extra"  # what `make gallery` makes
html_extra_path = [str(EXTRA)] if EXTRA.is_dir() else []
PARTS: dict[str, Callable[[], str]] = {**reference.PARTS, "gallery": lambda: gallery.page(EXTRA)}

# Pages outside this folder, and where the site has them.
_ELSEWHERE = re.compile(r"\]\(\.\./(CONTRIBUTING|CHANGELOG|SECURITY)\.md")


class Generated(SphinxDirective):
    """What the code says of itself: ```{generated} command_line```, for one of PARTS."""

    required_arguments = 1

    def run(self) -> list[Node]:
        return self.parse_text_to_nodes(PARTS[self.arguments[0]](), allow_section_headings=True)


def prepared(_app: Sphinx, page: str, source: list[str]) -> None:
    """Lead to pages outside this folder; and make the front page's lists, each below a heading, the contents."""
    source[0] = _ELSEWHERE.sub(r"](project/\1.md", source[0])
    if page == root_doc:
        for heading, text in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", source[0], re.DOTALL | re.MULTILINE):
            pages = [f"{title} <{name}>" for title, name in re.findall(r"\[([^]]+)\]\(([\w/]+)\.md\)", text)]
            source[0] += "\n".join(["\n```{toctree}", ":hidden:", f":caption: {heading}", "", *pages, "```\n"])


def readable(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: object) -> None:
    """What the theme leaves out for people who read with a keyboard or a screen reader."""
    contents = str(context["furo_navigation_tree"])
    context["furo_navigation_tree"] = contents.replace('role="heading"', 'role="heading" aria-level="2"')
    body = str(context.get("body", ""))  # the search page has none
    context["body"] = re.sub(r'<(pre|div(?= class="table-wrapper))', r'<\1 tabindex="0"', body)


def with_a_front_door(app: Sphinx, error: Exception | None) -> None:
    if not error:
        shutil.copyfile(app.outdir / f"{root_doc}.html", app.outdir / "index.html")


def setup(app: Sphinx) -> None:
    app.add_directive("generated", Generated)
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", prepared)
    app.connect("html-page-context", readable, priority=900)  # after the theme
    app.connect("build-finished", with_a_front_door)
