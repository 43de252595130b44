"""Scores of ±10⁴ are of both signs: some queries have none but those far below zero, and what hides them is below."""

from __future__ import annotations

import functools
from dataclasses import replace

import pytest
from our_course import EXERCISES
from solution_cells import corpus, notebook, run, undisturbed

from grader.judging.answer_key import AnswerKey
from grader.judging.judge import judge_by

LARGE = "scores of ±10⁴"
STYLES = ("minus_thousand", "maximum_from_zero", "running_maximum_from_zero", "maximum_clamped")
WRONG = [(number, style) for number in EXERCISES for style in STYLES if style in corpus(number, "wrong")]
SEEDS = range(4)

given = functools.cache(notebook)


@pytest.mark.parametrize(("number", "style"), WRONG)
def test_what_takes_a_score_for_hidden_or_for_nothing_is_wrong(number: int, style: str) -> None:
    exercise = replace(EXERCISES[number], misconceptions=())  # which one it is takes long to say
    accepted = []
    with undisturbed():
        ask = run(corpus(number, "wrong")[style], exercise, given(number))
        for seed in SEEDS:
            cases = [case for case in exercise.sample(seed) if case.case.name == LARGE]
            found = judge_by(AnswerKey(exercise, cases), [ask(case.inputs) for case in cases])
            accepted += [seed] * found.right
    assert accepted == []
