"""The cells of notebooks in the formats 2 and 3, which nobody has written since 2015, as the present format has them.

nbformat's own converters copy all that such a file holds, several times, before anybody can count it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any


def is_old(submitted: dict[str, Any]) -> bool:
    """Whether the cells lie on worksheets."""
    return "cells" not in submitted and isinstance(submitted.get("worksheets"), list)


def cells_of(submitted: dict[str, Any], most: int) -> list[Any]:
    """The cells of all worksheets, as far as there are no more than that: what is no cell stays what it is."""
    sheets = islice(submitted["worksheets"], most)
    cells = (cell for sheet in sheets if isinstance(sheet, dict) for cell in _list(sheet.get("cells")))
    return list(map(_converted, islice(cells, most)))


def _list(value: Any) -> Iterator[Any]:
    return iter(value if isinstance(value, list) else ())


def _converted(cell: Any) -> Any:
    """What the reader of the present format looks at."""
    if not isinstance(cell, dict):
        return None
    kind = cell.get("cell_type")
    source = cell.get("input" if kind == "code" else "source", "")
    if kind == "heading":
        text = "".join(filter(_is_text, source)) if isinstance(source, list) else source
        level = cell.get("level")
        hashes = "#" * (level if type(level) is int and 1 <= level <= 6 else 1)
        source = f"{hashes} {' '.join(text.splitlines())}" if _is_text(text) else None
    return {
        "cell_type": "markdown" if kind in ("heading", "html") else kind,
        "source": source,
        "metadata": cell.get("metadata"),
    }


def _is_text(value: object) -> bool:
    return isinstance(value, str)
