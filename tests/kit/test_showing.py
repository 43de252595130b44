"""What a notebook shows beside plain text: progress, plots with a description, sliders."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import nbformat
import pytest

from grader.kit.checking import Checks, Entry, Example
from grader.kit.showing import STATES, progress
from support.kernel import client_of

NUMBERS = (Example("two", (2,), 4.0),)
CHECKS = Checks(
    Entry(1, "double", lambda: NUMBERS),
    Entry(2, "square", lambda: NUMBERS),
    Entry(2, "add_two", lambda: NUMBERS),
    Entry(3, "same", lambda: (Example("four", (4,), 4.0),), builds_on=(1,)),
)
RIGHT = (
    "def double(x): return 2 * x\ndef square(x): return x * x\ndef add_two(x): return x + 2\ndef same(x): return x\n"
)
TO_DO = "(x): raise NotImplementedError()\n"
WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def check_output(capsys: pytest.CaptureFixture[str]) -> Callable[[str], list[str]]:
    """What check() says where these lines were run: how much is done, the row of exercises, and what to do next."""

    def run(code: str) -> list[str]:
        exec(f"{code}\ncheck()", {"check": CHECKS.check, "__name__": "notebook"})
        out, err = capsys.readouterr()
        assert err == ""
        return out.splitlines()

    return run


@pytest.mark.parametrize(
    ("code", "summary", "row", "what_next"),
    [
        (RIGHT, "3 done", "✓ 1 done   ✓ 2 done   ✓ 3 done", "restart the kernel"),
        ("", "3 open", "○ 1 open   ○ 2 open   ○ 3 open", "exercise 1. Write double"),
        (f"{RIGHT}def square{TO_DO}", "2 done, 1 open", "✓ 1 done   ○ 2 open   ✓ 3 done", "Write square,"),
        (
            f"{RIGHT}def square{TO_DO}def add_two(x): return x",
            "2 done, 1 wrong",
            "✓ 1 done   ✗ 2 wrong   ✓ 3 done",
            "with add_two",
        ),
        (f"{RIGHT}def add_two(x): return x", "2 done, 1 wrong", "✓ 1 done   ✗ 2 wrong   ✓ 3 done", "check(2) says"),
        # What is wrong comes before what is open, and what calls an open one is open.
        (
            f"{RIGHT}def double{TO_DO}def square(x): return double(x)\ndef same(x): return 5",
            "2 open, 1 wrong",
            "○ 1 open   ○ 2 open   ✗ 3 wrong",
            "check(3) says what is wrong with same",
        ),
        (f"{RIGHT}same = 3", "2 done, 1 wrong", "✓ 1 done   ✓ 2 done   ✗ 3 wrong", "check(3)"),
    ],
)
def test_check_without_a_number_shows_progress(
    code: str, summary: str, row: str, what_next: str, check_output: Callable[[str], list[str]]
) -> None:
    shown = check_output(code)
    assert shown[:2] == [f"3 exercises: {summary}.", row]
    assert what_next in shown[2]


def test_progress_hides_what_functions_print(check_output: Callable[[str], list[str]]) -> None:
    assert len(check_output(RIGHT + "def same(x):\n  print('here')\n  return x")) == 3


def test_progress_states_differ_in_mark_word_and_border() -> None:
    """In gray, and read aloud, the states are told apart by a mark, a word and the line around."""
    picture = progress([(1, "done"), (2, "wrong"), (3, "open")], "Next: <exercise 2>.")
    boxes = re.findall(r'<li style="([^"]*)">(.) <b>(\d)</b><br>(\w+)</li>', picture.markup)
    assert [(mark, number, word) for _, mark, number, word in boxes] == [
        ("✓", "1", "done"),
        ("✗", "2", "wrong"),
        ("○", "3", "open"),
    ]
    assert len({style.split("border: ")[1] for style, *_ in boxes}) == len(STATES)
    assert "&lt;exercise 2&gt;" in picture.markup
    assert "<exercise 2>" in repr(picture)


DRAWS = """\
import sys
sys.modules.update({without!r})
import matplotlib.pyplot as plt
from grader.kit.showing import show_figure, show_with_slider

def draw(size):
    fig, ax = plt.subplots()
    ax.bar([1], [size])
    show_figure(fig, f"A bar as high as <{{size}}>.")
draw(3)
show_with_slider(draw, "size", [1, 2, 4], 2)
"""


def run_in_a_kernel(without: dict[str, None]) -> tuple[Any, list[Any]]:
    """The outputs of a cell that draws with a slider, and the states of its widgets."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(DRAWS.format(without=without))])
    client_of(notebook, timeout=60).execute()
    widgets = notebook.metadata.get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {"state": {}})
    return notebook.cells[0].outputs, [widget["state"] for widget in widgets["state"].values()]


@pytest.mark.slow
def test_show_figure_has_description_in_html_and_text() -> None:
    (plot,), widgets = run_in_a_kernel(without={"ipywidgets": None})
    assert re.fullmatch(
        r'<img src="data:image/png;base64,[^"]+" alt="A bar as high as &lt;3&gt;\.">', plot.data["text/html"]
    )
    assert plot.data["text/plain"] == "[Plot: A bar as high as <3>.]"
    assert widgets == []


@pytest.mark.slow
def test_show_with_slider_when_ipywidgets_exists_draws_a_widget() -> None:
    (_, slider), widgets = run_in_a_kernel(without={})
    assert WIDGET in slider.data
    assert slider.data["text/plain"] == "[A slider for size. Run this cell to move it.]"
    drawn = [output["data"]["text/plain"] for widget in widgets for output in widget.get("outputs", [])]
    assert drawn == ["[Plot: A bar as high as <2>.]"]
    assert ["1", "2", "4"] in [list(widget.get("_options_labels", [])) for widget in widgets]
    assert "initial" in [widget.get("description_width") for widget in widgets]  # its name is there as a whole


@pytest.mark.slow
@pytest.mark.parametrize("without", ["", "IPython"])
def test_show_figure_outside_of_a_notebook_prints_description(without: str) -> None:
    """As `python notebook.py` and marimo run them. There is a window in none of our tests."""
    code = DRAWS.format(without={without: None})
    command = [sys.executable, "-W", "ignore:.*non-interactive", "-c", code]
    done = subprocess.run(command, env={"MPLBACKEND": "agg"}, capture_output=True, text=True, check=True)
    assert done.stdout == ("" if without else "[Plot: A bar as high as <3>.]\n")
    assert done.stderr == ""
