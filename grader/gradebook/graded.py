"""What grading found in one submission, read from the autograded notebook and from our record."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.gradebook.records import Record, digest_of
from grader.model.answer import Lost
from grader.model.denied import Tried
from grader.model.label import Label
from grader.model.untrusted import converted
from grader.model.verdict import Scored
from grader.notebooks.cells import NOTES, STOPPED, ours, solved_exercise
from grader.notebooks.verdict_cells import results_of, together, tried_in


@dataclass(frozen=True)
class Stopped:
    """A cell whose code hung or took its process down."""

    exercise: Label | None  # None if the cell belongs to none
    lost: Lost


@dataclass(frozen=True)
class GradingResult:
    """What grading found in one submission."""

    verdicts: Sequence[Scored] = ()
    blocked: Sequence[str] = ()
    stopped: Sequence[Stopped] = ()  # cells that did not finish
    solutions: Mapping[Label, str] = field(default_factory=dict)  # sources of the solution cells
    words: Sequence[tuple[str, str]] = ()  # cells of text, from `words_of`
    environment: str = ""  # the versions it was graded with, if known
    tried: Sequence[Tried] = ()  # the kinds of actions that were blocked, for the student


def read_grading_result(folder: Path, names: Sequence[str], record: Record | None) -> GradingResult:
    """What our record and the autograded notebooks of these names say about a submission.

    If `grader autograde` graded last, the verdicts are in our record. If nbgrader did, they are in the notebooks, whose
    digest is then a different one.
    """
    verdicts, blocked = (record.verdicts, record.blocked) if record else ((), ())
    environment = record.environment if record else ""
    try:
        paths = {name: folder / f"{name}.ipynb" for name in names}
        contents = {name: path.read_bytes() for name, path in paths.items() if path.exists()}
        notebooks = [nbformat.from_dict(json.loads(content)) for content in contents.values()]
        if contents and (not record or record.digest != digest_of(contents)):
            verdicts, blocked = together([results_of(notebook) for notebook in notebooks])
            environment = ""
        stopped: list[Stopped] = []
        sources: dict[Label, str] = {}
        words: list[tuple[str, str]] = []
        tried: list[Tried] = []
        for notebook in notebooks:
            stopped += _stopped(notebook)
            sources |= solution_sources(notebook)
            words += words_of(notebook)
            tried += tried_in(notebook)
        return GradingResult(verdicts, blocked, stopped, sources, words, environment, list(dict.fromkeys(tried)))
    except (OSError, ValueError, RecursionError, AttributeError):  # unreadable, or not from a grader
        return GradingResult(verdicts, blocked, environment=environment)


def _stopped(notebook: NotebookNode) -> list[Stopped]:
    """The cells that hung or took their process down while the notebook was run.

    Students can give errors any name and write any traceback, but no cell that they submit keeps our metadata.
    """
    losses = [(solved_exercise(cell), converted(ours(cell).get(STOPPED), Lost)) for cell in notebook.cells]
    return [Stopped(exercise, lost) for exercise, lost in losses if lost]


def solution_sources(notebook: NotebookNode) -> dict[Label, str]:
    """The sources of the solution cells, by exercise."""
    sources: dict[Label, str] = {}
    for cell in notebook.cells:
        number = solved_exercise(cell)
        if number is not None:
            sources[number] = _source(cell)
    return sources


def words_of(notebook: NotebookNode) -> list[tuple[str, str]]:
    """All cells of text, except our own notes: their nbgrader names, or "", and their texts."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "markdown" and NOTES not in ours(cell)]
    return [(str(cell.metadata.get("nbgrader", {}).get("grade_id") or ""), _source(cell)) for cell in cells]


def _source(cell: NotebookNode) -> str:
    return cell.source if isinstance(cell.source, str) else "".join(cell.source)
