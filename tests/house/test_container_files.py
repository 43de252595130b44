"""Containerfile and .devcontainer/: run their steps as written, in an empty folder.

`.ci/run` also builds the image, if the machine has a Docker that can.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from grader.checks.demo import demonstrated
from support.container import run, skip_unless_it_can_be_started
from support.places import ROOT

pytestmark = pytest.mark.proof

EDITOR = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())


class Step(NamedTuple):
    stage: str
    instruction: str
    rest: str


def steps() -> list[Step]:
    found, stage = [], ""
    for line in (ROOT / "Containerfile").read_text().splitlines():
        if line and not line.startswith("#"):
            instruction, rest = line.split(maxsplit=1)
            stage = rest.split(" AS ")[1] if instruction == "FROM" else stage
            found.append(Step(stage, instruction, rest))
    return found


def of_stage(stage: str, instruction: str) -> list[str]:
    return [step.rest for step in steps() if (step.stage, step.instruction) == (stage, instruction)]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the package after COPY and `RUN pip install`, without the libraries that it needs."""
    package, target = tmp_path_factory.mktemp("package"), tmp_path_factory.mktemp("target")
    for copied in of_stage("grader", "COPY"):
        *sources, place = copied.split()
        for source in sources:
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, package / place)
            else:
                shutil.copyfile(ROOT / source, package / place / source)
    command = of_stage("grader", "RUN")[0]
    assert shlex.split(command)[:2] == ["pip", "install"]
    as_here = {"PIP_NO_DEPS": "1", "PIP_TARGET": str(target), "PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_WARN_SCRIPT": "1"}
    done = subprocess.run(
        ["sh", "-c", f"pip() {{ {shlex.quote(sys.executable)} -m pip --quiet \"$@\"; }}; {command}"],
        cwd=package,
        env={**os.environ, **as_here},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return target


def test_containerfile_copies_enough_to_install_the_package(installed: Path) -> None:
    files = {path.relative_to(ROOT) for path in (ROOT / "grader").rglob("*") if path.suffix in (".py", ".css", ".html")}
    assert len(files) > 200
    assert [str(file) for file in files if not (installed / file).is_file()] == []
    with zipfile.ZipFile(installed / "grader/checks/demo/course.zip") as course:
        assert {f"source/{name}/{name}.ipynb" for name in demonstrated()} <= set(course.namelist())


def test_containerfile_cmd_runs_the_installed_package(installed: Path, tmp_path: Path) -> None:
    """As CMD says, with --help: `grader doctor`, which says what the machine offers."""
    (command,) = of_stage("grader", "CMD")
    program, *arguments = json.loads(command)
    assert program == "grader"
    code = "import grader, sys; print(grader.__file__); from grader.__main__ import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    order = [sys.executable, "-c", code, *arguments, "--help"]
    done = subprocess.run(order, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(installed))
    assert "Check whether this machine can grade" in " ".join(done.stdout.split())


def test_containerfile_extras_exist_and_include_dask() -> None:
    extras = re.search(r"'\.\[([\w,]+)\]'", of_stage("grader", "RUN")[0])
    assert extras is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "dask" in extras[1].split(",")
    assert set(extras[1].split(",")) <= project["optional-dependencies"].keys()


def test_containerfile_stages_have_a_supported_python() -> None:
    from_what = {step.stage: step.rest.split()[0] for step in steps() if step.instruction == "FROM"}
    assert from_what.pop("grader") == "students"  # so grading has what students have, plus the grader
    assert set(from_what) == {"develop", "students"}
    readme = (ROOT / "README.md").read_text()
    for image in from_what.values():
        version = re.fullmatch(r"python:(3\.\d+)(?:-slim)?", image)
        assert version
        assert version[1] in readme


def test_containerfile_grades_as_an_ordinary_user() -> None:
    *_, user = of_stage("grader", "USER")
    last = [step.instruction for step in steps() if step.stage == "grader"]
    assert len(last) - last[::-1].index("USER") > max(
        place for place, name in enumerate(last) if name in ("RUN", "COPY")
    )
    # That user owns the working folder, so that the demo runs without a folder of the machine.
    (made,) = (command for command in of_stage("students", "RUN") if "useradd" in command)
    assert re.fullmatch(rf"useradd .*\b{user} && install -d -o {user} (/\S+)", made)
    assert made.split()[-1] == of_stage("grader", "WORKDIR")[-1] == of_stage("students", "WORKDIR")[-1]


def test_demo_runs_from_the_installed_package(installed: Path) -> None:
    """As an ordinary user, in an empty folder, without the repository, like `docker run … grader demo`."""
    skip_unless_it_can_be_started()
    code = f"import sys; sys.path.insert(0, {str(installed)!r}); from grader.__main__ import main; main()"
    done = run(sys.executable, "-c", code, "demo", user=1000, shown=[installed])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "demo/report/self_attention.html" in "".join(done.stdout.split())


SERVE = """
import subprocess, sys, time, urllib.request
command = [sys.executable, "-c", *sys.argv[1:]]
with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
    try:
        said = [next(server.stdout) for _ in range(3)]
        code = [line for line in said if "/enter/" in line][0].strip().rpartition("/")[2]
        place, token = "http://127.0.0.1:8000/api/v1/metrics", {"Authorization": f"Bearer {code}"}
        for _ in range(600):
            numbers = urllib.request.urlopen(urllib.request.Request(place, headers=token)).read().decode()
            if 'graded"} 11' in numbers and 'failed"} 1' in numbers:  # one of the twelve is cut off
                break
            time.sleep(0.5)
    finally:
        server.terminate()
print(numbers, "ended with", server.returncode)
"""


def test_server_runs_from_the_installed_package(installed: Path) -> None:
    """As docs/operator.md starts it, with the class of the demo."""
    skip_unless_it_can_be_started()
    (line,) = re.findall(r"docker run .*\\\n.*", (ROOT / "docs/operator.md").read_text())
    words = shlex.split(line.partition(" attention-grader grader ")[2])
    assert words[0] == "serve"
    code = f"import sys; sys.path.insert(0, {str(installed)!r}); from grader.__main__ import main; main()"
    done = run(sys.executable, "-c", SERVE, code, *words, "--demo", user=1000, shown=[installed])
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'grader_submissions{state="graded"} 11' in done.stdout
    assert "ended with 0" in done.stdout


def test_students_stage_has_only_what_notebooks_import() -> None:
    copied = [
        word for step in steps() if step.stage == "students" and step.instruction == "COPY" for word in [step.rest]
    ]
    assert copied == ["release/requirements.txt ."]
    locked = (ROOT / "release/requirements.txt").read_text().split()
    assert {"ipywidgets", "jupyterlab", "matplotlib", "numpy", "torch"} <= {line.split("==")[0] for line in locked}
    assert set(locked) <= {line.lower().replace("_", "-") for line in (ROOT / "constraints.txt").read_text().split()}
    assert not any(line.startswith(("attention-grader", "nbgrader")) for line in locked)
    imported = {
        name.split(".")[0]
        for file in (ROOT / "release").glob("*/*")
        if file.suffix in (".py", ".ipynb")
        for name in re.findall(r'^(?: *"| *)(?:import|from) (\w+)', file.read_text(), re.MULTILINE)
    }
    foreign = imported - sys.stdlib_module_names - {file.stem for file in (ROOT / "release").glob("*/*.py")}
    assert {name.lower() for name in foreign} <= {line.split("==")[0] for line in locked}


def test_dockerignore_sends_only_what_is_copied() -> None:
    everything, *sent = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    copied = [word for step in steps() if step.instruction == "COPY" for word in step.rest.split()[:-1]]
    assert everything == "*"
    assert sorted(sent) == sorted({f"!{word}" for word in copied})


def test_devcontainer_uses_a_stage_and_installs_as_documented() -> None:
    build = EDITOR["build"]
    folder = ROOT / ".devcontainer"
    assert (folder / build["dockerfile"]).resolve() == ROOT / "Containerfile"
    assert (folder / build["context"]).resolve() == ROOT
    assert build["target"] in {step.stage for step in steps()}
    command = EDITOR["postCreateCommand"]
    assert f"    {command} " in (ROOT / "CONTRIBUTING.md").read_text()
    ended = subprocess.run(["make", "-n", *command.split()[1:]], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    interpreter = EDITOR["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]
    assert f"VENV := {interpreter.split('/')[0]}\n" in (ROOT / "Makefile").read_text()


def shown_commands(page: str) -> Iterator[str]:
    for line in (ROOT / page).read_text().splitlines():
        if line.startswith("    docker build "):
            yield line.strip()


@pytest.mark.parametrize("page", ["docs/operator.md", "docs/containers.md"])
def test_pages_build_the_image_as_the_containerfile_says(page: str) -> None:
    (said,) = re.findall(r"^#     (docker build .*)$", (ROOT / "Containerfile").read_text(), re.MULTILINE)
    first, *others = shown_commands(page)
    assert first == said
    targets = {name for command in others for name in re.findall(r"--target (\S+)", command)}
    assert targets <= {step.stage for step in steps()}
