"""The set-up cell of a notebook, where something that it needs is missing."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
from checked_notebook import cells_of
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from support.our_course import ASSIGNMENTS


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_setup_cell_without_torch_shows_only_a_sentence(
    assignment: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    new_shell: Any = InteractiveShell
    shell = new_shell(config=Config({"HistoryManager": {"enabled": False}}))
    with monkeypatch.context() as patch:
        patch.setattr(importlib.util, "find_spec", lambda *_: None)
        result = shell.run_cell(cells_of(assignment)["setup"])
    assert isinstance(result.error_in_exec, ImportError)
    shown = capsys.readouterr().out
    assert shown.startswith("This kernel has no torch. If you have installed it, choose another kernel")
    assert shown.strip() == str(result.error_in_exec)
