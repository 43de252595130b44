"""Exercise 39: frequencies of RoPE for texts longer than those in training, as in YaRN."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from grader import PARTS, Case, Exercise, Inputs, at, wrong

FREQUENCIES = "vector of frequencies / base^(−2i/dim)"
TWO_RESULTS = "Return two results: the frequencies, and then the attention factor."


def yarn_frequencies(dim, base, factor, original, beta_fast=32, beta_slow=1):
    i = torch.arange(dim // 2)  # the number of each pair  #: pairs
    theta = base ** (-2 * i / dim)  # (dim / 2)  #: plain
    turns = beta_fast, beta_slow  #: turns
    ends = [dim * math.log(original / (2 * math.pi * n)) / (2 * math.log(base)) for n in turns]  #: ends
    low, high = math.floor(ends[0]), math.ceil(ends[1])  #: round
    low, high = max(low, 0), min(high, dim - 1)  #: clamp
    ramp = (i - low) / max(high - low, 1)  #: ramp
    ramp = ramp.clamp(0, 1)  # 0: turns fast, 1: turns slowly  #: between
    frequencies = theta * (1 - ramp) + theta / factor * ramp  # (dim / 2)  #: mix
    attention_factor = 0.1 * math.log(factor) + 1  #: attention
    return frequencies, attention_factor  #: result


def read(returned: Any, dim: int, base: float, *_settings: float) -> dict[str, Any]:
    """The frequencies in proportion to plain ones, so that slow pairs count as much as fast ones, and the number."""
    is_pair = isinstance(returned, list | tuple) and len(returned) == 2
    frequencies, attention_factor = returned if is_pair else (returned, None)
    if isinstance(frequencies, torch.Tensor) and frequencies.shape == (dim // 2,) and not frequencies.is_complex():
        frequencies = frequencies.double() * base ** (2 * torch.arange(dim // 2).double() / dim)
    output = {FREQUENCIES: frequencies, **({"attention factor": attention_factor} if is_pair else {})}
    return {"results": "" if is_pair else TWO_RESULTS, "output": output}


def drawn(
    dim: int, base: float, original: int, *betas: int, least: float = 2.0, most: float = 40.0
) -> Callable[[torch.Generator], Inputs]:
    """A factor from `least` to `most`, and a base and an original length about as large as these.

    Neither end of the ramp is near a whole number, where rounding would decide.
    """

    def inputs(rng: torch.Generator) -> Inputs:
        while True:
            of_base, of_original, of_factor = torch.rand(3, generator=rng).tolist()
            near_base, near_original = base * (0.8 + 0.4 * of_base), round(original * (0.75 + 0.5 * of_original))
            ends = [
                dim * math.log(near_original / (2 * math.pi * n)) / (2 * math.log(near_base)) for n in betas or (32, 1)
            ]
            if all(0.2 < end % 1 < 0.8 for end in ends):
                return dim, near_base, round(least + (most - least) * of_factor, 2), near_original, *betas

    return inputs


# fmt: off
exercise = Exercise(
    number=39,
    assignment="modern_attention",
    title="Longer texts than in training",
    solution=yarn_frequencies,
    form=PARTS,
    read=read,
    cases=[
        Case("twelve pairs", catches="another ramp", inputs=drawn(24, 10_000, 4096)),
        Case("many pairs", catches="a fixed number of pairs", inputs=drawn(128, 500_000, 8192)),
        Case("hundreds of pairs", catches="other numbers of turns if none are given", inputs=drawn(400, 100, 4096)),
        Case("four pairs", catches="a fixed number of pairs", inputs=drawn(8, 1000, 2048)),
        Case("a small factor", catches="a fixed factor", inputs=drawn(40, 10_000, 2048, least=1.2, most=2.0)),
        Case("a large factor", catches="a fixed factor", inputs=drawn(36, 20_000, 4096, least=60.0, most=150.0)),
        Case("a factor of 1", catches="frequencies that change though nothing is stretched",
             inputs=drawn(20, 10_000, 4096, least=1.0, most=1.0)),
        Case("other numbers of turns", catches="numbers of turns that are not the arguments",
             inputs=drawn(64, 10_000, 4096, 18, 3)),
        Case("turns that are close", catches="a ramp of a fixed length", inputs=drawn(56, 10_000, 16_384, 9, 8)),
        Case("a ramp beyond the last pair", catches="an end at dim / 2 − 1", inputs=drawn(16, 60, 360)),
        Case("a ramp beyond dim − 1", catches="an end that is not clamped", inputs=drawn(20, 10, 1000)),
        Case("a ramp that begins before the first pair", catches="a beginning that is not clamped",
             inputs=drawn(32, 10_000, 100)),
        Case("fast pairs alone", catches="a division of all pairs", inputs=drawn(12, 155, 1_000_000)),
        Case("one pair", catches="squeezed dimensions", inputs=drawn(2, 10_000, 4096)),
    ],
    mistakes=[
        *at("mix",
            wrong("all frequencies divided", "frequencies = theta / factor",
                  "All your frequencies are divided by factor. That is position interpolation, as if all positions "
                  "were divided, and it blurs near words. Leave the fast pairs as they are: θ · (1 − ramp) + θ / "
                  "factor · ramp.", kind="missing step"),
            wrong("ramp reversed", "frequencies = theta * ramp + theta / factor * (1 - ramp)",
                  "Your ramp is reversed: fast pairs are divided by factor, and slow ones are not. Fast pairs, with "
                  "the small i, should stay as they are.", kind="mix-up"),
            wrong("nothing divided", "frequencies = theta",
                  "Your frequencies are the plain ones, whatever factor is. Divide those of the slow pairs by factor.",
                  credit=0.25, kind="missing step"),
            wrong("slow pairs multiplied", "frequencies = theta * (1 - ramp) + theta * factor * ramp",
                  "In your results, slow pairs turn faster by factor. They should turn more slowly: divide."),
            wrong("wavelengths mixed", "frequencies = 1 / ((1 - ramp) / theta + factor / theta * ramp)",
                  "Between the ends of the ramp, you mix periods: your results are 1 / ((1 − ramp) / θ + ramp · factor "
                  "/ θ). Mix the frequencies, θ · (1 − ramp) + θ / factor · ramp.", credit=0.75),
            wrong("each pair slowed by its own factor",
                  "beta = beta_slow + (beta_fast - beta_slow) * i / max(dim // 2 - 1, 1)\n"
                  "is_slow = 2 * math.pi / theta > original\n"
                  "frequencies = theta * torch.where(is_slow, 1 / factor, 1 - 1 / factor + 1 / (beta * factor))",
                  "Your fast pairs are slowed down, too, by 1 − 1/factor + 1/(β · factor), where β grows with i. Leave "
                  "the pairs up to low as they are, and divide those from high on by factor."),
            wrong("slow part alone", "frequencies = theta / factor * ramp",
                  "Your fast pairs do not turn at all: the part θ · (1 − ramp) is missing.", kind="missing step"),
            wrong("fast part alone", "frequencies = theta * (1 - ramp)",
                  "Your slow pairs do not turn at all: the part θ / factor · ramp is missing.", kind="missing step"),
            wrong("larger base", "frequencies = (base * factor ** (dim / max(dim - 2, 1))) ** (-2 * i / dim)",
                  "Your frequencies are those of a larger base, base · factor^(dim / (dim − 2)): “NTK-aware” scaling, "
                  "which YaRN replaced. Keep the base, and divide the slow pairs by factor.")),
        *at("between",
            wrong("step at the beginning for a ramp", "ramp = (i > low).float()",
                  "Your frequencies jump: all pairs after the low end of the ramp are divided by factor. Between low "
                  "and high, go from one to the other bit by bit.", kind="missing step"),
            wrong("step at the end for a ramp", "ramp = (i >= high).float()",
                  "Your frequencies jump: no pair before the high end of the ramp is divided by factor. Between low, "
                  "of beta_fast, and high, of beta_slow, go from one to the other bit by bit.", kind="missing step"),
            wrong("ramp not clamped", "",
                  "Your ramp goes on below 0 and above 1, so that pairs outside of it turn faster than before, or "
                  "backwards. Clamp it to 0 … 1.", kind="missing step")),
        *at("ramp",
            wrong("ramp over turns",
                  "ramp = (turns[0] - original * theta / (2 * math.pi)) / (turns[0] - turns[1])",
                  "Your ramp is straight in the number of turns within original positions, as in the formula of the "
                  "paper. Here, as in the code of YaRN, it is straight in the index i, from low to high.",
                  credit=0.75, kind="convention"),
            wrong("ramp over wavelengths",
                  "ramp = (2 * math.pi / theta - original / turns[0]) / (original / turns[1] - original / turns[0])",
                  "Your ramp is straight in the wavelength, 2π / θ. It should be straight in the index i, from low to "
                  "high.", credit=0.75),
            wrong("ramp from the first pair", "ramp = i / high",
                  "Your ramp begins at the first pair: it is i / high. Begin at low: (i − low) / (high − low).",
                  kind="missing step", also={"clamp": "low, high = max(low, 0), max(min(high, dim - 1), 1)"}),
            wrong("ramp to the last pair", "ramp = (i - low) / max(dim // 2 - 1 - low, 1)",
                  "Your ramp ends at the last pair. It should end at high: (i − low) / (high − low).",
                  kind="missing step"),
            wrong("ramp over twice the index", "ramp = (2 * i - low) / max(high - low, 1)",
                  "Your ramp runs over 2i: 0, 2, 4, …. Its ends are numbers of pairs: let it run over i.",
                  kind="mix-up")),
        *at("round",
            wrong("not rounded", ["low, high = ends", {"round": "low, high = ends", "clamp": ""}],
                  "The ends of your ramp are not rounded. The code of YaRN rounds the first down and the last up.",
                  credit=0.75, kind="missing step", also={"ramp": "ramp = (i - low) / max(high - low, 0.001)"}),
            wrong("both ends rounded down", ("math.ceil", "math.floor"),
                  "The high end of your ramp is rounded down, as with floor or int. Round it up.", credit=0.75),
            wrong("both ends rounded up", ("math.floor", "math.ceil"),
                  "The low end of your ramp is rounded up. Round it down.", credit=0.75),
            wrong("rounded the other way", "low, high = math.ceil(ends[0]), math.floor(ends[1])",
                  "The ends of your ramp are rounded inwards. Round the first down and the last up.", credit=0.75),
            wrong("rounded to the nearest", "low, high = round(ends[0]), round(ends[1])",
                  "The ends of your ramp are rounded to the nearest whole number. Round the first down and the last "
                  "up.", credit=0.75)),
        *at("clamp",
            wrong("ends not clamped", ["", "high = min(high, dim - 1)", "low = max(low, 0)"],
                  "Your ramp may begin before the first pair, or end after dim − 1. Clamp both ends to 0 … dim − 1.",
                  credit=0.75, kind="missing step"),
            wrong("clamped to pairs", ("dim - 1", "dim // 2 - 1"),
                  "Your ramp ends at dim / 2 − 1 at the latest. That is the last pair, but the code of YaRN clamps to "
                  "dim − 1.", credit=0.75, kind="convention")),
        *at("turns",
            wrong("turns exchanged", "turns = beta_slow, beta_fast",
                  "In your results, beta_fast and beta_slow are swapped, so the ramp falls. The low end of the ramp "
                  "belongs to beta_fast, the high end to beta_slow.", kind="mix-up",
                  also={"ramp": "ramp = (i - low) / (high - low)"}),
            wrong("always 32 turns and 1", "turns = 32, 1",
                  "Your ramp is for 32 turns and 1, whatever beta_fast and beta_slow are. Use the arguments.",
                  credit=0.75, kind="hard-coded")),
        *at("ends",
            wrong("without 2π", ("(2 * math.pi * n)", "n"),
                  "The ends of your ramp leave out 2π: a full turn is an angle of 2π, so divide original by 2π · n.",
                  kind="missing step"),
            wrong("index of an entry", ("(2 * math.log(base))", "math.log(base)"),
                  "The ends of your ramp are twice as large as they should be: they count entries, not pairs. Divide "
                  "by 2 ln base.", kind="missing step"),
            wrong("length after stretching", ("original /", "original * factor /"),
                  "The ends of your ramp count turns within original · factor positions. What counts is what the model "
                  "saw in training: original positions.", kind="mix-up"),
            wrong("base 10000 in the ends", ("math.log(base)", "math.log(10000)"),
                  "The ends of your ramp are for base 10000, whatever base is. Use the argument.",
                  credit=0.75, kind="hard-coded")),
        *at("plain",
            wrong("half the exponent", ("-2 * i", "-i"),
                  "Your plain frequencies are base^(−i/dim). They should be base^(−2i/dim), where i is the number of "
                  "the pair."),
            wrong("twice the exponent", ("-2 * i", "-4 * i"),
                  "Your plain frequencies are base^(−4i/dim), as when i already counts entries. They should be "
                  "base^(−2i/dim), where i is the number of the pair."),
            wrong("exponent without a minus", ("-2 * i", "2 * i"),
                  "Your frequencies grow with i. They should fall: base^(−2i/dim).", kind="missing step"),
            wrong("always base 10000", ("base", "10000.0"),
                  "Your plain frequencies are for base 10000, whatever base is. Use the argument.",
                  credit=0.75, kind="hard-coded")),
        wrong("always base 10000, and in the ends", {"before pairs": "base = 10000.0"},
              "Your results are for base 10000, whatever base is. Use the argument.", credit=0.75, kind="hard-coded"),
        wrong("periods for frequencies", {"before attention": "frequencies = 1 / frequencies"},
              "Your results are 1 / frequency. Return the frequencies themselves: angles per position.",
              kind="mix-up"),
        *at("attention",
            wrong("attention factor of 1", "attention_factor = 1.0",
                  "Your attention factor is always 1. It should be 0.1 · ln(factor) + 1.", kind="missing step"),
            wrong("attention factor without 1", "attention_factor = 0.1 * math.log(factor)",
                  "In your attention factor, + 1 is missing: 0.1 · ln(factor) + 1.", kind="missing step"),
            wrong("attention factor without 0.1", "attention_factor = math.log(factor) + 1",
                  "Your attention factor is ln(factor) + 1. It should be 0.1 · ln(factor) + 1.", kind="missing step"),
            wrong("another logarithm in the attention factor", [("math.log", "math.log2"), ("math.log", "math.log10")],
                  "Your attention factor uses log2 or log10. Use the natural logarithm, math.log.", credit=0.75),
            wrong("attention factor squared", "attention_factor = (0.1 * math.log(factor) + 1) ** 2",
                  "Your attention factor is squared. That is what it does to scores, since queries and keys are both "
                  "multiplied by it. Return 0.1 · ln(factor) + 1 itself.", credit=0.75, kind="convention"),
            wrong("one over the attention factor", "attention_factor = 1 / (0.1 * math.log(factor) + 1)",
                  "Your attention factor is 1 / (0.1 · ln(factor) + 1). Return 0.1 · ln(factor) + 1.", kind="mix-up"),
            wrong("temperature", "attention_factor = 1 / (0.1 * math.log(factor) + 1) ** 2",
                  "Your second result is the temperature t = 1 / (0.1 · ln(factor) + 1)². Return the root of 1 / t: "
                  "0.1 · ln(factor) + 1.", kind="convention"),
            wrong("root of the attention factor",
                  ["attention_factor = math.sqrt(0.1 * math.log(factor) + 1)", "attention_factor = math.sqrt(factor)"],
                  "Your attention factor is a root. It should be 0.1 · ln(factor) + 1, without one."),
            wrong("attention factor of LongRoPE",
                  "attention_factor = math.sqrt(1 + math.log(factor) / math.log(original))",
                  "Your attention factor is √(1 + ln(factor) / ln(original)), that of LongRoPE. YaRN's is 0.1 · "
                  "ln(factor) + 1.", kind="convention"),
            wrong("factor for the attention factor", "attention_factor = factor",
                  "Your second result is factor itself. Return 0.1 · ln(factor) + 1.", kind="missing step")),
        *at("result",
            wrong("frequencies multiplied by the attention factor",
                  "return frequencies * attention_factor, attention_factor",
                  "Your frequencies are multiplied by the attention factor. It belongs to queries and keys, not to "
                  "angles: return it beside them.", kind="mix-up"),
            wrong("frequencies alone", "return frequencies", TWO_RESULTS, kind="missing step"),
            wrong("results exchanged", "return attention_factor, frequencies",
                  "You return the attention factor first. Return the frequencies, and then the attention factor.",
                  credit=0.75, kind="arrangement"),
            wrong("a row", "return frequencies[None], attention_factor",
                  "Your frequencies have the shape (1, dim/2). Return a vector: (dim/2,).",
                  credit=0.75, kind="arrangement"),
            wrong("each frequency twice",
                  ["return torch.cat([frequencies, frequencies]), attention_factor",
                   "return frequencies.repeat_interleave(2), attention_factor"],
                  "You return each frequency twice. Return one for each pair: (dim/2,).",
                  credit=0.75, kind="arrangement")),
    ],
)
# fmt: on
