"""A feedback page as HTML: one file without scripts, which loads nothing."""

from __future__ import annotations

import functools

from jinja2 import Template

from grader.pages.page_parts import Page
from grader.pages.templating import template


def render(page: Page) -> str:
    """The page as HTML."""
    right = [part for part in page.parts if part.state == "full"]
    todo = [part for part in page.parts if part.state in ("part", "none")]
    waiting = [part for part in page.parts if part.state == "waiting" and part.max_points]
    by_hand = any(part.automatic is not None for part in right)  # full marks, and not for what the tests found
    counting = [part for part in page.parts if part.state != "void"]
    shown = {"counting": counting, "right": right, "todo": todo, "waiting": waiting, "by_hand": by_hand}
    return str(_template().render(page=page, **shown))


@functools.cache
def _template() -> Template:
    """Compiled once for a class."""
    return template("feedback.html.j2", points=lambda number: f"{round(number, 2):g}")
