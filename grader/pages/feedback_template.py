"""A feedback page as HTML: one file without scripts, which loads nothing."""

from __future__ import annotations

import functools

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from grader.pages.page_parts import Page


def render(page: Page) -> str:
    """The page as HTML."""
    right = [part for part in page.parts if part.state == "full"]
    todo = [part for part in page.parts if part.state in ("part", "none")]
    by_hand = any(part.automatic is not None for part in right)  # full marks, and not for what the tests found
    counting = [part for part in page.parts if part.state != "void"]
    return str(_template().render(page=page, counting=counting, right=right, todo=todo, by_hand=by_hand))


@functools.cache
def _template() -> Template:
    """Compiled once for a class."""
    environment = Environment(
        loader=PackageLoader("grader.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["points"] = lambda number: f"{round(number, 2):g}"
    return environment.get_template("feedback.html.j2")
