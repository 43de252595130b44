"""Draw the picture of a verdict as inline SVG: readable in gray, in dark mode, and by a screen reader."""

from __future__ import annotations

from markupsafe import Markup, escape

from grader.model.verdict import Picture

_WIDTH, _HEIGHT = 50, 34  # of a cell
_LEFT, _TOP, _SUMS = 74, 44, 108
_LINE = 16  # of text
_HUGE = 9e99  # rounded, larger numbers may be too long for a cell


def heat_map(picture: Picture, name: str) -> Markup:
    """The picture as SVG; `name` must be unique on the page."""
    height, width = len(picture.numbers), len(picture.numbers[0])
    by_row, by_column = picture.summed == "row", picture.summed == "column"
    left = _LEFT if height > 1 else 8
    right, bottom = left + width * _WIDTH, _TOP + height * _HEIGHT
    below = _HEIGHT + 6 + _LINE * bool(picture.wrong_sums)
    size = (right + (_SUMS if by_row else 8), bottom + (below if by_column else 8))
    parts = [
        Markup(
            '<svg class="heat-map" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" '
            'aria-labelledby="{2}-title {2}-text"><title id="{2}-title">{3}</title><desc id="{2}-text">{4}</desc>'
            '<defs><pattern id="{2}-hatch" width="7" height="7" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="7"/></pattern></defs>'
        ).format(*size, name, picture.title.replace("`", ""), _in_words(picture)),
        _label(left + width * _WIDTH / 2, 16, picture.columns if width > 1 else ""),
        *(_label(left + (j + 0.5) * _WIDTH, 35, str(picture.first + j)) for j in range(width)),
        *(_label(left - 8, _middle(i), _row(picture, i), "end") for i in range(height) if height > 1),
    ]
    largest = max([1.0, *(abs(number) for row in picture.numbers for number in row if isinstance(number, float))])
    for i, row in enumerate(picture.numbers):
        for j, number in enumerate(row):
            parts.append(_cell(left + j * _WIDTH, _TOP + i * _HEIGHT, number, largest, (i, j) in picture.marked, name))
    if by_column and height > 1:
        parts.append(_label(left - 8, bottom + 22, "Σ", "end"))
    for line, total in enumerate(picture.sums):
        wrong = line in picture.wrong_sums
        if by_row:
            said = f"Σ {_shown_sum(total)}{_unequal(total) if wrong else ''}"
            parts.append(_sum(right + 10, _middle(line), said, wrong, "start"))
            continue
        x = left + (line + 0.5) * _WIDTH  # too narrow for all of it on one line
        parts.append(_sum(x, bottom + 22, _shown_sum(total), wrong, "middle"))
        if wrong:
            parts.append(_sum(x, bottom + 22 + _LINE, _unequal(total).strip(), wrong, "middle"))
    for line in picture.wrong_sums:
        x, y = (left, _TOP + line * _HEIGHT) if by_row else (left + line * _WIDTH, _TOP)
        parts.append(_outline(x, y, right - x if by_row else _WIDTH, _HEIGHT if by_row else bottom - y))
    return Markup("").join([*parts, Markup("</svg>")])


def shown(number: float | str) -> str:
    if isinstance(number, str):
        return number
    if number == 0:
        return "0"
    if abs(number) >= _HUGE:
        return "≫ 1" if number > 0 else "≪ −1"
    text = f"{number:.2f}" if abs(number) < 1 else f"{number:.2g}" if abs(number) < 100 else f"{number:.0e}"
    return text.replace("-", "−").replace("e+0", "e").replace("e+", "e")


def _cell(x: float, y: float, number: float | str, largest: float, marked: bool, name: str) -> Markup:
    # The shade shows how large a number is; wrong numbers have an outline and stripes, negative ones a sign.
    shade = 0.0 if isinstance(number, str) else 0.06 + 0.54 * abs(number) / largest
    kind = "below" if isinstance(number, float) and number < 0 else "above"
    parts = [
        Markup('<rect class="entry {}" x="{}" y="{}" width="{}" height="{}" fill-opacity="{:.2f}"/>').format(
            kind, x, y, _WIDTH, _HEIGHT, shade
        )
    ]
    if marked:
        parts.append(
            Markup('<rect class="marked" x="{}" y="{}" width="{}" height="{}" fill="url(#{}-hatch)"/>').format(
                x + 2, y + 2, _WIDTH - 4, _HEIGHT - 4, name
            )
        )
    label = Markup('<text class="number" x="{}" y="{}">{}</text>').format(
        x + _WIDTH / 2, y + _HEIGHT / 2 + 5, shown(number)
    )
    return Markup("").join([*parts, label])


def _shown_sum(total: float | str) -> str:
    """A sum, with more digits near one: rounded, a sum that is not one could look like it."""
    if isinstance(total, float) and abs(total - 1) < 0.05:
        return f"{round(total, 3):g}"
    return shown(total)


def _unequal(total: float | str) -> str:
    return "" if isinstance(total, float) and abs(total) >= _HUGE else " ≠ 1"  # huge sums are written as “≫ 1”


def _sum(x: float, y: float, text: str, wrong: bool, anchor: str) -> Markup:
    return Markup('<text class="sum {}" x="{}" y="{}" text-anchor="{}">{}</text>').format(
        "wrong" if wrong else "", x, y, anchor, text
    )


def _outline(x: float, y: float, width: float, height: float) -> Markup:
    return Markup('<rect class="line" x="{}" y="{}" width="{}" height="{}" rx="3"/>').format(
        x + 2, y + 2, width - 4, height - 4
    )


def _label(x: float, y: float, text: str, anchor: str = "middle") -> Markup:
    return Markup('<text class="label" x="{}" y="{}" text-anchor="{}">{}</text>').format(x, y, anchor, text)


def _row(picture: Picture, index: int) -> str:
    return f"{picture.rows} {picture.first + index}"


def _middle(row: int) -> float:
    return _TOP + (row + 0.5) * _HEIGHT + 5


def _in_words(picture: Picture) -> Markup:
    """The numbers as text, for screen readers."""
    lines = []
    for i, row in enumerate(picture.numbers):
        entries = ", ".join(
            f"{shown(number)}{' (marked)' if (i, j) in picture.marked else ''}" for j, number in enumerate(row)
        )
        lines.append(f"{_row(picture, i)}: {entries}.")
    for line, total in enumerate(picture.sums):
        wrong = ", which is not one" if line in picture.wrong_sums else ""
        lines.append(f"Sum of {picture.summed} {picture.first + line}: {_shown_sum(total)}{wrong}.")
    return escape(" ".join(lines))
