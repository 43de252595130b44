"""What the tutorials for operators and students say works, in their order. test_docs.py follows the other pages."""

from __future__ import annotations

import io
import re
import socket
import subprocess
import sys
import zipfile
from collections.abc import Callable
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import run_kernel
from tutorial_steps import as_script, blocks, write_cell

from grader.course.folder import Course
from support.chromium import skip_unless_installed
from support.served import ASSIGNMENT, PATIENCE, Served, serving

pytestmark = pytest.mark.proof

TERMINAL_COLORS = re.compile(r"\x1b\[\d+m")


def test_operator_tutorial_serves_a_course(tmp_path: Path) -> None:
    skip_unless_installed("curl")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = str(one.getsockname()[1])
    stops = "trap 'kill %1 2>/dev/null || true' EXIT\n"  # also if a command fails
    script = stops + as_script("operator.md").replace("serve &", f"serve --port {port} &").replace("8000", port)
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(
        ["bash", "-e"], input=script, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for block in blocks("operator.md"):
        if block.language == "text" and not block.file:
            assert block.text.strip() in done.stdout
    assert (tmp_path / "statistics/links.csv").read_text().count("https://grader.example.edu/enter/") == 2


def test_operator_tutorial_systemd_unit_starts_the_command() -> None:
    (text,) = [block.text for block in blocks("operator.md") if block.file == "grader.service"]
    unit = ConfigParser()
    unit.optionxform = str  # type: ignore[method-assign,assignment]
    unit.read_string(text)
    program, *arguments = unit["Service"]["ExecStart"].split()
    assert program == f"{unit['Service']['WorkingDirectory']}/.venv/bin/grader"
    help_of = [str(Path(sys.executable).with_name("grader")), *arguments, "--help"]
    assert subprocess.run(help_of, capture_output=True, check=False).returncode == 0


@pytest.fixture
def served(new_course: Callable[[], Course]) -> Any:
    with serving(new_course()) as one:
        yield one


def test_student_tutorial_solves_and_submits_an_exercise(
    served: Served, solved: dict[int, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the page says to write the function, the course's own solution is written."""
    monkeypatch.setenv("HOME", str(tmp_path))
    content = served.get("ada", f"/assignments/{ASSIGNMENT}/release.zip").content
    zipfile.ZipFile(io.BytesIO(content)).extractall(tmp_path)
    place = tmp_path / ASSIGNMENT / f"{ASSIGNMENT}.ipynb"
    said: list[str] = []

    with run_kernel(kernel_name="python3", cwd=str(place.parent)) as client:

        def run(code: str) -> str:
            outputs: list[Any] = []
            client.execute_interactive(code, timeout=PATIENCE, output_hook=outputs.append)
            told = [one["content"] for one in outputs if one["msg_type"] in ("stream", "display_data", "error")]
            return "".join(one.get("text", "") or one.get("data", {}).get("text/plain", "") for one in told)

        cells = [cell for cell in nbformat.read(place, as_version=4).cells if cell.cell_type == "code"]
        ids = [cell.id for cell in cells]
        for cell in cells[: ids.index("exercise-1")]:
            run(cell.source)
        checked = 0
        for _, name, language, text in blocks("student.md"):
            if language == "text":
                for line in text.splitlines():
                    assert line in said[-1]
                continue
            if text == "check(1)\n" and (checked := checked + 1) == 2:
                write_cell(place, "exercise-1", solved[1])
                run(solved[1])
            if name:
                write_cell(place, name, text)
            link = f"{served.address}/enter/{served.codes['ada']}"
            said.append(TERMINAL_COLORS.sub("", run(text.replace("https://grader.example.edu/enter/…", link))))
    assert checked == 2
