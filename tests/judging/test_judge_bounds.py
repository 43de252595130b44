"""What a judge does with answers that are made to cost time, or to earn points for nothing."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import nbformat
import pytest
import torch

from grader.host.grading import grade_notebook
from grader.judging import judging_time
from grader.judging.answer_key import AnswerKey
from grader.judging.judge import Judge, read_answer
from grader.judging.judging_time import JudgingTime, JudgingTooLong
from grader.model.answer import UNCHANGED, Returned
from grader.model.forms.function import Form, Malformed
from grader.model.forms.module import MODULE
from grader.model.forms.parts import InParts
from grader.model.verdict import Reason, Verdict
from grader.sandbox.values import Unusable
from support.answer_keys import FUNCTIONS, answer_key
from support.our_course import OURS
from support.small_notebooks import SETUP, code, test_cell

CLASS = 16
ROWS = torch.zeros(2**17, 8)  # written out as a sentence, it takes minutes


def observed(**changes: Any) -> dict[str, Any]:
    """What our code notes of the reference in the first case, with something forged."""
    key = answer_key(CLASS)
    return {**FUNCTIONS[CLASS].reference(*key.cases[0].inputs), **changes}


@pytest.mark.slow
def test_observations_of_our_own_code_are_well_formed() -> None:
    for name, one in FUNCTIONS.items():
        for case in answer_key(name).cases:
            value = one.reference(*case.inputs)
            seen = one.form.observed(value)
            was_observed = isinstance(one.form, InParts) and isinstance(value, dict)
            assert (seen is not value) == was_observed, (name, case.case.name)


FORGED: dict[str, Any] = {
    "a tensor for a shape": {"parameters": {"W_query.weight": ROWS}},
    "a tensor for the shape of a buffer": {"buffers": {"mask": ROWS}},
    "a tensor for the shape of an attribute": {"attributes": {"mask": ROWS}},
    "a truth value for a size": {"buffers": {"mask": [True, 2]}},
    "text for a size": {"parameters": {"W_query.weight": ["3", "3"]}},
    "a shape without end": {"buffers": {"mask": [1] * 1000}},
    "a tensor for a name": {"frozen": [ROWS]},
    "a tensor for parameters": {"parameters": ROWS},
    "a list for outputs": {"outputs": [ROWS]},
    "a number for a truth value": {"changes_input": 1.0},
    "text for gradients": {"gradients": "none"},
    "text for a gradient": {"gradients": {"W_query.weight": "x"}},
    "something unheard of": {"more": 1},
    "both kinds at once": {"built": True},
    "gradients that nobody asked for": {"gradients": None, "ruined": True},
    "a part of a size": {"buffers": {"mask": [2.5]}},
    "text for names": {"frozen": "W_query.weight"},
    "a number for the name of a tensor": {"parameters": {3: [2, 2]}},
    "a truth value for a number": {"numbers": {"num_heads": True}},
    "a list for outputs in part": {"outputs": None, "in_part": [ROWS]},
    "a number for a gradient": {"gradients": {"W_query.weight": 0.5}},
}


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_forged_observations_are_refused_before_they_become_sentences(forged: dict[str, Any]) -> None:
    key = answer_key(CLASS)
    began = time.thread_time()
    verdict = Judge().verdict(key, [Returned(observed(**forged), list(case.inputs)) for case in key.cases])
    assert verdict.credit == 0
    assert verdict.sentences[0] == "Your class returned something that cannot be read."
    assert time.thread_time() - began < judging_time.SECONDS / 10


@pytest.mark.parametrize(
    "value", [None, 3, "\ud800", [], {}, {"built": 1}, {"built": True, "more": 1}, {"parameters": {}}]
)
def test_value_that_is_no_observation_of_a_class_is_refused(value: Any) -> None:
    with pytest.raises(Malformed):
        MODULE.observed(value)


def test_observations_that_do_not_fit_the_case_are_refused() -> None:
    """Gradients that are missing, and a module that is only said to be built."""
    key = answer_key(CLASS)
    for index, case in enumerate(key.cases):
        right = FUNCTIONS[CLASS].reference(*case.inputs)
        forged = {"built": False} if "built" not in right else observed()
        without = {name: part for name, part in right.items() if name != "gradients"}
        for value in (forged, *([without] if "gradients" in right else [])):
            answer = read_answer(key.exercise, Returned(value, list(case.inputs)), key.cases[index], JudgingTime())
            assert isinstance(answer, Returned)
            assert isinstance(answer.value, Unusable)


TWICE, GENERATION, TRAINING = (FUNCTIONS[number].form for number in (15, 26, 27))
TWO_CALLS = {"outputs": {"first": 1, "second": 2}, "zeros": [3], "third": None, "gradient": None, "ruined": False}
THREE_STEPS = {"changes_input": False, "floats": True, "losses": [0.5], "outputs": {"weight": ROWS}}
FOUR_TEXTS = {"changes_input": False, "outputs": dict.fromkeys(("text", "few", "again", "other"))}


@pytest.mark.parametrize(("form", "right"), [(TWICE, TWO_CALLS), (TRAINING, THREE_STEPS), (GENERATION, FOUR_TEXTS)])
def test_observation_of_another_shape_is_refused(form: Form, right: dict[str, Any]) -> None:
    form.observed(right)
    wrong: list[Any] = [
        None,
        3,
        [],
        {},
        {**right, "more": 1},
        {**right, "outputs": []},
        {**right, "outputs": {"first": 1}},
    ]
    wrong += [{**right, "outputs": {**right["outputs"], "more": 1}}, {"outputs": right["outputs"]}]
    for value in wrong:
        with pytest.raises(Malformed):
            form.observed(value)


@pytest.mark.parametrize(
    ("form", "note"),
    [
        (TWICE, {**TWO_CALLS, "zeros": [True]}), (TWICE, {**TWO_CALLS, "ruined": 0}),
        (TWICE, {name: value for name, value in TWO_CALLS.items() if name != "zeros"}),
        (TRAINING, {**THREE_STEPS, "losses": []}), (TRAINING, {**THREE_STEPS, "floats": 1}),
        (GENERATION, {**FOUR_TEXTS, "train": "no"}),
    ],
)  # fmt: skip
def test_observation_with_one_wrong_value_is_refused(form: Form, note: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        form.observed(note)


def test_judge_when_time_is_used_up_raises() -> None:
    key = answer_key(5)
    answers = [Returned(torch.ones(3), list(case.inputs)) for case in key.cases]
    with pytest.raises(JudgingTooLong):
        Judge(time=JudgingTime(-1)).verdict(key, answers)


def test_judging_that_takes_too_long_gives_no_points_and_a_reason() -> None:
    cells = [code(SETUP), code("def softmax(x):\n    return torch.softmax(x, 0)"), test_cell(3)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    (verdict,) = grade_notebook(notebook, settings=replace(OURS, judging=-1))
    assert (verdict.credit, verdict.reason) == (0, Reason.NO_ANSWER)
    assert "code returned took too long" in verdict.sentences[0]


def test_constant_answer_that_two_misconceptions_explain_earns_nothing() -> None:
    key = answer_key(5)
    zeros = [[torch.zeros_like(output) for output in outputs] for outputs in key.expected]
    verdict = Judge().verdict(key, [Returned(value, []) for value in zeros])
    assert (verdict.credit, verdict.reason, verdict.misconceptions) == (0, Reason.CONSTANT, ())
    assert (
        verdict.sentences[0]
        == "In the hidden cases, your function returns the same result for all inputs of the same size."
    )


def test_returned_argument_earns_nothing_whatever_explains_it() -> None:
    key = answer_key(11)
    verdict = Judge().verdict(key, [Returned(case.inputs[0].clone(), list(case.inputs)) for case in key.cases])
    assert (verdict.credit, verdict.reason, verdict.misconceptions) == (0, Reason.CONSTANT, ())
    assert verdict.sentences == ("In every hidden case, your function returns one of its arguments unchanged.",)


# Each of these was explained by a misconception, or by two, that earn something.
ALWAYS_THE_SAME: dict[int | str, Any] = {
    3: lambda _: 1,
    10: lambda right: right * torch.nan,
    "causal_softmax": lambda right: right * torch.nan,
    14: lambda right: torch.ones_like(right).tril() / torch.arange(1.0, len(right) + 1)[:, None],
    15: lambda right: right | {"outputs": {name: output * torch.nan for name, output in right["outputs"].items()}},
}


@pytest.mark.parametrize("name", ALWAYS_THE_SAME)
def test_constant_answer_earns_nothing_whatever_explains_it(name: int | str) -> None:
    key = answer_key(name)
    right = [key.exercise.reference(*case.inputs) for case in key.cases]
    changed = ALWAYS_THE_SAME[name]
    same = [value if case.case.beside else changed(value) for value, case in zip(right, key.cases, strict=True)]
    answers = [Returned(value, list(case.inputs)) for value, case in zip(same, key.cases, strict=True)]
    verdict = Judge().verdict(key, answers)
    assert verdict.credit == 0
    assert len(verdict.misconceptions) < 2  # two may explain anything, also if they earn nothing


def verdict_with_wrong_cases(number: int, *names: str) -> Verdict:
    """The verdict on right answers, except in the cases with these names."""
    key, rng = answer_key(number), torch.Generator().manual_seed(1)
    answers = []
    for case, right in zip(key.cases, key.expected, strict=True):
        parts = right if isinstance(right, list) else [right]
        if case.case.name in names:
            parts = [part + torch.rand(part.shape, generator=rng) for part in parts]
        answers.append(Returned(parts if isinstance(right, list) else parts[0], list(case.inputs)))
    return Judge().verdict(key, answers)


def test_cases_all_but_one_kind_right_earn_a_quarter() -> None:
    one, two, *_ = (case.name for case in FUNCTIONS[5].cases)
    verdict = verdict_with_wrong_cases(5, one)
    assert (verdict.credit, verdict.reason) == (0.25, Reason.WRONG)
    assert f"8 of 10 hidden cases are right: all but “{one}”." in verdict.sentences
    assert verdict_with_wrong_cases(5, one, two).credit == 0


@pytest.mark.slow
def test_cases_that_catch_the_same_count_as_one_kind() -> None:
    verdict = verdict_with_wrong_cases(35, "one sentence, one head", "one entry")
    assert verdict.credit == 0.25
    assert any(text.endswith("all but “one sentence, one head” and “one entry”.") for text in verdict.sentences)
    assert verdict_with_wrong_cases(35, "one entry", "pages of one slot").credit == 0


@pytest.mark.parametrize(("count", "credit"), [(2, 0.25), (3, 0)])
def test_partial_credit_needs_three_quarters_of_the_cases_right(count: int, credit: float) -> None:
    function = FUNCTIONS[5]
    exercise = replace(function, cases=[replace(case, catches="the same") for case in function.cases], mistakes=[])
    key, rng = AnswerKey(exercise, exercise.sample()), torch.Generator().manual_seed(1)
    wrong = [[torch.randn(part.shape, generator=rng) for part in outputs] for outputs in key.expected[:count]]
    answers = [Returned(value, UNCHANGED) for value in (*wrong, *key.expected[count:])]
    assert len(answers) == 10
    assert Judge().verdict(key, answers).credit == credit
