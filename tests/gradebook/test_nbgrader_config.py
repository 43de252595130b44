"""Whatever nbgrader_config.py names in the engine is there: nbgrader imports it by its name, some only in a browser."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from traitlets.utils.importstring import import_item

from support.places import ROOT

CONFIGURATION = ast.parse(Path(ROOT, "nbgrader_config.py").read_text())
NAMES = [
    node.value
    for node in ast.walk(CONFIGURATION)
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("grader.")
]


def test_nbgrader_config_names_engine_classes() -> None:
    assert len(NAMES) > 5


@pytest.mark.parametrize("name", NAMES)
def test_nbgrader_config_name_can_be_imported(name: str) -> None:
    assert import_item(name)
