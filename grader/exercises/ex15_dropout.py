"""Exercise 15: dropout on attention weights. What is dropped is chance, so answers are read by the rules of dropout."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.dropout_rules import (
    ALL_CHANGED,
    DROPPED_IN_VAIN,
    MASK_ALONE,
    NOT_FINITE,
    SAME_IN_BATCH,
    SHARED,
    WHOLE_COLUMNS,
    WHOLE_ROWS,
    finding,
)
from grader.kit.module_references import same_chance
from grader.kit.pieces import FLOAT64, other_type
from grader.model.forms import exact
from grader.model.forms.twice import TWICE
from grader.sandbox.forms.twice import twice

from .mistakes.pieces import PIECES, unchanged

Tensor = torch.Tensor
Random = torch.Generator

ROUNDING = 1e-5  # of single numbers, which are only multiplied
SAME_AGAIN = "Two calls drop the same entries. Draw random numbers anew in each call, and set no seed there."
WITHOUT_CHANCE = (
    "Two calls give the same result: nothing is left to chance. Draw a random number for each entry, anew each time."
)
_OF_CHANCE = (WHOLE_ROWS, WHOLE_COLUMNS, SAME_IN_BATCH, SHARED, MASK_ALONE, ALL_CHANGED)
SAME_NUMBER = "Each call drops the same number of entries. Each entry must be dropped with probability p, on its own."
OTHER_GRADIENT = "The gradient is not what the entries are multiplied by. Leave out detach on the way to the result."


def dropped_out(
    attn_weights: Tensor,
    p: float,
    training: bool,
    *,
    active: Callable[[bool], bool] = lambda training: training,
    rest: Callable[[Tensor, float], Tensor] = lambda weights, p: weights.clone(),
    seed: int | None = None,
    noise: Callable[[Tensor, Random], Tensor] = lambda weights, rng: even(weights, weights.shape, rng),
    rate: Callable[[float], float] = lambda p: p,
    drop: Callable[[Tensor, Tensor], Tensor] = lambda weights, kept: weights * kept,
    factor: Callable[[float], float] = lambda p: 1 / (1 - p),
    finish: Callable[[Any], Any] = unchanged,
    dtype: Callable[[Any], Any] = unchanged,
) -> Any:
    if not active(training):
        return dtype(finish(rest(attn_weights, p)))
    kept = noise(attn_weights, random(seed)) >= rate(p)
    return dtype(finish(drop(attn_weights, kept) * factor(p)))


def random(seed: int | None = None) -> Random:
    """Random numbers after this seed, or those that come next."""
    return torch.default_generator if seed is None else Random().manual_seed(seed)


def even(weights: Tensor, shape: Sequence[int], rng: Random) -> Tensor:
    """Even between 0 and 1, where the weights are. The generator is the CPU's: its numbers are the same anywhere."""
    return torch.rand(*shape, generator=rng).to(weights.device)


def in_two_calls(function: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """What two calls return: the same for the same inputs, whatever was asked before."""

    def answer(*inputs: Any) -> dict[str, Any]:
        with same_chance():
            return twice(function, *inputs)

    answer.__wrapped__ = function  # type: ignore[attr-defined]  # its source is the one that must not leak
    return answer


def reference(attn_weights: Tensor, p: float, training: bool, **changes: Any) -> dict[str, Any]:
    return in_two_calls(functools.partial(dropped_out, **changes))(attn_weights, p, training)


reference.__wrapped__ = dropped_out  # type: ignore[attr-defined]  # its source is the one that must not leak


def read(value: dict[str, Any], attn_weights: Tensor, p: float, training: bool) -> dict[str, Any]:
    """A sentence on the pattern of what was dropped and, in evaluation, the numbers. If they are right, two more."""
    first, second = value["outputs"]["first"], value["outputs"]["second"]
    said = finding(first, attn_weights, p if training else 0.0, ROUNDING)
    parts: dict[str, Any]
    if training:
        said = said or finding(second, attn_weights, p, ROUNDING)
        if said.startswith(_OF_CHANCE) and torch.equal(first, second):
            said = WITHOUT_CHANCE
        parts = {"pattern": said or (_regular([first, second], value.get("zeros", [])) if p else "")}
    else:
        by_chance = said in (DROPPED_IN_VAIN, NOT_FINITE)  # so no two answers have the same numbers
        parts = {"output": attn_weights if by_chance else first, "pattern": said if by_chance else ""}
    right = not said and not parts["pattern"]
    return {
        **parts,
        "type": other_type(first, attn_weights) * right,
        "gradient": _gradient(value, attn_weights) * right,
    }


def _regular(results: Sequence[Tensor], zeros: Sequence[int]) -> str:
    """What chance has no part in although it should: which entries are dropped, or how many."""
    first, second = (result == 0 for result in results)
    if torch.equal(first, second):
        return SAME_AGAIN
    # Chance drops the same number twice in one of 65 cases at most, here: eight times in less than one in 10¹².
    return SAME_NUMBER if {int(first.sum()), int(second.sum()), *zeros} == {int(first.sum())} and zeros else ""


def _gradient(value: dict[str, Any], attn_weights: Tensor) -> str:
    """A sentence on a gradient that is not what each entry was multiplied by."""
    gradient, third = value.get("gradient", attn_weights), value.get("third")
    if gradient is None:
        return exact.RUINED if value["ruined"] else exact.CUT_OFF
    if third is None:
        return ""
    made, third = (tensor.double() for tensor in (gradient * attn_weights, third))
    return "" if torch.allclose(made, third, rtol=1e-4, atol=1e-5) else OTHER_GRADIENT


def by_row(weights: Tensor, rng: Random) -> Tensor:
    return even(weights, (*weights.shape[:-1], 1), rng)


def by_column(weights: Tensor, rng: Random) -> Tensor:
    return even(weights, weights.shape[-1:], rng)


def by_matrix(weights: Tensor, rng: Random) -> Tensor:
    return even(weights, weights.shape[-2:], rng)


def evenly_spread(weights: Tensor, rng: Random) -> Tensor:
    """The numbers 0, 1/n, 2/n, … in random order."""
    order = torch.randperm(weights.numel(), generator=rng).reshape(weights.shape)
    return order.to(weights.device) / weights.numel()


def renormalised(weights: Tensor, p: float, training: bool) -> Tensor:
    if not training:
        return weights.clone()
    dropped: Tensor = dropped_out(weights, p, training)
    return dropped / dropped.sum(-1, keepdim=True) * weights.sum(-1, keepdim=True)


def sized(*shape: int, p: float, training: bool) -> Callable[[Random], Inputs]:
    return lambda rng: (torch.softmax(randn(rng, *shape), dim=-1), p, training)


exercise = Exercise(
    number=15,
    assignment="causal_attention",
    title="Dropout",
    entry="inverted_dropout",
    reference=reference,
    lent=dropped_out,
    form=TWICE,
    read=read,
    # Where chance decides there are so many entries that 1 − p, 0.5 and torch.randn give clearly other numbers of
    # dropped ones than p. Eight answers of two calls each, at less than 3e-8 a call (see tests/kit/test_dropout.py): a
    # right function is refused with a probability below 5e-7.
    cases=[
        Case("evaluation", catches="dropout at all times", inputs=sized(7, 5, p=0.4, training=False)),
        Case("evaluation of one row", catches="squeezed dimensions", inputs=sized(1, 6, p=0.5, training=False)),
        Case(
            "evaluation of a batch",
            catches="weights scaled in evaluation",
            inputs=sized(2, 3, 4, 4, p=0.6, training=False),
        ),
        Case(
            "training, a rate of 0",
            catches="a division by the rate, everything or something dropped",
            inputs=sized(6, 7, p=0.0, training=True),
            beside="Your code is right for other rates, but not for a rate of 0: then nothing is dropped, and nothing "
            "else changes.",
        ),
        Case(
            "training, a matrix",
            catches="a hard-coded rate, p and 1 − p exchanged, whole rows",
            inputs=sized(50, 41, p=0.3, training=True),
        ),
        Case(
            "training, a batch at a high rate",
            catches="survivors not scaled, one mask for the whole batch",
            inputs=sized(4, 20, 27, p=0.8, training=True),
        ),
        Case(
            "training, four dimensions",
            catches="randn for rand, a comparison of the numbers with p",
            inputs=lambda rng: (0.05 + 0.9 * torch.rand(3, 4, 12, 20, generator=rng), 0.25, True),
        ),
        Case(
            "float64 inputs",
            catches="a result of another type than the input",
            inputs=lambda rng: (torch.softmax(randn(rng, 60, 40).double(), dim=-1), 0.35, True),
            beside=FLOAT64,
        ),
    ],
    misconceptions=[
        Misconception(
            "survivors not scaled",
            kind="missing step",
            credit=0.5,
            says="Survivors keep their size, so the sum shrinks. Multiply them by 1/(1 − p).",
            change={"factor": lambda p: 1.0},
        ),
        Misconception(
            "divided by p",
            kind="scaling",
            credit=0.5,
            says="Your survivors are multiplied by 1/p. The part that survives is 1 − p: multiply by 1/(1 − p).",
            change={"factor": lambda p: 1 / p},
        ),
        Misconception(
            "multiplied by 1 − p",
            kind="scaling",
            credit=0.5,
            says="Your survivors are multiplied by 1 − p, which makes the sum even smaller. Divide by 1 − p.",
            change={"factor": lambda p: 1 - p},
        ),
        Misconception(
            "multiplied by p",
            kind="scaling",
            credit=0.5,
            says="Your survivors are multiplied by p. Multiply them by 1/(1 − p).",
            change={"factor": lambda p: p},
        ),
        Misconception(
            "scaled twice",
            kind="scaling",
            credit=0.5,
            says="Your survivors are divided by 1 − p twice. F.dropout and nn.Dropout scale by themselves.",
            change={"factor": lambda p: (1 - p) ** -2},
        ),
        Misconception(
            "doubled",
            kind="hard-coded",
            credit=0.5,
            says="Your survivors are multiplied by 2, which is right for p = 0.5 only. Multiply by 1/(1 − p).",
            change={"factor": lambda p: 2.0},
        ),
        Misconception(
            "p and 1 − p exchanged",
            kind="mix-up",
            credit=0.5,
            says="Your entries are dropped with probability 1 − p. The rate p says how many are dropped, not how many "
            "stay.",
            change={"rate": lambda p: 1 - p},
        ),
        Misconception(
            "p as the rate of survival",
            kind="mix-up",
            credit=0.5,
            says="Your entries are kept with probability p and divided by p. Drop them with probability p, and divide "
            "by 1 − p.",
            change={"rate": lambda p: 1 - p, "factor": lambda p: 1 / p},
        ),
        Misconception(
            "rate 0.5",
            kind="hard-coded",
            credit=0.5,
            says="Your entries are always dropped at a rate of 0.5, as by nn.Dropout(p=0.5). Use the argument p.",
            change={"rate": lambda p: 0.5, "factor": lambda p: 2.0},
        ),
        Misconception(
            "half dropped, scaled for p",
            kind="hard-coded",
            credit=0.5,
            says="Half of your entries are dropped, whatever p is. Compare the random numbers with p.",
            change={"rate": lambda p: 0.5},
        ),
        Misconception(
            "randn for rand",
            kind="wrong formula",
            credit=0.5,
            says="Your entries are dropped as often as torch.randn is below p, which is too often. torch.rand is even "
            "between 0 and 1.",
            change={"noise": lambda weights, rng: torch.randn(weights.shape, generator=rng).to(weights.device)},
        ),
        Misconception(
            "active in evaluation",
            kind="missing step",
            credit=0.5,
            says="Entries are dropped in evaluation, too. If training is False, return the weights as they are.",
            change={"active": lambda training: True},
        ),
        Misconception(
            "inactive in training",
            kind="missing step",
            credit=0.0,
            says="Nothing is dropped. If training is True, set entries to zero with probability p.",
            change={"active": lambda training: False},
        ),
        Misconception(
            "training and evaluation exchanged",
            kind="mix-up",
            credit=0.5,
            says="Entries are dropped in evaluation and not in training. It should be the other way round.",
            change={"active": lambda training: not training},
        ),
        Misconception(
            "scaled in evaluation",
            kind="scaling",
            credit=0.5,
            says="The weights are scaled in evaluation as well. Survivors are scaled in training, and that is enough.",
            change={"rest": lambda weights, p: weights * (1 - p)},
        ),
        Misconception(
            "enlarged in evaluation",
            kind="scaling",
            credit=0.5,
            says="The weights are multiplied by 1/(1 − p) in evaluation, too. If training is False, return them "
            "as they "
            "are.",
            change={"rest": lambda weights, p: weights / (1 - p)},
        ),
        Misconception(
            "dropout that is not inverted",
            kind="convention",
            credit=0.5,
            says="Your weights are scaled in evaluation instead of training. Inverted dropout multiplies survivors by "
            "1/(1 − p) in training and changes nothing in evaluation.",
            change={"factor": lambda p: 1.0, "rest": lambda weights, p: weights * (1 - p)},
        ),
        Misconception(
            "zeros in evaluation",
            kind="mix-up",
            credit=0.5,
            says="Your results are zeros in evaluation. Return the weights as they are.",
            change={"rest": lambda weights, p: torch.zeros_like(weights)},
        ),
        Misconception(
            "whole rows",
            kind="axis",
            credit=0.5,
            says="Whole rows are dropped. Draw a random number for every entry, not for every row.",
            change={"noise": by_row},
        ),
        Misconception(
            "whole columns",
            kind="axis",
            credit=0.5,
            says="Whole columns are dropped. Draw a random number for every entry, not for every column.",
            change={"noise": by_column},
        ),
        Misconception(
            "one mask for a batch",
            kind="axis",
            credit=0.75,
            says="The same entries are dropped in every matrix of a batch. Draw as many random numbers as there are "
            "entries: torch.rand_like.",
            change={"noise": by_matrix},
        ),
        Misconception(
            "small weights dropped",
            kind="wrong formula",
            credit=0.25,
            says="It is the small weights that are dropped, those below p. Chance should decide: compare random "
            "numbers with p.",
            change={"noise": lambda weights, rng: weights},
        ),
        Misconception(
            "everything dropped",
            kind="wrong formula",
            credit=0.0,
            says="Everything is dropped. Keep an entry where its random number is at least p.",
            change={"drop": lambda weights, kept: torch.zeros_like(weights)},
        ),
        Misconception(
            "all scaled, none dropped",
            kind="missing step",
            credit=0.25,
            says="All weights are scaled and none is dropped. Multiply by the mask, too.",
            change={"drop": lambda weights, kept: weights},
        ),
        Misconception(
            "the mask returned",
            kind="missing step",
            credit=0.25,
            says="Your result is the mask. Multiply it by the weights.",
            change={"drop": lambda weights, kept: kept.to(weights.dtype)},
        ),
        Misconception(
            "−∞ for zero",
            kind="mix-up",
            credit=0.25,
            says="Your dropped entries are −∞. That is for scores before softmax; dropped weights are 0.",
            change={"drop": lambda weights, kept: weights.masked_fill(~kept, -torch.inf)},
        ),
        Misconception(
            "a list returned",
            kind="arrangement",
            credit=0.75,
            says="The numbers are right, but in lists. Return a tensor of the shape of the weights.",
            answers=in_two_calls(lambda w, p, training: dropped_out(w, p, training).tolist()),
        ),
        Misconception(
            "noise instead of a mask",
            kind="wrong formula",
            credit=0.25,
            says="Your weights are multiplied by the random numbers themselves. Compare these with p first: an entry "
            "stays or goes.",
            answers=in_two_calls(lambda w, p, training: w * even(w, w.shape, random()) if training else w.clone()),
        ),
        Misconception(
            "rows renormalised",
            kind="wrong formula",
            credit=0.5,
            says="In your results, what is left of each row is divided by its sum. Multiply all survivors by 1/(1 − p) "
            "instead.",
            answers=in_two_calls(renormalised),
        ),
        Misconception(
            "same entries in each call",
            kind="hard-coded",
            credit=0.75,
            says="Each call drops the same entries, as when a function sets a seed or keeps what it has drawn. Draw "
            "anew each time.",
            change={"seed": 123},
        ),
        Misconception(
            "nothing left to chance",
            kind="missing step",
            credit=0.0,
            says=WITHOUT_CHANCE,
            change={"noise": lambda weights, rng: torch.eye(weights.shape[-1])[0].expand_as(weights)},
        ),
        Misconception(
            "an exact share dropped",
            kind="wrong formula",
            credit=0.75,
            says="Each call drops the same number of entries. Decide for each entry separately, with probability p: "
            "then how many go is up to chance, too.",
            change={"noise": evenly_spread},
        ),
        *PIECES,
    ],
)
