"""The numbers of a picture, as heat_map.html shows them: a table of cells with a shade."""

from __future__ import annotations

from collections.abc import Callable

from grader.model.verdict import Picture

_HUGE = 9e99  # rounded, larger numbers may be too long for a cell


def format_number(number: float | str) -> str:
    if isinstance(number, str):
        return number
    if number == 0:
        return "0"
    if abs(number) >= _HUGE:
        return "≫ 1" if number > 0 else "≪ −1"
    text = f"{number:.0e}"
    if abs(number) < 1:
        text = f"{number:.2f}"
    elif abs(number) < 100:
        text = f"{number:.2g}"
    return text.replace("-", "−").replace("e+0", "e").replace("e+", "e")


def format_sum(total: float | str) -> str:
    """A sum, with more digits near one: rounded, a sum that is not one could look like it."""
    if isinstance(total, float) and abs(total - 1) < 0.05:
        return f"{round(total, 3):g}"
    return format_number(total)


def format_wrong_sum(total: float | str) -> str:
    is_huge = isinstance(total, float) and abs(total) >= _HUGE  # shown as “≫ 1”, which says enough
    return format_number(total) if is_huge else f"{format_sum(total)} ≠ 1"


def shades(picture: Picture) -> list[list[int]]:
    """How strong the color of each cell is, in percent."""
    numbers = [number for row in picture.numbers for number in row if isinstance(number, float)]
    largest = max([1.0, *map(abs, numbers)])
    return [[_shade(number, largest) for number in row] for row in picture.numbers]


def _shade(number: float | str, largest: float) -> int:
    return 0 if isinstance(number, str) else round(6 + 54 * abs(number) / largest)


FILTERS: dict[str, Callable[..., object]] = {
    "format_number": format_number,
    "format_sum": format_sum,
    "format_wrong_sum": format_wrong_sum,
    "shades": shades,
}
