"""What the documentation shows works."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.course import Course
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


def blocks(page: str) -> Iterator[tuple[str, str, str]]:
    """What a page shows: its language, the file that it is called if it is one, and the text."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    for found in re.finditer(r"(?:^`([^`\n]+)`:\n\n)?^```(\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        yield found[2], found[1] or "", found[3]


def test_your_own_course_works_as_it_stands(tmp_path: Path) -> None:
    """From the first command to the export, in the order of the page."""
    folder, bin_folder = tmp_path, Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}
    said = ""
    for language, place, text in blocks("your_own_course.md"):
        if place:
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_text(text)
            continue
        command = ["bash", "-ec", text] if language == "sh" else [sys.executable, "-c", text]
        ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, text + ended.stdout + ended.stderr
        said += ended.stdout
        folder = tmp_path / "statistics"  # the first block goes there
    assert "✗" not in said
    assert (folder / "release/week1/week1.ipynb").is_file()
    with Course(folder).api().gradebook as gradebook:
        points = {one.student.id: one.score for one in gradebook.assignment_submissions("week1")}
    assert points == {"ada": 0.0, "kurt": 1.0}
    assert "What comes out is the sum" in (folder / "feedback/kurt/week1/week1.html").read_text()
    assert list((folder / "export").iterdir())


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_links_and_names_of_files_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = [link for link in _LINK.findall(text) if "://" not in link]
    missing = [link for link in links if not (page.parent / link).exists()]
    missing += [name for name in _FILE.findall(text) if not re.search("ex20|exNN|week1", name) and not (ROOT / name).exists()]
    assert not missing
