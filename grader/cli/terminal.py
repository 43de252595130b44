"""What the commands print, and what is printed of an error: fit for a terminal, a log and a pipe."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from grader.sandbox.plain_text import one_line

# A table of points needs some width; in a log or a pipe there is no terminal that would set a limit.
console = Console() if Console().is_terminal else Console(width=150)
errors = Console(stderr=True, style="red", soft_wrap=True)


def print_whatever_it_takes() -> None:
    """What a terminal or a log of few letters cannot show is written with a backslash, and ends no command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # there is none where it was closed
            stream.reconfigure(errors="backslashreplace")


_busy = 0


@contextlib.contextmanager
def busy(with_what: str) -> Iterator[None]:
    """A line that moves as long as something takes. What is told meanwhile stands above it, on lines of its own."""
    global _busy
    _busy += 1
    try:
        with console.status(escape(one_line(with_what))):
            yield
    finally:
        _busy -= 1


def tell(text: str) -> None:
    """On the same terminal as a moving line, by what draws that: else it would be written behind it."""
    by = console if _busy and console.is_terminal and errors.is_terminal else errors
    by.print(escape(one_line(text, 1000)), style="red", highlight=False, soft_wrap=True)


def print_path(path: Path) -> None:
    """On a line of its own, however long: what reads it from a pipe takes a line for a path."""
    console.print(shown(path), highlight=False, soft_wrap=True)


def shown(path: Path) -> str:
    """A path as seen from here, fit for the terminal."""
    return escape(one_line(os.path.relpath(path), 5000))
