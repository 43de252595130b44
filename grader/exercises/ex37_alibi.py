"""Exercise 37: scores that fall with the distance between two words, in place of positions."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from grader import EXACT, Case, Exercise, Inputs, at, randn, wrong
from grader.kit.pieces import FLOAT64, LARGE, as_pieces

from .alibi_slopes import slopes_exercise
from .ex28_grouped_queries import exercise as grouped
from .head_cases import OF_ANY_LENGTH, OVERLONG, of_large_scores, with_a_query_of_zeros
from .mistakes import heads, mistakes_named
from .mistakes.of_pieces import another_type, gradients_lost
from .three_gradients import probe_of_three

Tensor = torch.Tensor


def alibi_attention(queries, keys, values, slopes, causal=True):
    T, d = queries.shape[-2:]
    S = keys.shape[-2]
    i = torch.arange(S - T, S, device=queries.device)[:, None]  # where the queries stand  #: queries
    j = torch.arange(S, device=queries.device)  #: keys
    distance = (i - j).abs()  # (T, S)  #: distance
    bias = slopes[:, None, None] * distance  # (H, T, S)  #: bias

    scores = queries @ keys.mT  # (B, H, T, S)  #: scores
    scores = scores / math.sqrt(d)  #: scale
    scores = scores - bias.to(scores.dtype)  #: subtract
    if causal:  #: causal
        hidden = j > i  #: later
        scores = scores.masked_fill(hidden, -math.inf)  #: hide
    weights = torch.softmax(scores, dim=-1)  #: normalize
    outputs = weights @ values  # (B, H, T, d)  #: mix
    return outputs  #: result


def slopes_of(rng: torch.Generator, H: int) -> Tensor:
    """Not those of `alibi_slopes`, which code must not use in place of the argument."""
    return 0.15 + 0.85 * torch.rand(H, generator=rng)


def sized(
    B: int, H: int, T: int, S: int, d: int, *causal: bool, level: float = 1.0
) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        queries, keys, values = randn(rng, B, H, T, d), randn(rng, B, H, S, d), randn(rng, B, H, S, d)
        return (level * queries, keys, values, slopes_of(rng, H), *causal)

    return inputs


def large(*causal: bool) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (*of_large_scores(rng, 2, 3, 3, 4, 6), slopes_of(rng, 3), *causal)


def slopes_in_single(rng: torch.Generator) -> Inputs:
    *three, slopes = sized(2, 3, 3, 4, 5)(rng)
    return (*(one.double() for one in three), slopes)


# Slopes that are not the argument: the right ones for so many heads, and those of a power of two.
OF_HEADS = """
    H, n = len(slopes), 2 ** int(math.log2(len(slopes)))
    exponents = torch.cat([2 * torch.arange(1, n + 1), torch.arange(1, 2 * n, 2)])[:H].to(queries.device)
    bias = 2.0 ** (-4 * exponents / n)[:, None, None] * distance
"""
OF_A_POWER = """
    exponents = 8 * torch.arange(1, len(slopes) + 1, device=queries.device) / len(slopes)
    bias = 2.0**-exponents[:, None, None] * distance
"""


# fmt: off
exercise = Exercise(
    number=37,
    assignment="modern_attention",
    title="ALiBi: slopes, and attention",
    solution=alibi_attention,
    form=EXACT,
    probe=probe_of_three,
    others=(slopes_exercise,),
    cases=[
        Case("two sentences of five words", "a bias with the wrong sign, or divided by √d", sized(2, 3, 5, 5, 4)),
        Case("queries of zeros", "weights that depend on anything else than distance",
             inputs=sized(1, 4, 6, 6, 3, level=0.0)),
        Case("one query with a cache", "a query that stands at position 0", sized(2, 2, 1, 7, 3)),
        Case("more keys than queries", "positions of queries that begin with 0; scores of 0 that are hidden",
             inputs=with_a_query_of_zeros(sized(2, 3, 4, 9, 6))),
        Case("twelve heads", "slopes for a power of two, slopes that are not the argument", sized(1, 12, 4, 4, 2)),
        Case("not causal", "later keys that are hidden, or come without a distance", sized(2, 2, 5, 5, 3, False)),
        Case("not causal, more keys than queries", "distances that begin at the first key",
             inputs=sized(1, 3, 2, 6, 5, False)),
        Case("one word", "squeezed dimensions", sized(3, 2, 1, 1, 4)),
        Case("one head and one entry", "squeezed dimensions", sized(2, 1, 4, 5, 1)),
        Case("everything is four", "axes that are exchanged without an error", sized(4, 4, 4, 4, 4)),
        Case("scores of ±10⁴", "a softmax that overflows", large(), beside=LARGE),
        Case("scores of ±10⁴, none hidden", "another softmax where nothing is hidden", large(False), beside=LARGE),
        Case("a text of many words", "tables of a fixed size", sized(1, 2, OVERLONG, OVERLONG, 2),
             beside=OF_ANY_LENGTH, once=True),
        *as_pieces(sized(2, 2, 3, 4, 3)),
        Case("slopes in float32, queries in float64", "a result in the type of the slopes", slopes_in_single,
             beside=FLOAT64),
    ],
    mistakes=[
        *at("subtract",
            wrong("bias added", "scores = scores + bias.to(scores.dtype)",
                  "In your results, scores grow with distance. Subtract slope · distance: the nearer a key, the larger "
                  "its score."),
            wrong("no bias", "",
                  "The slopes have no effect on your results. Subtract slope · distance from the scores.",
                  credit=0.0, kind="missing step"),
            wrong("scores times bias", "scores = scores * bias.to(scores.dtype)",
                  "In your results, the scores are multiplied by slope · distance. Subtract it."),
            wrong("scores divided by the bias", "scores = scores / (1 + bias).to(scores.dtype)",
                  "In your results, the scores are divided by something that grows with distance. Subtract slope · "
                  "distance.")),
        wrong("bias divided, too", {"subtract": "scores = scores - bias.to(scores.dtype) / math.sqrt(d)"},
              "In your results, slope · distance is divided by √d, as if it were subtracted before the scores are "
              "scaled. Divide only the products of queries and keys: first scale, then subtract.", kind="scaling"),
        wrong("difference divided again",
              {"scale": "", "subtract": "scores = (scores - bias.to(scores.dtype) * math.sqrt(d)) / d"},
              "In your results, products of queries and keys are divided by d, and slope · distance by √d. Divide only "
              "the products, once, by √d.", kind="scaling"),
        wrong("queries counted from 0", {"queries": "i = torch.arange(T, device=queries.device)[:, None]"},
              "In your results, the first query stands at position 0, even if there are more keys than queries. The "
              "queries are the last T words: query i stands at i + S − T.", kind="mix-up"),
        wrong("distances counted from 0", {"distance": "distance = (i - (S - T) - j).abs()"},
              "Your distances are |i − j|, even if there are more keys than queries. The queries are the last T words: "
              "query i stands at i + S − T.", kind="mix-up"),
        wrong("mask counted from 0", {"later": "hidden = j > i - (S - T)"},
              "With causal, your query i sees the keys 0 … i. The queries are the last T words, so that query i sees "
              "the keys up to i + S − T.", kind="mix-up"),
        *at("distance",
            wrong("distance squared", "distance = (i - j) ** 2",
                  "Your bias grows with the square of the distance. Use the distance itself."),
            wrong("root of the distance", "distance = (i - j).abs() ** 0.5",
                  "Your bias grows with the square root of the distance. Use the distance itself."),
            wrong("logarithm of the distance", "distance = torch.log1p((i - j).abs())",
                  "Your bias grows with the logarithm of the distance. Use the distance itself."),
            wrong("distance with a sign", "distance = i - j",
                  "Without causal, later keys get larger scores in your results, even those far past the query. The "
                  "distance counts both ways: |i + S − T − j|.", kind="missing step"),
            wrong("later keys at no distance", "distance = (i - j).clamp(min=0)",
                  "Without causal, later keys have no distance in your results. It counts both ways: |i + S − T − j|.",
                  kind="missing step"),
            wrong("earlier keys at no distance", "distance = (j - i).clamp(min=0)",
                  "In your results, only later keys have a distance, and earlier ones have none. It counts both ways: "
                  "|i + S − T − j|.", kind="mix-up"),
            wrong("distance to the first key", "distance = j",
                  "In your results, a key loses the more, the later it comes. Subtract slope times the distance to the "
                  "query: |i + S − T − j|.", kind="mix-up"),
            wrong("distance in shares of the text", "distance = (i - j).abs() / S",
                  "Your distances are divided by the number of keys, so that the same two words are nearer in a longer "
                  "text. Use the distance itself.", kind="scaling")),
        *at("bias",
            wrong("first slope for all heads", "bias = slopes[0] * distance.expand(len(slopes), T, S)",
                  "All your heads have the slope of the first one. Head h has slopes[h].", kind="mix-up"),
            wrong("mean slope for all heads", "bias = slopes.mean() * distance.expand(len(slopes), T, S)",
                  "All your heads have the same slope, the mean of all. Head h has slopes[h].", kind="mix-up"),
            wrong("slopes of the last heads first", "bias = slopes.flip(0)[:, None, None] * distance",
                  "Your first head has the last slope. Head h has slopes[h].", kind="arrangement"),
            wrong("slopes for queries", "bias = slopes[:, None] * distance.expand(1, T, S)",
                  "Your slopes belong to the queries: query i has slopes[i]. They belong to the heads: give them two "
                  "axes at the end, (H, 1, 1).", kind="axis"),
            wrong("slopes for keys", "bias = slopes * distance.expand(1, T, S)",
                  "Your slopes belong to the keys: key j has slopes[j]. They belong to the heads: give them two axes "
                  "at the end, (H, 1, 1).", kind="axis"),
            wrong("slopes for sentences", "bias = slopes[:, None, None, None] * distance",
                  "Your slopes belong to the sentences of the batch. They belong to the heads: give them the shape (H, "
                  "1, 1).", kind="axis"),
            wrong("slopes of the number of heads", [OF_HEADS, OF_A_POWER],
                  "Your slopes depend on the number of heads alone, whatever the argument is. Head h has slopes[h].",
                  credit=0.25, kind="missing step"),
            wrong("exponents for slopes", "bias = 2.0 ** (-slopes[:, None, None]) * distance",
                  "In your results, a head's slope is 2^−slopes[h]. It is slopes[h].", kind="mix-up"),
            wrong("two to the minus eight", "bias = 2.0 ** (-8 * slopes[:, None, None]) * distance",
                  "In your results, a head's slope is 2^(−8 · slopes[h]). It is slopes[h].", kind="mix-up")),
        wrong("bias after softmax",
              {"subtract": "", "after normalize": "weights = weights - bias.to(weights.dtype)"},
              "In your results, slope · distance is subtracted from the weights, after softmax. Subtract it from the "
              "scores.", kind="mix-up"),
        wrong("weights times exp(−bias)", {"subtract": "", "after normalize": "weights = weights * (-bias).exp()"},
              "Your weights no longer sum to one, as if they were multiplied by something that falls with distance "
              "after softmax. Subtract slope · distance from the scores, before it.", kind="mix-up"),
        *heads.and_with_zeros(
            wrong("own key hidden", {"later": "hidden = j >= i"},
                  "With causal, your queries do not see the key at their own position. Query i sees the keys up to and "
                  "including i + S − T.", kind="mix-up")),
        *at("later",
            wrong("next key seen", "hidden = j > i + 1",
                  "With causal, your queries see one key too many. Query i sees the keys up to i + S − T and no later "
                  "ones.", kind="mix-up"),
            wrong("past hidden", "hidden = j < i",
                  "With causal, your queries see the future, and the past is hidden. Hide the keys after i + S − T.",
                  kind="mix-up")),
        *heads.and_with_zeros(
            wrong("mask inverted", {"later": "hidden = j <= i"},
                  "With causal, your queries see just the keys that should be hidden. In a mask for PyTorch's own "
                  "kernel, True means “seen”; masked_fill fills where the mask is True.", kind="mix-up")),
        *at("before causal",
            wrong("causal only with as many keys as queries", "causal = causal and T == S",
                  "With causal, your queries see all keys if there are more keys than queries. Query i may see the "
                  "keys up to i + S − T.", kind="missing step"),
            wrong("causal has no effect", "causal = False",
                  "With causal, all queries still see all keys in your results. Query i may see the keys up to i + S "
                  "− T.", kind="missing step"),
            wrong("always causal", "causal = True",
                  "In your results, later keys are hidden even if causal is False. Then their distance counts as well.",
                  kind="mix-up")),
        *mistakes_named(grouped.mistakes, "scaled by √T", "scaled by √S"),
        *heads.with_lines(masked="if causal: "),
        heads.BEHIND_WORDS,
        *gradients_lost("outputs"), *another_type("outputs", "after mix"),
    ],
)
# fmt: on
