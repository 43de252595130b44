"""The notebooks in VS Code, on Colab, or wherever there is nothing but PyTorch, matplotlib and a kernel."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from grader.course.folder import Course
from grader.notebooks.cells import fill_in, solutions
from grader.notebooks.single_file import in_one_file
from support.our_course import of_assignment
from support.places import ROOT
from support.snapshots import files_in

pytestmark = [pytest.mark.user, pytest.mark.proof]

COURSE = Course(ROOT)
THERE = ["torch", "matplotlib", "ipykernel"]
NOT_THERE = ["ipywidgets", "grader", "nbgrader", "nbformat", "nbconvert", "safetensors", "rich", "pytest", "pip"]
WIDGET = "application/vnd.jupyter.widget-view+json"
DESCRIBED = re.compile(r'<img src="data:image/png;base64,[^"]+" alt="[^"]{60,}">')  # a plot in words, not its name
SECONDS = 300  # for one cell, on a machine that has much else to do


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


def test_kernel_environment_has_only_what_notebooks_need(python: Path) -> None:
    code = (
        f"import importlib.util as u, json; "
        f"print(json.dumps([name for name in {THERE + NOT_THERE} if u.find_spec(name)]))"
    )
    done = subprocess.run([python, "-c", code], cwd="/", env={}, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == THERE


class Home:
    """A kernel of that environment in a copy of a release folder, far from the course."""

    def __init__(self, folder: Path, client: NotebookClient) -> None:
        self.folder, self.client = folder, client
        self.beside = sorted(path.stem for path in folder.glob("*.py"))

    def run(self, notebook: Any) -> str:
        """Run all cells where nothing was run before, and return all text they have shown. An error is an error."""
        nothing = f"import sys\n[sys.modules.pop(name, None) for name in {self.beside}]\n%reset -f"
        for one in (nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(nothing)]), notebook):
            self.client.nb = one
            self.client.execute(cleanup_kc=False)
        outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
        return "".join(output.get("text", "") for output in outputs)


@pytest.fixture(scope="module", params=COURSE.assignments())
def assignment(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def home(assignment: str, python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """One process for the tests of a notebook. The first has it as it starts; test_browser.py starts others."""
    tmp_path = tmp_path_factory.mktemp("home")
    folder = Path(shutil.copytree(ROOT / "release" / assignment, tmp_path / "Downloads" / assignment))
    spec = tmp_path / "jupyter/kernels/elsewhere/kernel.json"
    spec.parent.mkdir(parents=True)
    command = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": command, "display_name": "elsewhere", "language": "python"}))
    # Numbers are few: threads would only wait for one another, on a busy machine many times as long.
    environment = {"HOME": str(folder.parent), "PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1"}
    where = {"metadata": {"path": str(folder)}}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
        client = NotebookClient(
            nbformat.v4.new_notebook(),
            kernel_name="elsewhere",
            timeout=SECONDS,
            startup_timeout=SECONDS,
            resources=where,
        )
        with client.setup_kernel(env=environment):
            yield Home(folder, client)


def test_solved_notebook_in_bare_kernel_is_green(assignment: str, home: Home) -> None:
    answers = solutions(COURSE.read("source", assignment))
    solved = fill_in(COURSE.read("release", assignment), answers)
    said = home.run(solved)
    assert said.count("is right on the examples of this notebook.") == sum(
        len(one.functions) for one in of_assignment(assignment)
    )
    assert "✗" not in said
    assert "once you have solved" not in said
    for cell in solved.cells:
        shown = [output.data for output in cell.get("outputs", []) if "data" in output]
        described = [data for data in shown if DESCRIBED.fullmatch(data.get("text/html", ""))]
        assert bool(described) == ("show_figure(" in cell.source), cell.id
        assert not [data for data in shown if "image/png" in data or WIDGET in data], cell.id


def test_released_notebook_in_bare_kernel_runs_and_is_to_do(assignment: str, home: Home) -> None:
    said = home.run(COURSE.read("release", assignment))
    functions = [function.entry for one in of_assignment(assignment) for function in one.functions]
    to_do = re.findall(r"✗ Exercise \d+: still to do\. Write (?:\w+ of )?(\w+)", said)
    assert to_do == functions
    assert said.count("✗") == len(functions)
    assert "✓" not in said


@pytest.mark.parametrize("missing", ["checks", "compare"])
def test_notebook_when_companion_file_is_missing_names_it(
    missing: str, assignment: str, home: Home, tmp_path: Path
) -> None:
    """As on Colab, which opens the notebook without what lies beside it."""
    beside = home.folder / f"{missing}.py"
    away = Path(shutil.move(beside, tmp_path))
    try:
        with pytest.raises(CellExecutionError) as caught:
            home.run(COURSE.read("release", assignment))
    finally:
        shutil.move(away, beside)
    assert caught.value.ename == "Missing"
    assert caught.value.evalue.startswith(f"{missing} is not here. ")
    assert "During handling" not in str(caught.value)


def test_single_file_notebook_runs_in_empty_folder(assignment: str, home: Home, tmp_path: Path) -> None:
    """As on Colab again, or from an e-mail: in an empty folder, solved and untouched. The drawings were run above."""
    single, inside = in_one_file(COURSE.read("release", assignment), files_in(home.folder))
    single.cells = [cell for cell in single.cells if "demo" not in cell.metadata.get("tags", [])]
    goes, returns = (new_code_cell(f"import os; os.chdir({str(folder)!r})") for folder in (tmp_path, home.folder))
    right, to_do = (
        home.run(new_notebook(cells=[goes, *notebook.cells, returns]))
        for notebook in (fill_in(single, solutions(COURSE.read("source", assignment))), single)
    )
    functions = sum(len(one.functions) for one in of_assignment(assignment))
    assert "checks.py" in inside
    assert (right.count("is right on the examples of this notebook."), right.count("✗")) == (functions, 0)
    assert to_do.count("still to do. Write") == to_do.count("✗") == functions
    assert list(tmp_path.iterdir()) == []
