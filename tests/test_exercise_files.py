"""What every exercise file must hold: cases that find mistakes, and misconceptions that the cases tell apart."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from oracle import Oracle

from grader.answer import Answer, Raised, Returned
from grader.compare import difference
from grader.exercise import DEFAULT_SEED, DrawnCase, Exercise, Inputs, Misconception, can_combine
from grader.exercises import EXERCISES
from grader.judge import TOLERANCE, agrees, difference_in_parts, judge

OTHER_SEEDS = range(1, 21)
# All functions: the first of an exercise by its number, further ones by their names.
FUNCTIONS: dict[int | str, Exercise] = {**EXERCISES}
FUNCTIONS |= {other.entry: other for exercise in EXERCISES.values() for other in exercise.others}
FEWEST = dict.fromkeys(range(1, 7), 6) | {7: 10, 8: 10}  # misconceptions; eight of the other functions
NOTEBOOK_SIZES: dict[int | str, tuple[int, ...]]
NOTEBOOK_SIZES = {1: (3, 4), 2: (3, 4), 3: (3,), 4: (3,), 5: (3, 4), 6: (3, 4), 7: (4, 3), 8: (8, 6)}
NOTEBOOK_SIZES |= {9: (6, 3), 10: (6,), 11: (6, 3), 14: (6,), "causal_softmax": (6,), 15: (6,)}
every_exercise = pytest.mark.parametrize("exercise", FUNCTIONS.values(), ids=FUNCTIONS)
every_misconception = pytest.mark.parametrize(
    ("exercise", "one"),
    [
        pytest.param(exercise, one, id=f"{number}-{one.name}")
        for number, exercise in FUNCTIONS.items()
        for one in exercise.misconceptions
    ],
)


def answers(exercise: Exercise, drawn: Sequence[DrawnCase], held: Sequence[Misconception] = ()) -> list[Answer]:
    """What the reference answers, or a student with these misconceptions."""
    found: list[Answer] = []
    for case in drawn:
        given = copied(case.inputs)
        try:
            value = exercise.wrong_answer(held, given) if held else exercise.reference(*given)
            found.append(Returned(value, list(given)))
        except Exception as error:  # some mistakes cannot be computed for some sizes
            found.append(Raised(type(error).__name__))
    return found


def copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.clone()
    return type(value)(copied(item) for item in value) if isinstance(value, list | tuple) else value


def key(exercise: Exercise) -> int | str:
    """What an exercise is called in FUNCTIONS."""
    return exercise.number if FUNCTIONS[exercise.number] is exercise else exercise.entry


@functools.cache
def cases(number: int | str, seed: int) -> list[tuple[DrawnCase, Any]]:
    """All cases with what is read of the reference's answers."""
    exercise = FUNCTIONS[number]
    drawn = exercise.draw(seed)
    return [(case, exercise.reading(exercise.reference(*case.inputs), case.inputs)) for case in drawn]


def is_right(exercise: Exercise, seed: int, held: Sequence[Misconception]) -> bool:
    """Whether all cases are right; the first wrong one decides, which is faster than a verdict."""
    return all(answers_right(exercise, case, expected, held) for case, expected in cases(key(exercise), seed))


def answers_right(exercise: Exercise, case: DrawnCase, expected: Any, held: Sequence[Misconception]) -> bool:
    (answer,) = answers(exercise, [case], held)
    if not isinstance(answer, Returned):
        return False
    compare = difference_in_parts if isinstance(expected, dict) else difference
    return compare(exercise.reading(answer.value, case.inputs), expected, TOLERANCE["cpu"]) is None


def sizes(value: Any) -> tuple[int, ...]:
    """N and D, or D and N, of hidden inputs; in exercise 10, as many sizes as there are dimensions."""
    if isinstance(value, torch.Tensor):
        return tuple(size for size in value.shape if size > 1)
    return (len(value), *sizes(value[0])) if isinstance(value, list | tuple) else ()


# --- the files as they are written -----------------------------------------------------------------------------------


def test_exercises_are_numbered_without_gaps() -> None:
    assert list(EXERCISES) == list(range(1, len(EXERCISES) + 1))


@every_exercise
def test_there_are_enough_misconceptions(exercise: Exercise) -> None:
    assert len(exercise.misconceptions) >= FEWEST.get(key(exercise), 8)


@every_misconception
def test_a_misconception_says_what_helps_and_costs_something(exercise: Exercise, one: Misconception) -> None:
    assert one.kind
    assert one.says[0].isupper() or one.says.split()[0] in (exercise.entry, "q", "W")
    assert one.says.endswith(".")
    assert 0 <= one.credit < 1
    assert bool(one.change) != bool(one.answers), "either a change of the reference or answers of its own"


@every_exercise
def test_no_name_and_no_sentence_stands_twice(exercise: Exercise) -> None:
    for texts in ([one.name for one in exercise.misconceptions], [one.says for one in exercise.misconceptions]):
        assert [text for text, times in Counter(texts).items() if times > 1] == []


@every_exercise
def test_every_case_has_a_name_of_its_own_and_says_what_it_catches(exercise: Exercise) -> None:
    assert all(case.name and case.catches for case in exercise.cases)
    assert len({case.name for case in exercise.cases}) == len(exercise.cases)


@every_exercise
def test_neither_reference_nor_misconceptions_change_their_inputs(exercise: Exercise) -> None:
    drawn = exercise.draw()
    for held in [(), *((one,) for one in exercise.misconceptions)]:
        for case, answer in zip(drawn, answers(exercise, drawn, held), strict=True):
            assert not isinstance(answer, Returned) or same(answer.inputs_after, list(case.inputs)), held


# --- the cases -------------------------------------------------------------------------------------------------------


@every_exercise
def test_a_seed_always_draws_the_same(exercise: Exercise) -> None:
    assert same([case.inputs for case in exercise.draw()], [case.inputs for case in exercise.draw()])


@every_exercise
def test_every_draw_and_every_seed_is_another(exercise: Exercise) -> None:
    drawn = [*exercise.draw(), *exercise.draw(DEFAULT_SEED + 1)]
    for one, other in itertools.combinations(drawn, 2):
        assert not same(one.inputs, other.inputs), one.case.name


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return isinstance(other, torch.Tensor) and torch.equal(one, other)
    if isinstance(one, list | tuple):
        return isinstance(other, list | tuple) and len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@every_exercise
def test_no_size_can_be_hard_coded(exercise: Exercise) -> None:
    """Some case has other sizes than the notebook, and no size is the same in all cases."""
    drawn = [sizes(case.inputs[0]) for case in exercise.draw()]
    assert any(not set(one) & set(NOTEBOOK_SIZES[key(exercise)]) for one in drawn)
    assert all(len(set(values)) > 1 for values in zip(*drawn, strict=False))


@pytest.mark.parametrize("number", [1, 2, 5, 6, 7, 8, 9, 11])
def test_words_and_dimensions_differ_in_number_both_ways(number: int) -> None:
    """More words than dimensions, and fewer."""
    drawn = [sizes(case.inputs[-1] if number == 5 else case.inputs[0]) for case in EXERCISES[number].draw()]
    assert any(one > other for one, other in drawn)
    assert any(one < other for one, other in drawn)


# --- what the cases find ---------------------------------------------------------------------------------------------


@every_misconception
def test_a_misconception_loses_marks_and_is_named(exercise: Exercise, one: Misconception) -> None:
    drawn = exercise.draw()
    verdict = judge(exercise, drawn, answers(exercise, drawn, [one]))
    assert verdict.misconceptions == (one.name,)
    assert verdict.credit == one.credit


@every_exercise
def test_the_cases_tell_any_two_misconceptions_apart(exercise: Exercise) -> None:
    """In both directions: of all misconceptions, only itself explains the answers of each."""
    for one in exercise.misconceptions:
        explained_by = [other.name for other in exercise.misconceptions if explains(exercise, other, one)]
        assert explained_by == [one.name]


@every_exercise
def test_the_cases_tell_every_misconception_from_the_reference(exercise: Exercise) -> None:
    assert [one.name for one in exercise.misconceptions if is_right(exercise, DEFAULT_SEED, [one])] == []


def explains(exercise: Exercise, one: Misconception, other: Misconception) -> bool:
    """Whether the first misconception answers as the second does on every case, errors included."""
    number = key(exercise)
    expected = [value for _, value in cases(number, DEFAULT_SEED)]
    return all(map(alike, values(number, other.name), values(number, one.name), expected))


def alike(answer: Answer, wrong: Answer, expected: Any) -> bool:
    if not isinstance(answer, Returned) or not isinstance(wrong, Returned):
        return isinstance(answer, Raised) and isinstance(wrong, Raised)
    return agrees(answer.value, wrong.value, expected, TOLERANCE["cpu"])


@functools.cache
def values(number: int | str, name: str) -> list[Answer]:
    """What a student with this misconception answers, as it is read."""
    exercise = FUNCTIONS[number]
    (held,) = (one for one in exercise.misconceptions if one.name == name)
    drawn = exercise.draw()
    return [
        replace(answer, value=exercise.reading(answer.value, case.inputs)) if isinstance(answer, Returned) else answer
        for case, answer in zip(drawn, answers(exercise, drawn, [held]), strict=True)
    ]


# --- other seeds -----------------------------------------------------------------------------------------------------


@every_exercise
def test_the_reference_gets_full_marks_whatever_the_seed(exercise: Exercise) -> None:
    for seed in OTHER_SEEDS:
        drawn = exercise.draw(seed)
        assert judge(exercise, drawn, answers(exercise, drawn)).right, seed


@every_exercise
def test_misconceptions_lose_marks_whatever_the_seed(exercise: Exercise) -> None:
    right = [
        (one.name, seed) for one in exercise.misconceptions for seed in OTHER_SEEDS if is_right(exercise, seed, [one])
    ]
    assert right == []


@every_exercise
def test_two_misconceptions_at_once_lose_marks(exercise: Exercise) -> None:
    """Unless they undo each other, so that together they are right for inputs of any size."""
    pairs = [pair for pair in itertools.combinations(exercise.misconceptions, 2) if can_combine(*pair)]
    accepted = [pair for pair in pairs if is_right(exercise, DEFAULT_SEED, pair)]
    wrong = [pair for pair in accepted if not Oracle(key(exercise)).accepts(answers_to(exercise, pair))]
    assert [(one.name, other.name) for one, other in wrong] == []


def answers_to(exercise: Exercise, held: Sequence[Misconception]) -> Callable[[Inputs], Answer]:
    return lambda inputs: answers(exercise, [DrawnCase(exercise.cases[0], inputs)], held)[0]
