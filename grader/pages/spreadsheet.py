"""Cells of tables that a spreadsheet opens, which takes some texts for formulas and runs them."""

from __future__ import annotations

import re

from grader.sandbox.plain_text import one_line

# The wide forms as well: some keyboards write them, and some spreadsheets take them for the others.
_SIGNS = "=+@＝＋－＠-"
_FORMULA = tuple(_SIGNS)
_CELL_ENDS = re.compile(rf"([;|][\s\"]*)([{_SIGNS}])")  # a quote is two in the file: an empty pair


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may take this for something to compute: also behind blanks, tabs and line ends."""
    return text.lstrip().startswith(_FORMULA) or text[:1] in ("\t", "\r", "\n")


def defused(text: str) -> str:
    """The same as plain text on one line. An apostrophe in front is how spreadsheets are told.

    Some take a semicolon for the end of a cell: what comes behind it is told the same.
    """
    shown = _CELL_ENDS.sub(r"\1'\2", one_line(text, 1000))
    return f"'{shown}" if is_formula(text) or is_formula(shown) else shown


def number(value: float) -> str:
    """A number as people and importers write it: two decimals at most, no exponent."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
