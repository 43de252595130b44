"""What a submission costs by the size of the class, as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from grader.checks.class_bench import MeasuredClass

_OURS, _THEIRS = "#1d3f72", "#c2571a"
_STYLE = {"font.size": 10, "svg.hashsalt": "class", "axes.spines.top": False, "axes.spines.right": False}


def draw_class(measured: MeasuredClass, path: Path) -> None:
    """Seconds for each, beside nbgrader alone; and how they grow, if that was measured."""
    ours = {size.students: size.taken.seconds / size.students for size in measured.ours}
    theirs = {size.students: measured.theirs_for(size) / size.students for size in measured.ours}
    growth = {students: numbers.seconds / students for students, numbers in measured.growth.items()}
    each = {students: measured.each(students) for students in growth}
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(7, 4), layout="constrained")
        ax: Any = figure.subplots()
        _draw(ax, theirs, "nbgrader alone, from a sample", "s", _THEIRS)
        _draw(ax, ours, "grader autograde, the same class", "s", _OURS)
        _draw(ax, growth, "grader autograde, nothing hangs", "o-", _OURS, last=True)
        _draw(ax, each, "beyond the start", "o:", _OURS, below=True)
        ax.set(xscale="log", yscale="log", xlabel="students in the class", ylabel="seconds for a submission")
        sizes = sorted({*ours, *growth})
        ax.set_xticks(sizes, [f"{students:,}" for students in sizes])
        ax.set_xlim(min(sizes) / 1.5, max(sizes) * 1.5)
        ax.set_ylim(min(ours.values()) / 6, max(theirs.values()) * 2.5)
        ax.yaxis.set_major_formatter("{x:g}")
        ax.minorticks_off()
        ax.grid(axis="y", color="#dddddd")
        ax.set_title(f"What a submission of {measured.assignment} costs, {measured.machine}", loc="left")
        figure.savefig(path, metadata={"Date": None})


def _draw(
    ax: Any,
    seconds: Mapping[int, float],
    label: str,
    style: str,
    color: str,
    *,
    below: bool = False,
    last: bool = False,
) -> None:
    if not seconds:
        return
    ax.plot(seconds.keys(), seconds.values(), style, color=color)
    place = {"xytext": (0, -9), "va": "top"} if below else {"xytext": (0, 8), "va": "bottom"}
    at = list(seconds.items())[-1 if last else 0]
    ax.annotate(label, at, textcoords="offset points", color=color, ha="right" if last else "left", **place)
