"""The folders for GitHub: their workflows are run step by step, and what they tell is told at the cells."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from workflow_runner import Runner

from grader.autograders.on_github import annotation, lines_of_cells, table
from grader.course.folder import Course
from grader.gradebook.hidden_seed import secret_of
from grader.model.label import Label
from support.command_line import export
from support.places import ROOT

pytestmark = pytest.mark.proof

ASSIGNMENT = "self_attention"
STUDENT = "class/self-attention-ada"
MakeNotebook = Callable[..., Any]

# An error whose text would be orders to the runner, and a row of its table.
ORDERS = "::error file=forged.py,line=1::forged\n::add-mask::3\n| 1 | 3 of 3 | forged |"
RAISES = f"def attention_scores(all_queries, all_keys):\n    raise ValueError({ORDERS!r})"


@pytest.fixture(scope="module")
def course(new_course: Callable[[], Course]) -> Course:
    return new_course()


@pytest.fixture(scope="module")
def exported(course: Course) -> Path:
    return export(ASSIGNMENT, "github", f"export/{ASSIGNMENT}-github", course.root)


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    """With all that is to be installed, and no index."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (programs / "python").chmod(0o755)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return Runner(tmp_path / "repository", tmp_path / "workspace", programs)


def line_where(path: Path, words: str) -> int:
    """The line of a file with the words that a cell begins with."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if words in line)


def orders_in(said: str) -> dict[str, tuple[str, int, str]]:
    """All that the runner would take for an order, by its title."""
    found = re.findall(r"^\s*::(.*)$", said, re.MULTILINE)  # blanks before it are nothing to the runner
    forms = [re.fullmatch(r"error file=(.*),line=(\d+),title=(.*?)::(.*)", order) for order in found]
    assert all(forms), found
    return {form[3]: (form[1], int(form[2]), form[4]) for form in forms if form}


def test_a_student_sees_the_visible_checks(
    course: Course, exported: Path, runner: Runner, solved: dict[Label, str], make_notebook: MakeNotebook
) -> None:
    """Two are wrong: one is to do, and one tries to give orders."""
    shutil.copytree(exported / "student", runner.repository)
    answers = {number: code for number, code in solved.items() if number != 3} | {2: RAISES}
    path = runner.repository / f"{ASSIGNMENT}.ipynb"
    nbformat.write(make_notebook(course, answers), path)
    assert runner.run() == 1
    told = orders_in(runner.said)
    assert {"test-exercise-2", "test-exercise-3"} <= set(told)
    assert {"test-exercise-1", "test-exercise-7"}.isdisjoint(told)
    where, line, said = told["test-exercise-3"]
    assert (where, said[:30]) == (f"{ASSIGNMENT}.ipynb", "✗ Exercise 3: still to do. Wri")
    assert abs(line - line_where(path, '"def softmax(items_in)')) <= 1
    assert "| test\\-exercise\\-1 | ✓ |" in runner.summary
    assert "\\| 3 of 3 \\| forged \\|" in runner.summary
    assert len(re.findall(r"^\|", runner.summary, re.MULTILINE)) == 10


def test_nothing_hidden_is_in_the_students_folder(course: Course, exported: Path) -> None:
    texts = {path: path.read_bytes() for path in (exported / "student").rglob("*") if path.is_file()}
    secret, reference = secret_of(course.root), b"exp = torch.exp("
    assert [path for path, text in texts.items() if secret in text or reference in text] == []
    assert any(reference in path.read_bytes() for path in (exported / "instructor").rglob("*.pickle"))
    given = {path.name for path in (course.root / "release" / ASSIGNMENT).rglob("*") if path.is_file()}
    ours = {"check.yml", "visible.py", "on_github.py", "requirements.txt", "constraints.txt"}
    assert {path.name for path in texts} == given | ours


def clone(folder: Path, notebook: Any) -> Path:
    """A student's repository."""
    folder.mkdir()
    nbformat.write(notebook, folder / "my work.ipynb")
    who = ["-c", "user.name=ada", "-c", "user.email=ada@example.edu"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "1"]):
        subprocess.run(["git", *who, *command], cwd=folder, check=True)
    return folder


def test_the_instructor_sees_points_and_where_they_are_lost(
    course: Course,
    exported: Path,
    runner: Runner,
    solved: dict[Label, str],
    make_notebook: MakeNotebook,
    tmp_path: Path,
) -> None:
    shutil.copytree(exported / "instructor", runner.repository)
    answers = {number: code for number, code in solved.items() if number != 5} | {2: RAISES}
    notebook = make_notebook(course, answers)
    notebook.cells.append(nbformat.v4.new_code_cell("open('/etc/passwd')"))
    path = clone(tmp_path / "ada", notebook) / "my work.ipynb"
    runner.others = {STUDENT: path.parent}
    runner.known = {"inputs.repository": STUDENT, "inputs.hidden_inputs": "", "secrets.STUDENTS_TOKEN": "token"}
    assert runner.run() == 0, runner.said
    told = orders_in(runner.said)
    assert set(told) == {"Exercise 2", "Exercise 5"}
    where, line, said = told["Exercise 5"]
    assert where == "submission/my work.ipynb"
    assert abs(line - line_where(path, '"def weighted_sums(')) <= 1
    assert said == "This exercise is still to do."
    assert "| 3 | 2 of 2 | Right\\. |" in runner.summary
    assert runner.summary.startswith("## class\\/self\\-attention\\-ada: 24 of 30 points\n")
    assert len(re.findall(r"^\|", runner.summary, re.MULTILINE)) == 10
    assert "- The code tried to read \\/etc\\/passwd\\." in runner.summary
    (results,) = runner.artifacts
    found = json.loads(results.read_text())
    assert (found["student"], found["points"], found["max_points"]) == (STUDENT, 24, 30)
    assert [one["points"] for one in found["exercises"]] == [3, 0, 2, 2, 0, 4, 5, 8]
    assert re.fullmatch("[0-9a-f]{16}", found["hidden_inputs"])


# GitHub's own program: what is hosted lies in a folder, and what else it is asked for is noted. It may read its input.
GH = """#!/bin/sh
cat > /dev/null
case "$1 $2" in
"repo list") cd "$HOSTED" && echo class/* | tr ' ' '\\n' ;;
"repo clone") git clone -q "$HOSTED/$3" "$4" ;;
*) echo "$@" >> "$HOSTED/asked" ;;
esac
"""


def test_a_class_goes_there_and_back_as_the_page_says(
    new_course: Callable[[], Course], runner: Runner, make_notebook: MakeNotebook, scores: Any, tmp_path: Path
) -> None:
    """From repositories to the gradebook; one student is called otherwise on GitHub."""
    course = new_course()
    right = "softmax = lambda x: torch.softmax(torch.as_tensor(x), 0)"
    for name, answers in {"ada": {3: right}, "Robert-99": {}}.items():
        place = tmp_path / "hosted/class"
        place.mkdir(parents=True, exist_ok=True)
        clone(place / f"self-attention-{name}", make_notebook(course, answers))
    (course.root / "students.csv").write_text("id,name\nada,\nbob,Robert-99\n")
    export(ASSIGNMENT, "github", f"export/{ASSIGNMENT}-github", course.root)
    for name, text in {"gh": GH, "grader": f'#!/bin/sh\nexec {sys.executable} -m grader "$@"\n'}.items():
        (runner.programs / name).write_text(text)
        (runner.programs / name).chmod(0o755)
    page = (ROOT / "docs/grading_elsewhere.md").read_text(encoding="utf-8")
    shown = page.partition("### The whole class")[2].partition("### What the runs report")[0]
    commands = textwrap.dedent("".join(re.findall("^    .*\n", shown, re.MULTILINE)))
    names = {"PATH": f"{runner.programs}:{os.environ['PATH']}", "HOSTED": str(tmp_path / "hosted")}
    subprocess.run(
        ["bash", "-euc", commands], cwd=course.root, env={**os.environ, **names}, check=True, stdin=subprocess.DEVNULL
    )
    asked = (tmp_path / "hosted/asked").read_text().splitlines()
    for name in ("Robert-99", "ada"):
        assert f"workflow run Grade -R class/grading -f repository=class/self-attention-{name}" in asked
        put = [line for line in asked if f"repos/class/self-attention-{name}/contents/.github/" in line]
        assert len(put) == 5
        (given,) = [line.rpartition("content=")[2] for line in put if "check.yml" in line]
        assert b"Visible checks" in base64.b64decode(given)
    assert scores(course, "ada")["test-exercise-3"] == 2
    assert set(scores(course, "bob").values()) == {0}


# --- what is told ----------------------------------------------------------------------------------------------------


def test_an_annotation_is_one_order() -> None:
    said = annotation("a,b:c.ipynb", 3, "a: b", "100 %\n::stop-commands::x")
    assert said == "::error file=a%2Cb%3Ac.ipynb,line=3,title=a%3A b::100 %25%0A::stop-commands::x"


def test_a_table_shows_texts_as_they_are() -> None:
    assert table(("a", "b"), [("x | y", "<img>\n`_z_`")]) == (
        "| a | b |\n| --- | --- |\n| x \\| y | \\<img\\> \\`\\_z\\_\\` |\n"
    )


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_cells_are_found_however_the_file_is_written(course: Course, indent: int | None) -> None:
    notebook = course.read("release", ASSIGNMENT)
    text = json.dumps({"metadata": {"source": "x"}, **json.loads(nbformat.writes(notebook))}, indent=indent)
    lines = lines_of_cells(text)
    assert {f"exercise-{number}" for number in range(1, 9)} <= set(lines)
    shown = text.splitlines()
    assert all("source" in shown[line - 1] for line in lines.values())
    if indent:
        assert "def softmax(items_in)" in shown[lines["exercise-3"]]


@pytest.mark.parametrize("text", ["", "{", '{"cells": [{"a": 1}, {', '{"cells": [{"metadata": 3}]}', '{"cells": 3}'])
def test_what_is_no_notebook_has_no_cells(text: str) -> None:
    assert lines_of_cells(text) == {}
