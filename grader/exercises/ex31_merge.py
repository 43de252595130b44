"""Exercise 31: merge two pieces of a softmax."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from grader import TENSORS, Case, Exercise, Inputs, Misconception, at, put_once, randn, wrong
from grader.kit.pieces import as_pieces

from .mistakes.of_pieces import another_type, gradients_lost

Tensor = torch.Tensor
Piece = tuple[Tensor, Tensor, Tensor]  # maximum (…, 1), sum (…, 1), output (…, d)


def merge(m1, l1, o1, m2, l2, o2):
    m = torch.maximum(m1, m2)  # (..., 1)  #: maximum
    subtracted = torch.where(m == -math.inf, 0.0, m)  # -inf - (-inf) is NaN
    a1, a2 = torch.exp(m1 - subtracted), torch.exp(m2 - subtracted)  #: rescale
    w1, w2 = a1 * l1, a2 * l2
    l = w1 + w2  #: sum
    mixed = w1 * o1 + w2 * o2  # (..., d)  #: mix
    o = mixed / torch.where(l == 0, 1.0, l)  #: divide
    return m, l, o  #: result


# For mistakes whose maximum may be −∞ although a piece is not empty.
EMPTY_WEIGH_NOTHING = {
    "rescale": "a1, a2 = (torch.where(old == -math.inf, 0.0, torch.exp(old - m)) for old in (m1, m2))"
}
BY_WEIGHTS = "o = mixed / torch.where(l == 0, 1.0, w1 + w2)"


def and_nan_of_nothing(mistake: Misconception) -> Misconception:
    """A mistake in the factors of the pieces, also where −∞ is subtracted from −∞."""
    return mistake.add_way({"rescale": mistake.change["rescale"].replace("subtracted", "m")})


def piece(scores: Tensor, values: Tensor) -> Piece:
    """The piece of a softmax over these scores (…, S) and values (…, S, d); a row is empty if all its scores are −∞."""
    m = scores.amax(-1, keepdim=True)
    exp = torch.exp(scores - m.nan_to_num(neginf=0.0))  # (…, S)
    total = exp.sum(-1, keepdim=True)
    return m, total, (exp[..., None, :] @ values)[..., 0, :] / total.clamp(min=1.0)


def drawn(rng: torch.Generator, shape: tuple[int, ...], S: int, d: int, scores: Tensor | None = None) -> Piece:
    return piece(2 * randn(rng, *shape, S) if scores is None else scores, randn(rng, *shape, S, d))


def emptied(softmax_piece: Piece, rows: Tensor) -> Piece:
    """The piece with these rows empty."""
    m, total, o = softmax_piece
    return m.masked_fill(rows, -torch.inf), total.masked_fill(rows, 0.0), o.masked_fill(rows, 0.0)


def sized(shape: tuple[int, ...], S1: int, S2: int, d: int) -> Callable[[torch.Generator], Inputs]:
    """Pieces of S1 and S2 keys, for queries of this shape."""
    return lambda rng: (*drawn(rng, shape, S1, d), *drawn(rng, shape, S2, d))


# Which of eight rows are empty in the first piece, and in the second.
EMPTY_ROWS = {
    "first": ([1] * 8, [0] * 8),
    "second": ([0] * 8, [1] * 8),
    "both": ([1] * 7 + [0], [1] * 7 + [0]),
    "some": ([0, 1, 0, 1, 1, 0, 1, 0], [0, 0, 1, 1, 0, 1, 1, 0]),
}


def with_empty(empty_side: str) -> Callable[[torch.Generator], Inputs]:
    """Eight queries. All rows of the first piece are empty, of the second, of both except one, or some of each.

    Beside an empty first piece, the second has a single key: its sum is no more than 1.
    """

    def inputs(rng: torch.Generator) -> Inputs:
        first, second = drawn(rng, (2, 4), 3, 5), drawn(rng, (2, 4), 1 if empty_side == "first" else 2, 5)
        rows = [torch.tensor(flags).bool().reshape(2, 4, 1) for flags in EMPTY_ROWS[empty_side]]
        return (*emptied(first, rows[0]), *emptied(second, rows[1]))

    return inputs


def whole(rng: torch.Generator) -> Inputs:
    """Scores of −2, −1 and 0, and in the second piece half a point less, so that some maxima are 0."""
    scores = torch.randint(-2, 1, (6, 7), generator=rng) - torch.tensor([0.0] * 3 + [0.5] * 4)
    return (*drawn(rng, (6,), 3, 2, scores[:, :3]), *drawn(rng, (6,), 4, 2, scores[:, 3:]))


def of_equal_maxima(rng: torch.Generator) -> Inputs:
    """In all rows but the last, both pieces have the same largest score; all other scores differ."""
    first, second = randn(rng, 5, 3), randn(rng, 5, 4) - 1
    second[:4, 0] = first[:4].amax(-1)
    second[:4, 1:] = torch.minimum(second[:4, 1:], second[:4, :1] - 0.1)
    return (*drawn(rng, (5,), 3, 2, first), *drawn(rng, (5,), 4, 2, second))


def apart(by: float) -> Callable[[torch.Generator], Inputs]:
    """One piece has far larger scores than the other: the first in half of the rows, the second in the rest."""

    def inputs(rng: torch.Generator) -> Inputs:
        shift = by * torch.tensor([1.0, -1.0, 1.0, -1.0])[:, None]  # (4, 1)
        return (*drawn(rng, (4,), 3, 2, randn(rng, 4, 3) + shift), *drawn(rng, (4,), 4, 2, randn(rng, 4, 4) - shift))

    return inputs


def large(rng: torch.Generator) -> Inputs:
    """Scores up to ±10⁴, of both signs, all positive, or all negative, and so far from each other that l is 1.

    Code may work with m + log(l), for which float32 has few decimal places.
    """
    order = torch.stack([torch.randperm(7, generator=rng) for _ in range(4)])  # (4, 7)
    scores = (order - torch.tensor([[3.0], [-0.5], [7.5], [3.0]])) * 1300
    return (*drawn(rng, (4,), 3, 2, scores[:, :3]), *drawn(rng, (4,), 4, 2, scores[:, 3:]))


def probe(function: Callable[..., Any], *inputs: Any) -> Any:
    """The result of one call, or its gradients.

    Gradients are asked of the output and of the logarithm of the sum over all scores. Neither depends on which number
    was subtracted from the scores, so code may let gradients through the maximum or not. An empty piece has the sum 0,
    and no logarithm.
    """

    def logsumexp_and_output(*arguments: Any) -> list[Tensor]:
        maximum, total, output = function(*arguments)
        return [maximum + total.masked_fill(total == 0, 1.0).log(), output]

    return put_once(logsumexp_and_output if isinstance(inputs[-1], dict) else function, inputs)


def read(value: Any, *inputs: Any) -> Any:
    """Gradients of rows that are empty in both pieces may be any numbers; if one is NaN, which ones are is chance."""
    all_gradients = value.get("gradients") if isinstance(value, dict) else None
    if not isinstance(all_gradients, dict):
        return value
    gradients = {name: gradient for name, gradient in all_gradients.items() if gradient is not None}
    empty = (inputs[0] == -math.inf) & (inputs[3] == -math.inf)  # (…, 1)
    factor = math.nan if any(bool(one.isnan().any()) for one in gradients.values()) else 1.0
    counted = {name: torch.where(empty, 0.0, one) * factor for name, one in gradients.items()}
    return {**value, "gradients": {**all_gradients, **counted}}


LOGSUMEXP = (
    "Your m is the logarithm of the sum of all exponentials, and your l is 1. Nothing is lost that way, but return the "
    "maximum as m, and the sum of exp(score − m) as l."
)


# fmt: off
exercise = Exercise(
    number=31,
    assignment="fast_attention",
    title="Softmax in pieces",
    solution=merge,
    form=TENSORS,
    probe=probe,
    read=read,
    cases=[
        Case("pieces of two heads", catches="outputs that are averaged or not rescaled",
             inputs=sized((2, 3, 4), 3, 6, 5)),
        Case("one query", catches="dimensions that are taken for granted", inputs=sized((), 4, 2, 3)),
        Case("values of one number", catches="squeezed dimensions", inputs=sized((3,), 2, 2, 1)),
        Case("pieces of one key", catches="sums that are not 1 · exp(0)", inputs=sized((5,), 1, 1, 4)),
        Case("as many queries as entries", catches="a maximum over queries", inputs=sized((4,), 7, 3, 4)),
        Case("whole numbers", catches="a maximum of 0 that is taken for nothing", inputs=whole),
        Case("maxima that are equal", catches="pieces that are taken for equal, too", inputs=of_equal_maxima,
             beside="Your code is right, except where both pieces have the same maximum. There, too, weight each piece "
                    "by its own l."),
        Case("scores far apart", catches="exponents with the wrong sign", inputs=apart(14.0)),
        Case("an empty first piece", catches="weights of an empty piece", inputs=with_empty("first")),
        Case("an empty second piece", catches="weights of an empty piece", inputs=with_empty("second")),
        Case("rows empty here and there", catches="−∞ − (−∞), looked at for all rows at once",
             inputs=with_empty("some")),
        Case("two pieces that are empty but for one row", catches="a division by a sum of nothing",
             inputs=with_empty("both")),
        Case("scores of ±10⁴", catches="exponentials that overflow, or vanish all", inputs=large),
        *as_pieces(sized((2, 3), 3, 4, 4)),
        Case("gradients where rows are empty", catches="NaN on the way back",
             inputs=lambda rng: (*with_empty("both")(rng), {"gradients": True}),
             beside="The numbers are right, but the gradients are not where a row is empty in both pieces."),
    ],
    mistakes=[
        wrong("sums taken for logsumexp",
              {"sum": "w1, w2 = torch.exp(l1 - m), torch.exp(l2 - m)\nl = m + torch.log(w1 + w2)",
               "divide": "o = mixed / (w1 + w2)"},
              "Your results look as if l were the logsumexp of a piece. It is the sum of exp(score − m): weigh each "
              "piece by exp(its m − the new m) times its l.", kind="convention"),
        wrong("sums not rescaled", {"sum": "l = l1 + l2"},
              "Your l is l1 + l2. Each piece has subtracted its own maximum, so first multiply its sum by exp(its "
              "maximum − the new one).", kind="missing step"),
        wrong("sums not rescaled, outputs divided by rescaled ones", {"sum": "l = l1 + l2", "divide": BY_WEIGHTS},
              "Your l is l1 + l2, although your output is divided by a rescaled sum. Each piece has subtracted its own "
              "maximum, so first multiply its sum by exp(its maximum − the new one).",
              credit=0.75, kind="missing step"),
        *at("sum",
            wrong("first sum alone rescaled", "l = w1 + l2",
                  "In your l, only l1 is rescaled. Either piece may have the smaller maximum: multiply l2 by exp(m2 − "
                  "m), too.", kind="missing step"),
            wrong("second sum alone rescaled", "l = l1 + w2",
                  "In your l, only l2 is rescaled. Either piece may have the smaller maximum: multiply l1 by exp(m1 − "
                  "m), too.", kind="missing step")),
        *at("mix",
            wrong("first output alone rescaled", "mixed = w1 * o1 + l2 * o2",
                  "In your output, o2 has the weight l2, which still belongs to m2. Multiply it by exp(m2 − m), too.",
                  kind="missing step"),
            wrong("second output alone rescaled", "mixed = l1 * o1 + w2 * o2",
                  "In your output, o1 has the weight l1, which still belongs to m1. Multiply it by exp(m1 − m), too.",
                  kind="missing step"),
            wrong("second output taken for a sum", "mixed = w1 * o1 + a2 * o2",
                  "In your output, o2 is treated as if it were not yet divided by its sum. It is: multiply it by l2 "
                  "first, as you do with o1 and l1.", kind="mix-up"),
            wrong("first output taken for a sum", "mixed = a1 * o1 + w2 * o2",
                  "In your output, o1 is treated as if it were not yet divided by its sum. It is: multiply it by l1 "
                  "first, as you do with o2 and l2.", kind="mix-up")),
        wrong("logsumexp for m, and l always 1",
              [{"result": "return m + torch.log(l), torch.ones_like(l), o"},
               {"result": "return m + torch.log(l), torch.where(l == 0, l, 1.0), o"},
               {"divide": "o = mixed / l", "result": "return m + torch.log(l), l / l, o"}],
              LOGSUMEXP, credit=0.75, kind="convention"),
        wrong("logsumexp for m", {"result": "return m + torch.log(l), l, o"},
              "Your m is the logarithm of the sum of all exponentials. Return the maximum as m: your l is a sum of "
              "exp(score − maximum).", kind="mix-up"),
        *at("result",
            wrong("sum of plain exponentials",
                  ["return m, torch.exp(m) * l, o",
                   "return m, torch.exp(m) * l, mixed / l"],
                  "Your l is the sum of exp(score). Return the sum of exp(score − m), which cannot overflow.",
                  kind="convention")),
        *at("after sum",
            wrong("outputs not rescaled", "w1, w2 = l1, l2",
                  "In your output, the pieces have the weights l1 and l2, divided by the new sum. The factor exp(their "
                  "maximum − the new one) is missing: multiply l1 and l2 by it.", kind="missing step"),
            wrong("outputs weighed by sums alone", "w1, w2 = l1, l2",
                  "In your output, the pieces are weighted in the ratio of l1 to l2. Each of these belongs to its own "
                  "maximum: multiply it by exp(that maximum − the new one).", also={"divide": BY_WEIGHTS}),
            wrong("outputs weighed by maxima alone", "w1, w2 = a1, a2",
                  "In your output, the pieces are weighted by exp(maximum) alone, as if each had one key. Use l1 and "
                  "l2, rescaled, as weights.", also={"divide": BY_WEIGHTS}),
            wrong("outputs taken for sums", "w1, w2 = a1, a2",
                  "In your output, o1 and o2 are treated as if they were not yet divided by their sums. They are: "
                  "multiply by l1 and l2 first.", kind="mix-up")),
        *at("divide",
            wrong("not divided by the sum", "o = mixed",
                  "Your output is too large by a factor of the new sum. Divide by that sum: outputs are normalized.",
                  kind="missing step"),
            wrong("divided by the old sums", "o = mixed / torch.where(l == 0, 1.0, l1 + l2)",
                  "Your output is divided by l1 + l2. Divide by the new sum, in which both are rescaled.",
                  kind="mix-up")),
        wrong("outputs averaged", {"mix": "", "divide": "o = (o1 + o2) / 2"},
              "Your output is the mean of o1 and o2. Weight each piece by the sum of its exponentials."),
        wrong("outputs added", {"mix": "", "divide": "o = o1 + o2"},
              "Your output is o1 + o2. Weight each piece by the sum of its exponentials; together, the weights must "
              "sum to 1."),
        wrong("not rescaled", {"rescale": "a1, a2 = torch.ones_like(m), torch.ones_like(m)"},
              "Your results look as if l1 and l2 were used without rescaling. Each piece has subtracted its own "
              "maximum, so first multiply its sum by exp(its maximum − the new one).",
              credit=0.25, kind="missing step"),
        wrong("sums without effect", {"sum": "w1, w2 = a1, a2\nl = w1 + w2"},
              "Your results look as if l1 and l2 were 1, that is, as if each piece had one key. The weight of a piece "
              "is exp(its maximum − the new one) times its l.", kind="missing step"),
        wrong("weights exchanged", {"mix": "mixed = w2 * o1 + w1 * o2"},
              "In your output, o1 has the weight of the second piece, and o2 that of the first. Swap them back.",
              kind="mix-up"),
        *at("maximum",
            wrong("one maximum for all", "m = torch.maximum(m1, m2).max().expand_as(m1)",
                  "Your m is the largest maximum of all queries. Each row has its own maximum: use torch.maximum.",
                  kind="axis"),
            wrong("the first maximum kept", "m = m1",
                  "Your m is m1, even where m2 is larger. Take the larger one in each row.", also=EMPTY_WEIGH_NOTHING),
            wrong("logaddexp for maximum", "m = torch.logaddexp(m1, m2)",
                  "Your m is log(exp(m1) + exp(m2)), as from logaddexp or logsumexp. Take the larger of m1 and m2.",
                  kind="mix-up"),
            wrong("maximum of logsumexps", "m = torch.maximum(m1 + torch.log(l1), m2 + torch.log(l2))",
                  "Your m is the larger of m1 + log(l1) and m2 + log(l2). Take the larger of m1 and m2.",
                  kind="mix-up"),
            wrong("minimum", "m = torch.minimum(m1, m2)",
                  "Your m is the smaller of the two maxima. Take the larger one.", also=EMPTY_WEIGH_NOTHING)),
        *map(and_nan_of_nothing, at("rescale",
            wrong("first piece alone rescaled", "a1, a2 = torch.exp(m1 - subtracted), torch.ones_like(m2)",
                  "Only your first piece is rescaled. Either may have the smaller maximum, so rescale both.",
                  kind="missing step"),
            wrong("second piece alone rescaled", "a1, a2 = torch.ones_like(m1), torch.exp(m2 - subtracted)",
                  "Only your second piece is rescaled. Either may have the smaller maximum, so rescale both.",
                  kind="missing step"),
            wrong("factors exchanged", "a1, a2 = torch.exp(m2 - subtracted), torch.exp(m1 - subtracted)",
                  "Your first piece is multiplied by exp(m2 − m), and your second by exp(m1 − m). Swap them: each "
                  "piece needs the factor of its own maximum.", kind="mix-up"),
        )),
        *at("rescale",
            wrong("rescaled by the other maximum", "a1, a2 = torch.exp(m1 - m2), torch.exp(m2 - m1)",
                  "Your pieces are multiplied by exp(their maximum − the other's). Compare both with the new maximum "
                  "instead: exp(their maximum − m)."),
            wrong("exponent with the wrong sign", "a1, a2 = torch.exp(m - m1), torch.exp(m - m2)",
                  "Your pieces are multiplied by exp(new maximum − theirs), which is never below 1. It is the other "
                  "way around: exp(theirs − the new one)."),
            wrong("base two", "a1, a2 = torch.exp2(m1 - subtracted), torch.exp2(m2 - subtracted)",
                  "Your pieces are rescaled by powers of 2. Use torch.exp."),
            wrong("NaN where both are empty", "a1, a2 = torch.exp(m1 - m), torch.exp(m2 - m)",
                  "Your results are NaN where a row is empty in both pieces: −∞ − (−∞) is NaN, and so is 0/0. Such a "
                  "row must stay empty: m = −∞, l = 0, o = 0.", credit=0.75, kind="missing step")),
        wrong("zero divided by zero", {"divide": "o = mixed / l"},
              "Your output is NaN where a row is empty in both pieces: 0/0 is NaN. Return 0 there.",
              credit=0.75, kind="missing step"),
        wrong("NaN on the way back",
              {"rescale": "a1, a2 = torch.exp(m1 - m).nan_to_num(0.0), torch.exp(m2 - m).nan_to_num(0.0)"},
              "A gradient is NaN where a row is empty in both pieces. What torch.where or nan_to_num throws away still "
              "counts on the way back: let no NaN and no ∞ appear in such a row.",
              credit=0.75, kind="missing step"),
        wrong("zero for −∞", {"maximum": "m = torch.maximum(m1, m2).nan_to_num(neginf=0.0)"},
              "Your m is 0 where a row is empty in both pieces. The maximum of nothing is −∞: with 0, the next merge "
              "would take it for a score.", credit=0.75, kind="convention"),
        wrong("nothing subtracted",
              {"rescale": "a1, a2 = torch.exp(m1) / torch.exp(m), torch.exp(m2) / torch.exp(m)"},
              "Your results are NaN where scores are large, or far below zero, and where both pieces are empty. That "
              "happens with exp(m1) and exp(m2). Use exp(m1 − m) and exp(m2 − m), which are at most 1, and watch out "
              "for −∞ − (−∞).", kind="missing step"),
        wrong("one empty row taken for an empty piece",
              {"before maximum": """
                   if (m1 == -math.inf).any():
                       return m2, l2, o2
                   if (m2 == -math.inf).any():
                       return m1, l1, o1
               """},
              "As soon as one row of a piece is empty, your results are those of the other piece in all rows. Any row "
              "may be empty, whatever the others are: decide row by row.", kind="mix-up"),
        wrong("larger piece alone",
              {"sum": "l = torch.where(m1 >= m2, l1, l2)", "mix": "", "divide": "o = torch.where(m1 >= m2, o1, o2)"},
              "Your results are those of the piece with the larger maximum. The other piece counts, too: merge both.",
              credit=0.25, kind="missing step"),
        *at("result",
            wrong("logarithm of the sum", "return m, m + torch.log(l), o",
                  "Your second result is m + log(l). Return l itself, the sum of exp(score − m).", kind="mix-up"),
            wrong("output alone", "return o",
                  "You return only the output. Return m, l and o: the next merge needs all three.",
                  kind="missing step"),
            wrong("output first", "return o, m, l",
                  "You return o, m, l. The order is m, l, o.", kind="arrangement"),
            wrong("maximum and sum exchanged", "return l, m, o",
                  "You return l, m, o. The order is m, l, o.", kind="arrangement"),
            wrong("last dimension lost", "return m.squeeze(-1), l.squeeze(-1), o",
                  "Your m and l have lost their last dimension. Keep it, as m1 and l1 do: (…, 1).",
                  kind="arrangement")),
        *gradients_lost("m, l, o"), *another_type("m, l, o", "after divide"),
    ],
)
# fmt: on
