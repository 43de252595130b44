"""The headings of a notebook, so that a feedback page can say where something is explained."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.notebooks.cells import ANCHOR
from grader.notebooks.modules_beside import imports_name

_HEADING = re.compile(r"(#{1,4})[ \t]+(.+)")
_POINTS = re.compile(r"\(([\d.]+) points?\)")


@dataclass(frozen=True)
class Headings:
    """The headings of a notebook: its title, and those above cells and at anchors."""

    title: str = ""
    by_cell: Mapping[str, str] = field(default_factory=dict)
    by_anchor: Mapping[str, str] = field(default_factory=dict)
    with_hint: frozenset[str] = frozenset()  # headings of sections with a hint to unfold
    calls_hint: bool = False  # whether the notebook has `hint`, which shows those of an exercise

    @staticmethod
    def of(notebook: NotebookNode) -> Headings:
        title, section, anchor = "", "", ""  # the section and the anchor above the cell that is looked at
        by_cell, by_anchor, with_hint, calls_hint = {}, {}, set(), False
        for cell in notebook.cells:
            if cell.metadata.get("nbgrader", {}).get("task"):
                continue  # in a graded notebook, it holds the mark scheme
            if cell.cell_type != "markdown":
                by_cell[str(cell.metadata.get("nbgrader", {}).get("grade_id"))] = section
                calls_hint = calls_hint or imports_name(cell.source, "hint")
                continue
            for line in cell.source.splitlines():
                mark, heading = ANCHOR.search(line), _HEADING.fullmatch(line.rstrip())
                if mark:
                    anchor = mark[1]
                if not heading:
                    continue
                level, text = len(heading[1]), heading[2]
                if level == 1:
                    title = title or text
                if level == 2:
                    section = text
                if anchor:
                    by_anchor[anchor] = text
                anchor = ""
            if "<summary>Hint" in cell.source:
                with_hint.add(section)
        return Headings(title, by_cell, by_anchor, frozenset(with_hint), calls_hint)


def points_in(heading: str) -> float | None:
    """The points that a heading mentions, if any."""
    match = _POINTS.search(heading)
    return float(match[1]) if match else None


def without_points(heading: str) -> str:
    return _POINTS.sub("", heading).rstrip()


@functools.lru_cache(maxsize=8)
def headings_of_file(path: Path, _changed: int) -> Headings:
    """The sections of a notebook file, read once for a class."""
    return Headings.of(nbformat.read(path, as_version=4))
