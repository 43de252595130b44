"""What `grader validate` prints: a table that fits a terminal, and below it, whole, what is to be said in words."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from grader.authoring.beginnings import new_assignment, new_course, new_exercise
from grader.checks.table import CheckedAssignment, Finding, show
from grader.course.folder import Course
from support.command_line import grader

LONG = " ".join(["exercise 18, `MultiHeadAttention`, “[bold] of [/] both”:", *map(str, range(300)), "Fix it."])
CHECKED = [
    CheckedAssignment(
        "multi_head_attention",
        [
            Finding("misconceptions lose marks and are named", "bad", LONG, 18),
            Finding("misconceptions lose marks and are named", "bad", "exercise 18: another one.", 18),
            Finding("exercises are sound and fit the notebook", count=3),
            Finding("nothing leaks", "note", "it is not released yet."),
        ],
        12.34,
    ),
    CheckedAssignment(
        "self_attention",
        [Finding("misconceptions lose marks and are named", count=276), Finding("references earn full marks", count=0)],
        0.04,
    ),
]


def printed(width: int, terminal: bool) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=terminal, no_color=True, color_system=None)
    show(CHECKED, console)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


TABLE = """\
assignment            exercise  checked                                   result
────────────────────────────────────────────────────────────────────────────────
multi_head_attention  18        misconceptions lose marks and are named      2 ✗
multi_head_attention  all       exercises are sound and fit the notebook     3 ✓
multi_head_attention  all       nothing leaks                               note
multi_head_attention            all of it, in seconds                       12.3

self_attention        all       misconceptions lose marks and are named    276 ✓
self_attention        all       references earn full marks                   0 ✓
self_attention                  all of it, in seconds                        0.0
"""


@pytest.mark.parametrize("terminal", [True, False])
def test_findings_table_fits_80_columns(terminal: bool) -> None:
    assert "\n".join(printed(80, terminal)).startswith(TABLE)


def test_findings_in_a_pipe_are_lines_with_errors_last() -> None:
    assert printed(150, terminal=False)[-3:] == [
        "note multi_head_attention: it is not released yet.",
        f"✗ multi_head_attention: {LONG}",
        "✗ multi_head_attention: exercise 18: another one.",
    ]


def test_findings_on_a_terminal_are_wrapped_not_cut() -> None:
    lines = printed(80, terminal=True)
    assert max(map(len, lines)) == 80
    said = " ".join(line.strip() for line in lines)
    assert f"✗ multi_head_attention: {LONG} ✗" in said


def test_finding_with_any_characters_stays_on_its_line() -> None:
    (told,) = CheckedAssignment("week1", [Finding("", "bad", "a\n✓ b\x1b[2K")]).lines("bad")
    assert told == "week1: a ✓ b [2K"


@pytest.mark.slow
def test_validate_exits_with_1_only_when_something_is_wrong(tmp_path: Path) -> None:
    new_course(tmp_path)
    new_assignment(Course(tmp_path), "week1")
    new_exercise(Course(tmp_path), "mean", "week1")
    ended = grader("validate", folder=tmp_path)
    assert (ended.returncode, ended.stdout.splitlines()[-1]) == (0, "All checks passed.")
    (file,) = (tmp_path / "exercises").glob("*.py")
    file.write_text(file.read_text().replace("kind=", "credit=1.5, kind=", 1))
    ended = grader("validate", folder=tmp_path)
    assert ended.returncode == 1
    assert re.search("^week1 +mean +exercises are sound and fit the notebook +1 ✗$", ended.stdout, re.MULTILINE)
    assert re.search("✗ week1: exercise mean, `mean`, “[^”]+”: its credit is 1.5.", ended.stdout)
    assert "All checks passed" not in ended.stdout


@pytest.mark.slow
def test_findings_before_an_error_are_shown(tmp_path: Path) -> None:
    """An assignment that cannot be read does not hide what is known of those before it."""
    new_course(tmp_path)
    for name in ("week1", "week2"):
        new_assignment(Course(tmp_path), name)
    new_exercise(Course(tmp_path), "mean", "week1")
    (tmp_path / "source/week2/week2.ipynb").write_text("nothing")
    ended = grader("validate", folder=tmp_path)
    assert ended.returncode == 1
    assert re.search("^week1 +all +references earn full marks +1 ✓$", ended.stdout, re.MULTILINE)
    assert "week2" in ended.stderr
    assert "All checks passed" not in ended.stdout
