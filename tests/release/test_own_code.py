"""`explain` in a released notebook needs nothing but torch and the files beside it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from grader.explaining.observed import Draw
from grader.release.own_code import FILE, are_random, own_code_file
from support.our_course import of_assignment
from support.places import ROOT
from support.solution_cells import from_notebook

ASSIGNMENT = "causal_attention"
NUMBER = 16


def run_in_released_folder(program: str, folder: Path = ROOT / "release" / ASSIGNMENT) -> str:
    """What a program prints beside the released files, where neither the grader nor IPython can be imported."""
    head = (
        "import sys\n"
        "for name in ('grader', 'nbgrader', 'IPython', 'matplotlib', 'nbformat', 'msgspec'): sys.modules[name] = None\n"
        f"sys.path.insert(0, {str(folder)!r})\n"
        "import math, torch\nfrom torch import nn\nfrom checks import check, explain\n"
    )
    command = [sys.executable, "-I", "-c", head + program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def solved_cell(folder: Path) -> str:
    """A program that runs the cell of the exercise, as a notebook does: Python can show its lines."""
    cell = folder / "cell.py"
    cell.write_text(from_notebook()[NUMBER])
    return f"exec(compile(open({str(cell)!r}).read(), {str(cell)!r}, 'exec'))\n"


@pytest.mark.slow
def test_explain_asks_three_questions_about_right_code(tmp_path: Path) -> None:
    printed = run_in_released_folder(f"{solved_cell(tmp_path)}explain({NUMBER})\nexplain({NUMBER})\n")
    first, second = printed.split("Answers: ")[:2]
    assert [f"{number}. Take `CausalAttention(d_in=" in first for number in (1, 2, 3)] == [True] * 3
    assert first not in second  # it asks something else the next time


@pytest.mark.slow
def test_explain_asks_nothing_about_code_that_is_not_right(tmp_path: Path) -> None:
    cell = solved_cell(tmp_path)
    (tmp_path / "cell.py").write_text(from_notebook()[NUMBER].replace("dim=-1", "dim=0"))
    printed = run_in_released_folder(f"{cell}explain({NUMBER})\n")
    assert printed.startswith(f"explain({NUMBER}) asks about code that is right. check({NUMBER}) says what is missing.")


@pytest.mark.slow
def test_explain_without_its_file_says_so(tmp_path: Path) -> None:
    for path in (ROOT / "release" / ASSIGNMENT).glob("*.py"):
        if path.name != FILE:
            (tmp_path / path.name).write_bytes(path.read_bytes())
    printed = run_in_released_folder(f"{solved_cell(tmp_path)}explain({NUMBER})\n", tmp_path)
    assert f"{FILE}, which makes them, is not beside this notebook" in " ".join(printed.split())


def test_own_code_file_is_the_same_each_time_and_holds_no_solution() -> None:
    functions = [function for exercise in of_assignment("self_attention") for function in exercise.functions]
    text = own_code_file(functions)
    assert text == own_code_file(functions)
    lines = [line.strip() for number in range(1, 9) for line in from_notebook()[number].splitlines()]
    assert not any(line in text for line in lines if len(line) > 40)


def test_cases_whose_numbers_are_always_the_same_are_not_given_away() -> None:
    drawn = [Draw([torch.randn(3, generator=torch.Generator().manual_seed(seed))]) for seed in (1, 2)]
    assert are_random(*drawn)
    assert not are_random(drawn[0], drawn[0])
    with_a_constant = [Draw([*draw.arguments, 0.5]) for draw in drawn]
    assert not are_random(*with_a_constant)
    assert not are_random(Draw([[1.0, 2.0]]), Draw([[1.0, 2.0]]))
