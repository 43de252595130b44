"""The slider of each notebook, without a browser: wherever it stands, there is a plot of its own. And a bug to find."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import pytest

from grader.course.folder import Course
from grader.kit import showing
from grader.notebooks.cells import is_test_cell
from grader.release.marimo import uses
from support.places import ROOT

COURSE = Course(ROOT)
SLIDES = "show_with_slider("


class Shown:
    """What a notebook shows: the descriptions of its plots, and its slider."""

    def __init__(self) -> None:
        self.plots: list[str] = []
        self.draw: Callable[[Any], None] | None = None
        self.values: Sequence[Any] = []
        self.start: Any = None

    def show_figure(self, figure: Any, description: str) -> None:
        self.plots.append(description)
        plt.close(figure)

    def show_with_slider(self, draw: Callable[[Any], None], name: str, values: Sequence[Any], start: Any) -> None:
        assert name
        self.draw, self.values, self.start = draw, values, start


@pytest.fixture(scope="module", params=COURSE.assignments())
def cells(request: pytest.FixtureRequest) -> list[Any]:
    return list(COURSE.read("source", request.param).cells)


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shown]:
    """With every exercise solved, as the source is."""
    shown = Shown()
    monkeypatch.setitem(
        sys.modules,
        "checks",
        SimpleNamespace(check=None, check_number=lambda *_: None, explain=None, hint=None, solved=lambda *_: True),
    )
    monkeypatch.setattr(showing, "show_figure", shown.show_figure)
    monkeypatch.setattr(showing, "show_with_slider", shown.show_with_slider)
    with plt.rc_context(), contextlib.redirect_stdout(io.StringIO()):
        yield shown


def slider_cell(cells: Sequence[Any]) -> int:
    (place,) = [place for place, cell in enumerate(cells) if SLIDES in cell.source and cell.cell_type == "code"]
    return place


def needed_cells(cells: Sequence[Any]) -> list[str]:
    """The code of the last cell, and of those before that define a name for it, or for one of these."""
    *before, last = [cell.source for cell in cells if cell.cell_type == "code" and not is_test_cell(cell)]
    chosen, needed = [last], set(uses(last))
    for code in reversed(before):
        found = uses(code)
        if needed & {name for name, defines in found.items() if defines}:
            chosen.insert(0, code)
            needed |= set(found)
    return chosen


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # matplotlib and tensors
def test_slider_draws_another_plot_for_each_value(cells: list[Any], shown: Shown) -> None:
    names: dict[str, Any] = {}
    for code in needed_cells(cells[: slider_cell(cells) + 1]):
        exec(code, names)
    assert shown.plots  # for those who have no sliders
    assert shown.draw is not None
    assert shown.start in shown.values
    shown.plots.clear()
    for value in shown.values:
        shown.draw(value)
    assert len(shown.plots) == len(set(shown.plots)) == len(shown.values) > 1
    assert [plot for plot in shown.plots if len(plot) < 60] == []


def test_slider_cell_is_folded_and_explained(cells: list[Any]) -> None:
    place = slider_cell(cells)
    assert cells[place].metadata == {"jupyter": {"source_hidden": True}, "cellView": "form", "tags": ["demo"]}
    folded = cells[place + 1].source.split("</details>")[0]
    assert folded.startswith("<details>")
    assert "ipywidgets" in folded


def test_notebook_has_a_bug_to_find_with_folded_answer(cells: list[Any]) -> None:
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    (place,) = [place for place, text in enumerate(texts) if "**Find the bug.**" in text or "### Find the bug" in text]
    told = "".join(texts[place : place + 2]).split("ind the bug", 1)[1]
    before, answer = told.split("<details><summary>Answer</summary>", 1)
    assert "?" in before
    assert len(answer.split("</details>")[0]) > 200
