"""The first function of exercise 37: how steeply each head's scores fall with distance."""

from __future__ import annotations

import math

import torch

from grader import FUNCTION, Case, Exercise, at, wrong


def alibi_slopes(heads):
    power = 2 ** math.floor(math.log2(heads))  # the largest power of two that is not above heads  #: power
    slopes = 2.0 ** (-8 * torch.arange(1, power + 1) / power)  #: slopes
    finer = 2.0 ** (-8 * torch.arange(1, 2 * power + 1) / (2 * power))  # those of twice as many heads  #: finer
    missing = finer[0::2][: heads - power]  #: missing
    slopes = torch.cat([slopes, missing])  # (heads,)  #: join
    return slopes  #: result


BY_FORMULA = {"power": "power = heads"}
ROUNDED_UP = "2 ** math.ceil(math.log2(heads))"


def of_heads(heads: int, catches: str) -> Case:
    return Case(f"{heads} heads" if heads > 1 else "one head", catches=catches, inputs=lambda _rng: (heads,), once=True)


def by(formula: str) -> dict[str, str]:
    """A mistake: the slopes of another formula, both for the first heads and for the ones that are missing."""
    return {"slopes": f"slopes = {formula.format('power')}", "finer": f"finer = {formula.format('2 * power')}"}


EIGHTHS = by("2.0 ** -torch.arange(1.0, {0} + 1)")


# fmt: off
slopes_exercise = Exercise(
    number=37,
    assignment="modern_attention",
    title="ALiBi: slopes, and attention",
    solution=alibi_slopes,
    form=FUNCTION,
    cases=[
        of_heads(8, "exponents that begin with 0"),
        of_heads(4, "2^−(h + 1), which is right for eight heads only"),
        of_heads(16, "2^−(h + 1), and whole exponents"),
        of_heads(12, "the formula for a power of two; other slopes for the missing ones, or in another order"),
        of_heads(1, "a formula that needs two heads"),
        of_heads(2, "slopes between two fixed ends"),
        of_heads(3, "a power of two that is the nearest, or above"),
        of_heads(6, "a power of two that is above"),
        of_heads(20, "a fixed number of heads"),
        of_heads(31, "all missing heads but one"),
        of_heads(64, "a logarithm or a root that is rounded"),
        Case("many heads", "a list of slopes for some numbers of heads",
             inputs=lambda rng: (int(torch.randint(33, 128, (), generator=rng)),), once=True),
    ],
    mistakes=[
        wrong("formula for any number of heads", BY_FORMULA,
              "If the number of heads is not a power of two, your slopes still come from the formula for one. Take "
              "those of the largest power of two below, and every second slope of twice that number for the heads that "
              "are missing.", kind="missing step"),
        *at("missing",
            wrong("first of the finer ones", "missing = finer[: heads - power]",
                  "The heads beyond the power of two have the first slopes of twice as many heads. Take every second "
                  "one: places 0, 2, 4 and so on.", kind="mix-up"),
            wrong("every second one from place 1", "missing = finer[1::2][: heads - power]",
                  "The heads beyond the power of two have the same slopes as the first ones: those in places 1, 3, 5 … "
                  "of twice as many heads. Take places 0, 2, 4 and so on.", kind="mix-up"),
            wrong("last of the finer ones", "missing = finer[0::2][2 * power - heads :]",
                  "The heads beyond the power of two have the last ones of every second slope. Take the first ones.",
                  kind="mix-up"),
            wrong("formula goes on", "missing = 2.0 ** (-8 * torch.arange(power + 1, heads + 1) / power)",
                  "The heads beyond the power of two go on with the same formula, so that their slopes become smaller "
                  "and smaller. Take every second slope of twice as many heads instead.", kind="missing step"),
            wrong("missing slopes backwards", "missing = finer[0::2][: heads - power].flip(0)",
                  "The slopes of the heads beyond the power of two come in the wrong order. The steepest of them comes "
                  "first.", kind="arrangement")),
        wrong("missing slopes first", {"join": "slopes = torch.cat([missing, slopes])"},
              "Your slopes begin with those of twice as many heads. Put those of the power of two in front.",
              kind="arrangement"),
        *at("result",
            wrong("sorted", "return slopes.sort(descending=True).values",
                  "Your slopes are sorted. A head needs the slope that it was trained with, so order matters: first "
                  "those of the power of two, then the missing ones.", credit=0.75, kind="arrangement"),
            wrong("sorted upwards", "return slopes.sort().values",
                  "Your slopes are sorted, the smallest first. Order matters: first those of the power of two, from "
                  "the steepest on, then the missing ones.", kind="arrangement"),
            wrong("last head first", "return slopes.flip(0)",
                  "Your slopes come in reverse order. Head 0 has the steepest, 2^(−8/n) for a power of two.",
                  kind="arrangement"),
            wrong("negative slopes", "return -slopes",
                  "Your slopes are negative. They are positive, and attention subtracts them times the distance.",
                  credit=0.75, kind="convention"),
            wrong("exponents alone", "return -torch.log2(slopes)",
                  "Your results are the exponents. The slopes are 2 to the power of minus these.",
                  credit=0.25, kind="missing step")),
        wrong("missing heads left out", {"join": ""},
              "If the number of heads is not a power of two, you return too few slopes. Add every second slope of "
              "twice as many heads.", kind="missing step"),
        *at("join",
            wrong("all of the power of two above",
                  "slopes = slopes if power == heads else finer[:heads]",
                  "If the number of heads is not a power of two, your slopes are the first ones of the power of two "
                  "above. Take those of the power of two below, then every second one of twice that number.",
                  kind="mix-up"),
            wrong("last of the power of two above",
                  "slopes = slopes if power == heads else finer[-heads:]",
                  "If the number of heads is not a power of two, your slopes are the last ones of the power of two "
                  "above. Take those of the power of two below, then every second one of twice that number.",
                  kind="mix-up"),
            wrong("every second one first",
                  "slopes = slopes if power == heads else torch.cat([finer[0::2], finer[1::2]])[:heads]",
                  "If the number of heads is not a power of two, the slopes in places 0, 2, 4 and so on of twice as "
                  "many come first. Begin with those of the power of two below, in places 1, 3, 5 and so on.",
                  kind="arrangement")),
        wrong("exponents from 0", by("2.0 ** (-8 * torch.arange({0}) / ({0}))"),
              "Your exponents begin with 0, so that the first slope is 1. Head h has −8(h + 1)/n, with h from 0: the "
              "first slope is 2^(−8/n), and the last 2^−8.", kind="convention"),
        wrong("exponents of eight heads", [EIGHTHS, {**BY_FORMULA, **EIGHTHS}],
              "Your slopes are 1/2, 1/4, 1/8 …, whatever the number of heads is. That is right for eight heads only: "
              "head h has 2^(−8(h + 1)/n).", kind="hard-coded"),
        wrong("each half of the one before", by("2.0 ** (-8 / ({0})) / 2.0 ** torch.arange({0})"),
              "For a power of two, each of your slopes is half of the one before. The first one, 2^(−8/n), is also the "
              "factor from each to the next.", kind="convention"),
        wrong("from 1/2 to 2^−8", by("2.0 ** -torch.linspace(1, 8, {0})"),
              "Your slopes go from 1/2 to 2^−8, whatever the number of heads is. The first is 2^(−8/n).",
              kind="hard-coded"),
        wrong("base e", by("torch.exp(-8 * torch.arange(1, {0} + 1) / ({0}))"),
              "Your slopes are powers of e. Take powers of 2.", kind="convention"),
        wrong("whole exponents", by("2.0 ** -(8 * torch.arange(1, {0} + 1) // ({0}))"),
              "Your exponents are rounded to whole numbers. They may be fractions, as with 16 heads: divide with /."),
        wrong("positive exponents", by("2.0 ** (8 * torch.arange(1, {0} + 1) / ({0}))"),
              "Your slopes grow from head to head, up to 256: their exponents are positive. A minus is missing.",
              kind="missing step"),
        wrong("slopes in equal steps", by("torch.arange(1.0, {0} + 1) / ({0})"),
              "Your slopes go in equal steps up to 1. Each should be the one before times 2^(−8/n)."),
    ],
)
# fmt: on
