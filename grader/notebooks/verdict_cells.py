"""Show a verdict in the notebook: as text, as an HTML panel, and as the score for nbgrader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from html import escape
from typing import Annotated

import nbformat
from msgspec import Meta
from nbformat import NotebookNode

from grader.model.denied import DeniedCall, Tried, for_student
from grader.model.untrusted import converted
from grader.model.verdict import Reason, Scored, Verdict
from grader.notebooks.cells import METADATA_KEY, is_test_cell, ours, points_of
from grader.notebooks.highlighting import with_code

BLOCKED_KEY = "blocked"
_DENIED_CALLS = Annotated[list[DeniedCall], Meta(max_length=1000)]

_BOX = (
    '<div class="{kind}" style="border-left: 6px solid {color}; background: {background}; color: #1d1d1f; '
    'margin: 0.4em 0; padding: 0.6em 1em; font-family: system-ui, sans-serif; line-height: 1.45; max-width: 46em">'
    "{heading}{body}</div>"
)
_VERDICT_HEADING = (
    '<div style="display: flex; gap: 1em; justify-content: space-between">'
    "<strong>{mark} {title}</strong><strong>{points}</strong></div>"
)
# Borders differ in lightness and marks in shape, so they can be told apart in gray, too.
_LOOKS = {
    "full": ("✓", "#2a7f4f", "#eef7f1"),
    "part": ("◐", "#c77d0a", "#fdf6e9"),
    "none": ("✗", "#8f1d2c", "#fbeeee"),
}
# The panel is light, so it must not inherit the colors of a dark theme.
_CODE = '<code style="background: rgba(0, 0, 0, 0.06); color: inherit; padding: 0.1em 0.3em">'
_NOT_ALLOWED = "⚑ Not allowed during grading"
_EXPLAINED = (
    "During grading, a notebook can only read Python's libraries and the files next to it, and write files in its own "
    "folder. The instructor sees this notice, too."
)
# A gray that is readable on white and on black. Without this, the notebook would show a bare number.
_SCORE = '<small style="color: #767676">Automatic score: {points:g}</small>'


def verdict_outputs(verdict: Verdict, max_points: float) -> list[NotebookNode]:
    """The outputs of a test cell. The last one is the number that nbgrader reads."""
    points = Scored(verdict, max_points).points
    score = {
        "output_type": "execute_result",
        "data": {"text/plain": repr(points), "text/html": _SCORE.format(points=points)},
        "metadata": {},
        "execution_count": None,
    }
    return [verdict_output(verdict, max_points), nbformat.from_dict(score)]


def verdict_output(verdict: Verdict, max_points: float) -> NotebookNode:
    """The verdict as an output that nbgrader takes no score from."""
    scored = Scored(verdict, max_points)
    panel = {
        "output_type": "display_data",
        "data": verdict_panel(verdict, f"{scored.points:g} of {max_points:g} points"),
        "metadata": {METADATA_KEY: scored.to_json()},
    }
    return nbformat.from_dict(panel)


def refuse_to_score(notebook: NotebookNode, reason: str) -> None:
    """Give every test cell zero points and the reason, so that no output of the submission is taken for a score."""
    for cell in notebook.cells:
        if is_test_cell(cell):
            name = str(cell.metadata["nbgrader"]["grade_id"])
            cell.outputs = verdict_outputs(Verdict(None, name, 0.0, Reason.NO_ANSWER, (reason,)), points_of(cell))


def blocked_output(denied: Sequence[DeniedCall]) -> NotebookNode:
    """A notice of what code tried but may not do: the kinds for the student, all details for the instructor."""
    kinds = list(dict.fromkeys(call.kind for call in denied))
    sentences = [*(f"The code tried to {for_student(kind)}." for kind in kinds), _EXPLAINED]
    heading = f"<strong>{_NOT_ALLOWED}</strong>"
    notice = _box("blocked", "#44546a", "#eef1f5", heading, map(escape, sentences))
    return nbformat.v4.new_output(
        "display_data",
        data={"text/plain": "\n".join([_NOT_ALLOWED, *sentences]), "text/html": notice},
        metadata={METADATA_KEY: {BLOCKED_KEY: [asdict(call) for call in denied]}},
    )


def results_of(notebook: NotebookNode) -> tuple[list[Scored], list[str]]:
    """The verdicts in a graded notebook, and what was blocked. Only our own outputs have our metadata."""
    verdicts = [verdict for cell in notebook.cells if is_test_cell(cell) for verdict in verdicts_of(cell)]
    return verdicts, blocked_in(notebook)


def together(results: Sequence[tuple[Sequence[Scored], Sequence[str]]]) -> tuple[list[Scored], list[str]]:
    """Join the results of several notebooks; what was blocked in two of them is listed once."""
    verdicts = [scored for verdicts_of_notebook, _ in results for scored in verdicts_of_notebook]
    return verdicts, list(dict.fromkeys(action for _, blocked in results for action in blocked))


def verdicts_of(cell: NotebookNode) -> list[Scored]:
    """The verdicts among the outputs of a test cell."""
    verdicts = [Scored.from_json(ours(output)) for output in cell.get("outputs", ())]
    return [scored for scored in verdicts if scored]


def blocked_in(notebook: NotebookNode) -> list[str]:
    """What was blocked in a graded notebook, in full."""
    return list(dict.fromkeys(call.for_instructor for call in _all_denied_in(notebook)))


def tried_in(notebook: NotebookNode) -> list[Tried]:
    """The kinds of actions that were blocked."""
    return list(dict.fromkeys(call.kind for call in _all_denied_in(notebook)))


def denied_in(output: NotebookNode) -> list[DeniedCall]:
    """The denied calls that one of our outputs reports."""
    return converted(ours(output).get(BLOCKED_KEY), _DENIED_CALLS) or []


def _all_denied_in(notebook: NotebookNode) -> Iterator[DeniedCall]:
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            yield from denied_in(output)


def verdict_panel(verdict: Verdict, score: str) -> dict[str, str]:
    """A verdict as text and as HTML."""
    look = "part" if verdict.credit > 0 else "none"
    mark, color, background = _LOOKS["full" if verdict.right else look]
    title = verdict.title if verdict.exercise is None else f"Exercise {verdict.exercise}: {verdict.title}"
    heading = _VERDICT_HEADING.format(mark=mark, title=escape(title), points=escape(score))
    panel = _box("verdict", color, background, heading, map(_code, verdict.sentences))
    return {"text/plain": "\n".join([f"{mark} {title}: {score}", *verdict.sentences]), "text/html": panel}


def _box(kind: str, color: str, background: str, heading: str, lines: Iterable[str]) -> str:
    body = "".join(f'<div style="margin-top: 0.3em">{line}</div>' for line in lines)
    return _BOX.format(kind=kind, color=color, background=background, heading=heading, body=body)


def _code(sentence: str) -> str:
    """A sentence as HTML, with `code` in code font."""
    return with_code(escape(sentence), _CODE)
