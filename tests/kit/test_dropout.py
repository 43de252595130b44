"""What is said about dropout: nothing where it is right, whatever was drawn, and the rule that is broken where not."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
import torch

from grader.exercises import ex15_dropout
from grader.exercises.ex15_dropout import SAME_AGAIN, SAME_NUMBER
from grader.kit import dropout_rules
from grader.kit.dropout_rules import TAIL, finding, fits
from support.answer_keys import verdict
from support.our_course import EXERCISES

Tensor = torch.Tensor
SEEDS = range(10_000, 10_040)


def drawn(seed: int, *shape: int) -> tuple[Tensor, torch.Generator]:
    rng = torch.Generator().manual_seed(seed)
    return torch.softmax(torch.randn(*shape, generator=rng), dim=-1), rng


def dropped(x: Tensor, p: float, rng: torch.Generator) -> Tensor:
    return x * (torch.rand(x.shape, generator=rng) >= p) / (1 - p)


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5, 0.8])
@pytest.mark.parametrize("shape", [(2, 1), (6, 6), (50, 41), (4, 20, 27), (2, 3, 9, 9), (700,)])
def test_finding_of_right_dropout_is_empty(shape: tuple[int, ...], p: float) -> None:
    for seed in SEEDS:
        x, rng = drawn(seed, *shape)
        assert finding(dropped(x, p, rng), x, p) == ""


@pytest.mark.parametrize("p", [0.2, 0.6])
def test_finding_of_right_dropout_behind_causal_mask_is_empty(p: float) -> None:
    """Behind a causal mask numbers are zero with and without dropout, and the first row has one entry."""
    for seed in SEEDS:
        x, rng = drawn(seed, 3, 30, 30)
        x = x.tril() / x.tril().sum(-1, keepdim=True)
        assert finding(dropped(x, p, rng) + 1e-8, x, p) == ""


@pytest.mark.parametrize(("entries", "rate"), [(36, 0.5), (400, 0.1), (700, 0.3), (700, 0.75)])
def test_fits_refuses_counts_with_the_stated_probability(entries: int, rate: float) -> None:
    accepted = [gone for gone in range(entries + 1) if fits(gone, entries, rate)]
    assert accepted == list(range(accepted[0], accepted[-1] + 1))
    chances = [
        math.comb(entries, k) * Fraction(str(rate)) ** k * Fraction(str(1 - rate)) ** (entries - k)
        for k in range(entries + 1)
    ]
    fewer, more = sum(chances[: accepted[0]]), sum(chances[accepted[-1] + 1 :])
    assert fewer <= TAIL < fewer + chances[accepted[0]]
    assert more <= TAIL < more + chances[accepted[-1]]


P = 0.3
WRONG: dict[str, Callable[[Tensor, torch.Generator], Tensor]] = {
    "NOTHING_DROPPED": lambda x, _: x,
    "ALL_SCALED": lambda x, _: x / (1 - P),
    "ALL_CHANGED": lambda x, rng: x * (0.01 + 0.99 * torch.rand(x.shape, generator=rng)),
    "ALL_OTHER": lambda x, _: x + 1,
    "OTHER_THAN_ZERO": lambda x, rng: torch.where(torch.rand(x.shape, generator=rng) >= P, x + 2, -1.0),
    "EVERYTHING_DROPPED": lambda x, _: 0 * x,
    "NOT_FINITE": lambda x, rng: dropped(x, P, rng) / dropped(x, P, rng),
    "NONE_FINITE": lambda x, _: x * torch.nan,
    "NOT_FINITE_AT_ALL": lambda x, _: torch.where(x > x.quantile(0.02), x, torch.inf),
    "WHOLE_ROWS": lambda x, rng: x * (torch.rand(3, 20, 1, generator=rng) >= P) / (1 - P),
    "WHOLE_COLUMNS": lambda x, rng: x * (torch.rand(25, generator=rng) >= P) / (1 - P),
    "SAME_IN_BATCH": lambda x, rng: x * (torch.rand(20, 25, generator=rng) >= P) / (1 - P),
    "SMALLEST": lambda x, _: x * (x > x.quantile(P)) / (1 - P),
    "LARGEST": lambda x, _: x * (x < x.quantile(1 - P)) / (1 - P),
    "ROWS_SUM_AGAIN": lambda x, rng: torch.nn.functional.normalize(dropped(x, P, rng), p=1, dim=-1),
    "MASK_ALONE": lambda x, rng: (torch.rand(x.shape, generator=rng) >= P) / (1 - P),
    "NOT_UNIFORM": lambda x, rng: dropped(x, P, rng).square(),
    "OTHER_RATE": lambda x, rng: x * (torch.rand(x.shape, generator=rng) >= 0.1) / (1 - P),
    "OTHER_FACTOR": lambda x, rng: 3 * dropped(x, P, rng),
}


@pytest.mark.parametrize("name", WRONG)
def test_finding_names_the_broken_rule(name: str) -> None:
    for seed in SEEDS:
        x, rng = drawn(seed, 3, 20, 25)
        assert finding(WRONG[name](x, rng), x, P) == getattr(dropout_rules, name)


def test_finding_when_two_rules_are_broken_names_both() -> None:
    for seed in SEEDS:
        x, rng = drawn(seed, 3, 20, 25)
        masks = [torch.zeros_like(x).scatter(-1, torch.randint(25, (3, 20, 1), generator=rng), 1.0), x * 0]
        masks[1][..., 3] = 1.0
        said = [f"{dropout_rules.MASK_ALONE} {dropout_rules.OTHER_RATE}"]
        said += [f"{dropout_rules.WHOLE_COLUMNS} {dropout_rules.MASK_ALONE}"]
        assert [finding(mask, x, P) for mask in masks] == said


def test_finding_with_shared_draws_still_names_other_rules() -> None:
    for seed in SEEDS:
        x, rng = drawn(seed, 3, 20, 25)
        kept = (torch.rand(3, 1, 25, generator=rng) >= P) / (1 - P)  # one draw for all rows
        assert finding(x * kept, x, P) == dropout_rules.SHARED
        said = [finding(made * kept, x, P, shared_is_wrong=False) for made in (x, x.square(), 3 * x)]
        assert said == ["", dropout_rules.NOT_UNIFORM, dropout_rules.OTHER_FACTOR]


def test_finding_of_dropout_on_masked_scores_says_not_finite() -> None:
    for seed in SEEDS:
        rng = torch.Generator().manual_seed(seed)
        scores = 3 * torch.randn(16, 6, 6, generator=rng)
        scores = scores.masked_fill(torch.ones(6, 6).triu(1) > 0, -torch.inf)
        wrong = torch.softmax(dropped(scores, 0.15, rng), dim=-1)
        said = finding(wrong, torch.softmax(scores, dim=-1), 0.15)
        assert said in (dropout_rules.NOT_FINITE, dropout_rules.NOT_FINITE_AT_ALL)


def test_finding_when_dropped_at_rate_0_says_so() -> None:
    x, rng = drawn(1, 5, 7)
    assert finding(dropped(x, P, rng), x, 0.0) == dropout_rules.DROPPED_IN_VAIN
    assert finding(x.clone(), x, 0.0) == ""


def test_finding_when_shape_or_type_differs_says_so() -> None:
    x, _ = drawn(1, 5, 7)
    assert "(7, 5)" in finding(x.mT, x, P)
    assert "a list of 5" in finding(x.tolist(), x, P)


def seen_twice(outputs: dict[str, torch.Tensor], zeros: list[int]) -> ex15_dropout.TwiceSeen:
    return ex15_dropout.TwiceSeen(outputs, zeros, third=None, gradient=None, ruined=False)


def test_dropout_with_same_entries_in_two_calls_is_named() -> None:
    drawn_cases = [case for case in EXERCISES[15].sample() if case.inputs[1] and case.inputs[2]]
    with torch.random.fork_rng():
        for weights, p, training in (case.inputs for case in drawn_cases):
            one, other = (torch.nn.functional.dropout(weights, p, training) for _ in range(2))
            said = [
                ex15_dropout.read(seen_twice({"first": one, "second": second}, []), weights, p, training)
                for second in (one, other)
            ]
            assert [parts["pattern"] for parts in said] == [SAME_AGAIN, ""]


def test_dropout_with_same_number_in_each_call_is_named() -> None:
    """Which they are is chance, but not how many: by chance, the numbers of calls differ."""
    weights, rng = drawn(1, 50, 41)
    same_number = [torch.randperm(weights.numel(), generator=rng).reshape(50, 41) for _ in range(2)]
    first, second = (weights * (order >= 615) / 0.7 for order in same_number)
    outputs = {"first": first, "second": second}
    seen = [seen_twice(outputs, zeros) for zeros in ([615] * 6, [615, 614])]
    assert [ex15_dropout.read(calls, weights, 0.3, True)["pattern"] for calls in seen] == [SAME_NUMBER, ""]


@pytest.mark.slow
@pytest.mark.parametrize(
    "instead",
    [
        "torch.eye(attn_weights.shape[-1])[0].expand_as(attn_weights)",
        "attn_weights * (torch.arange(attn_weights.shape[-1]) == 0)",
        "torch.ones_like(attn_weights)",
        "attn_weights.flip(-1)",
        "torch.rand_like(attn_weights)",
        "torch.zeros_like(attn_weights).scatter(-1, torch.randint(4, (*attn_weights.shape[:-1], 1)), 1.0)",
    ],
)
def test_answers_without_dropout_earn_nothing(instead: str) -> None:
    right = "    chances = torch.rand_like(attn_weights)  # even between 0 and 1"
    for before in ("", "    if not training:\n        return attn_weights\n"):
        changes = (
            ("    if not training:\n        return attn_weights\n", before),
            (right, f"    return {instead}\n{right}"),
        )
        assert verdict(15, *changes).credit == 0
