"""The notebooks in VS Code, on Colab, or wherever there is nothing but PyTorch, matplotlib and a kernel."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from grader.catalogue import of_assignment
from grader.course import Course
from grader.notebooks.solutions import fill_in, solutions

ROOT = Path(__file__).parent.parent
COURSE = Course(ROOT)
THERE = ["torch", "matplotlib", "ipykernel"]
NOT_THERE = ["grader", "nbgrader", "nbformat", "nbconvert", "safetensors", "rich", "pytest", "pip"]
SECONDS = 300  # for one cell, on a machine that has much else to do

every_assignment = pytest.mark.parametrize("assignment", COURSE.assignments())


def with_all_they_need(names: list[str]) -> dict[str, Distribution]:
    """The installed distributions of these names, and those that they ask for."""
    found: dict[str, Distribution] = {}
    waiting = list(names)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name not in found:
            found[name] = distribution(name)
            asked_for = [Requirement(text) for text in found[name].requires or ()]
            waiting += [one.name for one in asked_for if one.marker is None or one.marker.evaluate({"extra": ""})]
    return found


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with nothing else in it: what is installed here anyway, by links."""
    home = tmp_path_factory.mktemp("elsewhere") / "env"
    venv.create(home, symlinks=True)
    (packages,) = home.glob("lib/python*/site-packages")
    for one in with_all_they_need(THERE).values():
        for top in {file.parts[0] for file in one.files or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (packages / top).exists():
                (packages / top).symlink_to(str(one.locate_file(top)))
    return home / "bin/python"


def test_the_environment_has_nothing_else(python: Path) -> None:
    code = (
        f"import importlib.util as u, json; "
        f"print(json.dumps([name for name in {THERE + NOT_THERE} if u.find_spec(name)]))"
    )
    done = subprocess.run([python, "-c", code], cwd="/", env={}, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == THERE


@pytest.fixture
def kernel(python: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a kernel of that environment, which nobody else knows."""
    spec = tmp_path / "jupyter/kernels/elsewhere/kernel.json"
    spec.parent.mkdir(parents=True)
    command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": command, "display_name": "elsewhere", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    return "elsewhere"


def run(notebook: Any, folder: Path, kernel: str) -> str:
    """Run all cells in this folder, and return all text that they have shown. An error of a cell is an error."""
    where = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, kernel_name=kernel, timeout=SECONDS, startup_timeout=SECONDS, resources=where)
    client.execute(env={"HOME": str(folder.parent), "PATH": os.environ["PATH"]})
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "".join(output.get("text", "") for output in outputs)


@pytest.fixture
def handed_out(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A copy of the release folder, far from the course."""
    assignment = request.getfixturevalue("assignment")
    return Path(shutil.copytree(ROOT / "release" / assignment, tmp_path / "Downloads" / assignment))


@every_assignment
def test_as_it_is_handed_out_it_runs_and_is_to_do(assignment: str, handed_out: Path, kernel: str) -> None:
    said = run(COURSE.read("release", assignment), handed_out, kernel)
    functions = [function.entry for one in of_assignment(assignment) for function in one.functions]
    to_do = re.findall(r"✗ Exercise \d+: still to do\. Write (?:\w+ of )?(\w+)", said)
    assert to_do == functions
    assert said.count("✗") == len(functions)
    assert "✓" not in said


@every_assignment
def test_solved_every_check_is_green(assignment: str, handed_out: Path, kernel: str) -> None:
    answers = solutions(COURSE.read("source", assignment))
    solved = fill_in(COURSE.read("release", assignment), answers)
    said = run(solved, handed_out, kernel)
    assert said.count("is right on the examples of this notebook.") == sum(
        len(one.functions) for one in of_assignment(assignment)
    )
    assert "✗" not in said
    assert "once you have solved" not in said
    drawn = [
        output for cell in solved.cells for output in cell.get("outputs", []) if "image/png" in output.get("data", {})
    ]
    assert drawn


@pytest.mark.parametrize(
    ("assignment", "missing"), [*((one, "checks") for one in COURSE.assignments()), ("self_attention", "compare")]
)
def test_the_notebook_alone_says_what_to_put_beside_it(
    assignment: str, missing: str, handed_out: Path, kernel: str
) -> None:
    """As on Colab, which opens the notebook without what lies beside it."""
    (handed_out / f"{missing}.py").unlink()
    notebook = COURSE.read("release", assignment)
    with pytest.raises(CellExecutionError) as caught:
        run(notebook, handed_out, kernel)
    assert caught.value.ename == "ImportError"
    assert caught.value.evalue.startswith(f"{missing}.py is not here. Put checks.py, checking.py and compare.py beside")
    assert "During handling" not in str(caught.value)
