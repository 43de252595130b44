"""The benchmarks measure what they say, and run."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.converters import Autograde

import class_bench
import class_mix
import serving_bench
import submission_bench
from grader.course.folder import CONFIG_FILE, Course
from time_taken import TimeTaken, measure


def test_nbgrader_alone_has_none_of_our_steps(course: Course) -> None:
    """Of a course that names none of our parts, our own commands would take them all the same."""
    (course.root / CONFIG_FILE).write_text(class_bench.PLAIN_SETTINGS)
    alone, with_ours = (Autograde(parent=api) for api in (class_bench.nbgrader_alone(course), course.api()))
    assert not any("grader." in str(step).replace("nbgrader.", "") for step in _steps(alone))
    assert any("RunAndJudge" in str(step) for step in _steps(with_ours))


def _steps(converter: Any) -> list[Any]:
    return [*converter.sanitize_preprocessors, *converter.autograde_preprocessors, converter.exporter_class]


def test_cost_of_each_submission_excludes_the_start() -> None:
    once = TimeTaken(9.0, 17.0, 2**20)
    growth = {12: TimeTaken(6.0, 9.0, 2**20), 102: TimeTaken(15.0, 27.0, 2**20)}
    cost = class_bench.ClassCost(30, Counter(right=30), once, once, {"right": [5.0]}, start=5.0, growth=growth)
    assert [cost.seconds_each(students) for students in growth] == [0.1, 0.1]
    assert cost.nbgrader_seconds == 150
    assert class_bench.cost_table("words", cost).row_count == 3


def test_class_mix_holds_for_the_class_and_any_part_of_it() -> None:
    notebooks = {kind: [kind, kind.upper()] for kind in class_mix.MIX}
    hundred = list(itertools.islice(class_mix.members(notebooks), 100))
    assert Counter(class_mix.kind(student) for student, _ in hundred) == class_mix.MIX
    assert Counter(class_mix.kind(student) for student, _ in hundred[:20])["right"] == 12
    assert [text for student, text in hundred if class_mix.kind(student) == "hangs"] == ["hangs", "HANGS"]


# Its parent has gone when it computes, and it fills far more memory than the first process.
ORPHAN = """
import os, sys, time
if os.fork() == 0:
    held = bytearray(300 * 2**20)
    while time.process_time() < 0.5:
        pass
    os._exit(0)
print("not among the numbers")
sys.exit(int(sys.argv[1]))
"""


@pytest.mark.proof
def test_measure_counts_processes_whose_parent_has_gone(tmp_path: Path) -> None:
    numbers = measure([sys.executable, "-c", ORPHAN, "0"], tmp_path)
    assert numbers.cpu_seconds > 0.5
    assert numbers.memory > 300 * 2**20
    with pytest.raises(subprocess.CalledProcessError):
        measure([sys.executable, "-c", ORPHAN, "3"], tmp_path)


@pytest.fixture
def two_kinds(course: Course, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A course whose students are right or submit nothing new, with so few cells that nbgrader is quick."""
    notebooks_of_class = class_mix.notebooks_of_class
    for folder in ("source", "release"):
        notebook = course.read(folder, "self_attention")
        notebook.cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
        nbformat.write(notebook, course.notebook(folder, "self_attention"))

    def right_and_untouched(*of_class: Any) -> class_mix.Notebooks:
        notebooks = notebooks_of_class(*of_class)
        return {kind: notebooks[kind][:1] for kind in ("right", "untouched")}

    for bench in (class_bench, submission_bench, serving_bench):
        monkeypatch.setattr(bench, "notebooks_of_class", right_and_untouched)
    monkeypatch.chdir(course.root)
    return course


@pytest.mark.proof
@pytest.mark.usefixtures("two_kinds")
def test_class_bench_grades_the_same_class_both_ways(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(class_bench, "STARTS", 1)
    monkeypatch.setattr(sys, "argv", ["bench", "self_attention", "--students", "2", "--sample", "2", "--growth", "3"])
    class_bench.main()
    printed = " ".join(capsys.readouterr().out.split())
    assert "2 right (" in printed
    assert "0 of 16 scores of honest students in it differ" in printed
    assert "honest: 3" in printed


@pytest.mark.proof
@pytest.mark.usefixtures("two_kinds")
def test_submission_bench_times_each_kind(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "160")  # so that no line of the table is broken
    monkeypatch.setattr(sys, "argv", ["bench", "self_attention", "--runs", "1"])
    submission_bench.main()
    kinds = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert kinds[-4:] == ["right", "untouched", "mean", "right,"]


@pytest.mark.proof
def test_serving_bench_waits_for_all_verdicts(two_kinds: Course) -> None:
    (load,) = serving_bench.measure(two_kinds, "self_attention", [serving_bench.Load("self_attention", 2, 20)])
    assert (len(load.arrived), len(load.verdicts)) == (2, 2)
    assert serving_bench.table([load]).row_count == 1


@pytest.mark.proof
def test_rush_when_the_server_is_killed_loses_nothing(two_kinds: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving_bench, "SLEEPING", 0)
    rush = serving_bench.Rush("self_attention", 6, 2, kills=True)
    list(serving_bench.measure(two_kinds, "self_attention", [rush]))
    assert (len(rush.arrived), len(rush.verdicts), rush.graded) == (6, 6, 6)
    assert rush.attempts > 0
    assert rush.memory_of_all > rush.memory > 100 * 2**20
    assert serving_bench.rush_table(rush).row_count == 1


def test_rush_is_densest_at_its_end_and_has_all_who_are_slow() -> None:
    rush = serving_bench.Rush("self_attention", *serving_bench.RUSH)
    assert rush.moments[-1] == pytest.approx(600)
    last_minute = [moment for moment in rush.moments if moment > 540]
    assert 75 < len(last_minute) < 90
    notebooks = {kind: [kind] for kind in (*class_mix.MIX, "sleeps", "large")}
    kinds = Counter(class_mix.kind(student) for student, _ in rush.students(notebooks))
    assert (kinds["hangs"], kinds["sleeps"], kinds["large"], kinds.total()) == (6, 2, 1, 300)
    assert all(text == class_mix.kind(student) for student, text in rush.students(notebooks))
