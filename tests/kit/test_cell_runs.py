"""Checks in IPython, after cells that failed, or that were edited and not run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import IPython
import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

CHECKS = """
from grader.kit.checking import Checks, Entry, Example
check = Checks(Entry(1, "double", lambda: (Example("two", (2.0,), 4.0),))).check
"""
RIGHT = "def double(x):\n    return 2 * x"
OLD = "double is still the one from before, since its cell stopped with"
Run = Callable[..., list[str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """What each cell prints in a new shell of IPython; a cell may have an id."""
    new_shell: Any = InteractiveShell
    shell = new_shell(config=Config({"HistoryManager": {"enabled": False}}))
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)

    def run_cells(*cells: str | tuple[str, str]) -> list[str]:
        shell.run_cell(CHECKS)
        printed = []
        for cell in cells:
            code, name = cell if isinstance(cell, tuple) else (cell, None)
            shell.run_cell(code, cell_id=name)
            printed.append(" ".join("".join(capsys.readouterr()).split()))
        return printed

    return run_cells


@pytest.mark.parametrize(
    ("failing", "reason"),
    [
        ("def double(x):\n    return 3 * (x", "SyntaxError: incomplete input, in line 2."),
        ("def double(x:\n    return 2 * x", "SyntaxError: "),
        ("x = 1 / 0\ndef double(x):\n    return 3 * x", "ZeroDivisionError: division by zero at the line `x = 1 / 0`"),
        ("import nothing_of_this_name\nclass double:\n    pass", "ModuleNotFoundError: "),
    ],
)
def test_check_after_failed_cell_says_function_is_old(failing: str, reason: str, run: Run) -> None:
    _, first, _, second, _, third = run(RIGHT, "check(1)", failing, "check(1)", RIGHT, "check(1)")
    assert "double is right" in first
    assert OLD in second
    assert reason in second
    assert "✓" not in second
    assert "double is right" in third


@pytest.mark.parametrize("other", ["double(2, 3)", "x = double(", f"{RIGHT}\ndouble(2) / 0", "def doubled(x:\n  pass"])
def test_check_after_unrelated_error_is_green(other: str, run: Run) -> None:
    assert "double is right" in run(RIGHT, other, "check(1)")[2]


def test_check_recognizes_a_cell_by_its_id(run: Run) -> None:
    assert OLD in run((RIGHT, "a"), (RIGHT.replace("def", "de"), "a"), "check(1)")[2]
    assert OLD not in run((RIGHT, "a"), (RIGHT.replace("def", "de"), "b"), "check(1)")[2]


def test_check_when_function_is_missing_names_the_error_of_its_cell(run: Run) -> None:
    assert "there is no function double yet. Its cell stopped with SyntaxError" in run("def double(x", "check(1)")[1]


@pytest.fixture
def save_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, float], None]:
    """Saves a notebook with this code in its first cell, so many seconds from now."""
    path = tmp_path / "notebook.ipynb"
    monkeypatch.setenv("JPY_SESSION_NAME", str(path))

    def save(code: str, seconds: float) -> None:
        nbformat.write(new_notebook(cells=[new_code_cell(code, id="its-cell")]), path)
        now = path.stat().st_mtime
        os.utime(path, (now, now + seconds))

    return save


@pytest.mark.parametrize(
    ("code", "seconds", "is_told"),
    [
        (f"{RIGHT} + 1", 1000, True),
        (f"{RIGHT} + 1", -1000, False),  # it was edited before it was run
        (f"{RIGHT}\n", 1000, False),
    ],
)
def test_check_when_cell_was_edited_and_not_run_says_so(
    code: str, seconds: float, is_told: bool, save_notebook: Callable[[str, float], None], run: Run
) -> None:
    save_notebook(code, seconds)
    said = run((RIGHT, "its-cell"), "check(1)")[1]
    assert "double is right" in said
    assert ("You have edited its cell since: run that, then this one." in said) == is_told
