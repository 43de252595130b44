"""What the documentation shows works."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.judging.judge import judge
from grader.model.answer import Returned
from grader.model.exercise import Exercise

ROOT = Path(__file__).parent.parent
DOCS = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
_LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")
_FILE = re.compile(r"`((?:grader|tests|docs|source|release)/[\w./]*\w/?)`")


@pytest.fixture(scope="module")
def example() -> Exercise:
    """The exercise in the page about writing one."""
    page = (ROOT / "docs" / "writing_an_exercise.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(compile(code, "ex20_entropy.py", "exec"), names)
    exercise: Exercise = names["exercise"]
    return exercise


def student(attn_weights: torch.Tensor) -> torch.Tensor:
    """The solution of that page, in other words."""
    entropies: torch.Tensor = torch.special.entr(attn_weights).sum(dim=-1)
    return entropies


def test_a_right_solution_of_the_example_is_right(example: Exercise) -> None:
    drawn = example.sample()
    answers = [Returned(student(*case.inputs), list(case.inputs)) for case in drawn]
    assert judge(example, drawn, answers).right


def test_every_misconception_of_the_example_is_named(example: Exercise) -> None:
    drawn = example.sample()
    for one in example.misconceptions:
        answers = [Returned(example.wrong_answer([one], case.inputs), list(case.inputs)) for case in drawn]
        verdict = judge(example, drawn, answers)
        assert verdict.misconceptions == (one.name,)
        assert verdict.credit == one.credit


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_links_and_names_of_files_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link for link in _LINK.findall(text) if "://" not in link]
    missing = [link for link in links if not (page.parent / link).exists()]
    missing += [name for name in _FILE.findall(text) if not re.search("ex20|exNN", name) and not (ROOT / name).exists()]
    assert not missing
