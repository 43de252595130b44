"""Exercise 14: two ways to hide the future. A row for every query: word i may look at the words 0 … i."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader import EXACT, Case, Exercise, Inputs, at, randn, wrong
from grader.kit.pictures import causal_weights
from grader.kit.pieces import LARGE, as_pieces

from .ex08_multihead import exercise as two_heads
from .head_cases import OF_ANY_LENGTH, OVERLONG
from .mistakes import mistakes_named
from .mistakes.of_pieces import another_type, gradients_lost


def mask_then_renormalize(attn_weights):
    visible = torch.tril(attn_weights)  # (T, T): zeros above the diagonal  #: visible
    weights = visible / visible.sum(dim=-1, keepdim=True)  # (T, T) / (T, 1)  #: renormalize
    return weights  #: result


def causal_softmax(attn_scores, d_k):
    future = torch.ones_like(attn_scores, dtype=torch.bool).triu(diagonal=1)  # (T, T): true = hidden  #: future
    scores = attn_scores.masked_fill(future, -torch.inf)  #: mask
    scores = scores / d_k**0.5  #: scale
    weights = torch.softmax(scores, dim=-1)  # (T, T)  #: normalize
    return weights  #: result


def weights_sized(T: int, sharpness: float = 1.0) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (torch.softmax(sharpness * randn(rng, T, T), dim=1),)


def future_first(rng: torch.Generator) -> Inputs:
    """Weights that are nearly all in the future."""
    scores = randn(rng, 5, 5)
    return (torch.softmax(scores + torch.full_like(scores, 8.0).triu(1), dim=1),)


def scores_sized(T: int, d_k: int, level: float = 0.0) -> Callable[[torch.Generator], Inputs]:
    """Scores like those of queries and keys of size d_k, about one after scaling. Of those seen and of those hidden,
    one is 0."""

    def inputs(rng: torch.Generator) -> Inputs:
        scores = (level + randn(rng, T, T)) * d_k**0.5
        if T > 1:
            scores[-1, T // 2] = scores[0, -1] = 0
        return scores, d_k

    return inputs


def far_apart(rng: torch.Generator) -> Inputs:
    """Scores from -10⁴ to 10⁴, far from each other, since float32 has three decimal places there.

    The first query only sees a low score, about -9000, so hidden ones must be lower than that.
    """
    T, d_k = 8, 6
    first = T * T // 16
    remaining = torch.randperm(T * T - 1, generator=rng)
    order = torch.cat([torch.tensor([first]), remaining + (remaining >= first)])
    return (order.reshape(T, T) * 2e4 / (T * T - 1) - 1e4, d_k)


def about_minus_ten_thousand(rng: torch.Generator) -> Inputs:
    """Scores from −10⁴ to −9994 of keys with one number. float32 holds each of them exactly.

    The first query only sees a score of −10⁴, so hidden ones must be lower than that.
    """
    T = 7
    order = torch.cat([torch.zeros(1), 1 + torch.randperm(T * T - 1, generator=rng)])
    return (order.reshape(T, T) / 8 - 1e4, 1)


# fmt: off
scores_first = Exercise(
    number=14,
    assignment="causal_attention",
    title="Hiding the future",
    solution=causal_softmax,
    form=EXACT,
    picture=causal_weights,
    cases=[
        Case("the notebook's sizes", catches="√T or d_k for √d_k", inputs=scores_sized(6, 2)),
        Case("fewer words", catches="a mask of the notebook's size", inputs=scores_sized(4, 7)),
        Case("more words", catches="a mask of the notebook's size, a hard-coded √2", inputs=scores_sized(9, 3)),
        Case("one word", catches="squeezed dimensions", inputs=scores_sized(1, 3)),
        Case("a text of many words", "masks of a fixed size", scores_sized(OVERLONG, 2), beside=OF_ANY_LENGTH,
             once=True),
        Case("large queries and keys", catches="a hard-coded √8", inputs=scores_sized(5, 64)),
        Case("all far below zero", catches="zeros instead of -∞", inputs=scores_sized(7, 5, level=-12.0)),
        Case("all far above zero", catches="a mask added with the wrong sign", inputs=scores_sized(3, 4, level=9.0)),
        Case("scores of ±10⁴", "a softmax that overflows, weights masked after it", inputs=far_apart, beside=LARGE),
        Case("scores of about −10⁴", "a number such as −10⁴ for −∞, which scores can reach", about_minus_ten_thousand,
             beside=LARGE),
        *as_pieces(scores_sized(5, 3)),
    ],
    mistakes=[
        wrong("not masked", {"mask": "scores = attn_scores"},
              "The future is not hidden in your weights. Set the scores above the diagonal to −∞ before softmax.",
              credit=0.0, kind="missing step"),
        *at("future",
            wrong("past hidden", ("triu(diagonal=1)", "tril(diagonal=-1)"),
                  "The past is hidden in your weights: the mask is on the wrong side of the diagonal. Hide what is "
                  "above it.", kind="axis"),
            wrong("own word hidden", ("diagonal=1", "diagonal=0"),
                  "The diagonal is hidden in your weights, too: the first word sees nothing, and its row is NaN. A "
                  "word may look at itself. Start the mask above the diagonal, with diagonal=1.", kind="axis"),
            wrong("next word visible", ("diagonal=1", "diagonal=2"),
                  "Each word sees the next one. Hide everything above the diagonal, with diagonal=1.", kind="axis"),
            wrong("six words only", "future = attn_scores.new_ones(6, 6).triu(diagonal=1).bool()",
                  "Your code works for six words, as in the notebook, and for no other number. Take the size from the "
                  "scores.", kind="hard-coded"),
            wrong("visible words hidden", ("triu(diagonal=1)", "tril()"),
                  "Your results look as if the mask were inverted: the past and the word itself are hidden. Hide what "
                  "is above the diagonal.", kind="mix-up")),
        *at("mask",
            wrong("zeros instead of −∞", ("-torch.inf", "0.0"),
                  "In your weights, hidden scores count as zero, and exp(0) = 1 is a weight like any other. Set hidden "
                  "scores to −∞."),
            wrong("hidden by −10⁴", ("-torch.inf", "-1e4"),
                  "In your weights, hidden scores count as a number such as −10⁴, but other scores may be as low. Set "
                  "them to −∞.", credit=0.75),
            wrong("−1 instead of −∞", ("-torch.inf", "-1.0"),
                  "In your weights, hidden scores count as −1, which does not hide them. Set them to −∞."),
            wrong("ones added", "scores = attn_scores + future",
                  "Your weights look as if 1 had been added to the scores that should be hidden, which favors the "
                  "future. Set these scores to −∞."),
            wrong("ones subtracted", "scores = attn_scores - future.float()",
                  "Your weights look as if 1 had been subtracted from the scores that should be hidden, which does not "
                  "hide them. Set these scores to −∞."),
            wrong("+∞", ("-torch.inf", "torch.inf"),
                  "Your weights look as if hidden scores had been set to +∞, which softmax turns into NaN. Set them to "
                  "−∞."),
            # Any code that returns NaN matches this.
            wrong("all NaN", "scores = attn_scores + future * -torch.inf",
                  "All your weights are NaN, as when 0 is multiplied by −∞, or when all scores of a row are hidden. "
                  "Put −∞ at later words, and nowhere else.", credit=0.0)),
        wrong("visible scores of 0 hidden",
              {"future": "", "mask": "scores = torch.tril(attn_scores)\n"
                                     "scores = scores.masked_fill(scores == 0, -torch.inf)"},
              "A score of exactly 0 is hidden, even where it should be seen. Decide by position: hide all above the "
              "diagonal, and nothing else.", kind="mix-up"),
        wrong("hidden scores of 0 seen",
              {"mask": "scores = attn_scores.masked_fill(attn_scores.triu(diagonal=1) != 0, -torch.inf)"},
              "A score of exactly 0 is seen, even where it should be hidden. Decide by position: hide all above the "
              "diagonal, and nothing else.", kind="mix-up"),
        wrong("masked after softmax", {"mask": "scores = attn_scores", "result": "return weights.tril()"},
              "Your weights look as if the future had been set to zero after softmax: rows do not sum to one, and the "
              "missing part reveals the future. Set scores to −∞ before softmax."),
        wrong("−∞ after softmax",
              {"mask": "scores = attn_scores", "result": "return weights.masked_fill(future, -torch.inf)"},
              "Your results look as if −∞ had been put in after softmax. It belongs in the scores, before softmax."),
        *at("scale",
            wrong("not scaled", "",
                  "The scores that you use are not scaled. Divide the scores by √d_k before softmax.", kind="scaling"),
            wrong("divided by d_k", "scores = scores / d_k",
                  "Your scores are divided by d_k. Divide them by its square root.", kind="scaling"),
            wrong("divided by √T", "scores = scores / len(scores) ** 0.5",
                  "Your scores are divided by the root of the number of words. Divide them by √d_k: d_k is an "
                  "argument.", kind="scaling"),
            wrong("divided by T", "scores = scores / len(scores)",
                  "Your scores are divided by the number of words. Divide them by √d_k: d_k is an argument.",
                  kind="scaling"),
            wrong("multiplied by √d_k", "scores = scores * d_k**0.5",
                  "Your scores are multiplied by √d_k. Divide them by it.", kind="scaling"),
            wrong("divided by √2", "scores = scores / 2**0.5",
                  "Your scores are divided by √2, whatever d_k is. Divide them by the root of the argument d_k.",
                  kind="hard-coded", or_borrowed=True),
            wrong("divided by √3", "scores = scores / 3**0.5",
                  "Your scores are divided by √3, whatever d_k is. Divide them by the root of the argument d_k.",
                  kind="hard-coded", or_borrowed=True),
            wrong("divided by √8", "scores = scores / 8**0.5",
                  "Your scores are divided by √8, whatever d_k is. Divide them by the root of the argument d_k.",
                  kind="hard-coded", or_borrowed=True)),
        # Before masking: −(−∞) would be the same as "+∞".
        wrong("sign flipped", {"mask": "scores = (-attn_scores).masked_fill(future, -torch.inf)"},
              "The scores have the wrong sign: the largest score must get the largest weight."),
        wrong("scaled in the wrong place", {"scale": "", "result": "return weights / d_k**0.5"},
              "In your results, the weights are divided by the root, and not the scores. Scale the scores, before "
              "softmax.", kind="scaling"),
        *at("normalize",
            wrong("softmax down the columns", ("dim=-1", "dim=0"),
                  "Your weights are normalized down the columns. Rows are queries: use dim=-1.", kind="axis"),
            wrong("softmax over everything", "weights = torch.softmax(scores.flatten(), dim=0).reshape(scores.shape)",
                  "All your weights together sum to one, instead of those of each query. Apply softmax to each row: "
                  "dim=-1.", kind="axis"),
            wrong("raw scores as weights", "weights = scores",
                  "Your results are masked scores. Take the softmax of each row.", credit=0.25, kind="missing step"),
            wrong("not normalized", "weights = torch.exp(scores)",
                  "Your weights do not sum to one. Divide the exponentials by their sum in each row.",
                  kind="missing step"),
            wrong("applied twice", "weights = torch.softmax(torch.softmax(scores, dim=1), dim=1)",
                  "Your weights look as if softmax had been applied twice, which gives hidden words some weight again. "
                  "Once is enough."),
            *mistakes_named(two_heads.mistakes, "sigmoid")),
        wrong("result transposed", {"result": "return weights.mT"},
              "Your weights are transposed. Row i holds the weights of query i.", kind="convention"),
        wrong("logarithm", {"normalize": "weights = torch.log_softmax(scores, dim=1)"},
              "Your results are the logarithms of the weights. Return the weights: softmax, not log_softmax."),
        wrong("renormalized after softmax",
              {"mask": "scores = attn_scores", "result": "return mask_then_renormalize(weights)"},
              "Where hidden scores are far above the others, the visible weights all become 0, and 0/0 is NaN. That "
              "happens if you mask and renormalize after softmax. Set scores to −∞ before it.", credit=0.75),
        wrong("scores renormalized without softmax",
              {"mask": ("-torch.inf", "0.0"), "normalize": "weights = scores / scores.sum(dim=1, keepdim=True)"},
              "Your results are masked scores, divided by the sum of each row. Scores can be negative, and so can that "
              "sum. Take the softmax of each row instead.", credit=0.25, kind="missing step"),
        wrong("softmax not shifted",
              {"normalize": "exp = torch.exp(scores)\nweights = exp / exp.sum(dim=1, keepdim=True)"},
              "Where scores are large, exp overflows, or gives 0 in a whole row, and ∞/∞ and 0/0 are NaN. Use "
              "torch.softmax, or subtract the maximum of each row before exp.", credit=0.75, kind="missing step"),
        *gradients_lost("weights"),
        *another_type("weights", "after normalize"),
    ],
)

exercise = Exercise(
    number=14,
    assignment="causal_attention",
    title="Hiding the future",
    solution=mask_then_renormalize,
    form=EXACT,
    picture=causal_weights,
    others=(scores_first,),
    cases=[
        Case("the notebook's size", catches="the notebook's weights instead of the argument", inputs=weights_sized(6)),
        Case("fewer words", catches="a mask of the notebook's size", inputs=weights_sized(4)),
        Case("more words", catches="a mask of the notebook's size, sums over columns", inputs=weights_sized(9)),
        Case("one word", catches="squeezed dimensions", inputs=lambda rng: (0.1 + torch.rand(1, 1, generator=rng),),
             beside="Your code is right for several words, but not for a single one. Its weight divided by itself is "
             "1: the result is a matrix with one row."),
        Case("a text of many words", "masks of a fixed size", weights_sized(OVERLONG), beside=OF_ANY_LENGTH, once=True),
        Case("uneven weights", catches="softmax instead of a division by the sum", inputs=weights_sized(7, 3.0)),
        Case("nearly all in the future", catches="rows that are not renormalized", inputs=future_first),
        *as_pieces(weights_sized(5)),
    ],
    mistakes=[
        wrong("not renormalized", {"renormalize": "weights = visible"},
              "Your rows do not sum to one. After masking, divide each row by the sum of what is left of it.",
              kind="missing step"),
        *at("visible",
            wrong("not masked", "visible = attn_weights",
                  "Your results are the weights, unchanged. Set those above the diagonal to zero, and renormalize the "
                  "others.", credit=0.0, kind="missing step"),
            wrong("past hidden", "visible = torch.triu(attn_weights)",
                  "The past is hidden in your results: the zeros are on the wrong side of the diagonal. They belong "
                  "above it (torch.tril).", kind="axis"),
            wrong("own word hidden", "visible = torch.tril(attn_weights, diagonal=-1)",
                  "The diagonal is hidden in your results, too: nothing is left of the first row, and 0/0 is NaN. A "
                  "word may look at itself: keep the diagonal.", kind="axis")),
        wrong("own word hidden, first row empty",
              {"visible": "visible = torch.tril(attn_weights, diagonal=-1)",
               "result": "return weights.nan_to_num(0.0)"},
              "The diagonal is hidden in your results, too, so nothing is left of the first row. A word may look at "
              "itself: keep the diagonal.", kind="axis"),
        *at("visible",
            wrong("next word visible", "visible = torch.tril(attn_weights, diagonal=1)",
                  "Each word sees the next one. Set everything above the diagonal to zero.", kind="axis"),
            wrong("visible words hidden", "visible = torch.triu(attn_weights, diagonal=1)",
                  "Your results look as if the mask were inverted: the past and the word itself are hidden. Hide what "
                  "is above the diagonal.", kind="mix-up"),
            wrong("six words only", "visible = attn_weights * attn_weights.new_ones(6, 6).tril()",
                  "Your code works for six words, as in the notebook, and for no other number. Take the size from the "
                  "weights.", kind="hard-coded")),
        wrong("−∞ in the weights", {"after visible": "visible = visible.masked_fill(visible == 0, -torch.inf)"},
              "Your results look as if weights had been set to −∞, which makes their sums infinite. −∞ is for scores. "
              "Set hidden weights to zero.", kind="mix-up"),
        wrong("softmax of the weights",
              {"after visible": "visible = visible.masked_fill(visible == 0, -torch.inf)",
               "renormalize": "weights = torch.softmax(visible, dim=1)"},
              "Your results are the softmax of the weights, which have already been through softmax. Divide by the sum "
              "instead.", kind="mix-up"),
        *at("renormalize",
            wrong("softmax after zeros", "weights = torch.softmax(visible, dim=1)",
                  "Your results look as if softmax had been applied after masking: exp(0) = 1, so hidden words get "
                  "weight again. Divide by the sum instead."),
            wrong("divided by the sums of columns", "weights = visible / visible.sum(dim=0, keepdim=True)",
                  "Your columns sum to one. Rows are queries: sum along dim=-1, with keepdim=True.", kind="axis"),
            wrong("columns divided by the sums of rows", "weights = visible / visible.sum(dim=1)",
                  "Column i is divided by the sum of row i, as when the sums lose a dimension. Keep that dimension: "
                  "keepdim=True.", kind="axis"),
            wrong("divided by the sum of everything", "weights = visible / visible.sum()",
                  "Your results are divided by the sum of all weights. Divide each row by its own sum.", kind="axis"),
            wrong("everything scaled to the number of words", "weights = visible / visible.sum() * len(visible)",
                  "All your weights are scaled by the same number. Divide each row by its own sum."),
            wrong("divided by the number of visible words",
                  "weights = visible / (visible > 0).sum(dim=1, keepdim=True)",
                  "Each of your rows is divided by the number of words that it may look at. Divide it by the sum of "
                  "its weights."),
            wrong("divided by the number of words", "weights = visible / len(visible)",
                  "Your results are divided by the number of words. Divide each row by the sum of its weights."),
            wrong("divided by the mean", "weights = visible / visible.mean(dim=1, keepdim=True)",
                  "Each of your rows is divided by its mean, so it sums to the number of words. Divide it by its sum."),
            wrong("divided by the largest", "weights = visible / visible.amax(dim=1, keepdim=True)",
                  "The largest weight of each of your rows is 1. Divide the row by its sum."),
            wrong("divided by the length", "weights = visible / visible.norm(dim=1, keepdim=True)",
                  "In each of your rows, the squares sum to one, as after a division by the Euclidean norm. Divide by "
                  "the plain sum."),
            wrong("multiplied by the sum", "weights = visible * visible.sum(dim=1, keepdim=True)",
                  "Each of your rows is multiplied by its sum. Divide it by the sum instead."),
            wrong("missing weight shared out",
                  "seen, missing = visible > 0, 1 - visible.sum(dim=1, keepdim=True)\n"
                  "weights = visible + seen * missing / seen.sum(dim=1, keepdim=True)",
                  "In your results, the missing weight is shared equally among the visible words. Divide each row by "
                  "its sum instead, which keeps the proportions.")),
        # No credit: these do not depend on the argument.
        wrong("equal weights", {"after visible": "visible = (visible > 0).float()"},
              "All visible words get the same weight, whatever the argument is. Multiply the mask by the weights.",
              credit=0.0, kind="missing step"),
        wrong("the mask returned",
              {"visible": "visible = torch.ones_like(attn_weights).tril()", "renormalize": "weights = visible"},
              "Your result is the mask. Multiply it by the weights, then renormalize.",
              credit=0.0, kind="missing step"),
        *mistakes_named(scores_first.mistakes, "result transposed"),
        wrong("sums returned", {"renormalize": "weights = visible.sum(dim=1, keepdim=True)"},
              "Your results are the sums of the masked rows. Divide each row by its sum.",
              credit=0.25, kind="missing step"),
        *gradients_lost("weights"),
        *another_type("weights", "after renormalize"),
    ],
)
# fmt: on
