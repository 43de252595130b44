"""Exercise 20: a table of sines and cosines that says where each word stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception
from grader.kit.pieces import asked
from grader.model.forms.rounded import ROUNDED

from .mistakes.pieces import ALWAYS_FLOAT64, unchanged

Tensor = torch.Tensor


def rates_of_pairs(d_model: int, base: float) -> Tensor:
    """By how much each of the d_model columns turns from one position to the next."""
    return base ** -(torch.arange(d_model) // 2 * 2 / d_model).double()


def reference(
    length: int,
    d_model: int,
    base: float = 10000.0,
    *,
    which_base: Callable[[float], float] = lambda base: base,
    positions: Callable[[int], Tensor] = lambda length: torch.arange(length),
    rates: Callable[[int, float], Tensor] = rates_of_pairs,
    even: Callable[[Tensor], Tensor] = torch.sin,
    odd: Callable[[Tensor], Tensor] = torch.cos,
    arrange: Callable[[Tensor, Tensor], Tensor] = lambda even, odd: torch.stack([even, odd], dim=-1).flatten(-2),
    finish: Callable[[Tensor], Any] = unchanged,
    dtype: Callable[[Any], Any] = unchanged,
) -> Any:
    angles = positions(length).double()[:, None] * rates(d_model, which_base(base))  # (length, d_model)
    table = arrange(even(angles[:, 0::2]), odd(angles[:, 1::2]))  # (length, d_model)
    return dtype(finish(table.float()))


def rates_with(exponent: Callable[[Tensor, int], Tensor]) -> Callable[[int, float], Tensor]:
    """Rates of base^−exponent, which is a function of the column and of d_model."""
    return lambda d_model, base: base ** -exponent(torch.arange(d_model).double(), d_model)


def interleaved_halves(even: Tensor, odd: Tensor) -> Tensor:
    return torch.cat([even, odd], dim=-1)


def table(longest: int, half: int, *, shortest: int = 0) -> Callable[[torch.Generator], Inputs]:
    """A length up to `longest`, and twice up to `half` columns."""

    def inputs(rng: torch.Generator) -> Inputs:
        return between(rng, shortest or longest - 3, longest), 2 * between(rng, max(half - 2, 2), half)

    return inputs


def between(rng: torch.Generator, least: int, most: int) -> int:
    return int(torch.randint(least, most + 1, (), generator=rng))


def with_base(least: int, most: int) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (between(rng, 6, 9), 2 * between(rng, 2, 4), float(between(rng, least, most)))


exercise = Exercise(
    number=20,
    assignment="transformer",
    title="Positions",
    entry="sinusoidal_positions",
    form=ROUNDED,
    reference=asked(reference),
    cases=[
        Case(
            "more positions than columns", catches="a table that is transposed, or of fixed size", inputs=table(14, 4)
        ),
        Case("more columns than positions", catches="exponents that are off", inputs=table(5, 8)),
        Case("two columns", catches="a division by zero for a single pair", inputs=lambda rng: (between(rng, 5, 9), 2)),
        Case("one position", catches="squeezed dimensions", inputs=lambda rng: (1, 2 * between(rng, 2, 6))),
        Case("a small base", catches="a base that is not the argument", inputs=with_base(20, 200)),
        Case("a large base", catches="a base that is not the argument", inputs=with_base(100_000, 900_000)),
        Case("a long text", catches="positions that are rounded, or cut off", inputs=table(1100, 5, shortest=1030)),
    ],
    misconceptions=[
        Misconception(
            "sines first, then cosines",
            kind="arrangement",
            credit=0.75,
            says="All sines stand on the left of your table, and all cosines on the right. They should take turns: "
            "sines in columns 0, 2, 4, …, cosines in 1, 3, 5, ….",
            change={"arrange": interleaved_halves},
        ),
        Misconception(
            "sines and cosines exchanged",
            kind="mix-up",
            credit=0.5,
            says="Sines and cosines stand in each other's columns in your table. Column 2i should be the sine, column "
            "2i + 1 the cosine.",
            change={"even": torch.cos, "odd": torch.sin},
        ),
        Misconception(
            "only sines",
            kind="missing step",
            credit=0.25,
            says="All columns of your table are sines. Every second one should be the cosine of the same angle.",
            change={"odd": torch.sin},
        ),
        Misconception(
            "only cosines",
            kind="missing step",
            credit=0.25,
            says="All columns of your table are cosines. Columns 0, 2, 4, … should be the sines of the same angles.",
            change={"even": torch.cos},
        ),
        Misconception(
            "an angle for each column",
            kind="wrong formula",
            credit=0.5,
            says="Each column of your table has an angle of its own: column c has t / base^(c/d). Columns 2i and 2i + "
            "1 should share one, t / base^(2i/d).",
            change={"rates": rates_with(lambda column, d: column / d)},
        ),
        Misconception(
            "twice the column in the exponent",
            kind="wrong formula",
            credit=0.5,
            says="The exponents of your table are twice the number of the column. In base^(2i/d), i is the number of "
            "the pair: 2i is the even column itself.",
            change={"rates": rates_with(lambda column, d: 2 * column / d)},
        ),
        Misconception(
            "twice the even column in the exponent",
            kind="wrong formula",
            credit=0.5,
            says="The exponents of your table are 4i/d. In base^(2i/d), i is the number of the pair: 2i is the even "
            "column itself.",
            change={"rates": rates_with(lambda column, d: 2 * (column // 2 * 2) / d)},
        ),
        Misconception(
            "half the exponent",
            kind="wrong formula",
            credit=0.5,
            says="The exponents of your table are i/d, where i is the number of the pair. They should be 2i/d.",
            change={"rates": rates_with(lambda column, d: column // 2 / d)},
        ),
        Misconception(
            "down to one over base",
            kind="wrong formula",
            credit=0.75,
            says="The last pair of your table turns by 1/base from one position to the next, as in some older code. "
            "With base^(2i/d), it stays above that: i goes up to d/2 − 1.",
            change={"rates": rates_with(lambda column, d: column // 2 / max(d // 2 - 1, 1))},
        ),
        Misconception(
            "exponent not divided by d",
            kind="missing step",
            credit=0.25,
            says="The angles of your table are t / base^(2i). Divide the exponent by d_model.",
            change={"rates": rates_with(lambda column, d: column // 2 * 2)},
        ),
        Misconception(
            "the same angle in all columns",
            kind="missing step",
            credit=0.25,
            says="All pairs of your table have the same angle, the position itself. Pair i should have t / "
            "base^(2i/d).",
            change={"rates": rates_with(lambda column, d: 0 * column)},
        ),
        Misconception(
            "always base 10000",
            kind="hard-coded",
            credit=0.75,
            says="Your table is that of base 10000, whatever base is. Use the argument.",
            change={"which_base": lambda base: 10000.0},
        ),
        Misconception(
            "positions from one",
            kind="convention",
            credit=0.75,
            says="Your table begins with position 1. The first position should be 0, where all sines are 0 and all "
            "cosines 1.",
            change={"positions": lambda length: torch.arange(1, length + 1)},
        ),
        Misconception(
            "positions as shares",
            kind="wrong formula",
            credit=0.25,
            says="The positions of your table are divided by the length, so the row of a word depends on how long the "
            "text is. Position t is the number t.",
            change={"positions": lambda length: torch.arange(length) / length},
        ),
        Misconception(
            "transposed",
            kind="convention",
            credit=0.5,
            says="The numbers are right, but of shape (d_model, length). Rows are positions: (length, d_model).",
            change={"finish": lambda table: table.mT},
        ),
        Misconception(
            "an axis for the batch",
            kind="arrangement",
            credit=0.75,
            says="The numbers are right, but of shape (1, length, d_model). Leave out the first axis.",
            change={"finish": lambda table: table[None]},
        ),
        Misconception(
            "squeezed",
            kind="arrangement",
            credit=0.75,
            says="Your table has lost its dimensions of size 1, as with squeeze. One position is a table with one row.",
            change={"finish": torch.squeeze},
        ),
        Misconception(
            "float64 returned",
            kind="type",
            credit=0.75,
            says="Your table has numbers of type float64. It must be a float32 table, like everything that a model "
            "adds to it.",
            change=ALWAYS_FLOAT64.change,
        ),
    ],
)
