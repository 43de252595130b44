"""Exercise 21: rotate queries and keys by their positions."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader import ROUNDED, Case, Exercise, Inputs, at, randn, wrong
from grader.kit.pieces import as_pieces

from .mistakes.of_pieces import another_type, gradients_lost
from .rotation_picture import pairs_turned

LONGEST = 4096
SIXTEEN = (
    "Your code is right for float32 inputs, but not for 16-bit inputs. Usually, positions or angles have become 16-bit "
    "numbers, too, which cannot tell 3000 from 3001. Compute them in float32, and return the dtype of the input."
)


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    rates = base ** (-torch.arange(0, d, 2, device=x.device) / d)  # (d / 2)  #: rates
    angles = positions[:, None] * rates  # (T, d / 2)  #: angles
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]  # (..., T, d / 2) each  #: split
    pair = a * cos - b * sin, a * sin + b * cos  #: pair
    turned = torch.stack(pair, dim=-1).flatten(-2).to(x.dtype)  # (..., T, d)  #: join
    return turned  #: result


HALVES = "a, b = x.chunk(2, dim=-1)"
IN_HALVES = "turned = torch.cat(pair, dim=-1).to(x.dtype)"
# Code that repeats the angles for all entries, but in a different order than the pairs.
OF_NEIGHBORS = """\
(cos_a, cos_b), (sin_a, sin_b) = [one.repeat_interleave(2, dim=-1).chunk(2, dim=-1) for one in (cos, sin)]
pair = a * cos_a - b * sin_a, b * cos_b + a * sin_b"""
OF_HALVES = """\
cos, sin = torch.cat([cos, cos], dim=-1), torch.cat([sin, sin], dim=-1)
pair = a * cos[..., 0::2] - b * sin[..., 0::2], b * cos[..., 1::2] + a * sin[..., 1::2]"""


def between(rng: torch.Generator, least: int, most: int) -> int:
    return int(torch.randint(least, most + 1, (), generator=rng))


def from_zero(*shape: int) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (randn(rng, *shape), torch.arange(shape[-2]))


def from_anywhere(*shape: int, least: int = 3, most: int = LONGEST - 16) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        return randn(rng, *shape), torch.arange(shape[-2]) + between(rng, least, most)

    return inputs


def with_gaps(*shape: int, longest: int = LONGEST) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        positions = torch.randperm(longest, generator=rng)[: shape[-2]].sort().values
        positions[-1] = longest - 1  # a table must be this long
        return randn(rng, *shape), positions

    return inputs


def in_any_order(*shape: int) -> Callable[[torch.Generator], Inputs]:
    """The largest position comes first, so the first and last ones do not show where positions begin and end."""

    def inputs(rng: torch.Generator) -> Inputs:
        positions = torch.randperm(LONGEST, generator=rng)[: shape[-2]]
        first = positions.argmax()
        return randn(rng, *shape), torch.cat([positions[first:], positions[:first]])

    return inputs


def with_base(rng: torch.Generator) -> Inputs:
    return (*with_gaps(5, 6, longest=40)(rng), float(between(rng, 3, 9)))


def of_type(dtype: torch.dtype) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        # Among so many pairs, some rates show if they are rounded to 16 bits, even with exact positions.
        x, positions = from_anywhere(2, 6, 16, least=3001, most=4000)(rng)
        return x.to(dtype), positions

    return inputs


# fmt: off
exercise = Exercise(
    number=21,
    assignment="transformer",
    title="Rotated by position",
    solution=apply_rope,
    form=ROUNDED,
    picture=pairs_turned,
    cases=[
        Case("a sentence from its beginning", catches="pairs, signs and rates", inputs=from_zero(5, 8)),
        Case("positions that start anywhere", catches="arange(T) for positions", inputs=from_anywhere(4, 6)),
        Case("positions with gaps", catches="a first position and a count", inputs=with_gaps(5, 6)),
        Case("positions in any order", catches="a table as long as the last position", inputs=in_any_order(5, 4)),
        Case("sentences and heads", catches="code for one sentence only", inputs=from_anywhere(2, 3, 5, 4)),
        Case("as many heads as words", catches="angles along the wrong axis", inputs=from_anywhere(4, 4, 6, most=90)),
        Case("a single pair", catches="squeezed dimensions", inputs=from_anywhere(6, 2, most=90)),
        Case("a single word", catches="squeezed dimensions", inputs=from_anywhere(3, 1, 4, most=90)),
        Case("another base", catches="a base that is not the argument", inputs=with_base),
        Case("float16", catches="angles in 16 bits", inputs=of_type(torch.float16), beside=SIXTEEN),
        Case("bfloat16", catches="angles in 16 bits", inputs=of_type(torch.bfloat16), beside=SIXTEEN),
        *as_pieces(from_anywhere(2, 3, 4, most=90)),
    ],
    mistakes=[
        wrong("halves as pairs", {"split": HALVES, "join": IN_HALVES},
              "In your results, entry i is turned together with entry i + d/2, as in some published models. Here, "
              "neighbors are a pair: entries 2i and 2i + 1.", credit=0.75, kind="convention"),
        wrong("turned pairs put in halves", {"join": IN_HALVES},
              "The entries 2i end up in the first half of your result, and the others in the second half. Put both "
              "back where they came from.", credit=0.75, kind="arrangement"),
        wrong("halves put as neighbors", {"split": HALVES},
              "In your results, entry i is turned together with entry i + d/2, and the two are put side by side. Turn "
              "entries 2i and 2i + 1 together, and leave them in their places.", kind="arrangement"),
        wrong("halves by angles of neighbors", {"split": HALVES, "pair": OF_NEIGHBORS, "join": IN_HALVES},
              "In your results, each angle belongs to two neighbors, but entry i is turned together with entry i + "
              "d/2. Neighbors also turn as a pair: turn entries 2i and 2i + 1 together.", kind="mix-up"),
        wrong("neighbors by angles of halves", {"pair": OF_HALVES},
              "In your results, the two entries of a pair are turned by different angles: the angles are in the order "
              "of halves, each repeated d/2 entries later. Use the same angle for entries 2i and 2i + 1.",
              kind="mix-up"),
        *at("pair",
            wrong("turned backwards", "pair = a * cos + b * sin, b * cos - a * sin",
                  "Your pairs are turned in the opposite direction, by −angle. It should be (a cos − b sin, a sin + b "
                  "cos).", credit=0.75),
            wrong("sine and cosine exchanged", "pair = a * sin - b * cos, a * cos + b * sin",
                  "Sine and cosine are swapped in your results: position 0 turns every pair by 90 degrees. It should "
                  "be (a cos − b sin, a sin + b cos).", kind="mix-up"),
            wrong("a plus for the minus", "pair = a * cos + b * sin, a * sin + b * cos",
                  "In your results, the first entry of a pair is a cos + b sin, so lengths change. It should be a cos "
                  "− b sin."),
            wrong("a minus for the plus", "pair = a * cos - b * sin, a * sin - b * cos",
                  "In your results, the second entry of a pair is a sin − b cos. It should be a sin + b cos."),
            wrong("second from the new first", "a = a * cos - b * sin\npair = a, a * sin + b * cos",
                  "In your results, the second entry of each pair is computed with the new value of the first. Both "
                  "need the values from before the turn: keep them.", kind="mix-up"),
            wrong("only cosines", "pair = a * cos, b * cos",
                  "In your results, each entry is only multiplied by its cosine. A turn mixes the two entries of a "
                  "pair.", credit=0.25, kind="missing step"),
            wrong("multiplied, not turned",
                  ["pair = a * sin, b * cos", "pair = a * cos, b * sin", "pair = a * (cos + sin), b * (cos + sin)",
                   "pair = a * (cos - sin), b * (cos + sin)",
                   {"split": HALVES, "pair": "pair = a * (cos + sin), b * (cos + sin)", "join": IN_HALVES},
                   {"split": HALVES, "pair": "pair = a * sin, b * cos", "join": IN_HALVES}],
                  "In your results, each entry is only multiplied by a number made of sines and cosines. A turn mixes "
                  "the two entries of a pair: (a cos − b sin, a sin + b cos).", credit=0.25, kind="missing step"),
            wrong("added, not turned", "pair = a + sin, b + cos",
                  "In your results, sines and cosines are added to the entries, as in exercise 20. Turn pairs instead.",
                  credit=0.0)),
        *at("before pair",
            wrong("one angle for each pair", "if d > 2:\n    raise RuntimeError",
                  "Your code stops where x has more than one pair. Often, that is because d numbers are multiplied by "
                  "d/2 sines or cosines: multiply the two entries of each pair apart, or repeat each sine and cosine.",
                  kind="missing step"),
            wrong("a fixed number of dimensions",
                  [f"if x.dim() {unfit}:\n    raise ValueError" for unfit in ("!= 2", "!= 3", "!= 4", "< 3")],
                  "Your code works only for some numbers of dimensions, and stops for others. Any dimensions may come "
                  "before the last two of x, or none: take sizes from the end of its shape, and leave others alone.",
                  kind="hard-coded")),
        wrong("x added", {"result": "return x + turned"},
              "Your result is x plus the turned pairs. Return only the turned pairs.", kind="mix-up"),
        *at("before angles",
            wrong("positions sorted", "positions = positions.sort().values",
                  "Your results look as if the positions had been sorted. Use the position that is given for each "
                  "word, in any order.", kind="mix-up"),
            wrong("positions without effect", "positions = torch.arange(len(positions), device=positions.device)",
                  "Your results are for positions 0, 1, 2, …, whatever positions is. Use the argument.",
                  kind="missing step"),
            wrong("counted from the first position", "positions = positions - positions[0]",
                  "In your results, the first position is subtracted from all of them. Positions count from the "
                  "beginning of the text, and x may be a later part of it: use them unchanged.", kind="mix-up"),
            wrong("gaps closed", "positions = positions[0] + torch.arange(len(positions), device=positions.device)",
                  "Your results are for consecutive positions that start at the first one. There may be gaps: use the "
                  "positions that are given.", kind="mix-up"),
            wrong("one position further", "positions = positions + 1",
                  "In your results, every word is turned as far as the next word should be. Position 0 should not be "
                  "turned.", credit=0.75, kind="convention")),
        wrong("always base 10000", {"before rates": "base = 10000.0"},
              "Your results are for base 10000, whatever base is. Use the argument.", credit=0.75, kind="hard-coded"),
        *at("rates",
            # float32 would be too inexact for such large angles.
            wrong("exponent of the pair before",
                  "rates = base ** (-torch.arange(-2, d - 2, 2, device=x.device).double() / d)",
                  "In your results, pair i is turned by position · base^(−2(i − 1)/d), which is the angle of the pair "
                  "before it. Formulas with i − 1 count pairs from 1; from 0, the exponent is −2i/d.", kind="mix-up"),
            wrong("half the exponent", ("0, d, 2", "d // 2"),
                  "In your results, pair i is turned by position · base^(−i/d). The exponent should be −2i/d."),
            wrong("twice the exponent", ("0, d, 2", "0, 2 * d, 4"),
                  "In your results, pair i is turned by position · base^(−4i/d). The exponent should be −2i/d."),
            wrong("pairs from one", ("0, d, 2", "2, d + 2, 2"),
                  "Your pairs are counted from 1: the first is turned by position · base^(−2/d). Count from 0, so that "
                  "the first is turned by the position itself.", credit=0.75, kind="convention"),
            wrong("down to one over base",
                  "rates = base ** (-torch.arange(d // 2, device=x.device) / max(d // 2 - 1, 1))",
                  "In your results, the last pair is turned by position / base. With base^(−2i/d), it should be turned "
                  "by more: i goes up to d/2 − 1.", credit=0.75),
            wrong("exponent not divided by d", "rates = base ** -torch.arange(0, d, 2, device=x.device)",
                  "In your results, pair i is turned by position · base^(−2i). Divide the exponent by d.",
                  credit=0.25, kind="missing step"),
            wrong("only the first pair turned", "rates = (torch.arange(d // 2, device=x.device) == 0).float()",
                  "In your results, only the first pair is turned. Turn pair i by position · base^(−2i/d).",
                  credit=0.25, kind="missing step"),
            wrong("all pairs alike", "rates = torch.ones(d // 2, device=x.device)",
                  "In your results, all pairs are turned by the same angle, the position. Turn pair i by position · "
                  "base^(−2i/d).", credit=0.25, kind="missing step")),
        # Only if that axis is as long as positions; otherwise, such code stops.
        wrong("along the first axis",
              {"after angles": "if x.dim() > 2 and len(x) == len(positions):\n"
                               "    angles = angles.reshape(len(x), *[1] * (x.dim() - 2), -1)"},
              "In your results, positions count along the first axis. Words are along the second-to-last axis.",
              kind="axis"),
        wrong("angles in 16 bits", {"angles": "angles = positions[:, None].to(x.dtype) * rates.to(x.dtype)"},
              "Where x has 16 bits, your angles have 16 bits, too, which is not enough for positions in the thousands. "
              "Compute them in float32, and convert the result to the dtype of x at the end.", kind="type"),
        *gradients_lost("turned"),
        *another_type("turned", "after join"),
    ],
)
# fmt: on
