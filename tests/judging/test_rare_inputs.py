"""What only inputs of a rare kind tell: a text of many, tiny numbers, scores of 0 or far below."""

from __future__ import annotations

import functools
from dataclasses import replace

import pytest

from grader.judging.answer_key import AnswerKey
from grader.judging.judge import Judge
from support.corpus import corpus, pieces
from support.our_course import EXERCISES
from support.solution_cells import functions, notebook, run, undisturbed

# By piece of code that is wrong: the cases that alone tell, as the corpus has them.
WRONG = [
    pytest.param(number, piece.name, name, id=f"{number}-{piece.name}-{name}")
    for number in EXERCISES
    for piece in pieces(number)
    if (told_by := piece.fields.get("told by"))
    for name in told_by.split(" | ")
]
SEEDS = range(4)

given = functools.cache(notebook)


@pytest.mark.parametrize(("number", "style", "name"), WRONG)
def test_code_that_is_wrong_for_rare_inputs_alone_is_wrong(number: int, style: str, name: str) -> None:
    exercise = replace(functions(number)["causal_softmax" if number == 14 else number], mistakes=())
    accepted = []
    with undisturbed():
        ask = run(corpus(number, "wrong")[style], exercise, given(number))
        for seed in SEEDS:
            cases = [case for case in exercise.sample(seed) if case.case.name == name]
            assert cases
            found = Judge().verdict(AnswerKey(exercise, cases), [ask(case.inputs) for case in cases])
            accepted += [seed] * found.right
    assert accepted == []


@pytest.mark.parametrize("causal", [False, True])
def test_memory_limit_cases_of_tiles_are_causal_and_not(causal: bool) -> None:
    promised = [case for case in EXERCISES[32].sample() if case.case.promise]
    assert causal in [case.inputs[4:] == (True,) for case in promised]
