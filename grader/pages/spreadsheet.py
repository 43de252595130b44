"""Write table cells for spreadsheets, which take some texts for formulas and run them."""

from __future__ import annotations

import re

from grader.sandbox.plain_text import one_line

# With the full-width forms, which some keyboards type and some spreadsheets accept.
_SIGNS = "=+@＝＋－＠-"
_FORMULA = tuple(_SIGNS)
_CELL_ENDS = re.compile(rf"([;|][\s\"]*)([{_SIGNS}])")  # in the file, a quote is doubled, like an empty pair


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may take this for a formula, also after blanks, tabs and line ends."""
    return text.lstrip().startswith(_FORMULA) or text[:1] in ("\t", "\r", "\n")


def defused(text: str) -> str:
    """The text on one line, made harmless: an apostrophe in front tells spreadsheets that it is text.

    Some take a semicolon for the end of a cell, so what follows one gets an apostrophe, too.
    """
    cell = _CELL_ENDS.sub(r"\1'\2", one_line(text, 1000))
    return f"'{cell}" if is_formula(text) or is_formula(cell) else cell


def number(value: float) -> str:
    """A number as people and importers write it: two decimals at most, no exponent."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
