"""What the commands print, and what is printed of an error: fit for a terminal, a log and a pipe."""

from __future__ import annotations

import os
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from grader.sandbox.plain_text import one_line

# A table of points needs some width; in a log or a pipe there is no terminal that would set a limit.
console = Console() if Console().is_terminal else Console(width=150)
errors = Console(stderr=True, style="red", soft_wrap=True)


def tell(text: str) -> None:
    errors.print(escape(one_line(text, 1000)), highlight=False)


def print_path(path: Path) -> None:
    """On a line of its own, however long: what reads it from a pipe takes a line for a path."""
    console.print(shown(path), highlight=False, soft_wrap=True)


def shown(path: Path) -> str:
    """A path as seen from here, fit for the terminal."""
    return escape(one_line(os.path.relpath(path), 5000))
