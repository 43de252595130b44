"""Checks are as strict as grading, and no stricter."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from typing import Any

import pytest

from grader.course.folder import Course
from grader.notebooks.cells import solutions
from support.places import ROOT

Notebook = dict[str, Any]
IMPORTS = "import math, torch\nfrom torch import nn\nfrom torch.nn import functional as F"


@pytest.fixture
def notebook_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Notebook]:
    """The variables of a notebook, with its checks and right solutions."""

    def make(assignment: str) -> Notebook:
        folder = ROOT / "source" / assignment
        monkeypatch.syspath_prepend(str(folder))
        variables = runpy.run_path(str(folder / "checks.py"))
        exec(IMPORTS, variables)
        source = Course(ROOT).read("source", assignment)
        given = [cell.source for cell in source.cells if cell.cell_type == "code" and cell.id.startswith("given-")]
        for code in [*(code for code in given if "def " in code), *solutions(source).values()]:
            exec(code, variables)
        return variables

    return make


def check_output(
    notebook: Notebook, number: int, capsys: pytest.CaptureFixture[str], right: str = "", other: str = ""
) -> str:
    """What is said where the solution of an exercise has something else in one place."""
    assignment = "causal_attention" if number < 17 else "transformer" if number < 28 else "fast_attention"
    solution = solutions(Course(ROOT).read("source", assignment))[number]
    assert right in solution
    exec(solution.replace(right, other), notebook)
    capsys.readouterr()
    exec(f"check({number})", notebook)
    return " ".join("".join(capsys.readouterr()).split())


@pytest.mark.parametrize("number", [12, 13])
def test_check_accepts_other_argument_names_of_a_class(
    number: int, notebook_of: Callable[[str], Notebook], capsys: pytest.CaptureFixture[str]
) -> None:
    assert "✓" in check_output(notebook_of("causal_attention"), number, capsys, "d_in", "size_in")


def test_check_of_apply_rope_tries_positions_up_to_4095(
    notebook_of: Callable[[str], Notebook], capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = notebook_of("transformer")
    exec("old = apply_rope", notebook)
    few = "def apply_rope(x, positions, *base):\n    assert max(positions) <= {0}\n    return old(x, positions, *base)"
    for largest, mark in ((4095, "✓"), (4000, "✗")):
        exec(f"{few.format(largest)}\ncheck(21)", notebook)
        assert mark in "".join(capsys.readouterr())


@pytest.mark.parametrize(("place", "mark"), [("lse", "✓"), ("output", "✗")])
def test_check_of_tiles_accepts_only_logsumexp_in_float32(
    place: str, mark: str, notebook_of: Callable[[str], Notebook], capsys: pytest.CaptureFixture[str]
) -> None:
    right = "return output, lse.squeeze(-1)"
    other = right.replace(place, f"{place}.float()", 1)
    assert mark in check_output(notebook_of("fast_attention"), 32, capsys, right, other)


def test_check_of_paged_attention_tries_full_pages(
    notebook_of: Callable[[str], Notebook], capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = notebook_of("fast_attention")
    code = (
        "old = paged_attention\ndef paged_attention(queries, keys, values, table, lengths):\n"
        "    fills_pages = (lengths % keys.shape[1] == 0).all()\n"
        "    return old(queries, keys, values, table, lengths - 1 * fills_pages)\ncheck(35)"
    )
    exec(code, notebook)
    assert "with full pages, and queries of zeros" in "".join(capsys.readouterr())


def test_check_of_attention_backward_tries_a_single_word(
    notebook_of: Callable[[str], Notebook], capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = notebook_of("fast_attention")
    code = (
        "old = attention_backward\ndef attention_backward(queries, *others):\n"
        "    gradients = old(queries, *others)\n"
        "    return tuple(each.squeeze(2) for each in gradients) if queries.shape[2] == 1 else gradients\ncheck(33)"
    )
    exec(code, notebook)
    assert "with two sentences of one word" in "".join(capsys.readouterr())
