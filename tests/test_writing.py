"""Exercise 26: what is drawn is judged by its distribution, and right draws are right whatever the inputs are."""

from __future__ import annotations

import pytest
import torch

from grader.exercises.ex26_generate import exercise, generate, read
from grader.model.exercise import Case
from grader.sandbox.forms.generation import FEW, written

DRAWN = {case.name: case for case in exercise.cases if case.once}
# Of so many models, some would draw one word nearly always: three thousand texts were all the same, and called wrong.
NEARLY_SURE = {"cold": (535, 1263, 5495, 6755, 9497, 10079, 12325, 13638, 17916)}


@pytest.mark.parametrize("case", DRAWN.values(), ids=DRAWN)
def test_right_draws_are_right_whatever_the_model(case: Case) -> None:
    for seed in (*range(40), *NEARLY_SURE.get(case.name, ())):
        inputs = case.inputs(torch.Generator().manual_seed(seed))
        found = read(written(generate, *inputs), *inputs)
        assert not any(found.values()), (seed, found)


def test_of_random_numbers_a_few_texts_tell() -> None:
    """To write thousands once more takes a student's loop over texts a second."""
    asked: list[int] = []

    def noted(model: object, tokens: torch.Tensor, *more: object, **named: object) -> object:
        asked.append(len(tokens))
        return generate(model, tokens, *more, **named)  # type: ignore[arg-type]

    inputs = DRAWN["hot"].inputs(torch.Generator().manual_seed(0))
    written(noted, *inputs)
    assert asked == [len(inputs[1]), FEW, FEW, FEW]
