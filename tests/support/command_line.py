"""`grader …` in this process, for what a command says and how it ends: a process of its own would first import torch.

That it is so for the installed command, too, is for a few tests of test_cli.py.
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
    """As subprocess has it."""

    returncode: int
    stdout: str
    stderr: str


def export(assignment: str, target: str, made: str, folder: Path) -> Path:
    """What `grader export` says that it has made."""
    done = grader("export", assignment, "--to", target, folder=folder)
    assert (done.returncode, done.stdout) == (0, f"{made}\n"), done.stderr
    return folder / made


def grader(*arguments: str, folder: Path) -> Ended:
    from grader.cli.app import run  # as it is to be found now: tests of `grader doctor` have it imported anew

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
        except SystemExit as end:  # anything else would be a traceback, and fails the test
            code = end.code
    assert isinstance(code, int)
    return Ended(code, *(stream.buffer.getvalue().decode() for stream in (stdout, stderr)))
