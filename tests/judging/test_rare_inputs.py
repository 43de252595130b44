"""What only inputs of a rare kind tell: a text of many, tiny numbers, scores of 0 or far below."""

from __future__ import annotations

import functools
from dataclasses import replace

import pytest

from grader.judging.answer_key import AnswerKey
from grader.judging.judge import judge_by
from support.our_course import EXERCISES
from support.solution_cells import corpus, functions, notebook, run, undisturbed

LARGE, UNHIDDEN, MANY, TINY = "scores of ±10⁴", "scores of ±10⁴, none hidden", "a text of many words", "tiny numbers"
# By exercise: answers that are wrong, and the cases that alone tell.
TOLD_BY = {
    9: {"squeezed": ["one word"]},
    10: {"running_maximum_from_minus_thousand": ["far below zero"]},
    11: {"squeezed": ["one word"]},
    12: {"maximum_at_least_0": ["scores far below zero"]},
    14: {
        "softmax_minus_thousand": [LARGE],
        "softmax_minus_five_thousand": [LARGE],
        "zero_is_hidden": ["more words"],
        "mask_of_64_words": [MANY],
    },
    15: {
        "divided_by_the_rate": ["training, a rate of 0"],
        "one_draw_for_all_queries": ["training, four dimensions"],
    },
    16: {
        "zero_is_hidden": ["several sentences"],
        "dropout_in_place": ["in training"],
        "dropout_on_input": ["in training"],
        "drawn_for_the_context": ["in training"],
    },
    18: {
        "zero_is_hidden": ["several sentences"],
        "mask_of_the_first_batch": ["several sentences"],
    },
    19: {
        "mask_by_sentences": ["one mask for all sentences"],
        "zero_is_hidden": ["padded sentences"],
        "renormalised_after_softmax": ["what stands under padding"],
    },
    20: {"table_of_512": ["a long text"]},
    21: {"table_of_4095": ["positions with gaps"]},
    22: {
        "minus_thousand_for_the_future": [f"{LARGE}, causal"],
        "zero_is_hidden": ["causal"],
        "mask_of_64_words": [MANY],
    },
    24: {
        "another_eps": [TINY, f"{TINY} that go on"],
        "another_eps_of_norm2": [f"{TINY} that go on"],
        "eps_beside_the_root": [TINY, f"{TINY} that go on"],
    },
    25: {"another_eps": [TINY]},
    26: {
        "greedy_place_among_the_best": ["greedy, among the best three"],
        "zero_divides_among_the_best": ["greedy, among the best three"],
    },
    27: {"square_compared": ["clipped a little"]},
    28: {
        "unshifted_unless_causal": [UNHIDDEN],
        "zero_is_hidden": ["more keys than queries"],
        "mask_of_128_words": [MANY],
    },
    29: {
        "minus_thousand_with_a_cache": [LARGE],
        "unshifted_with_a_cache": [LARGE],
        "zero_is_hidden": ["several sentences in chunks"],
        "mask_of_64_words": ["words after many others"],
    },
    30: {
        "full_blocks_only": [MANY],
        "zero_is_hidden": ["a window of three"],
        "block_before_of_64": ["a broad window"],
    },
    31: {"averaged_at_equal_maxima": ["maxima that are equal"]},
    32: {
        "full_blocks_of_queries_only": [MANY],
        "maximum_from_zero_unless_causal": [UNHIDDEN],
        "zero_is_hidden": ["blocks, causal"],
    },
    33: {
        "queries_scaled_in_place": ["two sentences"],
        "largest_of_all_subtracted": ["scores of ±112"],
        "mean_subtracted": ["scores of ±112"],
    },
    34: {"full_blocks_only": [MANY]},
}
# What takes a score far below zero for hidden, or for nothing: in many exercises.
STYLES = ("minus_thousand", "maximum_from_zero", "running_maximum_from_zero", "maximum_clamped")
WRONG = [
    *((number, style, LARGE) for number in EXERCISES for style in STYLES if style in corpus(number, "wrong")),
    *((number, style, name) for number, styles in TOLD_BY.items() for style, names in styles.items() for name in names),
]
SEEDS = range(4)

given = functools.cache(notebook)


@pytest.mark.parametrize(("number", "style", "name"), WRONG)
def test_what_is_wrong_for_rare_inputs_alone_is_wrong(number: int, style: str, name: str) -> None:
    exercise = replace(functions(number)["causal_softmax" if number == 14 else number], misconceptions=())
    accepted = []
    with undisturbed():
        ask = run(corpus(number, "wrong")[style], exercise, given(number))
        for seed in SEEDS:
            cases = [case for case in exercise.sample(seed) if case.case.name == name]
            assert cases
            found = judge_by(AnswerKey(exercise, cases), [ask(case.inputs) for case in cases])
            accepted += [seed] * found.right
    assert accepted == []


@pytest.mark.parametrize("causal", [False, True])
def test_no_table_is_allowed_in_tiles_whether_or_not_words_are_hidden(causal: bool) -> None:
    promised = [case for case in EXERCISES[32].sample() if case.case.promise]
    assert causal in [case.inputs[4:] == (True,) for case in promised]
