"""The layout of charts; templates draw them as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 420.0  # fits on a phone, with text that stays legible
_LEFT, _RIGHT, _TOP, _BOTTOM = 54.0, 12.0, 18.0, 46.0
_BELOW_LEGEND = 30.0  # where bars may begin below a legend, with a number between
_ROW = 26.0
_LETTER, _MOST_LETTERS = 7.0, 11  # of a row's name
_STEPS = (0.5, 1, 2, 2.5, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000)


@dataclass(frozen=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    kind: str = ""
    label: str = ""


@dataclass(frozen=True)
class Tick:
    at: float
    label: str


@dataclass(frozen=True)
class Chart:
    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    bars: Sequence[Bar]
    x_ticks: Sequence[Tick]
    y_ticks: Sequence[Tick]


def step(largest: float, most: int) -> float:
    """A round number that goes into `largest` at most `most` times."""
    return next((step for step in _STEPS if largest / step <= most), math.ceil(largest / most))


def histogram(edges: Sequence[float], counts: Sequence[tuple[int, int]]) -> Chart:
    """Upright bars: the final counts between two edges, and stacked on top, those that are not final."""
    height = 240.0
    right, bottom = WIDTH - _RIGHT, height - _BOTTOM
    highest = _BELOW_LEGEND if any(waiting for _, waiting in counts) else _TOP
    most = max([1, *map(sum, counts)])
    tall = step(most, 5) if most > 5 else 1
    top = math.ceil(most / tall) * tall
    wide = (right - _LEFT) / (edges[-1] - edges[0])

    def x(points: float) -> float:
        return _LEFT + (points - edges[0]) * wide

    def y(count: float) -> float:
        return bottom - count / top * (bottom - highest)

    bars = [
        Bar(x(low) + 1, y(below + count), x(high) - x(low) - 2, y(below) - y(below + count), kind, label)
        for low, high, (final, waiting) in zip(edges, edges[1:], counts, strict=False)
        for kind, below, count, label in (
            ("full", 0, final, "" if waiting else str(final)),
            ("waiting", final, waiting, str(final + waiting)),
        )
        if count
    ]
    apart = step(edges[-1] - edges[0], 8)
    marks = [edges[0] + index * apart for index in range(int((edges[-1] - edges[0]) / apart) + 1)]
    return Chart(
        WIDTH, height, _LEFT, right, highest, bottom, bars,
        [Tick(x(mark), f"{mark:g}") for mark in marks],
        [Tick(y(count * tall), f"{count * tall:g}") for count in range(int(top / tall) + 1)],
    )  # fmt: skip


def shares(rows: Sequence[tuple[str, Sequence[tuple[str, float]]]]) -> Chart:
    """Stacked horizontal bars, one for each row; each part has a kind and a share of the whole."""
    names = [name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 1]}…" for name, _ in rows]
    left = max(_LEFT, 27 + _LETTER * max(map(len, names), default=0))
    top = 36.0  # room for the legend
    right, bottom = WIDTH - _RIGHT - 36, top + _ROW * len(rows)
    bars, labels = [], []
    for number, (name, (_, parts)) in enumerate(zip(names, rows, strict=True)):
        x, y = left, top + number * _ROW
        labels.append(Tick(y + _ROW / 2, name))
        for kind, share in parts:
            width = share * (right - left)
            if width:
                bars.append(Bar(x, y + 3, max(0.5, width - 1), _ROW - 6, kind))
            x += width
    return Chart(
        WIDTH, bottom + _BOTTOM, left, right, top, bottom, bars,
        [Tick(left + share * (right - left), f"{share:.0%}") for share in (0, 0.25, 0.5, 0.75, 1)], labels,
    )  # fmt: skip
