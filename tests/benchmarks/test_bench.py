"""What `grader bench` measures is what it says: its wrong answers are such that the judge must try everything."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from nbgrader.converters import Autograde

from grader.benchmarks import class_bench, class_mix
from grader.benchmarks.accounted import TimeTaken, taken
from grader.benchmarks.class_bench import draw_class
from grader.benchmarks.judging_bench import bench_judging, disturbed, judging_table
from grader.course.folder import CONFIG_FILE, Course
from grader.judging.judge import judge
from grader.model.answer import Returned
from grader.model.exercise import Exercise
from grader.model.verdict import Reason
from support.our_course import CATALOGUE, EXERCISES

FUNCTIONS = [function for exercise in EXERCISES.values() for function in exercise.functions]


@pytest.mark.proof
@pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda exercise: exercise.entry)
def test_disturbed_answers_are_explained_by_nothing(exercise: Exercise) -> None:
    cases = exercise.sample()
    answers = [Returned(disturbed(exercise.reference(*case.inputs)), list(case.inputs)) for case in cases]
    verdict = judge(exercise, cases, answers)
    assert verdict.credit < 1
    assert verdict.reason is not Reason.MISCONCEPTION


@pytest.mark.proof
def test_every_function_of_an_assignment_has_a_line() -> None:
    costs = bench_judging(CATALOGUE.of("self_attention"), runs=1)
    assert [cost.exercise for cost in costs] == list(range(1, 9))
    assert judging_table("self_attention", costs).row_count == 8


def test_what_it_is_measured_beside_is_nbgrader_alone(course: Course) -> None:
    """Of a course that names none of our parts, our own commands would take them all the same."""
    (course.root / CONFIG_FILE).write_text(class_bench.PLAIN_SETTINGS)
    alone, with_ours = (Autograde(parent=api) for api in (class_bench.nbgrader_alone(course), course.api()))
    assert not any("grader." in str(step).replace("nbgrader.", "") for step in _steps(alone))
    assert any("RunAndJudge" in str(step) for step in _steps(with_ours))


def _steps(converter: Any) -> list[Any]:
    return [*converter.sanitize_preprocessors, *converter.autograde_preprocessors, converter.exporter_class]


def test_what_each_submission_costs_is_told_beyond_the_start() -> None:
    growth = {12: TimeTaken(6.0, 9.0, 2**20), 102: TimeTaken(15.0, 27.0, 2**20)}
    measured = class_bench.MeasuredClass("an assignment", "a machine", 2, "cpu", start=5.0, growth=growth)
    assert measured.to_json()["each"] == {12: 0.1, 102: 0.1}
    assert class_bench.growth_table(measured).row_count == 3


def test_a_class_is_mixed_as_a_real_one_and_so_is_any_part_of_it() -> None:
    notebooks = {kind: [kind, kind.upper()] for kind in class_mix.MIX}
    hundred = list(itertools.islice(class_mix.members(notebooks), 100))
    assert Counter(class_mix.kind(student) for student, _ in hundred) == class_mix.MIX
    assert Counter(class_mix.kind(student) for student, _ in hundred[:20])["right"] == 12
    assert [text for student, text in hundred if class_mix.kind(student) == "hangs"] == ["hangs", "HANGS"]


# Its parent has gone when it computes, and it holds far more memory than the first process.
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
def test_all_that_a_command_starts_is_accounted_for(tmp_path: Path) -> None:
    numbers = taken([sys.executable, "-c", ORPHAN, "0"], tmp_path)
    assert numbers.cpu_seconds > 0.5
    assert 0 < numbers.memory < 200 * 2**20
    with pytest.raises(subprocess.CalledProcessError):
        taken([sys.executable, "-c", ORPHAN, "3"], tmp_path)


@pytest.mark.parametrize("growth", [{}, {30: TimeTaken(9.0, 17.0, 2**20), 3000: TimeTaken(400.0, 790.0, 2**20)}])
def test_a_picture_shows_what_was_measured(growth: dict[int, TimeTaken], tmp_path: Path) -> None:
    size = class_bench.Size(300, TimeTaken(60.0, 118.0, 2**20), TimeTaken(1.0, 1.0, 2**20))
    measured = class_bench.MeasuredClass(
        "words", "a machine", 2, "cpu", {"right": [5.0]}, [size], kinds={300: {"right": 300}}, start=4.0, growth=growth
    )
    draw_class(measured, tmp_path / "bench.svg")
    drawn = (tmp_path / "bench.svg").read_text()
    assert "What a submission of words costs, a machine" in drawn
    assert ("nothing hangs" in drawn) == bool(growth)
