"""The judge's rules, on answers as the sandbox would report them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from grader.judging.answer_key import AnswerKey
from grader.judging.best_verdict import best_verdict, keys_in_all_forms
from grader.judging.judge import Judge
from grader.judging.judging_time import JudgingTime
from grader.judging.wording import NO_PROBABILITIES
from grader.model.answer import UNCHANGED, Answer, Loss, Lost, Missing, Raised, Returned, Symptom
from grader.model.exercise import SampledCase, Standins
from grader.model.verdict import Verdict
from grader.sandbox.values import Unusable
from support.answer_keys import answer_key, short_cases
from support.our_course import EXERCISES


def answers(number: int, change: Any = lambda value: value) -> list[Answer]:
    """What the reference returns, after some change."""
    exercise = EXERCISES[number]
    return [Returned(change(exercise.reference(*case.inputs)), list(case.inputs)) for case in short_cases(exercise)]


def verdict(number: int, given: list[Answer], device: str = "cpu") -> Verdict:
    return Judge(device).verdict(answer_key(number), given)


@pytest.mark.parametrize("number", EXERCISES)
def test_reference_earns_full_marks(number: int) -> None:
    assert verdict(number, answers(number)).right


@pytest.mark.parametrize(
    ("number", "form"),
    [
        (1, list),
        (1, lambda qkv: tuple(torch.stack(part) for part in qkv)),
        (1, lambda qkv: torch.stack([torch.stack(part) for part in qkv])),
        (2, lambda scores: [[float(score) for score in row] for row in scores]),
        (2, lambda scores: [[score.reshape(1, 1) for score in row] for row in scores]),
        (2, lambda scores: torch.stack([torch.stack(row) for row in scores])),
        (2, lambda scores: tuple(tuple(row) for row in scores)),
        (3, lambda weights: weights.reshape(-1, 1)),
        (3, lambda weights: weights.double()),
        (3, lambda weights: weights.clone().requires_grad_()),
        (4, torch.stack),
        (5, torch.stack),
        (6, lambda outputs: torch.stack(outputs).double()),
        (7, lambda outputs: torch.nn.Parameter(outputs)),
    ],
)
def test_answer_in_an_equal_arrangement_is_right(number: int, form: Any) -> None:
    assert verdict(number, answers(number, form)).right


@pytest.mark.parametrize(
    ("number", "form"),
    [
        (3, lambda weights: weights.reshape(1, -1)),
        (5, lambda outputs: [output.reshape(1, *output.shape) for output in outputs]),
        (7, lambda outputs: outputs.unsqueeze(0)),
        (8, lambda outputs: outputs.unsqueeze(0)),
    ],
)
def test_answer_in_another_arrangement_earns_half(number: int, form: Any) -> None:
    found = verdict(number, answers(number, form))
    assert (found.credit, found.reason) == (0.5, "arrangement")


@pytest.mark.parametrize(
    ("given", "symptom"),
    [
        (Raised("NameError", "name 'd' is not defined"), Symptom.NAME),
        (Raised("TypeError", "expected scalar type Float"), Symptom.KIND),
        (Raised("RuntimeError", "expected scalar type Float"), Symptom.DTYPE),
        (Raised("Own", "no such dtype"), Symptom.DTYPE),
        (Raised("IndexError", "index 3 is out of range"), Symptom.SIZE),
        (Raised("KeyError", "W_q"), None),
        (Missing("The cell stopped.", error="SyntaxError"), Symptom.SYNTAX),
        (Missing(), None),
        (Returned(None, UNCHANGED), Symptom.NOTHING),
        (Returned(torch.tensor([math.nan] * 3), UNCHANGED), Symptom.NAN),
        (Returned(torch.ones(7), UNCHANGED), None),
    ],
)
def test_error_verdict_has_a_symptom(given: Answer, symptom: Symptom | None) -> None:
    assert verdict(3, [given] * len(short_cases(EXERCISES[3]))).symptom == symptom


def test_class_that_needs_an_unwritten_class_is_an_error_not_to_do() -> None:
    """Both stop in `__init__`, each in its own."""
    entry, cases = EXERCISES[17].functions[0].entry, len(answers(17))
    reasons = []
    for stopped in ("CausalAttention", entry):
        given: list[Answer] = [Raised("NotImplementedError", function=f"{stopped}.__init__")] * cases
        reasons.append(verdict(17, given).reason)
    assert reasons == ["error", "to do"]


def test_one_wrong_case_loses_marks() -> None:
    given = answers(3)
    first = given[0]
    assert isinstance(first, Returned)
    given[0] = Returned(first.value + 0.01, first.inputs_after)
    found = verdict(3, given)
    assert found.credit == 0.25  # all but one kind of input
    assert (found.cases_right, found.cases) == (7, 8)


def test_modified_input_costs_half_and_is_named() -> None:
    given = answers(7)
    first = given[0]
    assert isinstance(first, Returned)
    given[0] = Returned(first.value, [value + 1 for value in first.inputs_after])
    found = verdict(7, given)
    assert (found.credit, found.reason) == (0.5, "input modified")


def test_shortened_input_list_counts_as_modified() -> None:
    given = [
        Returned(answer.value, [[], *answer.inputs_after[1:]]) for answer in answers(1) if isinstance(answer, Returned)
    ]
    assert verdict(1, list(given)).reason == "input modified"


def test_answer_on_the_wrong_device_is_named() -> None:
    given: list[Answer] = [
        Returned(answer.value, answer.inputs_after, frozenset({"cpu"}))
        for answer in answers(3)
        if isinstance(answer, Returned)
    ]
    assert verdict(3, given, "cuda").reason == "wrong device"
    assert verdict(3, given, "cpu").right


@pytest.mark.parametrize(
    ("given", "reason", "words"),
    [
        (Raised("NotImplementedError", function="softmax"), "to do", "still to do"),
        (Raised("NotImplementedError", function="other"), "error", "NotImplementedError"),
        (Raised("NotImplementedError", '"bitwise_or_cpu"', function="softmax"), "error", "bitwise_or_cpu"),
        (Raised("TypeError", "exp() needs a tensor", "return exp(x)"), "error", "`return exp(x)`"),
        (Missing("The cell stopped with SyntaxError"), "missing", "SyntaxError"),
        (Lost(Loss.TIME, 10), "no answer", "10 seconds"),
        (Returned(None, []), "wrong", "return statement"),
        (Returned(Unusable("a value of type dict"), []), "wrong", "dict"),
    ],
)
def test_answer_that_is_no_value_earns_nothing_with_a_sentence(given: Answer, reason: str, words: str) -> None:
    found = verdict(3, [given] * 8)
    assert (found.credit, found.reason) == (0.0, reason)
    assert words in " ".join(found.sentences)


def test_error_message_shows_sizes_but_no_hidden_numbers() -> None:
    message = "got tensor([0.1234, -1.5e-3]) and 7x2 and 123456"
    text = " ".join(verdict(3, [Raised("ValueError", message)] * 8).sentences)
    assert "7x2" in text
    assert not {"0.1234", "1.5e", "123456"} & set(text.split()), text
    assert "1234" not in text


@pytest.mark.slow
def test_drawing_from_nan_probabilities_explains_where_nan_comes_from() -> None:
    message = "probability tensor contains either `inf`, `nan` or element < 0"
    found = verdict(26, [Raised("RuntimeError", message)] * len(short_cases(EXERCISES[26])))
    assert NO_PROBABILITIES in found.sentences[0]


def test_mistake_is_named_from_the_other_cases_if_one_takes_too_long() -> None:
    given = answers(3, lambda value: value * value.numel())
    named = verdict(3, given)
    assert named.misconceptions
    found = verdict(3, [*given[:-1], Lost(Loss.TIME, 10)])
    assert (found.credit, found.misconceptions) == (0.0, named.misconceptions)
    assert "10 seconds" in found.sentences[-1]
    mostly_lost = [given[0], *[Lost(Loss.TIME, 10)] * (len(given) - 1)]
    assert not verdict(3, [*mostly_lost]).misconceptions


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ("'torch.Size' object is not callable", "shape"),
        ("cannot unpack non-iterable builtin_function_or_method object", "parentheses"),
        ("'Tensor' object is not callable", "tensor is not a function"),
        ("sqrt(): argument 'input' (position 1) must be Tensor, not int", "those of math"),
    ],
)
def test_errors_of_calls_are_explained(message: str, hint: str) -> None:
    (sentence, *_) = verdict(3, [Raised("TypeError", message)] * 8).sentences
    assert hint in sentence.partition(message)[2]


def test_constant_answers_are_called_constant() -> None:
    values = {name: torch.full((size,), 1 / size) for name, size in _sizes().items()}
    given: list[Answer] = [Returned(values[case.case.name], list(case.inputs)) for case in EXERCISES[3].sample()]
    assert verdict(3, given).reason == "constant"


def _sizes() -> dict[str, int]:
    return {case.case.name: len(case.inputs[0]) for case in EXERCISES[3].sample()}


@pytest.mark.parametrize("decimals", [0, 1, 2, 3])
def test_rounded_answers_are_called_rounded(decimals: int) -> None:
    given = answers(7, lambda value: value.round(decimals=decimals))
    found = verdict(7, given)
    assert found.reason == "rounded"
    assert f"{decimals} decimals" in found.sentences[0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("back", [True, False])
def test_half_precision_answers_are_called_half_precision(dtype: torch.dtype, back: bool) -> None:
    given = answers(7, lambda value: value.to(dtype).float() if back else value.to(dtype))
    assert verdict(7, given).reason == "half precision"


def test_two_misconceptions_at_once_are_both_named() -> None:
    exercise = EXERCISES[7]
    both = [one for one in exercise.mistakes if one.name in ("not scaled", "softmax along rows")]
    given: list[Answer] = [
        Returned(exercise.wrong_answer(both, case.inputs), list(case.inputs)) for case in short_cases(exercise)
    ]
    found = verdict(7, given)
    assert set(found.misconceptions) == {"not scaled", "softmax along rows"}
    assert found.credit == 0.25
    assert len(found.sentences) == 3


@pytest.mark.slow
def test_errors_alone_name_no_misconception() -> None:
    """Many mistakes end in an error for all cases; none of them may be blamed for it."""
    for number in EXERCISES:
        found = verdict(number, [Raised("RuntimeError", "boom")] * len(short_cases(EXERCISES[number])))
        assert found.misconceptions == ()
        assert found.credit == 0


def test_wrong_numbers_name_no_misconception_about_gradients() -> None:
    """“The numbers are right, but …” was said beside another mistake, though no gradient of that code is NaN."""
    both = [one for one in EXERCISES[22].mistakes if one.name in ("softmax over heads", "NaN on the way back")]
    exercise = replace(EXERCISES[22], mistakes=both)
    key = AnswerKey(exercise, exercise.sample(0)).without_promises()
    given = Judge().verdict(key, [key[index].answer(tuple(both)) for index in range(len(key.cases))])
    assert not given.right
    assert not given.misconceptions


def test_misconception_without_numbers_is_named_beside_one_with() -> None:
    """Students read that everything else was right, though an error of another type came, too."""
    names = {"another error than ValueError", "causal has no effect"}
    exercise = EXERCISES[28]
    both = tuple(mistake for mistake in exercise.mistakes if mistake.name in names)
    key = AnswerKey(exercise, exercise.sample(0)).without_promises()
    found = Judge().verdict(key, [key[index].answer(both) for index in range(len(key.cases))])
    assert set(found.misconceptions) == names


@pytest.mark.slow
def test_misconceptions_when_cases_come_in_another_order_are_the_same() -> None:
    """At a dropout rate of 1, ReLU alone changes nothing: where that case came first, the pair was ruled out."""
    names = {"ReLU for GELU", "nothing dropped"}
    exercise = EXERCISES[24]
    both = tuple(mistake for mistake in exercise.mistakes if mistake.name in names)
    samples = list({sample.case.name: sample for sample in exercise.sample(0)}.values())
    for first in range(len(samples)):
        key = AnswerKey(exercise, samples[first:] + samples[:first])
        judgement = Judge().verdict(key, [key[index].answer(both) for index in range(len(key.cases))])
        assert set(judgement.misconceptions) == names, samples[first].case.name


def test_error_in_another_case_is_named_beside_wrong_numbers() -> None:
    given = answers(3, lambda weights: 1.3 * weights)
    given[-1] = Raised("RuntimeError", "boom", line := "weights = weights @ more")
    *_, told = verdict(3, given).sentences
    name = short_cases(EXERCISES[3])[-1].case.name
    assert told == f"In the case “{name}”, your function stopped with RuntimeError: boom, at the line `{line}`."
    assert "In the case" not in " ".join(verdict(3, given[::-1]).sentences)  # where it is told first of all


def test_timeout_in_another_case_is_named_beside_wrong_numbers() -> None:
    """Nested loops finish small cases only, and students wonder why so few cases are right."""
    given = answers(3, lambda weights: 1.3 * weights)
    given[-1] = Lost(Loss.TIME, 10)
    *_, last = verdict(3, given).sentences
    name = short_cases(EXERCISES[3])[-1].case.name
    assert last.startswith(f"In the case “{name}”, your code ran for more than 10 seconds and was stopped.")


def test_misconception_in_some_cases_only_is_not_named() -> None:
    exercise = EXERCISES[2]
    (unscaled,) = (one for one in exercise.mistakes if one.name == "not scaled")
    given = answers(2)
    case = short_cases(exercise)[0]
    given[0] = Returned(exercise.wrong_answer([unscaled], case.inputs), list(case.inputs))
    assert verdict(2, given).misconceptions == ()


def from_inputs(number: int, function: Any) -> Verdict:
    exercise = EXERCISES[number]
    return verdict(number, [Returned(function(*case.inputs), list(case.inputs)) for case in short_cases(exercise)])


def test_infinities_in_the_right_entries_earn_nothing() -> None:
    """A misconception that answers infinities must not agree with any number beside them."""

    def masked_zeros(queries: Any, keys: Any) -> Any:
        return [[float("-inf") if j > i else 0.0 for j in range(len(keys))] for i in range(len(queries))]

    assert from_inputs(2, masked_zeros).credit == 0


def test_one_right_number_in_a_wrong_shape_earns_nothing() -> None:
    def first_only(all_x: Any, *parameters: Any) -> Any:
        W_q, _, _, b_q, _, _ = parameters
        nothing = [torch.zeros_like(x) for x in all_x]
        return [(b_q + W_q @ all_x[0]).mT, *nothing[1:]], nothing, nothing

    assert from_inputs(1, first_only).credit == 0


def test_ones_and_zeros_are_not_called_rounded() -> None:
    found = from_inputs(3, lambda x: (torch.softmax(torch.as_tensor(x), 0) > 0.5).float())
    assert found.reason != "rounded"


class CountingTime(JudgingTime):
    """Counts how often it is asked, which is for each mistake that is tried."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def check(self) -> None:
        self.count += 1


@pytest.mark.slow
def test_best_verdict_when_standins_change_nothing_judges_once() -> None:
    exercise = EXERCISES[6].functions[0]
    keys = keys_in_all_forms(exercise, seed=1)

    def looks(with_standins: float) -> int:
        def ask(cases: Sequence[SampledCase], standins: Standins) -> list[Answer]:
            factor = with_standins if standins else 2.0
            return [Returned([factor * one for one in exercise.reference(*case.inputs)], UNCHANGED) for case in cases]

        time = CountingTime()
        assert not best_verdict(keys, ask, {"softmax": exercise.reference}, Judge(time=time)).right
        return time.count

    assert 1.9 * looks(2.0) < looks(2.001)
