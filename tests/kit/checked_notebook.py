"""The names that a notebook defines once all its exercises are solved, with its visible checks."""

from __future__ import annotations

import functools
import importlib.util
from typing import Any

import nbformat
import pytest

from support.places import ROOT

SOURCE = ROOT / "source"
SETUP = "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn"


@functools.cache
def cells_of(assignment: str) -> dict[str, str]:
    """The text of each code cell, by its id."""
    cells = nbformat.read(SOURCE / assignment / f"{assignment}.ipynb", as_version=4).cells
    return {cell.id: cell.source for cell in cells if cell.cell_type == "code"}


def exercises_of(assignment: str) -> list[int]:
    return [int(cell.removeprefix("exercise-")) for cell in cells_of(assignment) if cell.startswith("exercise-")]


def solved_names(assignment: str, given: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names in the solved notebook. `given` is code that its exercises need."""
    folder = SOURCE / assignment
    monkeypatch.syspath_prepend(str(folder))
    spec = importlib.util.spec_from_file_location(f"checks_of_{assignment}", folder / "checks.py")
    assert spec is not None
    assert spec.loader is not None
    checks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checks)
    names = {"check": checks.check, "solved": checks.solved}
    for source in (SETUP, given, *(cells_of(assignment)[f"exercise-{number}"] for number in exercises_of(assignment))):
        exec(source, names)
    return names
