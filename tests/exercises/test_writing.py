"""Exercise 26: what is drawn is judged by its distribution, and right draws are right whatever the inputs are."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.exercises.ex26_generate import FEW, exercise, generate, observe_texts
from grader.exercises.mistakes import of_writing
from grader.judging.answer_key import AnswerKey
from grader.judging.judge import Judge
from grader.model.exercise import Case
from support.solution_cells import notebook, run

pytestmark = pytest.mark.slow

DRAWN = {case.name: case for case in exercise.cases if case.once}
# Of so many models, some would draw one word nearly always: three thousand texts were all the same, and called wrong.
NEARLY_SURE = {"cold": (535, 1263, 5495, 6755, 9497, 10079, 12325, 13638, 17916)}


@pytest.mark.parametrize("case", DRAWN.values(), ids=DRAWN)
def test_written_texts_for_any_model_are_right(case: Case) -> None:
    for seed in (*range(40), *NEARLY_SURE.get(case.name, ())):
        inputs: Any = case.inputs(torch.Generator().manual_seed(seed))
        found = exercise.compared(observe_texts(generate, *inputs), inputs)
        assert not any(found.values()), (seed, found)


SEVERAL_MISTAKES = """
def generate(model, tokens, count, temperature=1.0, top_k=None, generator=None):
    for _ in range(count):
        scores = model(tokens[:, -model.context_length :])[:, -1] / {divisor}
        if top_k is not None:
            scores[scores < scores.topk(top_k).values[:, [-1]]] = -math.inf
        tokens = torch.cat([tokens, torch.multinomial(F.softmax(scores, -1), 1)], 1)
    return tokens
"""


@pytest.mark.parametrize(
    ("divisor", "said"),
    [("temperature", "stopped with RuntimeError"), ("1", of_writing.NEVER_GREEDY)],
    ids=["divided by 0", "never greedy"],
)
def test_generate_with_several_mistakes_gets_a_sentence_for_each(divisor: str, said: str) -> None:
    ask = run(SEVERAL_MISTAKES.format(divisor=divisor), exercise, notebook(26))
    key = AnswerKey(exercise, exercise.sample(0)).without_promises()
    verdict = Judge().verdict(key, [ask(case.inputs) for case in key.cases])
    assert not verdict.misconceptions
    words = " ".join(verdict.sentences)
    assert all(each in words for each in (said, of_writing.TRAINS, of_writing.KEEPS, of_writing.SEEDS))
    assert of_writing.WRONG_CHANCES not in words  # what is drawn is what the model says in its mode
    assert len(set(verdict.sentences)) == len(verdict.sentences)


def test_generate_with_wrong_shapes_says_so_once() -> None:
    first_alone = (
        "def generate(model, tokens, count, **_):\n    return torch.cat([tokens[:1]] + count * [tokens[:1, :1]], 1)"
    )
    ask = run(first_alone, exercise, notebook(26))
    key = AnswerKey(exercise, exercise.sample(0)).without_promises()
    said = Judge().verdict(key, [ask(case.inputs) for case in key.cases]).sentences
    assert sum("has shape" in text for text in said) == 1, said


def test_written_uses_few_texts_for_random_numbers() -> None:
    """To write thousands once more takes a student's loop over texts a second."""
    asked: list[int] = []

    def noted(model: object, tokens: torch.Tensor, *more: object, **named: object) -> object:
        asked.append(len(tokens))
        return generate(model, tokens, *more, **named)  # type: ignore[no-untyped-call]

    inputs: Any = DRAWN["hot"].inputs(torch.Generator().manual_seed(0))
    observe_texts(noted, *inputs)
    assert asked == [len(inputs[1]), FEW, FEW, FEW]
