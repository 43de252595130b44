"""The commands of every day: for all assignments, for some students, in a fresh clone, with points by hand."""

from __future__ import annotations

import io
import json
import logging
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from grader.classroom.intake import assignments_to_grade
from grader.classroom.progress import as_json, results_table, summary_table
from grader.classroom.run import autograde
from grader.cli import terminal
from grader.course.folder import Course
from grader.errors import CourseError
from grader.gradebook.published import PublishedPoints
from grader.model.label import Label
from grader.model.submission import Graded
from grader.model.verdict import Reason, Scored, Verdict
from support.command_line import Ended
from support.command_line import grader as run_grader
from support.made_class import ASSIGNMENT, Paper, grade
from support.places import ROOT

OTHER = "causal_attention"
Submit = Callable[..., Path]


def command(course: Course, *words: str) -> Ended:
    return run_grader(*words, folder=course.root)


# --- all assignments -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_autograde_without_a_name_grades_all_assignments(
    course: Course, submit: Submit, solved: dict[Label, str]
) -> None:
    submit(course, "ada", {3: solved[3]})
    submit(course, "emmy", assignment=OTHER)
    ended = command(course, "autograde", "--json")
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert {name: list(one["students"]) for name, one in told.items()} == {OTHER: ["emmy"], ASSIGNMENT: ["ada"]}
    assert told[ASSIGNMENT]["students"]["ada"]["points"] == 2
    shown = command(course, "autograde").stdout
    assert shown.index(OTHER) < shown.index("emmy") < shown.index(ASSIGNMENT) < shown.index("ada")
    assert list(json.loads(command(course, "autograde", ASSIGNMENT, "--json").stdout)["students"]) == ["ada"]


@pytest.mark.slow
def test_autograde_when_one_assignment_fails_grades_the_others(course: Course, submit: Submit) -> None:
    submit(course, "ada")
    submit(course, "ada", assignment=OTHER)
    shutil.rmtree(course.folder("release") / OTHER)
    ended = command(course, "autograde", "--json")
    assert ended.returncode == 1
    assert f"{OTHER} has not been released yet" in ended.stderr
    told = json.loads(ended.stdout)
    assert told[OTHER] == {"error": f"{OTHER} has not been released yet. Run: grader release {OTHER}"}
    assert list(told[ASSIGNMENT]["students"]) == ["ada"]


def test_all_submitted_lists_assignments_with_submissions(course: Course, submit: Submit) -> None:
    with pytest.raises(CourseError, match="Put submissions into submitted/STUDENT/ASSIGNMENT"):
        assignments_to_grade(course)
    submit(course, "ada")
    submit(course, "emmy")
    submit(course, "emmy", assignment=OTHER)
    assert assignments_to_grade(course) == {OTHER: [], ASSIGNMENT: []}
    assert assignments_to_grade(course, ["ada"]) == {ASSIGNMENT: ["ada"]}
    assert assignments_to_grade(course, ["emmy", "ada"]) == {OTHER: ["emmy"], ASSIGNMENT: ["emmy", "ada"]}
    with pytest.raises(CourseError, match="There is no submission by kurt"):
        assignments_to_grade(course, ["ada", "kurt"])


# --- a fresh clone ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_autograde_in_a_fresh_clone_uses_the_release(
    course: Course, submit: Submit, solved: dict[Label, str], scores: Any
) -> None:
    """As after `git clone`: source/ and release/, and no gradebook."""
    (course.root / "gradebook.db").unlink()
    submit(course, "ada", {3: solved[3]})
    before = course.notebook("release", ASSIGNMENT).read_bytes()
    dry = command(course, "autograde", ASSIGNMENT, "--dry-run", "--json")
    assert dry.returncode == 0, dry.stderr
    assert [(one["student"], one["now"]) for one in json.loads(dry.stdout)["changes"]] == [("ada", 2)]
    graded = command(course, "autograde", ASSIGNMENT)
    assert graded.returncode == 0, graded.stderr
    assert graded.stderr == "Added self_attention to the gradebook.\n"
    assert scores(course, "ada")["test-exercise-3"] == 2
    assert course.notebook("release", ASSIGNMENT).read_bytes() == before
    assert command(course, "autograde", ASSIGNMENT).stderr == ""


@pytest.mark.slow
def test_autograde_when_source_has_changed_since_release_raises(course: Course, submit: Submit) -> None:
    (course.root / "gradebook.db").unlink()
    submit(course, "ada")
    source = course.notebook("source", ASSIGNMENT)
    source.write_text(source.read_text().replace('"points": 2', '"points": 4'))
    with pytest.raises(
        CourseError, match=r"its source has changed since the last release \(self_attention.ipynb\). Run: gr"
    ):
        list(autograde(course, ASSIGNMENT))
    assert not (course.root / "autograded").exists()


@pytest.mark.slow
def test_autograde_when_gradebook_is_lost_raises(course: Course, submit: Submit) -> None:
    submit(course, "ada")
    grade(course, Paper("ada"))
    (course.root / "gradebook.db").unlink()
    with pytest.raises(CourseError, match="self_attention is not in the gradebook yet"):
        list(autograde(course, ASSIGNMENT))


# --- points by hand --------------------------------------------------------------------------------------------------


def by_hand() -> tuple[list[Graded], dict[str, PublishedPoints]]:
    """Exercise 2 has half of its points, and one by hand; a question has only those, and a half is taken off."""
    wrong = Scored(Verdict(2, "Scores", 0.5, Reason.MISCONCEPTION, misconceptions=("a",)), max_points=3)
    right = Scored(Verdict(3, "Softmax", 1.0, Reason.RIGHT), max_points=2)
    counts = PublishedPoints(
        {"2": 1.0, "3": 2.0, "why": 4.0, "how": 0.0}, 6.5, 0.5, by_hand=["2", "why"], waits=["how"]
    )
    return [Graded("ada", verdicts=[wrong, right])], {"ada": counts}


def test_results_table_shows_manual_points_and_what_they_replace() -> None:
    results, told = by_hand()
    table = results_table(results, counted=told, most=9)
    assert [next(iter(column.cells)) for column in table.columns] == [
        "ada",
        "1",
        "2",
        "4",
        "waits",
        "6.5/9",
        "2: a",
        "2: set manually to 1 instead of 1.5\nwhy: set manually to 4\nlate: 0.5 taken off",
    ]
    rows = list(zip(*(column.cells for column in summary_table(results, told).columns), strict=True))
    assert ("manual points", "1", "ada: 2: set manually to 1 instead of 1.5; why: set manually to 4") in rows
    assert ("to grade manually", "1", "ada: how") in rows
    assert "manual points" not in [
        row[0] for row in zip(*(c.cells for c in summary_table(results).columns), strict=True)
    ]
    students: Any = as_json(results, told)["students"]
    assert students["ada"]["by_hand"] == {"2": 1, "why": 4}
    assert (students["ada"]["penalty"], students["ada"]["total"]) == (0.5, 6.5)


def test_results_table_never_cuts_long_exercise_names() -> None:
    names = ["test-load", "test-zscore", "test-groupby-mean", "test-outliers", "essay"]
    right = [Scored(Verdict(None, name, 1.0, Reason.RIGHT), max_points=2) for name in names]
    written = io.StringIO()
    Console(file=written, width=80).print(results_table([Graded("adalovelace", verdicts=right)]))
    shown = " ".join(written.getvalue().split())
    assert "…" not in shown
    assert "student A B C D E total" in shown
    assert "A: test-load, B: test-zscore, C: test-groupby-mean, D: test-outliers, E: essay" in shown


def test_results_table_shows_zero_manual_points_so_far() -> None:
    results, told = by_hand()
    told["ada"] = replace(told["ada"], by_hand=["how"])
    besides = list(results_table(results, counted=told, most=9).columns[-1].cells)
    assert besides == ["how: set manually to 0 so far\nlate: 0.5 taken off"]


@pytest.mark.slow
def test_autograde_shows_what_the_gradebook_has(course: Course, submit: Submit, solved: dict[Label, str]) -> None:
    submit(course, "ada", {3: solved[3]})
    list(autograde(course, ASSIGNMENT))
    with course.api().gradebook as gradebook:
        gradebook.find_grade("test-exercise-3", ASSIGNMENT, ASSIGNMENT, "ada").manual_score = 0.5
        gradebook.db.commit()
    shown = command(course, "autograde", ASSIGNMENT).stdout
    assert "3: set manually to 0.5 instead of 2" in shown
    assert "0.5/30" in shown


def test_log_while_busy_is_on_lines_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Written past the line, it would stand behind it: “Canvas …Left out: ada”."""
    shown, other = (Console(file=io.StringIO(), force_terminal=True) for _ in range(2))
    monkeypatch.setattr(terminal, "console", shown)
    monkeypatch.setattr(terminal, "errors", other)
    logger = logging.Logger("grader.export")
    logger.addHandler(terminal.TerminalLog())
    with terminal.busy("Canvas …"):
        logger.warning("Left out: ada")
    logger.info("Not final: [red]emmy[/red]")
    assert isinstance(shown.file, io.StringIO)
    assert isinstance(other.file, io.StringIO)
    assert "Left out: ada" in shown.file.getvalue()
    assert "Left out" not in other.file.getvalue()
    assert "Not final: [red]emmy[/red]" in other.file.getvalue()


# --- what the command says of itself ---------------------------------------------------------------------------------


def test_version_option_prints_the_version() -> None:
    ended = run_grader("--version", folder=ROOT)
    assert (ended.returncode, ended.stdout) == (0, f"grader {version('attention-grader')}\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("grader au", ["autograde"]),
        ("grader autograde se", ["self_attention"]),
        ("grader feedback self_attention --student e", ["emmy", "eve"]),
        ("grader publish self_attention --to c", ["canvas"]),
    ],
)
def test_shell_completion_offers_names(line: str, offered: list[str], course: Course) -> None:
    """As bash asks, with the script that `grader --show-completion bash` prints."""
    for name in ("emmy", "eve", "ada"):
        (course.folder("submitted") / name).mkdir(parents=True)
    ask = (
        'eval "$(grader --show-completion bash)"; COMP_WORDS=($1); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); '
        '_grader_completion grader; echo "${COMPREPLY[*]}"'
    )
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    shell = ["bash", "-c", ask, "bash", line]
    ended = subprocess.run(shell, cwd=course.root, env={"PATH": path}, capture_output=True, text=True, check=True)
    assert ended.stdout.split() == offered, ended.stderr


def test_quietly_prints_one_line_or_the_end_of_what_fails(tmp_path: Path) -> None:
    def quietly(*command: str) -> Ended:
        ended = subprocess.run(
            [str(ROOT / ".ci/quietly"), "install", "Installing", *command],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    ended = quietly("echo", "much")
    assert (ended.returncode, (tmp_path / "build/install.log").read_text()) == (0, "much\n")
    assert re.fullmatch(r"Installing … \d+ s\n", ended.stdout)
    failed = quietly("sh", "-c", "seq 100; echo what is wrong >&2; exit 3")
    assert (failed.returncode, failed.stdout.splitlines()[0]) == (
        3,
        "Installing … failed. The end of build/install.log:",
    )
    assert failed.stdout.splitlines()[1:] == [*map(str, range(72, 101)), "what is wrong"]
    assert "$(QUIETLY) install" in (ROOT / "Makefile").read_text()
