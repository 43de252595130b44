"""Run `grader …` in this process, to see its output and exit code: a new process would have to import torch first.

A few tests in test_cli.py check that the installed command does the same.
"""

from __future__ import annotations

import contextlib
import io
import sys
from dataclasses import dataclass
from pathlib import Path
from unittest import mock


@dataclass(frozen=True)
class Ended:
    """A finished command, with the names of subprocess."""

    returncode: int
    stdout: str
    stderr: str


def export(assignment: str, target: str, made: str, folder: Path) -> Path:
    """Run `grader export`, check that it reports this path, and return it."""
    done = grader("export", assignment, "--to", target, folder=folder)
    assert (done.returncode, done.stdout) == (0, f"{made}\n"), done.stderr
    return folder / made


def grader(*arguments: str, folder: Path) -> Ended:
    from grader.cli.app import run  # not at the top: tests of `grader doctor` import it anew

    stdout, stderr = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "argv", ["grader", *arguments]),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        code: object = 0
        try:
            run()
        except SystemExit as end:  # anything else would be a traceback, and should fail the test
            code = end.code
    assert isinstance(code, int)
    return Ended(code, *(stream.buffer.getvalue().decode() for stream in (stdout, stderr)))
