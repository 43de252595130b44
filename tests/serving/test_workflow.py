"""The workflow of docs/serving.md, whose steps submit a notebook to a server."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml

from grader.course.folder import Course
from grader.serving import invitations
from support.places import ROOT
from support.served import ASSIGNMENT, Served, serving

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def served(new_course: Callable[[], Course]) -> Iterator[Served]:
    with serving(new_course()) as server:
        yield server


@pytest.fixture
def checkout(tmp_path: Path, served: Served, make_notebook: Callable[..., Any], solved: dict[int, str]) -> Path:
    """A student's repository, as a runner has it."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    nbformat.write(make_notebook(served.course, {3: solved[3]}), folder / f"{ASSIGNMENT}.ipynb")
    return folder


def run_workflow(checkout: Path, server: str, token: str) -> subprocess.CompletedProcess[str]:
    """Run the commands of the page as GitHub does, with this server and token."""
    page = (ROOT / "docs/serving.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (job,) = yaml.safe_load(text)["jobs"].values()
    checkout_step, step = job["steps"]
    assert checkout_step["uses"].startswith("actions/checkout@")
    assert step["env"]["TOKEN"] == "${{ secrets.GRADER_TOKEN }}"
    environment = {**os.environ, "HOME": str(checkout.parent), "SERVER": server, "TOKEN": token}
    return subprocess.run(
        ["bash", "-e", "-c", step["run"]], cwd=checkout, env=environment, capture_output=True, text=True, check=False
    )


def test_workflow_with_token_shows_verdict(served: Served, checkout: Path) -> None:
    scopes = [invitations.Scope.SUBMIT, invitations.Scope.READ]
    token = invitations.new_token(served.course, "ada", scopes, datetime.now(UTC) + timedelta(hours=1))
    done = run_workflow(checkout, served.address, token)
    assert done.returncode == 0, done.stderr
    assert "Signed in as ada." in done.stdout
    assert "✓ Exercise 3:" in done.stdout
    assert (served.course.root / "submitted/ada" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb").is_file()


def test_workflow_with_wrong_token_fails(served: Served, checkout: Path) -> None:
    done = run_workflow(checkout, served.address, "wrong")
    assert done.returncode != 0
    assert "✓" not in done.stdout
