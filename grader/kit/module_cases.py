"""Cases for classes: the arguments, the weights to load, and calls that show what a module must and must not do."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

import torch

from grader.model.broken_rules import FLOAT64, LARGE
from grader.model.broken_rules import LATER_CHANGED as LATER_CHANGED
from grader.model.broken_rules import MORE as MORE
from grader.model.broken_rules import OTHERS_CHANGED as OTHERS_CHANGED
from grader.model.broken_rules import SECOND_CALL as SECOND_CALL
from grader.model.exercise import Case, randn
from grader.model.forms.module import ClassCase
from grader.sandbox.nested import in_double, map_tensors

Tensor = torch.Tensor

TWO_SENTENCES = "output for two sentences"
LONGER = "output for more and longer texts, which came next"

SENTENCES, WORDS, FEATURES, EXTRA = 16, 6, 3, 2  # sizes of a case about dropout


DrawCase = Callable[[torch.Generator], ClassCase]


def dropout_trial(
    rng: torch.Generator,
    arguments: Callable[[int, int], Sequence[object]],
    weights: Callable[[Callable[[], Tensor], Callable[[], Tensor]], Mapping[str, Tensor]],
) -> ClassCase:
    """A case in training whose output shows the weights that were not dropped.

    The last features of each word say which word it is. Queries and keys do not see them; values are nothing else:
    the identity, so that outputs are weights, and `extra`, which shows whether it is weights that were dropped.
    `arguments` are made of d_in and the size of a head, `weights` of functions that draw the weights of a head:
    for queries and keys, and for values.
    """
    d_in, d_head = FEATURES + WORDS, WORDS + EXTRA
    extra = randn(rng, WORDS, EXTRA)

    def for_scores() -> Tensor:  # (d_head, d_in)
        return torch.cat([randn(rng, d_head, FEATURES), torch.zeros(d_head, WORDS)], dim=1)

    def for_values() -> Tensor:  # (d_head, d_in)
        return torch.cat([torch.zeros(d_head, FEATURES), torch.cat([torch.eye(WORDS), extra.mT])], dim=1)

    identity = torch.eye(WORDS).expand(SENTENCES, WORDS, WORDS)
    x = torch.cat([randn(rng, SENTENCES, WORDS, FEATURES), identity], dim=-1)  # (B, T, d_in)
    drawn, calls = weights(for_scores, for_values), {"output": [x], SECOND_CALL: [x], TWO_SENTENCES: [x[:2]]}
    # Gradients are those of few numbers, so that functions are lent for them.
    return ClassCase(
        arguments(d_in, d_head), drawn, calls, train=True, gradients=1, gradients_of=TWO_SENTENCES, extra=extra
    )


def twice_and_changed(rng: torch.Generator, x: Tensor, longest: int = 0) -> dict[str, list[Tensor]]:
    """Calls for x of shape (B, T, d): x, x again, another last word, other sentences after the first.

    A larger batch is also doubled by other sentences, and there is a batch of longer texts, of length `longest`, with
    one sentence more.
    """
    calls = {"output": [x], SECOND_CALL: [x]}
    if x.shape[1] > 1:
        calls[LATER_CHANGED] = [torch.cat([x[:, :-1], randn(rng, *x[:, -1:].shape)], dim=1)]
    if len(x) > 1:
        calls[OTHERS_CHANGED] = [torch.cat([x[:1], randn(rng, *x[1:].shape)])]
    if len(x) > 2:  # a few cases will do
        calls[MORE] = [torch.cat([x, randn(rng, *x.shape)])]
    if longest > x.shape[1]:
        calls[LONGER] = [randn(rng, len(x) + 1, longest, x.shape[2])]
    return calls


def draw_weights(rng: torch.Generator, shapes: Mapping[str, Sequence[int]]) -> dict[str, Tensor]:
    """Small enough that the scores stay near one, where softmax shows every mistake."""
    return {name: randn(rng, *shape) / shape[-1] ** 0.5 for name, shape in shapes.items()}


def beside_numbers(sample: DrawCase) -> list[Case]:
    """Cases of float64, and of scores of ±10⁴, for a way to draw inputs, which may have a mask of true and false."""
    return [
        Case("float64 inputs", "a result of another type than the input", in_float64(sample), FLOAT64),
        Case("scores of ±10⁴", "overflow, weights masked after softmax", with_large_scores(sample), LARGE),
    ]


def in_float64(sample: DrawCase) -> DrawCase:
    """A way to draw the same inputs and weights in float64."""

    def inputs(rng: torch.Generator) -> ClassCase:
        drawn = sample(rng)
        return ClassCase(drawn.arguments, map_tensors(in_double, drawn.weights), map_tensors(in_double, drawn.calls))

    return inputs


def far_below_zero(sample: DrawCase) -> Case:
    """A case for modules of one text, all of whose scores are about −10³ to −10⁴."""
    return Case("scores far below zero", "a largest score that begins at 0", with_large_scores(sample, True), LARGE)


def about_minus_ten_thousand(sample: DrawCase, head_dim: int) -> Case:
    """A case for modules, all of whose scores are just below −10⁴: −10⁴ does not hide any of them."""
    largest = 100 / head_dim**0.25  # squared, head_dim times, and divided by its root: 10⁴

    def weight(name: str, drawn: Tensor) -> Tensor:
        if _asks(name):
            return _of_first_feature(drawn, -1.0)
        return _of_first_feature(drawn, 1.0) if _answers(name) else drawn

    inputs = _changed(sample, weight, lambda rng, words: _of_lengths(rng, words, largest))
    return Case("scores of about −10⁴", "a number such as −10⁴ for −∞, which scores can reach", inputs, LARGE)


def _of_first_feature(weight: Tensor, sign: float) -> Tensor:
    """A matrix (d_out, d_in) that gives the first feature of a word in all its rows; zeros for a bias."""
    only_first = torch.zeros_like(weight)
    if weight.dim() == 2:
        only_first[:, 0] = sign
    return only_first


def _of_lengths(rng: torch.Generator, x: Tensor, largest: float) -> Tensor:
    """Words (…, T, d) whose first features differ by 0.3 %, which is 30 in a score of 10⁴."""
    order = torch.rand(x.shape[:-1], generator=rng).argsort(-1)
    first = largest * (1.001 + 0.003 * order)
    return torch.cat([first[..., None], x[..., 1:]], dim=-1)


def with_large_scores(sample: DrawCase, one_way: bool = False) -> DrawCase:
    """A way to draw inputs with scores so large, and so far apart, that weights are 0 and 1.

    float32 has hardly a digit of them after the point. Words lie along a line, and weights are positive except for
    those of queries: where all words point the same way, all scores are far below zero."""

    def weight(name: str, drawn: Tensor) -> Tensor:
        return -drawn.abs() if _asks(name) else drawn.abs()

    return _changed(sample, weight, lambda rng, words: _along_a_line(rng, words, one_way))


def _changed(
    sample: DrawCase, weight: Callable[[str, Tensor], Tensor], words: Callable[[torch.Generator, Tensor], Tensor]
) -> DrawCase:
    """A way to draw inputs whose weights, by name, and words are others."""

    def inputs(rng: torch.Generator) -> ClassCase:
        drawn = sample(rng)
        weights = {name: weight(name, values) for name, values in drawn.weights.items()}
        output = [words(rng, value) if _has_words(value) else value for value in drawn.calls["output"]]
        return ClassCase(drawn.arguments, weights, {"output": output})

    return inputs


def _has_words(value: object) -> TypeGuard[Tensor]:
    return isinstance(value, Tensor) and value.is_floating_point()


def _asks(name: str) -> bool:
    """Whether a parameter makes queries: q.weight, queries.weight, W_query."""
    return re.search(r"(^|[._])q", name) is not None


def _answers(name: str) -> bool:
    """Whether a parameter makes keys: k.weight, keys.weight, W_key."""
    return re.search(r"(^|[._])k", name) is not None


def _along_a_line(rng: torch.Generator, x: Tensor, one_way: bool) -> Tensor:
    """Words (B, T, d), or (T, d), of lengths that differ, half of them the other way; the first is the shortest.

    Those of the first sentence of several all go the same way, and differ less: scores are about −10³ to −10⁴. So do
    those of the only sentence if all go `one_way`.
    """
    *batch, words, d = x.shape
    chance = torch.rand(*batch, words, generator=rng)
    chance[..., 0] = -1
    order = chance.argsort(-1).argsort(-1)
    lengths = (order * 15.0 + 20) * (1 - 2 * (torch.arange(words) % 2))  # (B, T)
    if batch or one_way:
        first = 0 if batch else ...
        lengths[first] = order[first] * 3.0 + 20
    return lengths[..., None] * (0.8 + 0.4 * torch.rand(d, generator=rng))
