"""What a feedback page says of a test cell, read from a notebook that nobody had to grade."""

from __future__ import annotations

import nbformat
import pytest

from grader.pages.feedback_content import page_of
from grader.pages.headings import Headings
from grader.pages.page_parts import PageSection
from grader.term.rules import Rule
from support.small_notebooks import code

FOR_EVERYONE = "Full marks for everyone who submitted"


def part_with(score: float | None, **nbgrader: object) -> PageSection:
    """The part on a test cell of two points with this score."""
    cell = code("", grade_id="test-exercise-3", grade=True, solution=False, points=2, score=score, **nbgrader)
    (part,) = page_of(nbformat.v4.new_notebook(cells=[cell]), {}, Headings()).sections
    return part


@pytest.mark.parametrize(
    ("score", "headline", "automatic"),
    [
        (2.0, "Graded, without details", None),
        (2.5, "Graded, without details", None),
        (0.5, FOR_EVERYONE, 0.5),
        (None, FOR_EVERYONE, None),
    ],
)
def test_page_part_with_full_marks_rule_says_so_below_full_marks(
    score: float | None, headline: str, automatic: float | None
) -> None:
    part = part_with(score, rule=Rule.FULL)
    assert (part.points, part.headline, part.automatic) == (max(score or 0, 2.0), headline, automatic)
    assert part.state == "full"


def test_page_part_when_void_keeps_the_points_found() -> None:
    part = part_with(0.5, rule=Rule.VOID)
    assert (part.points, part.state, part.headline) == (0.5, "void", "Graded, without details")
    assert part_with(None, rule=Rule.VOID).headline == "Not graded"


def test_page_part_when_waiting_says_so() -> None:
    part = part_with(0.0, waiting=True)
    assert (part.points, part.state, part.headline) == (None, "waiting", "Waiting for your instructor")
