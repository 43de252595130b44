"""An author's own kernel says of code what students with this code are told."""

from __future__ import annotations

import nbformat
import pytest

from grader.host import grading
from grader.model.exercise import DEFAULT_SEED
from grader.notebooks.verdict_cells import verdict_panel
from support.kernel import client_of
from support.our_course import OURS
from support.places import ROOT

pytestmark = pytest.mark.slow

SETUP = "import torch\nfrom torch.nn import functional as F\nfrom grader.notebook import hidden_tests"
CODE = {
    "right": "def softmax(items_in):\n    return torch.softmax(torch.as_tensor(items_in), 0)",
    "with a name": "def softmax(items_in):\n    e = torch.exp(torch.as_tensor(items_in))\n    return e / e.max()",
    "that stops": "def softmax(items_in):\n    e = torch.exp(items_in)\n    return e / e.sum()",
    "to do": "def softmax(items_in):\n    raise NotImplementedError",
    "of the notebook": (
        "items = [1.0, 2.0]\n\ndef softmax(items_in):\n    e = torch.exp(torch.tensor(items))\n    return e / e.sum()"
    ),
    "with one wrong line": (
        "def softmax(items_in):\n    e = torch.exp(torch.abs(torch.as_tensor(items_in)))\n    return e / e.sum()"
    ),
}


def test_author_kernel_shows_the_verdict_of_grading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "seed_of_submission", lambda *_: DEFAULT_SEED)
    cells = [SETUP, *(cell for code in CODE.values() for cell in (code, "hidden_tests(3, points=2)"))]
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    client_of(notebook, timeout=300, resources={"metadata": {"path": str(ROOT / "source/self_attention")}}).execute()
    said = [cell.outputs[0].data["text/plain"] for cell in notebook.cells[2::2]]
    assert said == [_told(code) for code in CODE.values()]
    assert len(set(said)) == len(CODE)


def _told(code: str) -> str:
    cells = [nbformat.v4.new_code_cell(text) for text in (SETUP.rpartition("\n")[0], code, "")]
    cells[-1].metadata["nbgrader"] = {
        "grade_id": "test-exercise-3", "grade": True, "solution": False, "locked": True, "points": 2,
        "schema_version": 3,
    }  # fmt: skip
    (verdict,) = grading.grade_notebook(nbformat.v4.new_notebook(cells=cells), settings=OURS)
    return str(verdict_panel(verdict, f"{verdict.points(2):g} of 2 points")["text/plain"])
