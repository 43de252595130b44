"""What a verdict looks like in the notebook: a text, an HTML panel, and the score for nbgrader."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import nbformat

from grader.verdict import Verdict

METADATA_KEY = "grader"

_PANEL = (
    '<div style="border-left: 6px solid {colour}; background: {background}; color: #1d1d1f; padding: 0.6em 1em; '
    'font-family: system-ui, sans-serif; line-height: 1.45; max-width: 46em">'
    '<div style="display: flex; gap: 1em; justify-content: space-between">'
    "<strong>{mark} {title}</strong><strong>{points}</strong></div>{body}</div>"
)
# Dark borders of different lightness and a mark of its own shape: readable in grey as well.
_LOOKS = {
    "full": ("✓", "#2a7f4f", "#eef7f1"),
    "part": ("◐", "#c77d0a", "#fdf6e9"),
    "none": ("✗", "#8f1d2c", "#fbeeee"),
}


def verdict_outputs(verdict: Verdict, max_points: float) -> list[Any]:
    """The outputs of a test cell. The last one is the number that nbgrader reads."""
    points = verdict.points(max_points)
    look = "full" if verdict.right else "part" if points > 0 else "none"
    mark, colour, background = _LOOKS[look]
    title = f"Exercise {verdict.exercise}: {verdict.title}" if verdict.exercise else verdict.title
    score = f"{points:g} of {max_points:g} points"
    panel = _PANEL.format(
        mark=mark,
        colour=colour,
        background=background,
        title=escape(title),
        points=score,
        body="".join(f'<div style="margin-top: 0.3em">{_code(sentence)}</div>' for sentence in verdict.sentences),
    )
    text = "\n".join([f"{mark} {title}: {score}", *verdict.sentences])
    return [
        nbformat.v4.new_output(
            "display_data",
            data={"text/plain": text, "text/html": panel},
            metadata={METADATA_KEY: {**verdict.to_json(), "points": points, "max_points": max_points}},
        ),
        nbformat.v4.new_output("execute_result", data={"text/plain": repr(points)}, execution_count=None),
    ]


def _code(sentence: str) -> str:
    """A sentence as HTML, with `code` in code font."""
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", escape(sentence))
