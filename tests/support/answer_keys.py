"""Answer keys to the hidden cases, and what they say about solutions that are changed."""

from __future__ import annotations

import functools
import textwrap

from grader.judging.answer_key import AnswerKey
from grader.judging.judge import Judge
from grader.model.exercise import DEFAULT_SEED, Exercise, SampledCase
from grader.model.verdict import Verdict
from support.our_course import EXERCISES
from support.solution_cells import from_notebook, functions, notebook, run, undisturbed

# All functions: the first of an exercise by its number, any others by their names.
FUNCTIONS: dict[int | str, Exercise] = {name: one for number in EXERCISES for name, one in functions(number).items()}


@functools.cache
def answer_key(name: int | str, seed: int = DEFAULT_SEED) -> AnswerKey:
    """The key to all short cases that this seed draws."""
    return AnswerKey(FUNCTIONS[name], short_cases(FUNCTIONS[name], seed))


def short_cases(exercise: Exercise, seed: int = DEFAULT_SEED) -> list[SampledCase]:
    """All cases except those with memory promises: test_records.py and test_memory.py try these, in sandboxes."""
    return AnswerKey(exercise, exercise.sample(seed)).without_promises().cases


def verdict(number: int, *changes: tuple[str, str], after: str = "") -> Verdict:
    """The verdict on the notebook's solution with these changes, followed by the code in `after`."""
    source = from_notebook()[number]
    for old, new in changes:
        assert old in source
        source = source.replace(old, new)
    key = answer_key(number)
    with undisturbed():
        ask = run(f"{source}\n{textwrap.dedent(after)}", key.exercise, given(number))
        return Judge().verdict(key, [ask(case.inputs) for case in key.cases])


given = functools.cache(notebook)
