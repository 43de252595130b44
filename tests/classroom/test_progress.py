"""What is seen of a run while it goes on. The clock is the test's own."""

from __future__ import annotations

import io
import json
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from grader.classroom.progress import LINE_SECONDS, LONG, Onlooker, summary_table
from grader.cli import app
from grader.course.folder import Course
from grader.model.submission import Graded
from grader.model.verdict import Reason, Scored, Verdict


class Clock:
    """Time goes on when a test says so."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("time.monotonic", clock)
    return clock


class WatchedOnlooker:
    """An onlooker, and what it has shown."""

    def __init__(self, clock: Clock, total: int, terminal: bool, quiet: bool = False) -> None:
        self._file = io.StringIO()
        console = Console(file=self._file, force_terminal=terminal, width=100, get_time=clock, color_system=None)
        self.onlooker = Onlooker(console, total, quiet)
        # rich's own estimate of the time left takes the time from the bar
        self.onlooker._bar.get_time = clock

    def new(self) -> str:
        """What has come since the last look."""
        text = self._file.getvalue()
        self._file.seek(0)
        self._file.truncate()
        return text


def last_line(text: str) -> str:
    """What stands in the line of a terminal in the end: the last thing that was written into it."""
    return re.split(r"[\r\n]", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).rstrip())[-1]


RIGHT = Scored(Verdict(1, "Queries, keys, values", 1.0, Reason.RIGHT), max_points=3.0)


def results(clock: Clock, seconds: float, *then: Callable[[], None], count: int = 100) -> Iterator[Graded]:
    """One result after the other, `seconds` apart; `then` are called after the first ones."""
    for number in range(count):
        clock.now += seconds
        yield Graded(f"student{number}")
        if number < len(then):
            then[number]()


def test_progress_on_a_terminal_is_one_bar_with_rate_and_time_left(clock: Clock) -> None:
    seen = WatchedOnlooker(clock, 100, terminal=True)
    lines: list[str] = []
    everything = ""

    def look() -> None:
        nonlocal everything
        seen.onlooker.show_running({"ada": 0.5})
        new = seen.new()
        everything += new
        lines.append(last_line(new))

    found = seen.onlooker.follow(results(clock, 0.5, *[look] * 40))
    assert [one.student for one in found] == [f"student{number}" for number in range(100)]
    last = lines[-1]
    assert "40/100" in last
    assert "2.0 a second" in last
    assert "0:00:30" in last, "60 are left, at two a second"
    assert "running" not in last
    assert [line for line in lines if not line.startswith("Grading")] == []
    everything += seen.new()
    assert "100/100" in last_line(everything)
    assert everything.count("\n") == 1, "one line from the start to the end"


def test_progress_bar_names_who_is_running_for_long(clock: Clock) -> None:
    seen = WatchedOnlooker(clock, 10, terminal=True)
    shown: list[str] = []

    def look(running: dict[str, float]) -> Callable[[], None]:
        def then() -> None:
            seen.onlooker.show_running(running)
            shown.append(last_line(seen.new()))

        return then

    hangs = {"ada": LONG, "[bold]eve": LONG + 41, "b\x1b]0;o\x07b": 3.0, "c": 7.0, "fourth": 8.0}
    seen.onlooker.follow(results(clock, 1.0, look(hangs), look({"ada": 0.1}), count=10))
    assert "running: [bold]eve for 43 s, b ]0;o b for 3 s, c for 7 s" in shown[0]
    assert "ada" not in shown[0], "not longer than usual"
    assert "fourth" not in shown[0], "three are enough"
    assert "running" not in shown[1]


def test_progress_in_a_log_is_plain_lines_now_and_then(clock: Clock) -> None:
    seen = WatchedOnlooker(clock, 100, terminal=False)
    found = seen.onlooker.follow(results(clock, 1.0))
    shown = seen.new()
    assert len(found) == 100
    assert "\x1b" not in shown
    assert "\r" not in shown
    lines = shown.splitlines()
    assert len(lines) == 100 // (LINE_SECONDS + 1)
    assert lines[0] == "11 of 100, 1.0 a second, 89 s left"


def test_progress_in_a_log_names_who_is_running_for_long(clock: Clock) -> None:
    seen = WatchedOnlooker(clock, 5, terminal=False)
    seen.onlooker.show_running({"ada": 1.0})
    assert seen.new() == ""
    clock.now += LINE_SECONDS + 1
    seen.onlooker.show_running({"ada": 11.0, "ben": 1.0})
    assert seen.new() == "0 of 5, ada for 11 s\n"


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_when_quiet_shows_nothing(clock: Clock, terminal: bool) -> None:
    seen = WatchedOnlooker(clock, 100, terminal, quiet=True)
    found = seen.onlooker.follow(results(clock, 5.0, lambda: seen.onlooker.show_running({"ada": 99.0})))
    assert len(found) == 100
    assert seen.new() == ""


# --- what the command prints -----------------------------------------------------------------------------------------


@pytest.fixture
def grade(course: Course, submit: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs the command, with results made up: one student has a grade and one has none."""
    for student in ("ada", "eve"):
        submit(course, student)

    def made_up(*_: Any, **__: Any) -> Iterator[Graded]:
        yield Graded("ada", verdicts=[RIGHT])
        yield Graded("eve", error="there is no [notebook]")

    monkeypatch.chdir(course.root)
    monkeypatch.setattr("grader.classroom.run.autograde", made_up)
    return lambda *options: CliRunner().invoke(app.app, ["autograde", "self_attention", *options])


@pytest.mark.slow
def test_autograde_json_prints_only_json(grade: Callable[..., Any]) -> None:
    done = grade("--json")
    found = json.loads(done.stdout)
    assert done.exit_code == 1
    assert found["graded"] == 1
    assert found["failed"] == {"eve": "there is no [notebook]"}
    assert found["students"]["ada"]["points"] == 3
    assert found["students"]["ada"]["exercises"]["1"]["reason"] == "right"
    assert done.stderr == "eve has no grade: there is no [notebook].\n"


@pytest.mark.slow
def test_autograde_quiet_prints_only_who_has_no_grade(grade: Callable[..., Any]) -> None:
    done = grade("--quiet")
    assert done.exit_code == 1
    assert (done.stdout, done.stderr) == ("", "eve has no grade: there is no [notebook].\n")


@pytest.mark.slow
def test_autograde_prints_the_points(grade: Callable[..., Any]) -> None:
    done = grade()
    assert "ada" in done.stdout
    assert "3/3" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr


class Dies:
    """Somebody presses Ctrl-C at the worst moment: Python loses what is raised in a destructor."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_lost_in_a_destructor_stops_at_the_next_look(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    lost: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: lost.append(told.exc_type))
    onlooker = WatchedOnlooker(clock, 2, terminal=False).onlooker
    come = []

    def grade() -> Iterator[Graded]:
        Dies()
        come.append("after it")
        onlooker.show_running({})
        yield Graded("ada")

    usual = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        onlooker.follow(grade())
    assert (lost, come) == ([KeyboardInterrupt], ["after it"])
    assert signal.getsignal(signal.SIGINT) is usual


@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_is_raised_once(clock: Clock) -> None:
    onlooker = WatchedOnlooker(clock, 2, terminal=False).onlooker

    def grade() -> Iterator[Graded]:
        signal.raise_signal(signal.SIGINT)
        yield Graded("ada")

    with pytest.raises(KeyboardInterrupt):
        onlooker.follow(grade())

    def grade_again() -> Iterator[Graded]:
        onlooker.show_running({})
        yield Graded("ada")

    assert onlooker.follow(grade_again()) == [Graded("ada")]


def test_summary_table_joins_problems_of_a_student() -> None:
    not_run = [Scored(Verdict(label, "", 0.0, Reason.NO_ANSWER, ("This test was not run.",)), 1.0) for label in (1, 2)]
    eve = Graded("eve", verdicts=not_run, blocked=["read a file"])
    cells = [cell for column in summary_table([eve]).columns for cell in column.cells]
    assert "eve: 1: This test was not run; 2: This test was not run; ⚑ tried to read a file" in cells
