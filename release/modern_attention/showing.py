"""What a notebook shows beside plain text: plots with a description, sliders, and how far its exercises are.

All of it can be read where there are no pictures, by people and by programs. Where there is no IPython, as in marimo
by itself, the ordinary ways to show something are left; where there are no sliders, the plots do without.
"""

from __future__ import annotations

import base64
import html
import importlib.util
import io
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple


class State(NamedTuple):
    """How an exercise that is in this state looks. None of it depends on colors alone."""

    mark: str
    look: str


BOX = "display: inline-block; margin: 0 6px 6px 0; padding: 2px 10px; border-radius: 6px; text-align: center; "
STATES = {  # of two entries of an exercise, the later state counts
    "done": State("✓", "border: 2px solid #1a7f37; background-color: #1a7f37; color: #ffffff"),
    "open": State("○", "border: 2px dashed #808080"),
    "wrong": State("✗", "border: 2px solid #b35900; background-color: #ffe2c7; color: #4d2600"),
}


class Display:
    """Something for a page, and the same in words for wherever there is none."""

    def __init__(self, markup: str, words: str) -> None:
        self.markup, self.words = markup, words

    def _repr_html_(self) -> str:
        return self.markup

    def __repr__(self) -> str:
        return self.words

    def show(self) -> None:
        if (display := _display()) is None:
            print(self.words)
        else:
            display(self)


def show_figure(figure: Any, description: str) -> None:
    """Show a plot of matplotlib. Jupyter's own way to do that has no place for the description."""
    import matplotlib.pyplot as plt

    if _display() is None:
        plt.show()
        return
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    plt.close(figure)  # or it is shown again at the end of the cell
    source = f"data:image/png;base64,{base64.b64encode(picture.getvalue()).decode()}"
    Display(f'<img src="{source}" alt="{html.escape(description)}">', f"[Plot: {description}]").show()


def show_text(markdown: str) -> None:
    """Show a text with formulas and links; as it is written where nothing renders it."""
    if (display := _display()) is None:
        print(markdown)
    else:
        display({"text/markdown": markdown, "text/plain": markdown}, raw=True)


def show_with_slider(draw: Callable[[Any], None], name: str, values: Sequence[Any], start: object) -> None:
    """Draw for the value that a slider has, anew whenever it moves; nothing where sliders do not run."""
    kernel = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if not hasattr(kernel, "kernel") or importlib.util.find_spec("ipywidgets") is None:
        return
    from ipywidgets import SelectionSlider, interactive

    whole_name = {"description_width": "initial"}  # a long one would be cut
    slider = SelectionSlider(options=values, value=start, description=name, style=whole_name)
    moving = interactive(lambda value: draw(value), value=slider)
    # Its own words are how it is made. They are read where a notebook is opened and not run.
    words = {"text/plain": f"[A slider for {name}. Run this cell to move it.]"}
    _display()(moving._repr_mimebundle_() | words, raw=True)


def progress(entries: Iterable[tuple[int, str]], what_next: str) -> Display:
    """The state of each exercise in a row of boxes, and what to do next. One may have several entries."""
    states: dict[int, str] = {}
    for exercise, state in entries:
        states[exercise] = max(state, states.get(exercise, "done"), key=list(STATES).index)
    counts = [(list(states.values()).count(state), state) for state in STATES]
    summary = f"{len(states)} exercises: {', '.join(f'{count} {state}' for count, state in counts if count)}."
    boxes = "".join(_box(exercise, state) for exercise, state in states.items())
    markup = (
        f'<p style="margin: 0 0 6px">{summary}</p>'
        f'<ul style="list-style: none; margin: 0; padding: 0">{boxes}</ul>'
        f'<p style="margin: 0">{html.escape(what_next)}</p>'
    )
    row = "   ".join(f"{STATES[state].mark} {exercise} {state}" for exercise, state in states.items())
    return Display(markup, f"{summary}\n{row}\n{what_next}")


def _box(exercise: int, state: str) -> str:
    mark, look = STATES[state]
    return f'<li style="{BOX}{look}">{mark} <b>{exercise}</b><br>{state}</li>'


def _display() -> Any:
    """IPython's way to show something, if it is installed."""
    try:
        from IPython.display import display
    except ImportError:
        return None
    return display
