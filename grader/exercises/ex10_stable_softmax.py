"""Exercise 10: a softmax that survives numbers of any size, along any dimension."""

from __future__ import annotations

from collections.abc import Callable

import torch

from grader import EXACT, Case, Exercise, Inputs, at, randn, wrong
from grader.kit.pictures import softmax_along
from grader.kit.pieces import as_pieces

from .mistakes.of_pieces import another_type, gradients_lost


def softmax_stable(x, dim=-1):  #: arguments
    shifted = x - x.amax(dim=dim, keepdim=True)  # same shape; the largest number along dim is now 0  #: shift
    exp = torch.exp(shifted)  #: exponentials
    weights = exp / exp.sum(dim=dim, keepdim=True)  #: normalize
    return weights  #: result


def sized(*shape: int, dim: int) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (randn(rng, *shape), dim)


def around(level: float, *shape: int, dim: int) -> Callable[[torch.Generator], Inputs]:
    """Numbers near a level, where float32 still has five decimal places."""
    return lambda rng: (level + randn(rng, *shape), dim)


def far_apart(rng: torch.Generator) -> Inputs:
    """Rows near +100 and near -115 in turn: no one shift is good for both."""
    levels = torch.tensor([100.0, -115.0]).repeat(3)[:, None]
    return randn(rng, 6, 4) + levels, 1


def huge(rng: torch.Generator) -> Inputs:
    # At 10⁴ float32 has only three decimal places. Rounding must not show, so each row has one number that is by far
    # the largest, and its weights are 0 and 1. Rows also have numbers of both signs.
    x = 1e4 * (2 * torch.rand(4, 7, generator=rng) - 1)
    x += 1e3 * x.sign()  # not so small that it shows where code cuts off numbers
    x[:, 5] = -1.2e4
    x[range(4), [0, 1, 3, 6]] = 1.2e4 + 100 * torch.rand(4, generator=rng)  # first, last, and in between
    return x, -1


def far_below(rng: torch.Generator) -> Inputs:
    """Rows that are far below zero as a whole, and rows with one such number.

    At -2500 float32 has only three decimal places, so in those rows one number is by far the largest.
    """
    x = randn(rng, 4, 5)
    x[:2] -= 2500
    x[[0, 1], [2, 4]] += 100
    x[2:, 0] = -300
    return x, 1


def gigantic(rng: torch.Generator) -> Inputs:
    x = randn(rng, 3, 5)
    x[:, 2] = 3.0
    return 1e30 * x, 1


SECOND_LOST = (
    "Your results are divided by sums along dimension 1, whatever dim is, and this dimension is lost. Sum along "
    "dim, with keepdim=True."
)


# fmt: off
exercise = Exercise(
    number=10,
    assignment="causal_attention",
    title="A softmax that survives",
    solution=softmax_stable,
    form=EXACT,
    picture=softmax_along,
    cases=[
        Case("a vector, dim left out", catches="a hard-coded size", inputs=lambda rng: (randn(rng, 5),)),
        Case("a matrix, dim left out", catches="another default than -1", inputs=lambda rng: (randn(rng, 3, 7),)),
        Case("down the columns", catches="dim that is not used", inputs=sized(4, 7, dim=0)),
        Case("along the rows", catches="a softmax over everything", inputs=sized(7, 3, dim=1)),
        Case("a square", catches="keepdim forgotten, where shapes fit all the same", inputs=sized(5, 5, dim=1)),
        Case("three dimensions", catches="code for matrices only", inputs=sized(4, 3, 6, dim=1)),
        Case("a dimension of one", catches="squeezed dimensions", inputs=sized(4, 1, 3, dim=1)),
        Case("four dimensions, counted from the end", catches="a negative dim", inputs=sized(2, 5, 4, 3, dim=-3)),
        Case("numbers around 100", catches="exp that overflows", inputs=around(100, 6, 8, dim=0)),
        Case("numbers around -115", catches="exp that becomes 0, then 0/0", inputs=around(-115, 3, 5, dim=-1)),
        Case("rows far apart", catches="the largest of everything subtracted", inputs=far_apart),
        Case("far below zero", "a largest number that begins at 0, the largest magnitude", far_below),
        Case("up to ±10⁴", catches="float64, the mean or the smallest instead of the largest", inputs=huge),
        Case("up to 10³⁰", catches="numbers cut off, or made double", inputs=gigantic),
        *as_pieces(sized(3, 4, dim=0)),
    ],
    mistakes=[
        wrong("not shifted", {"shift": "shifted = x"},
              "Large numbers make exp overflow, and ∞/∞ is NaN. Subtract the maximum along dim first.",
              kind="missing step"),
        wrong("float64 instead of a shift",
              {"shift": "shifted = x.double()",
               "normalize": "weights = (exp / exp.sum(dim=dim, keepdim=True)).to(x.dtype)"},
              "Your results look as if they were computed in float64. It overflows, too, just at larger numbers. "
              "Subtract the maximum along dim instead."),
        wrong("epsilon instead of a shift",
              {"shift": "shifted = x", "normalize": "weights = exp / (exp.sum(dim=dim, keepdim=True) + 1e-9)"},
              "Your results look as if a small number were added to the sum. That avoids 0/0, but exp still overflows: "
              "subtract the maximum."),
        wrong("NaN replaced by zero", {"shift": "shifted = x", "result": "return weights.nan_to_num(0.0)"},
              "Your results have zeros where ∞/∞ or 0/0 would be NaN, but the right weights are not zero there. "
              "Subtract the maximum, and no NaN appears."),
        *at("shift",
            wrong("largest of everything subtracted", "shifted = x - x.max()",
                  "Your results look as if the maximum of the whole tensor were subtracted. If a row lies far below "
                  "it, all of its exponentials become 0. Take the maximum along dim, with keepdim=True.",
                  credit=0.75, kind="axis"),
            wrong("largest of the last dimension subtracted", "shifted = x - x.amax(dim=-1, keepdim=True)",
                  "Your results look as if the maximum were taken along the last dimension. Take it along dim, like "
                  "the sum.", credit=0.75, kind="axis"),
            wrong("largest of the first dimension subtracted", "shifted = x - x.amax(dim=0, keepdim=True)",
                  "Your results look as if the maximum were taken along the first dimension. Take it along dim, like "
                  "the sum.", credit=0.75, kind="axis"),
            wrong("smallest subtracted", "shifted = x - x.amin(dim=dim, keepdim=True)",
                  "Your results look as if the minimum were subtracted: large numbers stay large, and exp overflows. "
                  "Subtract the maximum."),
            wrong("mean subtracted", "shifted = x - x.mean(dim=dim, keepdim=True)",
                  "Your results look as if the mean were subtracted: numbers far above it still overflow. Subtract the "
                  "maximum."),
            wrong("largest absolute value subtracted", "shifted = x - x.abs().amax(dim=dim, keepdim=True)",
                  "Your results look as if the largest absolute value were subtracted. If all numbers are far below "
                  "zero, all exponentials become 0. Subtract the maximum.", credit=0.75),
            wrong("largest added", "shifted = x + x.amax(dim=dim, keepdim=True)",
                  "Your results look as if the maximum were added, which makes large numbers larger. Subtract it."),
            wrong("subtracted the wrong way around", "shifted = x.amax(dim=dim, keepdim=True) - x",
                  "Your results look as if exp(max − x) were used: the largest number gets the smallest weight. Use "
                  "exp(x − max).")),
        wrong("sign flipped", {"before shift": "x = -x"},
              "Your results are the softmax of −x: the largest number gets the smallest weight. Take the softmax of "
              "x."),
        *at("shift",
            wrong("divided by the largest", "shifted = x / x.amax(dim=dim, keepdim=True)",
                  "Your results look as if the numbers were divided by their maximum before exp, which changes the "
                  "weights. Subtract it instead."),
            wrong("divided by the largest absolute value", "shifted = x / x.abs().amax(dim=dim, keepdim=True)",
                  "Your results look as if the numbers were divided by their largest magnitude, which changes the "
                  "weights. Subtract the maximum instead."),
            wrong("standardised", "shifted = (x - x.mean(dim=dim, keepdim=True)) / x.std(dim=dim, keepdim=True)",
                  "Your results look as if the mean were subtracted and the result divided by the spread, which "
                  "changes the weights. Only subtract the maximum."),
            # The cases cannot tell between limits from 10 to 87.
            wrong("cut off", "shifted = x.clamp(-80, 80)",
                  "Your results look as if large numbers were cut off, so different numbers get equal weights. "
                  "Subtract the maximum instead."),
            wrong("cut off above", "shifted = x.clamp(max=80)",
                  "Your results look as if numbers were cut off at the top only: different ones get equal weights, and "
                  "those far below zero all become 0. Subtract the maximum instead.")),
        *at("normalize",
            wrong("shifted on top only", "weights = exp / torch.exp(x).sum(dim=dim, keepdim=True)",
                  "Your results look as if a maximum were subtracted only in the numerator. Subtract it in the "
                  "denominator, too."),
            wrong("shifted below only", "weights = torch.exp(x) / exp.sum(dim=dim, keepdim=True)",
                  "Your results look as if a maximum were subtracted only in the denominator. Subtract it in the "
                  "numerator, too.")),
        *at("after arguments",
            wrong("always the last dimension", "dim = -1",
                  "Your results are always for the last dimension, whatever dim is. Use the argument dim.",
                  kind="axis"),
            wrong("always the first dimension", "dim = 0",
                  "Your results are always for the first dimension, whatever dim is. Use the argument dim.",
                  kind="axis"),
            wrong("always the second dimension", "dim = 1",
                  "Your results are always for dimension 1. Use the argument dim.", kind="axis"),
            wrong("rows and columns only", "dim = 0 if dim == 0 else 1",
                  "Your function works with two dimensions only. Tensors may have one dimension, or three or more: use "
                  "the argument dim unchanged.", credit=0.75, kind="axis"),
            wrong("rows and columns exchanged", "dim = 1 - dim % 2 if x.dim() == 2 else dim",
                  "Your results are for the other dimension, not for dim. dim=0 runs down the columns, dim=1 along the "
                  "rows.", kind="axis")),
        wrong("first dimension by default", {"arguments": ("dim=-1", "dim=0")},
              "If dim is not given, your results are for dim=0. Make the last dimension the default: dim=-1.",
              credit=0.75, kind="axis"),
        wrong("largest along the wrong dimension", {"shift": "shifted = x - x.amax(dim=dim)"},
              "Your results look as if a maximum were subtracted along the wrong dimension. Perhaps it has lost a "
              "dimension: keep it with keepdim=True.", kind="axis"),
        *at("normalize",
            wrong("sum along the wrong dimension", "weights = exp / exp.sum(dim=dim)",
                  "Your results look as if they were divided by a sum along the wrong dimension. Perhaps it has lost a "
                  "dimension: keep it with keepdim=True.", kind="axis"),
            wrong("sum along the last dimension", "weights = exp / exp.sum(dim=-1, keepdim=True)",
                  "Your results are divided by the sum along the last dimension, whatever dim is. Sum along dim.",
                  kind="axis"),
            wrong("sum along the first dimension", "weights = exp / exp.sum(dim=0)",
                  "Your results are divided by the sum along the first dimension, whatever dim is. Sum along dim.",
                  kind="axis"),
            wrong("sum along the second dimension", "weights = exp / exp.sum(dim=1, keepdim=True)",
                  "Your results are divided by the sum along dimension 1, whatever dim is. Sum along dim.",
                  kind="axis"),
            wrong("sum along the second dimension, which is lost",
                  ["weights = exp / exp.sum(dim=1)",
                   {"normalize": "weights = exp / exp.sum(dim=1)", "shift": "shifted = x - x.max()"}],
                  SECOND_LOST, kind="axis"),
            wrong("sum over everything", "weights = exp / exp.sum()",
                  "Your results are divided by the sum of the whole tensor. Sum along dim, with keepdim=True.",
                  kind="axis")),
        wrong("softmax over everything", {"shift": "shifted = x - x.max()", "normalize": "weights = exp / exp.sum()"},
              "Your results are the softmax over the whole tensor, as if there were no dim. Take both maximum and sum "
              "along dim.", kind="axis"),
        wrong("not normalized", {"normalize": "weights = exp"},
              "Your values do not sum to one. Divide them by their sum along dim.", kind="missing step"),
        wrong("largest weight 1",
              {"shift": "shifted = x", "normalize": "weights = exp / exp.amax(dim=dim, keepdim=True)"},
              "The largest weight is 1, and the weights do not sum to one. Divide the exponentials by their sum along "
              "dim."),
        *at("normalize",
            wrong("divided by the mean", "weights = exp / exp.mean(dim=dim, keepdim=True)",
                  "Your values sum to their count, as after dividing by the mean. Divide by the sum along dim "
                  "instead."),
            wrong("divided by the count", "weights = exp / exp.shape[dim]",
                  "Your values are exponentials divided by their count. Divide them by their sum along dim."),
            wrong("divided by the length", "weights = exp / exp.norm(dim=dim, keepdim=True)",
                  "The squares of your values sum to one, as after dividing by the Euclidean norm. Divide by the plain "
                  "sum.")),
        wrong("logarithm", {"result": "return weights.log()"},
              "Your results are the logarithms of softmax. Return the weights: positive numbers that sum to one."),
        *at("exponentials",
            wrong("without the exponential", "exp = shifted",
                  "Your results look as if exp were missing. It makes every number positive: take it before you divide "
                  "by the sum.", credit=0.25, kind="missing step"),
            wrong("base two", "exp = torch.exp2(shifted)",
                  "Your results come from powers of 2. Softmax uses the exponential function, torch.exp.")),
        *at("before shift",
            wrong("scaled", "x = x / x.shape[dim] ** 0.5",
                  "Your results look as if the numbers were divided by the root of the size. Softmax itself does not "
                  "scale: use the numbers unchanged.", kind="scaling"),
            wrong("applied twice", "x = torch.softmax(x, dim=dim)",
                  "Your weights look as if softmax had been applied twice. Once is enough.")),
        wrong("hard maximum", {"exponentials": "exp = (shifted == 0).float()"},
              "All your weight is on the largest number. Softmax gives every number some weight.", credit=0.0),
        *at("result",
            wrong("dimension not moved back", "return weights.movedim(dim, -1)",
                  "In your result, dim has become the last dimension. Keep the shape of x.",
                  credit=0.75, kind="arrangement"),
            wrong("a list returned", "return weights.tolist()",
                  "Your result is in lists. Return a tensor with the shape of x.",
                  credit=0.75, kind="arrangement")),
        *gradients_lost("weights"),
        *another_type("weights", "after normalize"),
    ],
)
# fmt: on
