"""Make GitHub show annotations at cells, and a summary. Students get this file, too; it needs no others.

Texts are escaped, since the runner takes any line that begins with two colons for a command.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")  # all characters that may have a meaning in Markdown


def annotation(path: str, line: int, title: str, said: str) -> str:
    """A line that makes GitHub show an error at a line of a file."""
    return f"::error file={_value(path)},line={line},title={_value(title)}::{_text(said)}"


def _text(said: str) -> str:
    return said.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _value(said: str) -> str:
    return _text(said).replace(":", "%3A").replace(",", "%2C")


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, whose cells are shown as plain text."""
    lines = [heading, ["---"] * len(heading), *([plain(text) for text in row] for row in rows)]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def plain(text: str) -> str:
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def summarize(markdown: str) -> None:
    """Add text to the summary that the runner shows; elsewhere, print it."""
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(f"{markdown}\n")
    else:
        print(markdown)  # noqa: T201


def lines_of_cells(text: str) -> dict[str, int]:
    """The line in a notebook's file where each of nbgrader's cells begins, by name."""
    return {name: line for name, line in _named_cells(text) if name}


def _named_cells(text: str) -> Iterator[tuple[str, int]]:
    begins = re.search(r'"cells"\s*:\s*\[', text)
    place, decoder = begins.end() if begins else len(text), json.JSONDecoder()
    while following := re.compile(r"[\s,]*(?=\{)").match(text, place):
        try:
            cell, place = decoder.raw_decode(text, following.end())
        except (ValueError, RecursionError):
            return
        # Show the line of the cell's text, which comes last in it.
        source = text.rfind('"source"', following.end(), place)
        yield _name(cell), text.count("\n", 0, source if source >= 0 else following.end()) + 1


def _name(cell: Any) -> str:
    try:
        return str(cell["metadata"]["nbgrader"]["grade_id"])
    except (KeyError, TypeError):
        return ""
