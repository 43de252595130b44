"""What the visible checks of an assignment say about a piece of student code."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import signal
from collections.abc import Iterator

import pytest
import torch

from grader.host.machine import in_little_memory
from grader.kit.checking import Checks
from support.places import ROOT
from support.records import Piece
from support.solution_cells import define, notebook

ROOM = 4 << 30  # bytes: some pieces compare all texts with one another
SECONDS = 3  # of computing, for a piece that never ends; it has no numbers


def checks_of(assignment: str, monkeypatch: pytest.MonkeyPatch) -> Checks:
    """The checks beside the notebook of an assignment."""
    monkeypatch.syspath_prepend(str(ROOT / "source" / assignment))
    variables = runpy.run_path(str(ROOT / "source" / assignment / "checks.py"))
    return next(value for value in variables.values() if isinstance(value, Checks))


@contextlib.contextmanager
def ended_soon() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError

    former = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with in_little_memory(ROOM):
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, former)


def said_by(checks: Checks, piece: Piece, capsys: pytest.CaptureFixture[str]) -> str:
    """What `check` says about a piece of code in the solved notebook."""
    names = {**notebook(piece.number), "check": checks.check}
    try:
        with ended_soon(), contextlib.redirect_stdout(io.StringIO()):
            define(piece.cell, names)
    except Exception:  # its cell shows an error, so nobody goes on to the check
        return ""
    capsys.readouterr()
    with contextlib.suppress(TimeoutError), ended_soon(), torch.enable_grad():
        exec(f"check({piece.number})", names)
    captured = capsys.readouterr()
    return " ".join(re.sub(r"\x1b\[\d+m", "", captured.out + captured.err).split())
