"""Answer keys to the hidden cases, kept for all tests in a process."""

from __future__ import annotations

import functools

from grader.judging.answer_key import AnswerKey
from grader.model.exercise import DEFAULT_SEED, Exercise, SampledCase
from support.our_course import EXERCISES
from support.solution_cells import functions

# All functions: the first of an exercise by its number, any others by their names.
FUNCTIONS: dict[int | str, Exercise] = {name: one for number in EXERCISES for name, one in functions(number).items()}


@functools.cache
def answer_key(name: int | str, seed: int = DEFAULT_SEED) -> AnswerKey:
    """The key to all short cases that this seed draws."""
    return AnswerKey(FUNCTIONS[name], short_cases(FUNCTIONS[name], seed))


def short_cases(exercise: Exercise, seed: int = DEFAULT_SEED) -> list[SampledCase]:
    """All cases except those with memory promises: test_records.py and test_memory.py try these, in sandboxes."""
    return AnswerKey(exercise, exercise.sample(seed)).short().cases
