"""The parts of a feedback page, and the templates of all pages."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from grader.model.label import Label
from grader.model.verdict import Picture
from grader.pages.heat_map import FILTERS
from grader.pages.sentence_groups import SentenceGroup
from grader.term.rules import Rule

REPORT = "report"  # the folder of class reports, in the course folder
# By state of an exercise. They differ in shape, not only in color.
MARKS = {"full": "✓", "part": "◐", "none": "✗", "waiting": "…", "void": "–"}


TEMPLATES = Path(__file__).parent / "templates"


def template(name: str, folder: Path = TEMPLATES, **filters: Callable[..., object]) -> Template:
    """A template of a page. Values are escaped as text, and missing ones are errors."""
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters)
    return environment.get_template(name)


def state_of(points: float, max_points: float) -> str:
    """The state of an exercise that has points, a key of MARKS."""
    if points >= max_points:
        return "full"
    return "part" if points > 0 else "none"


@dataclass(frozen=True)
class Figure:
    """A picture of a result, and what can be seen in it."""

    picture: Picture
    title: Markup
    wrong: Sequence[Markup]
    right: Sequence[Markup]


@dataclass
class PageSection:
    """One exercise or written answer on the page."""

    name: str  # its anchor on the page; empty if its line in the overview says all
    title: str
    points: float | None
    max_points: float
    state: str  # a key of MARKS
    headline: str  # in a few words
    right: list[Markup] = field(default_factory=list)
    wrong: list[SentenceGroup] = field(default_factory=list)  # what was wrong, and why: as HTML
    steps: list[Markup] = field(default_factory=list)  # what to do next
    figures: list[Figure] = field(default_factory=list)
    code: Markup | None = None
    text: Markup | None = None
    comment: Markup | None = None
    outputs: list[Markup] = field(default_factory=list)  # of the student's own cell
    automatic: float | None = None  # points before somebody changed them
    tests_headline: str = ""  # the headline before that
    rule: Rule | None = None  # of the term, for this exercise
    exercise: Label | None = None


@dataclass
class Page:
    title: str
    student: str
    notebook: str
    score: float | None
    max_score: float
    without_rules: float  # the maximum, ignoring the rules of the term
    late_penalty: float
    attempt: str  # which attempt counts, if the best of several does
    why_late: str  # the rule behind the late penalty, if there is one
    sections: list[PageSection]
    notes: list[Markup]
    blocked: list[Markup]
    waits: int  # how many answers wait for points from a person
    prefix: str = ""  # of anchors, where pages of several notebooks are shown as one


def render(page: Page) -> str:
    """A feedback page as HTML: one file without scripts that loads nothing."""
    right = [section for section in page.sections if section.state == "full"]
    todo = [section for section in page.sections if section.state in ("part", "none")]
    waiting = [section for section in page.sections if section.state == "waiting" and section.max_points]
    # Full marks, but not from the tests, as far as the page says.
    by_hand = any(section.automatic is not None or not section.name for section in right)
    counting = [section for section in page.sections if section.state != "void"]
    return str(
        _template().render(
            page=page, marks=MARKS, counting=counting, right=right, todo=todo, waiting=waiting, by_hand=by_hand
        )
    )


def join_pages(pages: Sequence[str]) -> str:
    """The pages of several notebooks as one."""
    head, _, body = pages[0].partition("<main>")
    contents = "".join(map(contents_of, pages))
    return f"{head}<main>{contents}</main>{body.rpartition('</main>')[2]}"


def contents_of(page: str) -> Markup:
    """What one of our pages says, for a page around it with the same styles; of other programs' pages, nothing."""
    head, _, body = page.partition("<main>")
    return Markup(body.rpartition("</main>")[0] if "form-action 'none'" in head else "")


@functools.cache
def _template() -> Template:
    """The template of feedback pages, compiled once for a class."""
    return template("feedback.html.j2", TEMPLATES, points=lambda number: f"{round(number, 2):g}", **FILTERS)
