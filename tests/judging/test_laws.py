"""Where numbers are right but for one factor in each case, its law is told: if it is true, and the only one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from grader.judging.factors import SAME_IN_ALL, Sizes, law_of
from grader.judging.judge import Judge
from grader.model.answer import Answer, Raised, Returned
from grader.model.exercise import Inputs
from grader.model.verdict import Verdict
from support.answer_keys import answer_key
from support.our_course import EXERCISES

TOLD = "that test only numbers"
TIMES = "your numbers are the right ones times "
MULTIPLIED = "are multiplied by "
ALSO = " (or something else that is as large in all of them)"


def answered(number: int, answer: Callable[[Any, Inputs], Any]) -> Verdict:
    """The verdict on what is made of the right values, and of the inputs."""
    exercise = EXERCISES[number]
    given: list[Answer] = [
        Returned(answer(exercise.reference(*case.inputs), case.inputs), list(case.inputs)) for case in exercise.sample()
    ]
    return Judge().verdict(answer_key(number), given)


def each(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """A value with all of its tensors changed; of a class, what it computes."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {**value, "outputs": {name: each(one, change) for name, one in value.get("outputs", {}).items()}}
    return type(value)(each(item, change) for item in value)


def times(number: int, factor: Callable[[Inputs], float]) -> str:
    def answer(value: Any, inputs: Inputs) -> Any:
        of_case = factor(inputs)
        return each(value, lambda tensor: tensor * of_case)

    return told(answered(number, answer))


def scored(number: int, scale: Any) -> str:
    """What is told if the step that scales the scores does this instead."""
    exercise = EXERCISES[number]
    (step,) = exercise.scales
    return told(answered(number, lambda _, inputs: exercise.reference(*inputs, **{step: scale})))


def told(verdict: Verdict) -> str:
    assert not verdict.right
    found = [text for text in verdict.sentences if TOLD in text]
    assert len(found) <= 1
    return found[0] if found else ""


def words(inputs: Inputs) -> int:
    return len(inputs[0])


def features(inputs: Inputs) -> int:
    return int(inputs[0][0].shape[0])


@pytest.mark.parametrize(
    ("number", "factor", "law"),
    [
        (1, lambda _: 3.0, "3."),
        (1, lambda _: -0.5, "−1/2."),
        (1, lambda _: 7**0.5, "√7."),
        (1, lambda _: 0.3717, f"{SAME_IN_ALL}."),
        (1, lambda _: 1e12, f"{SAME_IN_ALL}."),
        (1, words, "n, where n is the length of the first argument."),
        (1, lambda inputs: words(inputs) ** 0.5, "√n, where n is the length of the first argument."),
        (2, lambda inputs: features(inputs) ** -2, "1/n², where n is shape[0] of the first item of the first argument"),
        (2, lambda inputs: 3 * words(inputs) ** 0.5, f"3 · √n, where n is the length of the first argument{ALSO}."),
        (5, words, f"n, where n is the length of the first argument{ALSO}."),
        (9, lambda inputs: inputs[0].shape[0] * 2, "2 · n, where n is shape[0] of the first argument."),
        (12, lambda inputs: inputs[0][1] ** -0.5, "1/√n, where n is the second argument of SelfAttention_v1(…)"),
    ],
)
def test_the_law_of_a_factor_is_told(number: int, factor: Callable[[Inputs], float], law: str) -> None:
    assert f"{TIMES}{law}" in times(number, factor)


@pytest.mark.parametrize(
    ("number", "scale", "law"),
    [
        (6, lambda scaled: each(scaled, lambda score: 2 * score), "2 · 1/√n, where n is shape[0] of the first item of"),
        (11, lambda scores, *_sizes: scores * 0.37, f"{SAME_IN_ALL}. That factor is wrong."),
        (12, "scores = scores / k.shape[-1] ** 2", "1/n², where n is the second argument of SelfAttention"),
    ],
)
def test_the_law_of_a_scale_before_softmax_is_told(number: int, scale: Any, law: str) -> None:
    assert f"{MULTIPLIED}{law}" in scored(number, scale)


@pytest.mark.parametrize("number", [1, 2, 5, 7, 9, 12, 16])
def test_factors_without_a_law_are_told_to_differ(number: int) -> None:
    chance = torch.Generator().manual_seed(number)
    said = times(number, lambda _: float(torch.rand((), generator=chance)) + 0.5)
    assert said.endswith(f"{TIMES}a single number, but it is not the same in all of them.")


def test_a_scale_without_a_simple_law_is_said_to_differ() -> None:
    said = scored(7, "scores = scores * X.shape[0] ** -0.05")
    assert said.endswith(f"{MULTIPLIED}a single number, but it is not always the right one.")


@pytest.mark.slow
def test_no_law_has_two_sizes() -> None:
    assert scored(18, "scores = scores * 3 / math.sqrt(self.head_dim)") == ""
    assert law([6, 10, 21], {(2, 5, 3): ["D"], (3, 2, 7): ["N"]}) == ""


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 18, 19])
@pytest.mark.parametrize(
    "change",
    [
        lambda tensor: tensor + 0.01,
        lambda tensor: tensor.abs() * tensor,
        lambda tensor: tensor * 2 + 1e-3 * tensor.abs().max(),
        lambda tensor: tensor * torch.nan,
        lambda tensor: tensor * torch.inf,
        lambda tensor: tensor.double() * 1e300 * 1e30,
        lambda tensor: tensor * 0,
        lambda tensor: torch.cat([tensor.reshape(-1)] * 2),
        lambda tensor: tensor.reshape(-1)[0] + 1,
    ],
    ids=["added", "squared", "moved", "nan", "infinite", "overflow", "zeros", "longer", "one number"],
)
def test_what_is_not_proportional_is_not_said_to_be(number: int, change: Callable[[Any], Any]) -> None:
    assert told(answered(number, lambda value, _: each(value, change))) == ""


def triple(tensor: torch.Tensor) -> torch.Tensor:
    return tensor * 3


def beside_at_the_largest(tensor: torch.Tensor) -> torch.Tensor:
    return tensor + (tensor == tensor.max()) * 1e-3


@pytest.mark.slow
def test_one_case_that_does_not_fit_is_enough_to_say_nothing() -> None:
    exercise = EXERCISES[1]
    for odd in range(6):
        given: list[Answer] = []
        for index, case in enumerate(exercise.sample()):
            tripled = each(exercise.reference(*case.inputs), triple)
            other = each(tripled, beside_at_the_largest)
            given.append(Returned(other if index == odd else tripled, list(case.inputs)))
        assert told(Judge().verdict(answer_key(1), given)) == ""
        given[odd] = Raised("ValueError", "boom")
        assert told(Judge().verdict(answer_key(1), given)) == ""


@pytest.mark.slow
@pytest.mark.parametrize("number", [15, 16])
def test_right_numbers_beside_another_mistake_are_not_said_to_be_wrong(number: int) -> None:
    """Such as code that stops in training only."""
    key, given = answer_key(number), list[Answer]()
    for case, expected in zip(key.cases, key.expected, strict=True):
        right = Returned(EXERCISES[number].reference(*case.inputs), list(case.inputs))
        given.append(right if "output" in expected else Raised("RuntimeError", "boom"))
    assert any(isinstance(answer, Raised) for answer in given)
    assert told(Judge().verdict(key, given)) == ""


@pytest.mark.slow
def test_a_scale_that_hardly_shows_has_no_law() -> None:
    """Beyond some scale, softmax is 0 and 1 whatever the scale is."""
    for number in (6, 11, 12, 18):
        assert MULTIPLIED not in scored(number, lambda scores, *_sizes: each(scores, lambda some: some * 1e7))


@pytest.mark.slow
def test_another_function_of_the_scores_is_no_scale() -> None:
    for number in (6, 7, 11, 12, 16, 18, 19):
        assert scored(number, lambda scores, *_sizes: each(scores, torch.tanh)) == ""


@pytest.mark.parametrize("factor", [1.3, 0.37, math.pi, 1e-7, 123.0, 99**0.5, 1 / 51])
def test_no_number_is_told_that_is_not_a_simple_one(factor: float) -> None:
    """Who knows a factor, and what the own code returned, would know what is expected."""
    assert times(1, lambda _: factor).endswith(f"{TIMES}{SAME_IN_ALL}.")


@pytest.mark.slow
@pytest.mark.parametrize("power", [0.05, 1, -0.5, 1.1, 3, -7])
def test_no_law_holds_a_decimal(power: float) -> None:
    for number in (1, 2, 7, 12):
        said = times(number, lambda inputs: 1.1 * float(len(str(inputs)) ** power))
        assert said
        assert not re.search(r"\de|\d\.\d", said), said


def law(numbers: Sequence[float | None], sizes: Sizes) -> str:
    found = law_of(numbers, sizes)
    return found.words if found else ""


def test_of_two_laws_that_fit_neither_is_told() -> None:
    one, other = (4, 9, 16), (2, 3, 4)
    assert law([2, 3, 4], {one: ["D"], (5, 5, 6): ["N"]}) == "√n, where n is D"
    assert law([2, 3, 4], {one: ["D"], other: ["N"]}) == ""
    assert law([2, 3, 4], {other: ["N", "T"]}) == "n, where n is N (or something else that is as large in all of them)"


def test_what_is_the_same_in_all_cases_is_a_number_and_no_size() -> None:
    assert law([2, 2, 2], {(4, 4, 4): ["D"], (2, 3, 5): ["N"]}) == "2"
    assert law([8, 12, 20], {(4, 4, 4): ["D"], (2, 3, 5): ["N"]}) == "4 · n, where n is N"
    assert law([1e200, 1e200], {(4, 5): ["D"]}) == law([1e-200, 1e-200], {(4, 5): ["D"]}) == SAME_IN_ALL
    assert law([2.1, 2.1, 2.1], {(1, 1, 1): ["D"]}) == SAME_IN_ALL
    assert law([2, 3, 5], {(2, 3, 5): ["N"], (1, 1, 1): ["D"], (4, 4, 4): ["E"]}) == "n, where n is N"


@pytest.mark.parametrize(
    "numbers",
    [
        [],
        [None, None],
        [2.0],
        [None, 3.0, None],
        [2, 3, 4.01],
        [2, 3, -5],
        [1e308, 1e-308, 1.0],
        [2, 3, math.pi],
        [2**0.05, 3**0.05, 5**0.05],
    ],
)
def test_too_few_numbers_and_those_of_no_law_have_none(numbers: list[float | None]) -> None:
    sizes = (2, 3, 5)[: len(numbers)]
    assert law(numbers, {sizes: ["N"]} if numbers else {}) == ""


def test_chance_follows_no_law() -> None:
    chance = torch.Generator().manual_seed(0)
    sizes: Sizes = {(3, 5, 2, 6): ["N"], (4, 2, 7, 6): ["D"], (1, 3, 3, 2): ["B"]}
    for _ in range(2_000):
        numbers = (torch.rand(4, generator=chance) * 10 + 0.01).tolist()
        assert law(numbers, sizes) == ""
