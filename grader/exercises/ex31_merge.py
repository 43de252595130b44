"""Exercise 31: two pieces of a softmax merged into one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.pieces import as_pieces, asked
from grader.model.forms.softmax_piece import SOFTMAX_PIECE
from grader.sandbox.forms.softmax_piece import put

from .mistakes.pieces import PIECES, unchanged

Tensor = torch.Tensor
Piece = tuple[Tensor, Tensor, Tensor]  # maximum (…, 1), sum (…, 1), output (…, d)


def rescaled(maximum: Tensor, m: Tensor) -> Tensor:
    """What the exponentials of a piece are multiplied by. Those of an empty one are none: −∞ − (−∞) is NaN."""
    return torch.where(maximum == -torch.inf, 0.0, torch.exp(maximum - m))


def shared(mixed: Tensor, total: Tensor) -> Tensor:
    """Divided by the sum, unless nothing is in it."""
    return mixed / torch.where(total == 0, 1.0, total)


def merged(
    m1: Tensor,
    l1: Tensor,
    o1: Tensor,
    m2: Tensor,
    l2: Tensor,
    o2: Tensor,
    *,
    maximum: Callable[[Tensor, Tensor], Tensor] = torch.maximum,
    factor: Callable[[Tensor, Tensor], Tensor] = rescaled,
    add: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor] = lambda l1, l2, a1, a2: a1 * l1 + a2 * l2,
    weight: Callable[[Tensor, Tensor], Tensor] = lambda total, factor: factor * total,
    mix: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor] = lambda w1, o1, w2, o2: w1 * o1 + w2 * o2,
    divide: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda mixed, total, weights: shared(mixed, total),
    after: Callable[[Tensor, Tensor, Tensor], Any] = lambda m, total, o: (m, total, o),
    finish: Callable[[Any], Any] = unchanged,
    dtype: Callable[[Any], Any] = unchanged,
) -> Any:
    m = maximum(m1, m2)  # (…, 1)
    a1, a2 = factor(m1, m), factor(m2, m)
    total = add(l1, l2, a1, a2)  # (…, 1)
    w1, w2 = weight(l1, a1), weight(l2, a2)
    o = divide(mix(w1, o1, w2, o2), total, w1 + w2)  # (…, d)
    return dtype(finish(after(m, total, o)))


def larger_alone(m1: Tensor, l1: Tensor, o1: Tensor, m2: Tensor, l2: Tensor, o2: Tensor) -> Piece:
    first = m1 >= m2
    return torch.maximum(m1, m2), torch.where(first, l1, l2), torch.where(first, o1, o2)


def the_other(m1: Tensor, l1: Tensor, o1: Tensor, m2: Tensor, l2: Tensor, o2: Tensor) -> Piece:
    """The other piece, if any row of one is empty."""
    first, second = (m1, l1, o1), (m2, l2, o2)
    if bool((m1 == -torch.inf).any()):
        return second
    return first if bool((m2 == -torch.inf).any()) else merged(*first, *second)


def piece(scores: Tensor, values: Tensor) -> Piece:
    """The piece of a softmax over these scores (…, S) and values (…, S, d); rows whose scores are all −∞ are empty."""
    m = scores.amax(-1, keepdim=True)
    exp = torch.exp(scores - m.nan_to_num(neginf=0.0))  # (…, S)
    total = exp.sum(-1, keepdim=True)
    return m, total, (exp[..., None, :] @ values)[..., 0, :] / total.clamp(min=1.0)


def drawn(rng: torch.Generator, shape: tuple[int, ...], S: int, d: int, scores: Tensor | None = None) -> Piece:
    return piece(2 * randn(rng, *shape, S) if scores is None else scores, randn(rng, *shape, S, d))


def emptied(one: Piece, rows: Tensor) -> Piece:
    """The same with nothing in these rows."""
    m, total, o = one
    return m.masked_fill(rows, -torch.inf), total.masked_fill(rows, 0.0), o.masked_fill(rows, 0.0)


def sized(shape: tuple[int, ...], S1: int, S2: int, d: int) -> Callable[[torch.Generator], Inputs]:
    """Pieces of S1 and of S2 keys for queries of this shape."""
    return lambda rng: (*drawn(rng, shape, S1, d), *drawn(rng, shape, S2, d))


def with_empty(which: str) -> Callable[[torch.Generator], Inputs]:
    """Eight queries: all rows of the first piece empty, of the second, of both but for one, or some of each."""

    def inputs(rng: torch.Generator) -> Inputs:
        first, second = drawn(rng, (2, 4), 3, 5), drawn(rng, (2, 4), 2, 5)
        of_first = {"first": [1] * 8, "second": [0] * 8, "both": [1] * 7 + [0], "some": [0, 1, 0, 1, 1, 0, 1, 0]}[which]
        of_second = {"first": [0] * 8, "second": [1] * 8, "both": [1] * 7 + [0], "some": [0, 0, 1, 1, 0, 1, 1, 0]}[
            which
        ]
        rows = [torch.tensor(each).bool().reshape(2, 4, 1) for each in (of_first, of_second)]
        return (*emptied(first, rows[0]), *emptied(second, rows[1]))

    return inputs


def whole(rng: torch.Generator) -> Inputs:
    """Scores of −2 … 0, and a half less, so that maxima are 0 here and there."""
    scores = torch.randint(-2, 1, (6, 7), generator=rng) - torch.tensor([0.0] * 3 + [0.5] * 4)
    return (*drawn(rng, (6,), 3, 2, scores[:, :3]), *drawn(rng, (6,), 4, 2, scores[:, 3:]))


def of_equal_maxima(rng: torch.Generator) -> Inputs:
    """In all rows but the last, the largest score of both pieces is the same, and nothing else."""
    first, second = randn(rng, 5, 3), randn(rng, 5, 4) - 1
    second[:4, 0] = first[:4].amax(-1)
    second[:4, 1:] = torch.minimum(second[:4, 1:], second[:4, :1] - 0.1)
    return (*drawn(rng, (5,), 3, 2, first), *drawn(rng, (5,), 4, 2, second))


def apart(by: float) -> Callable[[torch.Generator], Inputs]:
    """One piece has far larger scores than the other: the first in half of the rows, the second in the others."""

    def inputs(rng: torch.Generator) -> Inputs:
        shift = by * torch.tensor([1.0, -1.0, 1.0, -1.0])[:, None]  # (4, 1)
        return (*drawn(rng, (4,), 3, 2, randn(rng, 4, 3) + shift), *drawn(rng, (4,), 4, 2, randn(rng, 4, 4) - shift))

    return inputs


def large(rng: torch.Generator) -> Inputs:
    """Scores up to ±10⁴, of both signs, all positive, or all negative, and so far from each other that l is 1.

    Code may go by m + log(l), of which float32 has hardly a digit behind the point.
    """
    order = torch.stack([torch.randperm(7, generator=rng) for _ in range(4)])  # (4, 7)
    scores = (order - torch.tensor([[3.0], [-0.5], [7.5], [3.0]])) * 1300
    return (*drawn(rng, (4,), 3, 2, scores[:, :3]), *drawn(rng, (4,), 4, 2, scores[:, 3:]))


exercise = Exercise(
    number=31,
    assignment="fast_attention",
    title="Softmax in pieces",
    entry="merge",
    form=SOFTMAX_PIECE,
    reference=asked(merged, put),
    cases=[
        Case(
            "pieces of two heads", catches="outputs that are averaged or not rescaled", inputs=sized((2, 3, 4), 3, 6, 5)
        ),
        Case("one query", catches="dimensions that are taken for granted", inputs=sized((), 4, 2, 3)),
        Case("values of one number", catches="squeezed dimensions", inputs=sized((3,), 2, 2, 1)),
        Case("pieces of one key", catches="sums that are not 1 · exp(0)", inputs=sized((5,), 1, 1, 4)),
        Case("as many queries as entries", catches="a maximum over queries", inputs=sized((4,), 7, 3, 4)),
        Case("whole numbers", catches="a maximum of 0 that is taken for nothing", inputs=whole),
        Case(
            "maxima that are equal",
            catches="pieces that are taken for equal, too",
            inputs=of_equal_maxima,
            beside="Your code is right, except where the maxima of both pieces are equal. There, too, each piece "
            "counts by its l.",
        ),
        Case("scores far apart", catches="exponents with the wrong sign", inputs=apart(14.0)),
        Case("an empty first piece", catches="weights of an empty piece", inputs=with_empty("first")),
        Case("an empty second piece", catches="weights of an empty piece", inputs=with_empty("second")),
        Case(
            "rows empty here and there", catches="−∞ − (−∞), looked at for all rows at once", inputs=with_empty("some")
        ),
        Case(
            "two pieces that are empty but for one row",
            catches="a division by a sum of nothing",
            inputs=with_empty("both"),
        ),
        Case("scores of ±10⁴", catches="exponentials that overflow, or vanish all", inputs=large),
        *as_pieces(sized((2, 3), 3, 4, 4)),
    ],
    misconceptions=[
        Misconception(
            "sums not rescaled",
            kind="missing step",
            credit=0.5,
            says="Your l is l1 + l2. Each piece has subtracted its own maximum: first multiply its sum by exp(its "
            "maximum − the new one).",
            change={"add": lambda l1, l2, a1, a2: l1 + l2},
        ),
        Misconception(
            "sums not rescaled, outputs right",
            kind="missing step",
            credit=0.75,
            says="Your output is right, but your l is l1 + l2. Each piece has subtracted its own maximum: first "
            "multiply its sum by exp(its maximum − the new one).",
            change={
                "add": lambda l1, l2, a1, a2: l1 + l2,
                "divide": lambda mixed, total, weights: shared(mixed, weights),
            },
        ),
        Misconception(
            "logsumexp for m, and l always 1",
            kind="convention",
            credit=0.75,
            says="Your m is the logarithm of the sum of all exponentials, and your l is 1. No number is lost that way, "
            "but m should be the maximum, and l the sum of exp(score − m).",
            change={"after": lambda m, total, o: (m + total.log(), torch.ones_like(total), o)},
        ),
        Misconception(
            "outputs not rescaled",
            kind="missing step",
            credit=0.5,
            says="In your output, the pieces have the weights l1 and l2, divided by the new sum, but without exp(their "
            "maximum − the new one).",
            change={"weight": lambda total, factor: total},
        ),
        Misconception(
            "outputs weighed by sums alone",
            kind="wrong formula",
            credit=0.5,
            says="In your output, the pieces have weights in the ratio of l1 to l2. Each of these belongs to its own "
            "maximum, and must be multiplied by exp(that maximum − the new one).",
            change={
                "weight": lambda total, factor: total,
                "divide": lambda mixed, total, weights: shared(mixed, weights),
            },
        ),
        Misconception(
            "outputs weighed by maxima alone",
            kind="wrong formula",
            credit=0.5,
            says="In your output, the pieces have weights in proportion to their exp(maximum), as if each had one key. "
            "The weights should be l1 and l2, rescaled.",
            change={
                "weight": lambda total, factor: factor,
                "divide": lambda mixed, total, weights: shared(mixed, weights),
            },
        ),
        Misconception(
            "outputs taken for sums",
            kind="mix-up",
            credit=0.5,
            says="Your output is the one for pieces whose outputs are not yet divided by their sums. Here they are: "
            "multiply by l1 and l2 first.",
            change={"weight": lambda total, factor: factor},
        ),
        Misconception(
            "not divided by the sum",
            kind="missing step",
            credit=0.5,
            says="Your output is the right one times the new sum. Divide by it: outputs are normalised.",
            change={"divide": lambda mixed, total, weights: mixed},
        ),
        Misconception(
            "outputs averaged",
            kind="wrong formula",
            credit=0.25,
            says="Your output is the mean of both. Each piece should count as much as its exponentials sum up to.",
            change={
                "mix": lambda w1, o1, w2, o2: (o1 + o2) / 2,
                "divide": lambda mixed, total, weights: mixed,
            },
        ),
        Misconception(
            "outputs added",
            kind="wrong formula",
            credit=0.25,
            says="Your output is o1 + o2. Each piece should count as much as its exponentials sum up to, and all "
            "together as 1.",
            change={"mix": lambda w1, o1, w2, o2: o1 + o2, "divide": lambda mixed, total, weights: mixed},
        ),
        Misconception(
            "not rescaled",
            kind="missing step",
            credit=0.25,
            says="Your results are those of sums that are taken as they are. Each piece has subtracted its own "
            "maximum: first multiply its sum by exp(its maximum − the new one).",
            change={"factor": lambda maximum, m: torch.ones_like(m)},
        ),
        Misconception(
            "weights exchanged",
            kind="mix-up",
            credit=0.5,
            says="In your output, o1 has the weight of the second piece, and o2 that of the first.",
            change={"mix": lambda w1, o1, w2, o2: w2 * o1 + w1 * o2},
        ),
        Misconception(
            "one maximum for all",
            kind="axis",
            credit=0.5,
            says="Your m is the largest maximum of all queries. Each row has a maximum of its own: torch.maximum.",
            change={"maximum": lambda m1, m2: torch.maximum(m1, m2).max().expand_as(m1)},
        ),
        Misconception(
            "the first maximum kept",
            kind="wrong formula",
            credit=0.5,
            says="Your m is m1, even where m2 is larger. The maximum of both is the larger one, row by row.",
            change={"maximum": lambda m1, m2: m1},
        ),
        Misconception(
            "minimum",
            kind="wrong formula",
            credit=0.5,
            says="Your m is the smaller one of the maxima. The maximum over both pieces is the larger one.",
            change={"maximum": torch.minimum},
        ),
        Misconception(
            "exponent with the wrong sign",
            kind="wrong formula",
            credit=0.5,
            says="Your pieces are multiplied by exp(new maximum − theirs), which is never below one. It should be "
            "exp(theirs − the new one).",
            change={"factor": lambda maximum, m: torch.exp(m - maximum)},
        ),
        Misconception(
            "base two",
            kind="wrong formula",
            credit=0.5,
            says="Your pieces are rescaled by powers of 2. Use torch.exp.",
            change={"factor": lambda maximum, m: torch.where(maximum == -torch.inf, 0.0, torch.exp2(maximum - m))},
        ),
        Misconception(
            "NaN where both are empty",
            kind="missing step",
            credit=0.75,
            says="Where a row is empty in both pieces, your results are NaN: −∞ − (−∞) is NaN, and so is 0/0. Such a "
            "row must stay empty: m = −∞, l = 0, o = 0.",
            change={"factor": lambda maximum, m: torch.exp(maximum - m)},
        ),
        Misconception(
            "zero divided by zero",
            kind="missing step",
            credit=0.75,
            says="Where a row is empty in both pieces, your output is NaN: 0/0. There it should be 0.",
            change={"divide": lambda mixed, total, weights: mixed / total},
        ),
        Misconception(
            "zero for −∞",
            kind="convention",
            credit=0.75,
            says="Where a row is empty in both pieces, your m is 0. The maximum of nothing is −∞, or the next merge "
            "takes 0 for a score.",
            change={"maximum": lambda m1, m2: torch.maximum(m1, m2).nan_to_num(neginf=0.0)},
        ),
        Misconception(
            "nothing subtracted",
            kind="missing step",
            credit=0.5,
            says="Your results are NaN where scores are large, or far below zero, and where both pieces are empty, as "
            "happens with exp(m1) and exp(m2). Use exp(m1 − m) and exp(m2 − m), which are at most 1, and mind −∞ − "
            "(−∞).",
            change={"factor": lambda maximum, m: torch.exp(maximum) / torch.exp(m)},
        ),
        Misconception(
            "one empty row taken for an empty piece",
            kind="mix-up",
            credit=0.5,
            says="Where one row of a piece is empty, your results are those of the other piece in all rows. Each row "
            "may be empty or not, on its own.",
            answers=asked(the_other, put),
        ),
        Misconception(
            "larger piece alone",
            kind="missing step",
            credit=0.25,
            says="Your results are those of the piece with the larger maximum. The other one counts, too.",
            answers=asked(larger_alone, put),
        ),
        Misconception(
            "logarithm of the sum",
            kind="mix-up",
            credit=0.5,
            says="Your second result is m + log(l). It should be l itself, the sum of exp(score − m).",
            change={"after": lambda m, total, o: (m, m + total.log(), o)},
        ),
        Misconception(
            "output alone",
            kind="missing step",
            credit=0.5,
            says="You return the output alone. Return m, l and o: the next merge needs all three.",
            change={"after": lambda m, total, o: o},
        ),
        Misconception(
            "output first",
            kind="arrangement",
            credit=0.5,
            says="You return o, m, l. The order is m, l, o.",
            change={"after": lambda m, total, o: (o, m, total)},
        ),
        Misconception(
            "maximum and sum exchanged",
            kind="arrangement",
            credit=0.5,
            says="You return l, m, o. The order is m, l, o.",
            change={"after": lambda m, total, o: (total, m, o)},
        ),
        Misconception(
            "last dimension lost",
            kind="arrangement",
            credit=0.5,
            says="Your m and l have lost their last dimension. They must keep it, as m1 and l1 do: (…, 1).",
            change={"after": lambda m, total, o: (m.squeeze(-1), total.squeeze(-1), o)},
        ),
        *PIECES,
    ],
)
