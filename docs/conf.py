"""The site: `make site` builds these pages into build/site. docs/README.md is its front page and its contents."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from docutils.nodes import Node
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from reference import EXTRA, PARTS  # noqa: E402

project = "Attention Grader"
root_doc = "README"
extensions = ["myst_parser"]
exclude_patterns = ["images"]
suppress_warnings = ["myst.header"]  # what is generated begins below a heading

myst_heading_anchors = 4  # as on GitHub
myst_links_external_new_tab = False
highlight_language = "text"
smartquotes = False

html_theme = "furo"
html_title = project
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_show_search_summary = False  # a browser fetches no summaries from a disk
html_last_updated_fmt = None
html_extra_path = [str(EXTRA)] if EXTRA.is_dir() else []

# Pages outside this folder, and where the site has them.
_ELSEWHERE = re.compile(r"\]\(\.\./(CONTRIBUTING|CHANGELOG|SECURITY)\.md")


class Generated(SphinxDirective):
    """What the code says of itself: ```{generated} command_line```, for one of the parts of reference.py."""

    required_arguments = 1

    def run(self) -> list[Node]:
        return self.parse_text_to_nodes(PARTS[self.arguments[0]](), allow_section_headings=True)


def prepared(_app: Sphinx, page: str, source: list[str]) -> None:
    """Lead to pages outside this folder; and make the front page's lists, each below a heading, the contents."""
    source[0] = _ELSEWHERE.sub(lambda found: f"](project/{found[1]}.md", source[0])
    if page == root_doc:
        for heading, text in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", source[0], re.DOTALL | re.MULTILINE):
            pages = dict.fromkeys(re.findall(r"\]\(([\w/]+)\.md\)", text))
            if pages:
                listed = "\n".join(pages)
                source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{listed}\n```\n"


def with_a_front_door(app: Sphinx, error: Exception | None) -> None:
    if not error:
        shutil.copyfile(app.outdir / f"{root_doc}.html", app.outdir / "index.html")


def setup(app: Sphinx) -> None:
    app.add_directive("generated", Generated)
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", prepared)
    app.connect("build-finished", with_a_front_door)
