"""Cells of tables that a spreadsheet opens, which takes some texts for formulas and runs them."""

from __future__ import annotations

from grader.sandbox.printable import printable

# The wide forms as well: some keyboards write them, and some spreadsheets take them for the others.
_FORMULA = tuple("=+-@＝＋－＠")


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may take this for something to compute: also behind blanks, tabs and line ends."""
    return text.lstrip().startswith(_FORMULA) or text[:1] in ("\t", "\r", "\n")


def defused(text: str) -> str:
    """The same as plain text on one line. The apostrophe in front is how spreadsheets are told."""
    return f"'{printable(text, 1000)}" if is_formula(text) else printable(text, 1000)


def number(value: float) -> str:
    """A number as people and importers write it: two decimals at most, no exponent."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
