"""Where nothing names a mistake, the line is told in which it lies: the student's own code, changed there, is right."""

from __future__ import annotations

import nbformat
import pytest
from solution_cells import from_notebook

from grader.catalogue import EXERCISES
from grader.judging.edits import edits_of
from grader.judging.student_text import StudentText, definitions_in
from grader.model.located import Change
from grader.model.verdict import Reason, Verdict
from grader.running.grading import grade_notebook

BEFORE = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F"

TWO_SPOTS = """
def softmax_stable(x, dim=-1):
    largest = x.max(dim=dim, keepdim=True).values
    shifted = largest - x
    powers = torch.exp(shifted)
    total = powers.sum(dim=dim, keepdim=True) ** 3
    return powers / total
"""
AXES = """
def all_context_vectors(inputs):
    scores = inputs @ inputs.T
    largest = scores.max(dim=-1, keepdim=True).values
    powers = torch.exp(scores - largest)
    weights = powers / powers.sum(dim=-1, keepdim=True) ** 2
    return weights @ inputs
"""


def verdict_on(source: str, number: int) -> Verdict:
    earlier = [from_notebook()[one] for one in range(9, number)] if number >= 9 else []
    cells = [nbformat.v4.new_code_cell(text) for text in (BEFORE, *earlier, source)]
    tested = {"grade_id": f"test-exercise-{number}", "grade": True, "points": 4}
    cells.append(nbformat.v4.new_code_cell("", metadata={"nbgrader": tested}))
    (verdict,) = grade_notebook(nbformat.v4.new_notebook(cells=cells))
    return verdict


def test_the_line_is_told_and_never_the_change() -> None:
    verdict = verdict_on(AXES, 11)
    assert [place.line for place in verdict.located] == ["weights = powers / powers.sum(dim=-1, keepdim=True) ** 2"]
    assert verdict.reason == Reason.LOCATED
    assert verdict.sentences[0].startswith("With one small change in the line `weights = powers /")
    assert Verdict.from_json(verdict.to_json()) == verdict


def test_two_mistakes_have_two_lines() -> None:
    verdict = verdict_on(TWO_SPOTS, 10)
    assert {place.line for place in verdict.located} == {
        "shifted = largest - x",
        "total = powers.sum(dim=dim, keepdim=True) ** 3",
    }


@pytest.mark.parametrize(
    ("source", "credit"),
    [
        pytest.param(AXES, 0.5, id="four of five statements are right"),
        pytest.param("def all_context_vectors(inputs):\n    return inputs @ inputs.T / inputs", 0, id="one line"),
    ],
)
def test_only_code_that_is_mostly_right_earns_by_its_line(source: str, credit: float) -> None:
    assert verdict_on(source, 11).credit == credit


def test_right_code_and_what_has_a_name_are_not_searched() -> None:
    assert verdict_on(from_notebook()[11], 11).located == ()
    named = verdict_on(AXES.replace(" ** 2", "").replace("scores = inputs @", "scores = inputs @ inputs.T @"), 11)
    assert named.credit < 1


def test_what_hangs_or_breaks_when_it_is_changed_costs_nobody_anything() -> None:
    source = AXES.replace("    scores =", "    n = 3\n    while n > 0:\n        n = n - 1\n    scores =")  # n + 1, too
    assert [place.change for place in verdict_on(source, 11).located] == [Change.NUMBER]


@pytest.mark.parametrize("number", EXERCISES)
def test_every_change_of_a_right_solution_can_be_read(number: int) -> None:
    text = StudentText(definitions_in(from_notebook()[number]))
    edits = edits_of(text)
    assert len(edits) > 50
    assert edits == sorted(edits, key=lambda edit: edit.cost)
    for edit in edits:
        compile(text.with_splices(*edit.splices), "changed", "exec")


@pytest.mark.parametrize("source", ["def f(:", "x = " + "(" * 5000, "%matplotlib inline\n", "", "#" * 30_000])
def test_what_cannot_be_read_is_not_searched(source: str) -> None:
    verdict = verdict_on(f"{source}\ndef all_context_vectors(inputs):\n    return inputs * 2\n", 11)
    assert verdict.credit == 0
