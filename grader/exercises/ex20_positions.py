"""Exercise 20: a table of sines and cosines that encodes the position of each word."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader import ROUNDED, Case, Exercise, Inputs, at, wrong


def sinusoidal_positions(length, d_model, base=10000.0):
    positions = torch.arange(length)  # (length)  #: positions
    exponents = torch.arange(0, d_model, 2) / d_model  # (d_model / 2)  #: exponents
    angles = positions[:, None] / base**exponents  # (length, d_model / 2)  #: angles
    sines = angles.sin()  #: sines
    cosines = angles.cos()  #: cosines
    table = torch.stack([sines, cosines], dim=-1).flatten(1)  # (length, d_model)  #: table
    return table  #: result


def each_column(exponents: str) -> dict[str, str]:
    """A mistake: every column has its own exponent."""
    return {
        "exponents": f"exponents = {exponents}",
        "sines": "sines = angles[:, 0::2].sin()",
        "cosines": "cosines = angles[:, 1::2].cos()",
    }


def table(longest: int, half: int, *, shortest: int = 0) -> Callable[[torch.Generator], Inputs]:
    """A random length up to `longest`, and up to 2 · `half` columns."""

    def inputs(rng: torch.Generator) -> Inputs:
        return between(rng, shortest or longest - 3, longest), 2 * between(rng, max(half - 2, 2), half)

    return inputs


def between(rng: torch.Generator, least: int, most: int) -> int:
    return int(torch.randint(least, most + 1, (), generator=rng))


def with_base(least: int, most: int) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (between(rng, 6, 9), 2 * between(rng, 2, 4), float(between(rng, least, most)))


# fmt: off
exercise = Exercise(
    number=20,
    assignment="transformer",
    title="Positions",
    solution=sinusoidal_positions,
    form=ROUNDED,
    cases=[
        Case("more positions than columns", "a table that is transposed, or of fixed size", inputs=table(14, 4)),
        Case("more columns than positions", catches="exponents that are off", inputs=table(5, 8)),
        Case("two columns", catches="a division by zero for a single pair", inputs=lambda rng: (between(rng, 5, 9), 2)),
        Case("one position", catches="squeezed dimensions", inputs=lambda rng: (1, 2 * between(rng, 2, 6))),
        Case("a small base", catches="a base that is not the argument", inputs=with_base(20, 200)),
        Case("a large base", catches="a base that is not the argument", inputs=with_base(100_000, 900_000)),
        Case("a long text", catches="positions that are rounded, or cut off", inputs=table(1100, 5, shortest=1030)),
    ],
    mistakes=[
        wrong("sines first, then cosines", {"table": "table = torch.cat([sines, cosines], dim=1)"},
              "In your table, all sines are on the left, and all cosines on the right. They should take turns: sines "
              "in columns 0, 2, 4, …, cosines in 1, 3, 5, ….", credit=0.75, kind="arrangement"),
        wrong("sines and cosines exchanged", {"sines": "sines = angles.cos()", "cosines": "cosines = angles.sin()"},
              "Sines and cosines are swapped in your table. Column 2i should be the sine, column 2i + 1 the cosine.",
              kind="mix-up"),
        wrong("only sines", {"cosines": "cosines = angles.sin()"},
              "All columns of your table are sines. Every second column should be the cosine of the same angle.",
              credit=0.25, kind="missing step"),
        wrong("only cosines", {"sines": "sines = angles.cos()"},
              "All columns of your table are cosines. Columns 0, 2, 4, … should be the sines of the same angles.",
              credit=0.25, kind="missing step"),
        wrong("cosines of the next angle",
              {"cosines": "cosines = (positions[:, None] / base ** (exponents + 2 / d_model)).cos()"},
              "In your table, each cosine has the angle of the pair after its own: column 2i + 1 has t / base^((2i + "
              "2)/d), as when columns are counted from 1 and then halved. Columns 2i and 2i + 1 share t / base^(2i/d).",
              kind="mix-up"),
        wrong("an angle for each column", each_column("torch.arange(d_model) / d_model"),
              "In your table, each column has its own angle: column c has t / base^(c/d). Columns 2i and 2i + 1 should "
              "share one, t / base^(2i/d)."),
        wrong("twice the column in the exponent", each_column("2 * torch.arange(d_model) / d_model"),
              "The exponents of your table use twice the number of the column. In base^(2i/d), i is the number of the "
              "pair, so 2i is already the even column."),
        wrong("odd column in the exponent", {"exponents": "exponents = torch.arange(1, d_model + 1, 2) / d_model"},
              "The exponents of your table are (2i + 1)/d, from the odd column of each pair. They should be 2i/d.",
              kind="mix-up"),
        *at("exponents",
            wrong("twice the even column in the exponent", "exponents = 2 * torch.arange(0, d_model, 2) / d_model",
                  "The exponents of your table are 4i/d. In base^(2i/d), i is the number of the pair, so 2i is already "
                  "the even column."),
            wrong("half the exponent", "exponents = torch.arange(d_model // 2) / d_model",
                  "The exponents of your table are i/d, where i is the number of the pair. They should be 2i/d."),
            wrong("down to one over base", "exponents = torch.arange(d_model // 2) / max(d_model // 2 - 1, 1)",
                  "From one position to the next, the last pair of your table turns by 1/base, as in some older code. "
                  "With base^(2i/d), it should turn by more: i goes up to d/2 − 1.", credit=0.75),
            wrong("exponent not divided by d", "exponents = torch.arange(0, d_model, 2)",
                  "The angles of your table are t / base^(2i). Divide the exponent by d_model.",
                  credit=0.25, kind="missing step"),
            wrong("the same angle in all columns", "exponents = torch.zeros(d_model // 2)",
                  "All pairs of your table have the same angle, the position itself. Pair i should have t / "
                  "base^(2i/d).", credit=0.25, kind="missing step")),
        wrong("always base 10000", {"angles": ("base", "10000.0")},
              "Your table is for base 10000, whatever base is. Use the argument.", credit=0.75, kind="hard-coded"),
        *at("positions",
            wrong("positions from one", "positions = torch.arange(1, length + 1)",
                  "Your table begins with position 1. Begin with position 0, where all sines are 0 and all cosines are "
                  "1.", credit=0.75, kind="convention"),
            wrong("positions divided by the length", "positions = torch.arange(length) / length",
                  "In your table, positions are divided by the length, so the row of a word depends on how long the "
                  "text is. Use the number t itself as position t.")),
        *at("result",
            wrong("transposed", "return table.T",
                  "Your table has the shape (d_model, length). Rows are positions: return (length, "
                  "d_model).", kind="convention"),
            wrong("an axis for the batch", "return table[None]",
                  "Your table has the shape (1, length, d_model). Leave out the first axis.",
                  credit=0.75, kind="arrangement"),
            wrong("squeezed", "return table.squeeze()",
                  "Your table has lost its dimensions of size 1, as with squeeze. Keep them: one position is a table "
                  "with one row.", credit=0.75, kind="arrangement")),
        wrong("float64 returned", {"before result": "table = table.double()"},
              "Your table has float64 numbers. Return float32 numbers, like those of the word vectors that the table "
              "is added to.", kind="type"),
    ],
)
# fmt: on
