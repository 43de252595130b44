"""What `grader bench` measures is what it says: its wrong answers are such that the judge must try everything."""

from __future__ import annotations

import pytest

from grader.catalogue import EXERCISES
from grader.judging.judge import judge
from grader.model.answer import Returned
from grader.model.exercise import Exercise
from grader.model.verdict import Reason
from grader.proof.judging_bench import bench_judging, disturbed, judging_table

FUNCTIONS = [function for exercise in EXERCISES.values() for function in exercise.functions]


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda exercise: exercise.entry)
def test_disturbed_answers_are_explained_by_nothing(exercise: Exercise) -> None:
    cases = exercise.sample()
    answers = [Returned(disturbed(exercise.reference(*case.inputs)), list(case.inputs)) for case in cases]
    verdict = judge(exercise, cases, answers)
    assert verdict.credit < 1
    assert verdict.reason is not Reason.MISCONCEPTION


def test_every_function_of_an_assignment_has_a_line() -> None:
    costs = bench_judging("self_attention", runs=1)
    assert [cost.exercise for cost in costs] == list(range(1, 9))
    assert judging_table("self_attention", costs).row_count == 8
