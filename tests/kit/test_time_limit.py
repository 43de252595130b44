"""Checks of code that never ends, or takes too long."""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from grader.kit import checking, time_limit
from grader.kit.checking import Checks, Entry, Example

pytestmark = pytest.mark.usefixtures("hears_ctrl_c")  # by which the limit stops code

CHECKS = Checks(Entry(1, "count", lambda: (Example("three", (3,), 3.0),)))
SEEN_IN_THE_TEXT = "def count(n):\n  i = 0\n  while i < n:\n    x = n\n  return i"
NOT_SEEN = "def count(n):\n  while True:\n    n = -n\n  return n"
INTERRUPTED = "def count(n):\n  _thread.interrupt_main()\n  time.sleep(30)"


@pytest.fixture
def check(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str, str], tuple[str, str]]]:
    """What is said where this code was run, as from a cell."""
    monkeypatch.setattr(checking, "SECONDS", 0.4)
    monkeypatch.setattr(checking, "ENOUGH", 0.2)

    def run(code: str, call: str) -> tuple[str, str]:
        path = tmp_path_factory.mktemp("ipykernel") / "cell.py"
        path.write_text(code)
        notebook = {"check": CHECKS.check, "solved": CHECKS.solved, "_thread": _thread, "time": time}
        exec(compile(code, str(path), "exec"), notebook)
        exec(call, notebook)
        out, err = capsys.readouterr()
        return out, " ".join(err.split())

    yield run
    assert threading.active_count() == 1 or all(thread.daemon for thread in threading.enumerate()[1:])


def test_check_of_endless_loop_names_it(check: Callable[[str, str], tuple[str, str]]) -> None:
    said = check(SEEN_IN_THE_TEXT, "check(1)")[1]
    assert said.startswith("✗ Exercise 1: with three, count never ends: nothing in the loop `while i < n:` changes ")


def test_check_when_endless_loop_is_not_reached_is_green(check: Callable[[str, str], tuple[str, str]]) -> None:
    assert "right on the examples" in check(SEEN_IN_THE_TEXT.replace("i = 0", "i = 3"), "check(1)")[0]


@pytest.mark.slow
def test_check_when_code_takes_too_long_shows_its_line(
    check: Callable[[str, str], tuple[str, str]],
) -> None:
    said = check(NOT_SEEN, "check(1)")[1]
    assert said.startswith(
        "✗ Exercise 1: with three, count has not ended after 0.4 seconds of computing. It was at the"
    )
    assert said.endswith(("line `while True:`.", "line `n = -n`."))


@pytest.mark.slow
@pytest.mark.parametrize("call", ["check()", "solved(1)"])
def test_progress_and_solved_when_code_is_endless_end(call: str, check: Callable[[str, str], tuple[str, str]]) -> None:
    out, err = check(NOT_SEEN, call)
    assert "1 wrong" in out or "once you have solved exercise 1" in out
    assert err == ""


@pytest.mark.parametrize("call", ["check(1)", "check()", "solved(1)"])
def test_check_when_interrupted_says_where_it_was(call: str, check: Callable[[str, str], tuple[str, str]]) -> None:
    out, err = check(INTERRUPTED, call)
    assert out.startswith("You stopped this c")
    assert "It was at the line `" in out
    assert err == ""


def test_time_limit_does_not_count_waiting() -> None:
    passed = []
    with time_limit.time_limit(0.05):
        time.sleep(0.3)
        passed.append("the sleep")
    assert passed == ["the sleep"]


def test_time_limit_in_another_thread_stops_nothing() -> None:
    ended = []

    def compute() -> None:
        with time_limit.time_limit(0.01):
            ended.append(sum(range(2_000_000)))

    thread = threading.Thread(target=compute)
    thread.start()
    thread.join()
    assert ended


def test_time_limit_when_no_thread_can_start_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with time_limit.time_limit(0.01):
        assert sum(range(2_000_000))
