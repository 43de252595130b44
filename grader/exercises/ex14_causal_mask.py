"""Exercise 14: two ways to hide the future. A row for every query: word i may look at the words 0 … i."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.pictures import causal_weights
from grader.kit.pieces import LARGE, as_pieces, asked
from grader.model.forms.exact import EXACT

from .head_cases import MANY, OF_ANY_LENGTH
from .mistakes import masks, scaling, softmax
from .mistakes.pieces import PIECES, unchanged

Tensor = torch.Tensor

NOTEBOOK_T = 6


def later(X: Tensor) -> Tensor:
    """True above the diagonal: where the key comes after the query."""
    return torch.ones_like(X, dtype=torch.bool).triu(1)


def notebook_sized(X: Tensor) -> Tensor:
    """The mask of the notebook's six words, whatever the number of words."""
    return later(X.new_ones(NOTEBOOK_T, NOTEBOOK_T))


# Of both functions.
WHAT_MAY_BE_SEEN_HIDDEN = Misconception(
    "what may be seen hidden",
    kind="mix-up",
    credit=0.25,
    says="Your results are those of an inverted mask, which hides the past and the word itself. Hide what is above the "
    "diagonal.",
    change={"hidden": lambda X: ~later(X)},
)

TRANSPOSED = Misconception(
    "result transposed",
    kind="convention",
    credit=0.5,
    says="The numbers are right, but transposed. Row i holds the weights of query i.",
    change={"after": lambda weights, *_d_k: weights.mT},
)


# --- weights first ---------------------------------------------------------------------------------------------------


def renormalised(
    attn_weights: Tensor,
    *,
    hidden: Callable[[Tensor], Tensor] = later,
    hide: Callable[[Tensor, Tensor], Tensor] = lambda weights, hidden: weights.masked_fill(hidden, 0.0),
    renormalise: Callable[[Tensor], Tensor] = lambda weights: weights / weights.sum(1, keepdim=True),
    after: Callable[[Tensor], Any] = lambda weights: weights,
    finish: Callable[[Any], Any] = unchanged,
    dtype: Callable[[Any], Any] = unchanged,
) -> Any:
    return dtype(finish(after(renormalise(hide(attn_weights, hidden(attn_weights))))))


def visible(weights: Tensor) -> Tensor:
    """How many words each query may look at: 1 … T, as a column."""
    return torch.arange(1.0, len(weights) + 1, device=weights.device)[:, None]


def weights_sized(T: int, sharpness: float = 1.0) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (torch.softmax(sharpness * randn(rng, T, T), dim=1),)


def future_first(rng: torch.Generator) -> Inputs:
    """Weights of which nearly all lie in the future."""
    scores = randn(rng, 5, 5)
    return (torch.softmax(scores + 8 * later(scores), dim=1),)


# --- scores first ----------------------------------------------------------------------------------------------------


def causal(
    attn_scores: Tensor,
    d_k: int,
    *,
    hidden: Callable[[Tensor], Tensor] = later,
    hide: Callable[[Tensor, Tensor], Tensor] = lambda scores, hidden: scores.masked_fill(hidden, -torch.inf),
    scale: Callable[[Tensor, int], Tensor] = lambda scores, d_k: scores / d_k**0.5,
    normalise: Callable[[Tensor], Tensor] = lambda scores: torch.softmax(scores, dim=1),
    after: Callable[[Tensor, int], Any] = lambda weights, d_k: weights,
    finish: Callable[[Any], Any] = unchanged,
    dtype: Callable[[Any], Any] = unchanged,
) -> Any:
    return dtype(finish(after(normalise(scale(hide(attn_scores, hidden(attn_scores)), d_k)), d_k)))


def scores_sized(T: int, d_k: int, level: float = 0.0) -> Callable[[torch.Generator], Inputs]:
    """Scores as of queries and keys of size d_k: they become about one by scaling. One of them is 0."""

    def inputs(rng: torch.Generator) -> Inputs:
        scores = (level + randn(rng, T, T)) * d_k**0.5
        if T > 1:
            scores[-1, T // 2] = 0
        return scores, d_k

    return inputs


def far_apart(rng: torch.Generator) -> Inputs:
    """Scores from -10⁴ to 10⁴ that are no neighbours: float32 has three digits behind the point there.

    What the first query sees is low, about -9000, so that what hides the others must be lower than many a score.
    """
    T, d_k = 8, 6
    first = T * T // 16
    others = torch.randperm(T * T - 1, generator=rng)
    order = torch.cat([torch.tensor([first]), others + (others >= first)])
    return (order.reshape(T, T) * 2e4 / (T * T - 1) - 1e4, d_k)


causal_softmax = Exercise(
    number=14,
    assignment="causal_attention",
    title="Hiding the future",
    entry="causal_softmax",
    form=EXACT,
    reference=asked(causal),
    picture=causal_weights,
    scales={"scale": "attn_scores"},
    cases=[
        Case("the notebook's sizes", catches="√T or d_k for √d_k", inputs=scores_sized(6, 2)),
        Case("fewer words", catches="a mask of the notebook's size", inputs=scores_sized(4, 7)),
        Case("more words", catches="a mask of the notebook's size, a hard-coded √2", inputs=scores_sized(9, 3)),
        Case("one word", catches="squeezed dimensions", inputs=scores_sized(1, 3)),
        Case("a text of many words", "masks of a fixed size", scores_sized(MANY, 2), beside=OF_ANY_LENGTH, once=True),
        Case("large queries and keys", catches="a hard-coded √8", inputs=scores_sized(5, 64)),
        Case("all far below zero", catches="zeros instead of -∞", inputs=scores_sized(7, 5, level=-12.0)),
        Case("all far above zero", catches="a mask added with the wrong sign", inputs=scores_sized(3, 4, level=9.0)),
        Case(
            "scores of ±10⁴",
            catches="a softmax that overflows, weights masked after it",
            inputs=far_apart,
            beside=LARGE,
        ),
        *as_pieces(scores_sized(5, 3)),
    ],
    misconceptions=[
        Misconception(
            "not masked",
            kind="missing step",
            credit=0.0,
            says="The future is not hidden in your weights. The scores above the diagonal must be −∞ when softmax gets "
            "them.",
            change={"hide": lambda scores, hidden: scores},
        ),
        Misconception(
            "past hidden",
            kind="axis",
            credit=0.5,
            says="The past is hidden in your weights: the mask is on the wrong side of the diagonal. Hide what "
            "is above "
            "it.",
            change={"hidden": lambda scores: later(scores).mT},
        ),
        Misconception(
            "own word hidden",
            kind="axis",
            credit=0.5,
            says="The diagonal is hidden in your weights, too: the first word sees nothing, and its row is NaN. A word "
            "may look at itself: the mask starts above the diagonal, with diagonal=1.",
            change={"hidden": lambda scores: torch.ones_like(scores, dtype=torch.bool).triu()},
        ),
        Misconception(
            "next word visible",
            kind="axis",
            credit=0.5,
            says="Each word sees the next one. Everything above the diagonal should be hidden, with diagonal=1.",
            change={"hidden": lambda scores: torch.ones_like(scores, dtype=torch.bool).triu(2)},
        ),
        Misconception(
            "six words only",
            kind="hard-coded",
            credit=0.5,
            says="Your code works for as many words as the notebook has, six, and for no other number. Take the size "
            "from the scores.",
            change={"hidden": notebook_sized},
        ),
        WHAT_MAY_BE_SEEN_HIDDEN,
        Misconception(
            "zeros instead of −∞",
            kind="wrong formula",
            credit=0.5,
            says="Hidden scores count as zero in your weights, and exp(0) = 1 is a weight like any other. Set them to "
            "−∞.",
            change={"hide": lambda scores, hidden: scores.masked_fill(hidden, 0.0)},
        ),
        Misconception(
            "−1 instead of −∞",
            kind="wrong formula",
            credit=0.5,
            says="Hidden scores count as −1 in your weights, which hides nothing. Set them to −∞.",
            change={"hide": lambda scores, hidden: scores.masked_fill(hidden, -1.0)},
        ),
        Misconception(
            "ones added",
            kind="wrong formula",
            credit=0.5,
            says="Your weights are those of adding 1 to the scores that should be hidden, which favours the future. "
            "Set these scores to −∞.",
            change={"hide": lambda scores, hidden: scores + hidden},
        ),
        Misconception(
            "ones subtracted",
            kind="wrong formula",
            credit=0.5,
            says="Your weights are those of subtracting 1 from the scores that should be hidden, which hides nothing. "
            "Set these scores to −∞.",
            change={"hide": lambda scores, hidden: scores - hidden.float()},
        ),
        Misconception(
            "+∞",
            kind="wrong formula",
            credit=0.5,
            says="Your weights are those of hidden scores at +∞, which softmax turns into NaN. Set them to −∞.",
            change={"hide": lambda scores, hidden: scores.masked_fill(hidden, torch.inf)},
        ),
        Misconception(
            "all NaN",
            kind="wrong formula",
            credit=0.0,  # whoever returns NaN has it
            says="All your weights are NaN, as when 0 is multiplied by −∞, or all scores of a row are hidden.",
            change={"hide": lambda scores, hidden: scores + hidden * -torch.inf},
        ),
        Misconception(
            "masked after softmax",
            kind="wrong formula",
            credit=0.5,
            says="Your weights are those of softmax over all words, with zeros put in afterwards: rows do not sum to "
            "one, and the future shows in how much is missing. Set scores to −∞ before softmax.",
            change={"hide": lambda scores, hidden: scores, "after": lambda weights, d_k: weights.tril()},
        ),
        Misconception(
            "−∞ after softmax",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of softmax over all words, with −∞ put in afterwards. That is for scores, "
            "before softmax.",
            change={
                "hide": lambda scores, hidden: scores,
                "after": lambda weights, d_k: weights.masked_fill(later(weights), -torch.inf),
            },
        ),
        Misconception(
            "not scaled",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are not scaled. Divide the scores by √d_k before softmax.",
            change={"scale": lambda scores, d_k: scores},
        ),
        Misconception(
            "divided by d_k",
            kind="scaling",
            credit=0.5,
            says="Your weights are those of scores divided by d_k. Divide by its square root.",
            change={"scale": lambda scores, d_k: scores / d_k},
        ),
        Misconception(
            "divided by √T",
            kind="scaling",
            credit=0.5,
            says="Your weights are those of scores divided by the root of the number of words. Divide by √d_k, "
            "which is "
            "an argument.",
            change={"scale": lambda scores, d_k: scores / len(scores) ** 0.5},
        ),
        Misconception(
            "divided by T",
            kind="scaling",
            credit=0.5,
            says="Your weights are those of scores divided by the number of words. Divide by √d_k, which is an "
            "argument.",
            change={"scale": lambda scores, d_k: scores / len(scores)},
        ),
        Misconception(
            "multiplied by √d_k",
            kind="scaling",
            credit=0.5,
            says="Your weights are those of scores multiplied by √d_k. They should be divided by it.",
            change={"scale": lambda scores, d_k: scores * d_k**0.5},
        ),
        Misconception(
            "divided by √2",
            kind="hard-coded",
            credit=0.5,
            says="Your scores are divided by √2 whatever d_k is. Divide by the root of the argument d_k.",
            change={"scale": lambda scores, d_k: scores / 2**0.5},
        ),
        Misconception(
            "divided by √3",
            kind="hard-coded",
            credit=0.5,
            says="Your scores are divided by √3 whatever d_k is. Divide by the root of the argument d_k.",
            change={"scale": lambda scores, d_k: scores / 3**0.5},
        ),
        Misconception(
            "divided by √8",
            kind="hard-coded",
            credit=0.5,
            says="Your scores are divided by √8 whatever d_k is. Divide by the root of the argument d_k.",
            change={"scale": lambda scores, d_k: scores / 8**0.5},
        ),
        Misconception(
            "sign flipped",
            kind="wrong formula",
            credit=0.25,
            says="The scores have the wrong sign: the largest score must get the largest weight.",
            # Before masking: −(−∞) would be what "+∞" is.
            change={"hide": lambda scores, hidden: (-scores).masked_fill(hidden, -torch.inf)},
        ),
        scaling.scaled_after_softmax(scale=lambda scores, d_k: scores, after=lambda weights, d_k: weights / d_k**0.5),
        Misconception(
            "softmax down the columns",
            kind="axis",
            credit=0.5,
            says="Your weights are normalised down the columns. Rows are queries: use dim=-1.",
            change={"normalise": lambda scores: torch.softmax(scores, dim=0)},
        ),
        softmax.OVER_EVERYTHING,
        Misconception(
            "raw scores as weights",
            kind="missing step",
            credit=0.25,
            says="Your results are masked scores. The weights are the softmax of each row of them.",
            change={"normalise": lambda scores: scores},
        ),
        softmax.ROWS_NOT_NORMALISED,
        Misconception(
            "applied twice",
            kind="wrong formula",
            credit=0.5,
            says="Your weights are those of softmax applied twice, which gives hidden words weight again. Once is "
            "enough.",
            change={"normalise": lambda scores: torch.softmax(torch.softmax(scores, 1), 1)},
        ),
        softmax.SIGMOID,
        TRANSPOSED,
        Misconception(
            "logarithm",
            kind="wrong formula",
            credit=0.5,
            says="Your results are the logarithms of the weights. Return the weights: softmax, not log_softmax.",
            change={"normalise": lambda scores: torch.log_softmax(scores, dim=1)},
        ),
        masks.renormalised_after_softmax(
            hide=lambda scores, hidden: scores, after=lambda weights, d_k: renormalised(weights)
        ),
        Misconception(
            "scores renormalised without softmax",
            kind="missing step",
            credit=0.25,
            says="Your results are masked scores, divided by the sum of each row. Scores may be negative, and so may "
            "such a sum: take the softmax of each row.",
            change={
                "hide": lambda scores, hidden: scores.masked_fill(hidden, 0.0),
                "normalise": lambda scores: scores / scores.sum(1, keepdim=True),
            },
        ),
        softmax.not_shifted(normalise=lambda scores: scores.exp() / scores.exp().sum(1, keepdim=True)),
        *PIECES,
    ],
)

exercise = Exercise(
    number=14,
    assignment="causal_attention",
    title="Hiding the future",
    entry="mask_then_renormalize",
    form=EXACT,
    reference=asked(renormalised),
    picture=causal_weights,
    others=(causal_softmax,),
    cases=[
        Case("the notebook's size", catches="the notebook's weights instead of the argument", inputs=weights_sized(6)),
        Case("fewer words", catches="a mask of the notebook's size", inputs=weights_sized(4)),
        Case("more words", catches="a mask of the notebook's size, sums over columns", inputs=weights_sized(9)),
        Case(
            "one word",
            catches="squeezed dimensions",
            inputs=lambda rng: (0.1 + torch.rand(1, 1, generator=rng),),
            beside="Your code is right for several words, but not for a single one. Its weight, divided by itself, is "
            "1, in a matrix of one row.",
        ),
        Case("a text of many words", "masks of a fixed size", weights_sized(MANY), beside=OF_ANY_LENGTH, once=True),
        Case("uneven weights", catches="softmax instead of a division by the sum", inputs=weights_sized(7, 3.0)),
        Case("nearly all in the future", catches="rows that are not renormalised", inputs=future_first),
        *as_pieces(weights_sized(5)),
    ],
    misconceptions=[
        Misconception(
            "not renormalised",
            kind="missing step",
            credit=0.5,
            says="Your rows do not sum to one: after masking, each row must be divided by the sum of what is left of "
            "it.",
            change={"renormalise": lambda weights: weights},
        ),
        Misconception(
            "not masked",
            kind="missing step",
            credit=0.0,
            says="Your results are the weights as they came. Those above the diagonal must be zero, and the others "
            "renormalised.",
            change={"hide": lambda weights, hidden: weights},
        ),
        Misconception(
            "past hidden",
            kind="axis",
            credit=0.5,
            says="The past is hidden in your results: the zeros are on the wrong side of the diagonal. They belong "
            "above it (torch.tril).",
            change={"hidden": lambda weights: later(weights).mT},
        ),
        Misconception(
            "own word hidden",
            kind="axis",
            credit=0.5,
            says="The diagonal is hidden in your results, too: nothing is left of the first row, and 0/0 is "
            "NaN. A word "
            "may look at itself.",
            change={"hidden": lambda weights: torch.ones_like(weights, dtype=torch.bool).triu()},
        ),
        Misconception(
            "own word hidden, first row empty",
            kind="axis",
            credit=0.5,
            says="The diagonal is hidden in your results, too: nothing is left of the first row. A word may look at "
            "itself.",
            change={
                "hidden": lambda weights: torch.ones_like(weights, dtype=torch.bool).triu(),
                "after": lambda weights: weights.nan_to_num(0.0),
            },
        ),
        Misconception(
            "next word visible",
            kind="axis",
            credit=0.5,
            says="Each word sees the next one. Everything above the diagonal must be zero.",
            change={"hidden": lambda weights: torch.ones_like(weights, dtype=torch.bool).triu(2)},
        ),
        WHAT_MAY_BE_SEEN_HIDDEN,
        Misconception(
            "six words only",
            kind="hard-coded",
            credit=0.5,
            says="Your code works for as many words as the notebook has, six, and for no other number. Take the size "
            "from the weights.",
            change={"hidden": notebook_sized},
        ),
        Misconception(
            "−∞ in the weights",
            kind="mix-up",
            credit=0.5,
            says="Your results are those of weights set to −∞, whose sums are infinite. That is for scores; weights "
            "must become zero.",
            change={"hide": lambda weights, hidden: weights.masked_fill(hidden, -torch.inf)},
        ),
        Misconception(
            "softmax of the weights",
            kind="mix-up",
            credit=0.5,
            says="Your results are those of softmax of the weights. These have already been through it: divide by the "
            "sum instead.",
            change={
                "hide": lambda weights, hidden: weights.masked_fill(hidden, -torch.inf),
                "renormalise": lambda weights: torch.softmax(weights, dim=1),
            },
        ),
        Misconception(
            "softmax after zeros",
            kind="wrong formula",
            credit=0.25,
            says="Your results are those of softmax after masking: exp(0) = 1, so hidden words get weight "
            "again. Divide "
            "by the sum.",
            change={"renormalise": lambda weights: torch.softmax(weights, dim=1)},
        ),
        Misconception(
            "divided by the sums of columns",
            kind="axis",
            credit=0.5,
            says="Your columns sum to one. Rows are queries: sum along dim=-1, with keepdim=True.",
            change={"renormalise": lambda weights: weights / weights.sum(0, keepdim=True)},
        ),
        Misconception(
            "columns divided by the sums of rows",
            kind="axis",
            credit=0.5,
            says="Column i is divided by the sum of row i, as when the sums lose a dimension. They must keep it: "
            "keepdim=True.",
            change={"renormalise": lambda weights: weights / weights.sum(1)},
        ),
        Misconception(
            "divided by the sum of everything",
            kind="axis",
            credit=0.5,
            says="Your results are divided by the sum of all weights. Each row should be divided by its own sum.",
            change={"renormalise": lambda weights: weights / weights.sum()},
        ),
        Misconception(
            "everything scaled to the number of words",
            kind="wrong formula",
            credit=0.5,
            says="All your weights are scaled by one number. Each row should be divided by its own sum.",
            change={"renormalise": lambda weights: weights / weights.sum() * len(weights)},
        ),
        Misconception(
            "divided by the number of visible words",
            kind="wrong formula",
            credit=0.5,
            says="Each of your rows is divided by how many words it may look at. Divide by the sum of its weights.",
            change={"renormalise": lambda weights: weights / visible(weights)},
        ),
        Misconception(
            "divided by the number of words",
            kind="wrong formula",
            credit=0.5,
            says="Your results are divided by the number of words. Divide each row by the sum of its weights.",
            change={"renormalise": lambda weights: weights / len(weights)},
        ),
        Misconception(
            "divided by the mean",
            kind="wrong formula",
            credit=0.5,
            says="Each of your rows is divided by its mean, so it sums to the number of words. Divide by its sum.",
            change={"renormalise": lambda weights: weights / weights.mean(1, keepdim=True)},
        ),
        Misconception(
            "divided by the largest",
            kind="wrong formula",
            credit=0.5,
            says="The largest weight of each of your rows is 1. Divide the row by its sum.",
            change={"renormalise": lambda weights: weights / weights.amax(1, keepdim=True)},
        ),
        Misconception(
            "divided by the length",
            kind="wrong formula",
            credit=0.5,
            says="The squares of each of your rows sum to one, as after a division by the Euclidean norm. "
            "Divide by the "
            "plain sum.",
            change={"renormalise": lambda weights: weights / weights.norm(dim=1, keepdim=True)},
        ),
        Misconception(
            "multiplied by the sum",
            kind="wrong formula",
            credit=0.5,
            says="Each of your rows is multiplied by its sum. Divide by it.",
            change={"renormalise": lambda weights: weights * weights.sum(1, keepdim=True)},
        ),
        Misconception(
            "missing weight shared out",
            kind="wrong formula",
            credit=0.5,
            says="In your results, what is missing is shared equally among the visible words. Divide each row by its "
            "sum, which keeps their proportions.",
            change={"renormalise": lambda w: w + torch.ones_like(w).tril() * (1 - w.sum(1, keepdim=True)) / visible(w)},
        ),
        Misconception(
            "equal weights",
            kind="missing step",
            credit=0.0,  # they do not depend on the argument
            says="All visible words get the same weight, whatever the argument. Multiply the mask by the weights.",
            change={"hide": lambda weights, hidden: (~hidden).float()},
        ),
        Misconception(
            "the mask returned",
            kind="missing step",
            credit=0.0,
            says="Your result is the mask. Multiply it by the weights, then renormalise.",
            answers=asked(lambda weights: torch.ones_like(weights).tril()),
        ),
        TRANSPOSED,
        Misconception(
            "sums returned",
            kind="missing step",
            credit=0.25,
            says="Your results are the sums of the masked rows. Divide each row by its sum.",
            change={"renormalise": lambda weights: weights.sum(1, keepdim=True)},
        ),
        *PIECES,
    ],
)
