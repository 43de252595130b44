"""Answers that stay the same when an argument is drawn anew earn nothing, whatever mistakes explain them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from grader.again.drawn_anew import deny_credit_for_ignoring, redraw_argument
from grader.judging.answer_key import answers_of_code
from grader.judging.judge import Judge
from grader.model.answer import Answer, Returned
from grader.model.exercise import SampledCase
from grader.model.verdict import Reason, Verdict
from support.answer_keys import FUNCTIONS, answer_key
from support.our_course import EXERCISES
from support.small_notebooks import grade

Student = Callable[..., Any]


def before_and_after(number: int, student: Student) -> tuple[Verdict, Verdict]:
    """The verdict on a student's function by its answers alone, and after arguments are drawn anew."""
    key = answer_key(number)

    def ask(cases: Sequence[SampledCase]) -> list[Answer]:
        return [*answers_of_code(cases, student)]

    verdict = Judge().verdict(key, ask(key.cases))
    return verdict, deny_credit_for_ignoring(key, verdict, list, ask, Judge())


def first_value(*arguments: Any) -> Any:
    return [arguments[2][0] for _ in arguments[0]]


def attention(queries: Any, keys: Any, values: Any) -> Any:
    scores = [torch.cat([query.T @ key for key in keys]).flatten() / math.sqrt(len(query)) for query in queries]
    return [sum(w * v for w, v in zip(torch.softmax(row, 0), values, strict=True)) for row in scores]


def test_ignored_arguments_earn_nothing_whatever_two_mistakes_explain() -> None:
    before, after = before_and_after(6, first_value)
    assert (before.credit, len(before.misconceptions)) == (0.25, 2)  # what a list of mistakes makes of it
    assert (after.credit, after.reason, after.misconceptions) == (0, Reason.CONSTANT, ())
    assert after.sentences == (
        "Your result stays the same when `all_queries` or `all_keys` gets other numbers, in the same order of size. "
        "A right result would change.",
    )


HONEST = [
    (6, ["keys with keys"], 0.5),
    (6, ["values for keys"], 0.5),
    (1, ["without bias"], 0.5),
    (1, ["queries without bias", "values like keys"], 0.375),
    (8, ["first head twice", "without W_c"], 0.25),
    (8, ["W_q2 and W_k2 exchanged", "heads in the wrong order"], 0.25),
]


@pytest.mark.parametrize(("number", "names", "credit"), HONEST)
def test_arguments_that_a_named_mistake_ignores_cost_no_more(number: int, names: list[str], credit: float) -> None:
    exercise = FUNCTIONS[number]
    mistakes = [mistake for mistake in exercise.mistakes if mistake.name in names]
    before, after = before_and_after(number, lambda *inputs: exercise.wrong_answer(mistakes, inputs))
    assert before.credit == credit
    assert after == before


def test_arguments_that_a_mistake_without_its_name_ignores_cost_no_more() -> None:
    exercise, key = FUNCTIONS[6], answer_key(6)
    mistakes = [mistake for mistake in exercise.mistakes if mistake.name == "keys with keys"]

    def ask(cases: Sequence[SampledCase]) -> list[Answer]:
        return [*answers_of_code(cases, lambda *inputs: exercise.wrong_answer(mistakes, inputs))]

    verdict = replace(Judge().verdict(key, ask(key.cases)), misconceptions=())
    assert deny_credit_for_ignoring(key, verdict, list, ask, Judge()) == verdict


def test_arguments_that_one_way_of_a_named_mistake_ignores_cost_no_more() -> None:
    """Plain attention is one way to normalize nothing, and it has no use for the weights."""
    _, plain = (mistake for mistake in FUNCTIONS[38].mistakes if mistake.name == "nothing normalized")
    before, after = before_and_after(38, lambda *inputs: FUNCTIONS[38].wrong_answer([plain], inputs))
    assert before.misconceptions == ("nothing normalized",)
    assert after == before


def test_one_hot_of_the_largest_number_earns_nothing() -> None:
    def one_hot(items: Any) -> Any:
        return torch.nn.functional.one_hot(torch.as_tensor(items).argmax(), len(items)).float()

    before, _ = before_and_after(3, one_hot)
    assert (before.credit, before.misconceptions) == (0, ("hard maximum",))


def test_deny_credit_for_ignoring_does_not_ask_right_or_worthless_code() -> None:
    def ask(_: Sequence[SampledCase]) -> list[Answer]:
        pytest.fail("the code was asked again")

    key = answer_key(6)
    for student in (attention, lambda *_: [torch.zeros(3)]):
        verdict = Judge().verdict(key, answers_of_code(key.cases, student))
        assert deny_credit_for_ignoring(key, verdict, list, ask, Judge()) == verdict


@pytest.mark.parametrize("nothing", [None, [torch.tensor([[math.nan]])]])
def test_deny_credit_for_ignoring_when_no_number_comes_back_keeps_the_verdict(nothing: Any) -> None:
    def ask(cases: Sequence[SampledCase]) -> list[Answer]:
        return [Returned(nothing, []) for _ in cases]

    key = answer_key(6)
    half = Judge().verdict(key, answers_of_code(key.cases, lambda *inputs: attention(inputs[0], inputs[0], inputs[2])))
    assert deny_credit_for_ignoring(key, half, list, ask, Judge()) == half


def test_trace_of_an_argument_is_not_enough() -> None:
    def student(queries: Any, keys: Any, values: Any) -> Any:
        return [values[0] + 1e-6 * (query.mean() + keys[0].mean()) for query in queries]

    before, after = before_and_after(6, student)
    assert (before.credit, after.credit) == (0.25, 0)


LINES = """
import math, torch
def self_attention(all_queries, all_keys, all_values):
    result = []
    for query in all_queries:
        scores = torch.stack([(query.T @ key).squeeze() / math.sqrt(query.shape[0]) for key in all_keys])
        weights = torch.softmax(scores, dim=0)
        result.append(sum(weight * value for weight, value in zip(weights, all_values)))
    return all_values
"""


@pytest.mark.slow
def test_constant_result_with_a_located_line_earns_nothing() -> None:
    verdict = grade(LINES, 6)[0][6]
    assert (verdict.credit, verdict.reason) == (0, Reason.CONSTANT)
    assert verdict.sentences[0].startswith("Your result stays the same when `all_queries` or `all_keys`")
    assert verdict.sentences[1].startswith("The mistake is in the line `return all_values`.")
    assert not any("all values right" in text for text in verdict.sentences)


# Drawing anew.


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor([[3.0, -1.0, 2.0], [2.0, -math.inf, 0.5]]),
        [torch.tensor([[0.25], [0.5]]), torch.tensor([[1.0], [0.0]])],
        [[1.5, -2.0], [torch.tensor(3.0), 7.0]],
        np.array([3.0, 1.0, math.nan, 2.0]),
    ],
    ids=["a tensor", "columns", "numbers in lists", "an array"],
)
def test_redraw_argument_keeps_the_order_of_numbers(value: Any) -> None:
    inputs = redraw_argument(FUNCTIONS[6], ("before", value, 3), 1)
    assert inputs is not None
    assert (inputs[0], type(inputs[1]), inputs[2]) == ("before", type(value), 3)
    old, new = numbers_of(value), numbers_of(inputs[1])
    finite = np.isfinite(old)
    assert (old[~finite] == new[~finite]).all() or np.isnan(new[~finite]).all()
    assert (np.argsort(old[finite], kind="stable") == np.argsort(new[finite], kind="stable")).all()
    assert np.abs(old[finite] - new[finite]).max() > 0.05
    assert (old[finite].min() < 0) == (new[finite].min() < 0)


def numbers_of(value: Any) -> Any:
    if isinstance(value, list):
        return np.concatenate([numbers_of(item) for item in value])
    return np.asarray(value, dtype=np.float64).ravel()


@pytest.mark.parametrize("value", [torch.tensor([1, 2]), torch.ones(3), torch.tensor([True, False]), 0.5, "text"])
def test_redraw_argument_of_sizes_and_masks_is_none(value: Any) -> None:
    assert redraw_argument(FUNCTIONS[6], (value,), 0) is None


@pytest.mark.slow
def test_misconceptions_keep_their_credit_after_drawing_anew() -> None:
    """In a few exercises: whoever has just this mistake loses nothing."""
    for number in (1, 2, 5, 6):
        for function in EXERCISES[number].functions:
            for mistake in function.mistakes:
                if 0 < mistake.credit < 1:
                    _, after = before_and_after(number, function.as_a_whole(mistake))
                    assert (after.credit, after.misconceptions) == (mistake.credit, (mistake.name,))
