"""Print results and errors in a form that suits terminals, logs and pipes."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from grader.sandbox.plain_text import one_line

# Tables of points need some width, and logs and pipes have no terminal to set one.
console = Console() if Console().is_terminal else Console(width=150)
errors = Console(stderr=True, style="red", soft_wrap=True)


def print_whatever_it_takes() -> None:
    """Write characters that a terminal or log cannot show as backslash escapes, so that they end no command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # None if it was closed
            stream.reconfigure(errors="backslashreplace")


_busy = 0


@contextlib.contextmanager
def busy(activity: str) -> Iterator[None]:
    """Show a moving line while something takes time. Messages appear above it, on lines of their own."""
    global _busy
    _busy += 1
    try:
        with console.status(escape(one_line(activity))):
            yield
    finally:
        _busy -= 1


class TerminalLog(logging.Handler):
    """Prints what the grader logs, each message on a line of its own, and warnings in red."""

    def emit(self, record: logging.LogRecord) -> None:
        # The console that draws the moving line prints above it. Another one on the same terminal would print past it.
        is_shared = _busy and console.is_terminal and errors.is_terminal
        style = "red" if record.levelno >= logging.WARNING else "default"
        text = escape(one_line(record.getMessage(), 1000))
        (console if is_shared else errors).print(text, style=style, highlight=False, soft_wrap=True)


@contextlib.contextmanager
def printed_messages() -> Iterator[None]:
    """Print what the grader logs meanwhile."""
    logger, handler = logging.getLogger("grader"), TerminalLog()
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def print_path(path: Path) -> None:
    """Print a path on one line, however long: a program that reads a pipe takes each line for a path."""
    console.print(printable(path), highlight=False, soft_wrap=True)


def printable(path: Path) -> str:
    """A path relative to the current folder, escaped for the terminal."""
    return escape(one_line(os.path.relpath(path), 5000))
