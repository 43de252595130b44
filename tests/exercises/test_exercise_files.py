"""What every exercise file must hold: cases that find mistakes, and misconceptions that the cases tell apart."""

from __future__ import annotations

import functools
import itertools
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from grader.judging.answer_key import AnswerKey
from grader.judging.judge import Judge
from grader.judging.wrong_device import TOLERANCE
from grader.model.answer import Answer, Raised, Returned
from grader.model.exercise import DEFAULT_SEED, Exercise, Inputs, SampledCase
from grader.model.misconception import CREDITS, Misconception, can_combine
from oracles.oracle import Oracle
from support.answer_keys import FUNCTIONS, answer_key
from support.our_course import EXERCISES

PAIRS = 300  # of misconceptions at once: some exercises have thousands
LARGEST = {31: 2}  # the input that has all sizes, if it is not the first
# Exercises that are given sizes alone, of which there are not many.
GIVEN_SIZES = ("sinusoidal_positions", "alibi_slopes", "yarn_frequencies")
every_exercise = pytest.mark.parametrize("exercise", FUNCTIONS.values(), ids=FUNCTIONS)
every_misconception = pytest.mark.parametrize(
    ("exercise", "one"),
    [
        pytest.param(exercise, one, id=f"{number}-{one.name}{one.way or ''}")
        for number, exercise in FUNCTIONS.items()
        for one in exercise.mistakes
    ],
)


@pytest.fixture(autouse=True, scope="module")
def _one_thread() -> Iterator[None]:
    """The cases are so small that a second thread only costs time."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def other_seeds(exercise: Exercise) -> list[int]:
    return [1] if exercise.form.noun == "class" else [1, 2, 3]


def answers(exercise: Exercise, drawn: Sequence[SampledCase], held: Sequence[Misconception] = ()) -> list[Answer]:
    """What the reference answers, or a student with these misconceptions."""
    return [answer(exercise, case.inputs, held) for case in drawn]


def answer(exercise: Exercise, inputs: Inputs, held: Sequence[Misconception] = ()) -> Answer:
    given = copied(inputs)
    try:
        value = exercise.wrong_answer(held, given) if held else exercise.reference(*given)
    except Exception as error:  # some mistakes cannot be computed for some sizes
        return Raised(type(error).__name__)
    return Returned(value, list(given))


def copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, dict):
        return {name: copied(item) for name, item in value.items()}
    return type(value)(copied(item) for item in value) if isinstance(value, list | tuple) else value


def scaled(value: Any, factor: float) -> Any:
    if isinstance(value, torch.Tensor | float):
        return value * factor
    if isinstance(value, dict):  # of a class: what it computes
        return {**value, "outputs": {name: scaled(one, factor) for name, one in value.get("outputs", {}).items()}}
    return type(value)(scaled(item, factor) for item in value)


def key(exercise: Exercise) -> int | str:
    """What an exercise is called in FUNCTIONS."""
    return exercise.number if EXERCISES[exercise.number].entry == exercise.entry else exercise.entry


def key_to(exercise: Exercise, seed: int = DEFAULT_SEED) -> AnswerKey:
    return answer_key(key(exercise), seed)


@functools.cache
def wrong_answer(number: int | str, mistake: tuple[str, int], index: int) -> Answer:
    """What a student with this misconception answers in one of the cases."""
    exercise = FUNCTIONS[number]
    held = [one for one in exercise.mistakes if one.key == mistake]
    if exercise.glance:
        return key_to(exercise)[index].answer(held)
    return answer(exercise, key_to(exercise).cases[index].inputs, held)


def is_right(exercise: Exercise, seed: int, held: Sequence[Misconception]) -> bool:
    """Whether all cases are right; the first wrong one decides, which is faster than a verdict."""
    known = key_to(exercise, seed)
    return all(answers_right(known, index, held) for index in range(len(known.cases)))


def answers_right(known: AnswerKey, index: int, held: Sequence[Misconception]) -> bool:
    found, expected = known[index].compared_answer(held), known.expected[index]
    return isinstance(found, Returned) and not known.exercise.form.finding(found.value, expected, TOLERANCE["cpu"])


def sizes(value: Any) -> tuple[int, ...]:
    """N and D, or D and N, of hidden inputs; in exercise 10, as many sizes as there are dimensions."""
    if isinstance(value, torch.Tensor):
        return tuple(size for size in value.shape if size > 1)
    return (len(value), *sizes(value[0])) if isinstance(value, list | tuple) else ()


def sizes_of_class(arguments: list[Any], calls: dict[str, list[Any]]) -> tuple[int, ...]:
    """What a class is built with, then the sizes of its inputs but for the last."""
    inputs = [one for one in calls["output"] if isinstance(one, torch.Tensor)][:3]  # the fourth is a mask
    return (*(one for one in arguments if type(one) is int), *(size for one in inputs for size in one.shape[:-1]))


def is_possible(case: SampledCase) -> bool:
    """Not a case of arguments for which no module can be built."""
    return not isinstance(case.inputs[-1], dict) or "impossible" not in case.inputs[-1]


# --- the files as they are written -----------------------------------------------------------------------------------


def test_exercises_are_ordered_by_number() -> None:
    assert list(EXERCISES) == sorted(EXERCISES)


@every_misconception
def test_misconception_has_kind_sentence_and_change(exercise: Exercise, one: Misconception) -> None:
    assert one.kind
    first = one.says.split()[0]
    assert first[0].isupper() or not first.isalpha() or first in (exercise.entry, "q"), "a sentence, or code"
    assert one.says.endswith(".")
    assert one.change


@every_exercise
def test_misconception_names_and_sentences_are_unique(exercise: Exercise) -> None:
    """A mistake that is written in two ways has one name and one sentence."""
    mistakes = [mistake for mistake in exercise.mistakes if mistake.way == 0]
    for texts in ([mistake.name for mistake in mistakes], [mistake.says for mistake in mistakes]):
        assert [text for text, times in Counter(texts).items() if times > 1] == []


@every_exercise
def test_case_names_are_unique_and_say_what_they_catch(exercise: Exercise) -> None:
    assert all(case.name and case.catches for case in exercise.cases)
    assert len({case.name for case in exercise.cases}) == len(exercise.cases)


@pytest.mark.slow
@every_exercise
def test_reference_and_misconceptions_leave_inputs_unchanged(exercise: Exercise) -> None:
    """A class gets copies, and what is observed of it says whether it changes them."""
    number = key(exercise)
    for index, case in enumerate(key_to(exercise).cases):
        found = [answer(exercise, case.inputs)]
        found += [wrong_answer(number, one.key, index) for one in exercise.mistakes]
        for given in found:
            if isinstance(given, Returned):
                assert same(given.inputs_after, list(case.inputs)), case.case.name
                assert not isinstance(given.value, dict) or not given.value.get("changes_input"), case.case.name


@pytest.mark.slow
@every_exercise
@pytest.mark.parametrize("factor", [1.3, math.nan])
def test_sentences_hold_no_expected_number(exercise: Exercise, factor: float) -> None:
    """Whatever is wrong, the only number with decimals is the size of the largest error, to one digit."""
    known = key_to(exercise)
    wrong = [
        replace(given, value=scaled(given.value, factor)) if isinstance(given, Returned) else given
        for given in answers(exercise, known.cases)
    ]
    text = " ".join(Judge().verdict(known, wrong).sentences)
    text = re.sub(r"(largest error is|is off by) about (0\.0*)?[1-9](0*|e[-+]\d+)\.", "", text)
    assert not re.search(r"\d\.\d|\de[-+]\d", text), text


# --- the cases -------------------------------------------------------------------------------------------------------


@every_exercise
def test_sample_with_same_seed_draws_the_same(exercise: Exercise) -> None:
    assert same([case.inputs for case in exercise.sample()], [case.inputs for case in exercise.sample()])


@every_exercise
def test_sample_draws_differ_between_cases_and_seeds(exercise: Exercise) -> None:
    drawn = [case for seed in (DEFAULT_SEED, DEFAULT_SEED + 1) for case in exercise.sample(seed) if is_possible(case)]
    if exercise.entry in GIVEN_SIZES:
        assert len({case.inputs for case in drawn}) > len(drawn) / 2
        return
    for one, other in itertools.combinations(drawn, 2):
        assert not same(one.inputs, other.inputs), one.case.name


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and torch.equal(one, other)
    if isinstance(one, list | tuple):
        return isinstance(other, list | tuple) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return (
            isinstance(other, dict) and list(one) == list(other) and all(same(one[name], other[name]) for name in one)
        )
    return bool(one == other)


def given_sizes(exercise: Exercise, inputs: Inputs) -> tuple[int, ...]:
    """Of the first input, as a rule; of weights by name, those of one."""
    if exercise.entry in GIVEN_SIZES:
        return tuple(inputs[:2])
    first = inputs[LARGEST.get(exercise.number, 0)]
    return sizes(next(iter(first.values())) if isinstance(first, dict) else first)


@every_exercise
def test_sample_sizes_vary_between_cases(exercise: Exercise) -> None:
    """No size is the same in all cases, so some case has another than whichever is written down."""
    possible = [case.inputs for case in exercise.sample() if is_possible(case)]
    if exercise.form.noun == "class":
        drawn = [sizes_of_class(arguments, calls) for arguments, _, calls, _ in possible]
    else:
        drawn = [given_sizes(exercise, inputs) for inputs in possible]
    drawn = [found for found in drawn if found]  # one word alone has no size that could be
    assert len(drawn) > 0.8 * len(possible)
    assert all(len(set(values)) > 1 for values in zip(*drawn, strict=False))


@pytest.mark.parametrize("number", [1, 2, 5, 6, 7, 8, 9, 11])
def test_sample_has_more_words_than_dimensions_and_fewer(number: int) -> None:
    """More words than dimensions, and fewer."""
    drawn = [sizes(case.inputs[-1] if number == 5 else case.inputs[0]) for case in EXERCISES[number].sample()]
    assert any(one > other for one, other in drawn)
    assert any(one < other for one, other in drawn)


# --- credits ---------------------------------------------------------------------------------------------------------

DETAIL, PART, NOTHING = 0.75, 0.25, 0.0
# In one exercise it is a detail, or all that there is to do; in another it is not.
AS_IT_COMES = {
    "base two", "first head only", "hard maximum", "no logarithm", "not divided", "not shifted", "one head",
    "raw scores as weights", "the mask returned", "the notebook's words",
}  # fmt: skip


@every_exercise
def test_misconception_credit_follows_the_policy(exercise: Exercise) -> None:
    for one in exercise.mistakes:
        others = {DETAIL, NOTHING, *([PART] if one.kind == "missing step" else [])}
        assert one.credit in {CREDITS[one.kind], *others}, one.name


def test_misconception_credit_is_the_same_in_every_exercise() -> None:
    credits_of: dict[str, set[float]] = {}
    for exercise in FUNCTIONS.values():
        for one in exercise.mistakes:
            credits_of.setdefault(one.name, set()).add(one.credit)
    assert {name for name, found in credits_of.items() if len(found) > 1} == AS_IT_COMES


# --- other seeds -----------------------------------------------------------------------------------------------------


@every_exercise
def test_reference_with_any_seed_gets_full_marks(exercise: Exercise) -> None:
    for seed in other_seeds(exercise):
        known = answer_key(key(exercise), seed)
        assert Judge().verdict(known, answers(exercise, known.cases)).right, seed


@pytest.mark.slow
@every_exercise
def test_misconception_with_any_seed_loses_marks(exercise: Exercise) -> None:
    right = [
        (one.name, seed)
        for one in exercise.mistakes
        for seed in other_seeds(exercise)
        if is_right(exercise, seed, [one])
    ]
    assert right == []


@pytest.mark.parametrize(
    "all_pairs", [pytest.param(False, marks=pytest.mark.slow), pytest.param(True, marks=pytest.mark.proof)]
)
@every_exercise
def test_misconceptions_two_at_once_lose_marks_unless_equivalent(exercise: Exercise, all_pairs: bool) -> None:
    """Unless they undo each other, so that together they are right for inputs of any size."""
    pairs = [pair for pair in itertools.combinations(exercise.mistakes, 2) if can_combine(*pair)]
    if exercise.form.noun == "class" or not all_pairs:
        pairs = random.Random(exercise.number).sample(pairs, min(PAIRS, len(pairs)))
    accepted = [pair for pair in pairs if is_right(exercise, DEFAULT_SEED, pair)]
    wrong = [pair for pair in accepted if not Oracle(key(exercise)).accepts(answers_to(exercise, pair))]
    assert [(one.name, other.name) for one, other in wrong] == []


def answers_to(exercise: Exercise, held: Sequence[Misconception]) -> Callable[[Inputs], Answer]:
    return lambda inputs: answer(exercise, inputs, held)
