"""Where no verdict is shown, nothing tells when grading was done either: code can sleep where it is called again."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from grader.classroom.run import alone
from grader.course.folder import Course
from grader.serving.student_pages import MOST_WAITING
from support.served import ASSIGNMENT, PATIENCE, Served, serving

pytestmark = pytest.mark.slow

PLACE = f"/assignments/{ASSIGNMENT}"


@pytest.fixture
def served(new_course: Callable[[], Course]) -> Iterator[Served]:
    with serving(new_course()) as one:
        rules = one.course.root / "course.toml"
        rules.write_text(f'[assignments.{ASSIGNMENT}.serving]\nbefore = "nothing"\n')
        yield one


@pytest.fixture
def notebook(served: Served, make_notebook: Callable[..., Any], solved: dict[int, str]) -> bytes:
    return json.dumps(make_notebook(served.course, solved)).encode()


def visible_answers(served: Served, numbers: list[int]) -> dict[str, object]:
    """All that a student can ask for, and what others can who have no link."""
    read: dict[str, object] = {}
    for number in numbers:
        for place in (f"/submissions/{number}", f"/submissions/{number}/events", f"/submissions/{number}/feedback"):
            answer = served.get("ada", place)
            read[place] = (answer.status_code, answer.text)
    read["me"] = served.get("ada", "/me").json()
    read["another submission"] = served.post("ada", PLACE, b"{}").json()
    read["healthz"] = httpx.get(f"{served.address}/healthz").text
    with served.browser("ada") as browser:
        for place in ("/", *(f"/submissions/{number}" for number in numbers)):
            read[f"page {place}"] = re.sub(r'name="_xsrf" value="[^"]+"', "", browser.get(place).text)
    return read


@pytest.mark.parametrize("count", [1, MOST_WAITING])
def test_hidden_verdict_pages_do_not_change_when_graded(served: Served, notebook: bytes, count: int) -> None:
    with alone(served.course):  # nothing is graded meanwhile
        numbers = [served.submit("ada", notebook)["submission"] for _ in range(count)]
        before = visible_answers(served, numbers)
    for number in numbers:
        assert served.verdict("prof", number)["result"]["points"] == 30
    assert visible_answers(served, numbers) == before
    error = before["another submission"]
    assert isinstance(error, dict)
    assert ("often lately" in error["error"]) == (count == MOST_WAITING)


def test_submit_when_verdicts_are_hidden_does_not_wait(
    served: Served, notebook: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / f"{ASSIGNMENT}.ipynb").write_bytes(notebook)
    program = str(Path(sys.executable).with_name("grader"))
    link = f"{served.address}/enter/{served.codes['ada']}"
    with alone(served.course):
        command = [program, "submit", f"{ASSIGNMENT}.ipynb", "--link", link]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert "Results are hidden for now.\n" in done.stdout


def test_hidden_verdict_is_shown_to_instructors(served: Served, notebook: bytes) -> None:
    with alone(served.course):
        number = served.submit("ada", notebook)["submission"]
        assert served.get("prof", f"/submissions/{number}").json()["state"] in ("waiting", "grading")
    assert served.verdict("prof", number)["state"] == "graded"
    assert served.get("ada", f"/submissions/{number}").json()["state"] == "arrived"
