"""Exercise 21: queries and keys that are turned by their positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.pieces import as_pieces, asked
from grader.model.forms.rounded import ROUNDED

from .mistakes.pieces import PIECES, unchanged
from .rotation_picture import pairs_turned

Tensor = torch.Tensor
Pair = tuple[Tensor, Tensor]

LONGEST = 4096
SIXTEEN = (
    "Your code is right for float32 inputs, but not for 16-bit inputs. Usually positions or angles have become 16-bit "
    "numbers, too, and there are none between 3000 and 3002 or so: compute them in float32. The result must have the "
    "dtype of the input."
)


def split_neighbours(x: Tensor) -> Pair:
    return x[..., 0::2], x[..., 1::2]


def split_halves(x: Tensor) -> Pair:
    first, second = x.chunk(2, dim=-1)
    return first, second


def join_neighbours(a: Tensor, b: Tensor) -> Tensor:
    return torch.stack([a, b], dim=-1).flatten(-2)


def join_halves(a: Tensor, b: Tensor) -> Tensor:
    return torch.cat([a, b], dim=-1)


def turn(a: Tensor, b: Tensor, cos: Tensor, sin: Tensor) -> Pair:
    return a * cos - b * sin, a * sin + b * cos


def overwritten(a: Tensor, b: Tensor, cos: Tensor, sin: Tensor) -> Pair:
    """The first of a pair is new already when the second is computed."""
    a = a * cos - b * sin
    return a, a * sin + b * cos


def turned_by(join: Callable[[Tensor, Tensor], Tensor], split: Callable[[Tensor], Pair]) -> Callable[..., Pair]:
    """By angles that stand beside all entries, (..., T, d), in an order that is not that of the pairs."""

    def turned(a: Tensor, b: Tensor, cos: Tensor, sin: Tensor) -> Pair:
        (cos_a, cos_b), (sin_a, sin_b) = split(join(cos, cos)), split(join(sin, sin))
        return a * cos_a - b * sin_a, b * cos_b + a * sin_b

    return turned


def rates_with(exponent: Callable[[Tensor, int], Tensor]) -> Callable[[int, float], Tensor]:
    """Angles from one position to the next, base^−exponent, which is a function of the pair and of d."""
    return lambda d, base: base ** -exponent(torch.arange(d // 2).double(), d)


rates_of_pairs = rates_with(lambda pair, d: 2 * pair / d)


def reference(
    x: Tensor,
    positions: Tensor,
    base: float = 10000.0,
    *,
    which_base: Callable[[float], float] = lambda base: base,
    where: Callable[[Tensor], Tensor] = lambda positions: positions,
    rates: Callable[[int, float], Tensor] = rates_of_pairs,
    precise: Callable[[Tensor, torch.dtype], Tensor] = lambda numbers, dtype: numbers.double(),
    along: Callable[[Tensor, Tensor], Tensor] = lambda angles, x: angles,
    split: Callable[[Tensor], Pair] = split_neighbours,
    turned: Callable[[Tensor, Tensor, Tensor, Tensor], Pair] = turn,
    join: Callable[[Tensor, Tensor], Tensor] = join_neighbours,
    finish: Callable[[Any], Any] = unchanged,
    dtype: Callable[[Any], Any] = unchanged,
) -> Any:
    steps = rates(x.shape[-1], which_base(base)).to(x.device)
    angles = precise(where(positions), x.dtype)[:, None] * precise(steps, x.dtype)  # (T, d / 2)
    angles = along(angles, x).double()
    result = join(*turned(*split(x.double()), angles.cos(), angles.sin()))  # (..., T, d)
    return dtype(finish(result.to(x.dtype)))


def in_16_bits(numbers: Tensor, dtype: torch.dtype) -> Tensor:
    return numbers.to(dtype) if dtype in (torch.float16, torch.bfloat16) else numbers.double()


def along_the_first(angles: Tensor, x: Tensor) -> Tensor:
    """The angles of the first axis of several, where there are as many as positions."""
    return angles.reshape(len(angles), *[1] * (x.dim() - 2), -1) if x.dim() > 2 and len(x) == len(angles) else angles


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
        positions[-1] = longest - 1  # whoever makes a table needs all of it
        return randn(rng, *shape), positions

    return inputs


def in_any_order(*shape: int) -> Callable[[torch.Generator], Inputs]:
    """The largest comes first, so that neither the first nor the last tells where they begin and end."""

    def inputs(rng: torch.Generator) -> Inputs:
        positions = torch.randperm(LONGEST, generator=rng)[: shape[-2]]
        first = positions.argmax()
        return randn(rng, *shape), torch.cat([positions[first:], positions[:first]])

    return inputs


def with_base(rng: torch.Generator) -> Inputs:
    return (*with_gaps(5, 6, longest=40)(rng), float(between(rng, 3, 9)))


def of_type(dtype: torch.dtype) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        # With so many pairs there are some whose rate shows that it is rounded to 16 bits, however exact positions are.
        x, positions = from_anywhere(2, 6, 16, least=3001, most=4000)(rng)
        return x.to(dtype), positions

    return inputs


exercise = Exercise(
    number=21,
    assignment="transformer",
    title="Turned by position",
    entry="apply_rope",
    form=ROUNDED,
    reference=asked(reference),
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
    misconceptions=[
        Misconception(
            "halves as pairs",
            kind="convention",
            credit=0.75,
            says="In your results, entry i is turned with entry i + d/2, as in some published models. Here neighbours "
            "are a pair: the entries 2i and 2i + 1.",
            change={"split": split_halves, "join": join_halves},
        ),
        Misconception(
            "turned pairs put in halves",
            kind="arrangement",
            credit=0.75,
            says="The right pairs are turned, but what belongs to the entries 2i is in the first half of the result, "
            "and the rest in the second. Put both back where they came from.",
            change={"join": join_halves},
        ),
        Misconception(
            "halves put as neighbours",
            kind="arrangement",
            credit=0.5,
            says="In your results, entry i is turned with entry i + d/2, and the two are put side by side. The "
            "entries 2i and 2i + 1 are a pair, and stay where they are.",
            change={"split": split_halves},
        ),
        Misconception(
            "halves by angles of neighbours",
            kind="mix-up",
            credit=0.5,
            says="In your results, each angle belongs to two neighbours, but entry i is turned with entry i + d/2. "
            "Neighbours are a pair, too: turn the entries 2i and 2i + 1 with each other.",
            change={"split": split_halves, "turned": turned_by(join_neighbours, split_halves), "join": join_halves},
        ),
        Misconception(
            "neighbours by angles of halves",
            kind="mix-up",
            credit=0.5,
            says="In your results, the right entries are turned with each other, but each by an angle of its own: they "
            "stand in the order of halves, each angle again d/2 entries later. The entries 2i and 2i + 1 have the same "
            "one.",
            change={"turned": turned_by(join_halves, split_neighbours)},
        ),
        Misconception(
            "turned backwards",
            kind="wrong formula",
            credit=0.75,
            says="Your pairs are turned the other way, by −angle. It should be (a cos − b sin, a sin + b cos).",
            change={"turned": lambda a, b, cos, sin: turn(a, b, cos, -sin)},
        ),
        Misconception(
            "sine and cosine exchanged",
            kind="mix-up",
            credit=0.5,
            says="Sine and cosine change places in your results: position 0 turns every pair by a quarter. It should "
            "be (a cos − b sin, a sin + b cos).",
            change={"turned": lambda a, b, cos, sin: turn(a, b, sin, cos)},
        ),
        Misconception(
            "a plus for the minus",
            kind="wrong formula",
            credit=0.5,
            says="In your results, the first of a pair is a cos + b sin. It should be a cos − b sin, or lengths "
            "change.",
            change={"turned": lambda a, b, cos, sin: (a * cos + b * sin, a * sin + b * cos)},
        ),
        Misconception(
            "a minus for the plus",
            kind="wrong formula",
            credit=0.5,
            says="In your results, the second of a pair is a sin − b cos. It should be a sin + b cos.",
            change={"turned": lambda a, b, cos, sin: (a * cos - b * sin, a * sin - b * cos)},
        ),
        Misconception(
            "second from the new first",
            kind="mix-up",
            credit=0.5,
            says="In your results, the second of each pair is computed with the new value of the first. Both need the "
            "values before the turn: keep them.",
            change={"turned": overwritten},
        ),
        Misconception(
            "only cosines",
            kind="missing step",
            credit=0.25,
            says="Each entry is only multiplied by its cosine in your results. A turn mixes the two of a pair.",
            change={"turned": lambda a, b, cos, sin: (a * cos, b * cos)},
        ),
        Misconception(
            "added, not turned",
            kind="wrong formula",
            credit=0.0,
            says="Sines and cosines are added to the entries in your results, as in exercise 20. Turn pairs.",
            change={"turned": lambda a, b, cos, sin: (a + sin, b + cos)},
        ),
        Misconception(
            "positions sorted",
            kind="mix-up",
            credit=0.5,
            says="Your results are those of sorted positions. Each word has the position that is given for it, in any "
            "order.",
            change={"where": lambda positions: positions.sort().values},
        ),
        Misconception(
            "positions without effect",
            kind="missing step",
            credit=0.5,
            says="Your results are those of the positions 0, 1, 2, …, whatever positions is. Use the argument.",
            change={"where": lambda positions: torch.arange(len(positions), device=positions.device)},
        ),
        Misconception(
            "counted from the first position",
            kind="mix-up",
            credit=0.5,
            says="Your results are those of positions minus the first one. Positions count from the beginning of the "
            "text, of which this may be a later part.",
            change={"where": lambda positions: positions - positions[0]},
        ),
        Misconception(
            "gaps closed",
            kind="mix-up",
            credit=0.5,
            says="Your results are those of positions one after the other, from the first one on. There may be gaps.",
            change={"where": lambda positions: positions[0] + torch.arange(len(positions), device=positions.device)},
        ),
        Misconception(
            "one position further",
            kind="convention",
            credit=0.75,
            says="In your results, every word is turned as far as the one after it should be. Position 0 should not be "
            "turned.",
            change={"where": lambda positions: positions + 1},
        ),
        Misconception(
            "always base 10000",
            kind="hard-coded",
            credit=0.75,
            says="Your results are those of base 10000, whatever base is. Use the argument.",
            change={"which_base": lambda base: 10000.0},
        ),
        Misconception(
            "exponent of the pair before",
            kind="mix-up",
            credit=0.5,
            says="In your results, pair i is turned by position · base^(−2(i − 1)/d), which is the angle of the pair "
            "before it. Formulas with i − 1 count pairs from 1; from 0, the exponent is −2i/d.",
            change={"rates": rates_with(lambda pair, d: 2 * (pair - 1) / d)},
        ),
        Misconception(
            "half the exponent",
            kind="wrong formula",
            credit=0.5,
            says="In your results, pair i is turned by position · base^(−i/d). The exponent should be −2i/d.",
            change={"rates": rates_with(lambda pair, d: pair / d)},
        ),
        Misconception(
            "twice the exponent",
            kind="wrong formula",
            credit=0.5,
            says="In your results, pair i is turned by position · base^(−4i/d). The exponent should be −2i/d.",
            change={"rates": rates_with(lambda pair, d: 4 * pair / d)},
        ),
        Misconception(
            "pairs from one",
            kind="convention",
            credit=0.75,
            says="Your pairs are counted from 1: the first is turned by position · base^(−2/d). It should be pair 0, "
            "and turned by the position itself.",
            change={"rates": rates_with(lambda pair, d: 2 * (pair + 1) / d)},
        ),
        Misconception(
            "down to one over base",
            kind="wrong formula",
            credit=0.75,
            says="In your results, the last pair is turned by position / base. With base^(−2i/d), it is turned by "
            "more: i goes up to d/2 − 1.",
            change={"rates": rates_with(lambda pair, d: pair / max(d // 2 - 1, 1))},
        ),
        Misconception(
            "exponent not divided by d",
            kind="missing step",
            credit=0.25,
            says="In your results, pair i is turned by position · base^(−2i). Divide the exponent by d.",
            change={"rates": rates_with(lambda pair, d: 2 * pair)},
        ),
        Misconception(
            "only the first pair turned",
            kind="missing step",
            credit=0.25,
            says="Only the first pair is turned in your results. Pair i is turned by position · base^(−2i/d).",
            change={"rates": lambda d, base: (torch.arange(d // 2) == 0).double()},
        ),
        Misconception(
            "all pairs alike",
            kind="missing step",
            credit=0.25,
            says="In your results, all pairs are turned by the same angle, the position. Pair i should have position · "
            "base^(−2i/d).",
            change={"rates": rates_with(lambda pair, d: 0 * pair)},
        ),
        Misconception(
            "along the first axis",
            kind="axis",
            credit=0.5,
            says="In your results, positions count along the first axis. Words are on the last axis but one.",
            change={"along": along_the_first},
        ),
        Misconception(
            "angles in 16 bits",
            kind="type",
            credit=0.75,
            says="Where x has 16 bits, your angles have 16 bits, too, which is too few for positions in the thousands. "
            "Compute them in float32, and give the result the dtype of x at the end.",
            change={"precise": in_16_bits},
        ),
        *PIECES,
    ],
)
