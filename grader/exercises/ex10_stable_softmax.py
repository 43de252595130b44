"""Exercise 10: a softmax that survives numbers of any size, along any dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.pictures import softmax_along
from grader.kit.pieces import as_pieces, asked
from grader.model.forms.exact import EXACT

from .mistakes import softmax
from .mistakes.pieces import PIECES, unchanged

Tensor = torch.Tensor


def less_the_largest(x: Tensor, dim: int) -> Tensor:
    return x - x.amax(dim, keepdim=True)


def share(e: Tensor, _x: Tensor, dim: int) -> Tensor:
    return e / e.sum(dim, keepdim=True)


def reference(
    x: Tensor,
    dim: int | None = None,
    *,
    default: int = -1,
    axis: Callable[[int, Tensor], int] = lambda dim, x: dim,
    before: Callable[[Tensor, int], Tensor] = lambda x, dim: x,
    shift: Callable[[Tensor, int], Tensor] = less_the_largest,
    positive: Callable[[Tensor], Tensor] = torch.exp,
    normalise: Callable[[Tensor, Tensor, int], Tensor] = share,
    after: Callable[[Tensor, int], Any] = lambda weights, dim: weights,
    finish: Callable[[Any], Any] = unchanged,
    dtype: Callable[[Any], Any] = unchanged,
) -> Any:
    dim = axis(default if dim is None else dim, x)
    x = before(x, dim)
    return dtype(finish(after(normalise(positive(shift(x, dim)), x, dim), dim)))


def not_shifted(x: Tensor, _dim: int) -> Tensor:
    return x


def share_of_unshifted(e: Tensor, x: Tensor, dim: int) -> Tensor:
    return e / x.exp().sum(dim, keepdim=True)


def unshifted_share(_e: Tensor, x: Tensor, dim: int) -> Tensor:
    return x.exp() / less_the_largest(x, dim).exp().sum(dim, keepdim=True)


def sized(*shape: int, dim: int) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (randn(rng, *shape), dim)


def around(level: float, *shape: int, dim: int) -> Callable[[torch.Generator], Inputs]:
    """Numbers near a level, where float32 still has five digits behind the point."""
    return lambda rng: (level + randn(rng, *shape), dim)


def far_apart(rng: torch.Generator) -> Inputs:
    """Rows near +100 and near -115 in turn: no one shift is good for both."""
    levels = torch.tensor([100.0, -115.0]).repeat(3)[:, None]
    return randn(rng, 6, 4) + levels, 1


def huge(rng: torch.Generator) -> Inputs:
    # At 10⁴ float32 has only three digits behind the point. Each row holds one number that is the largest by far,
    # so that the weights are 0 and 1 and such roundings do not show, and numbers of both signs.
    x = 1e4 * (2 * torch.rand(4, 7, generator=rng) - 1)
    x += 1e3 * x.sign()  # none so small that it shows where numbers were cut off
    x[:, 5] = -1.2e4
    x[range(4), [0, 1, 3, 6]] = 1.2e4 + 100 * torch.rand(4, generator=rng)  # the first, the last, and between
    return x, -1


def far_below(rng: torch.Generator) -> Inputs:
    """Rows of which all is far below zero, and rows in which that is one number alone.

    At -2500 float32 has only three digits behind the point, so one number there is the largest by far.
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


exercise = Exercise(
    number=10,
    assignment="causal_attention",
    title="A softmax that survives",
    entry="softmax_stable",
    form=EXACT,
    reference=asked(reference),
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
    misconceptions=[
        Misconception(
            "not shifted",
            kind="missing step",
            credit=0.5,
            says="Large numbers make exp overflow, and ∞/∞ is NaN. Subtract the maximum along dim first.",
            change={"shift": not_shifted},
        ),
        Misconception(
            "float64 instead of a shift",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of float64: more precise numbers overflow, too, only later. Subtract the "
            "maximum along dim instead.",
            change={"shift": lambda x, dim: x.double(), "normalise": lambda e, x, dim: share(e, x, dim).to(x.dtype)},
        ),
        Misconception(
            "epsilon instead of a shift",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of adding a small number below the fraction bar, which avoids 0/0, but exp "
            "still overflows. Subtract the maximum.",
            change={"shift": not_shifted, "normalise": lambda e, x, dim: e / (e.sum(dim, keepdim=True) + 1e-9)},
        ),
        Misconception(
            "NaN painted over",
            kind="wrong formula",
            credit=0.5,
            says="Your results have zeros where exp would give NaN, but those weights are not zero. Subtract the "
            "maximum, and no NaN appears.",
            change={
                "shift": not_shifted,
                "after": lambda weights, dim: weights.nan_to_num(0.0),
            },
        ),
        Misconception(
            "largest of everything subtracted",
            kind="axis",
            credit=0.75,
            says="Your results are those of subtracting the maximum of the whole tensor. Where a row lies far below "
            "it, all of its exponentials become 0. Take the maximum along dim, with keepdim=True.",
            change={"shift": lambda x, dim: x - x.max()},
        ),
        Misconception(
            "largest of the last dimension subtracted",
            kind="axis",
            credit=0.75,
            says="Your results are those of the maximum along the last dimension. Take it along dim, like the sum.",
            change={"shift": lambda x, dim: x - x.amax(-1, keepdim=True)},
        ),
        Misconception(
            "largest of the first dimension subtracted",
            kind="axis",
            credit=0.75,
            says="Your results are those of the maximum along the first dimension. Take it along dim, like the sum.",
            change={"shift": lambda x, dim: x - x.amax(0, keepdim=True)},
        ),
        Misconception(
            "smallest subtracted",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of subtracting the minimum: large numbers stay large, and exp overflows. "
            "Subtract the maximum.",
            change={"shift": lambda x, dim: x - x.amin(dim, keepdim=True)},
        ),
        Misconception(
            "mean subtracted",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of subtracting the mean: numbers far above it still overflow. Subtract the "
            "maximum.",
            change={"shift": lambda x, dim: x - x.mean(dim, keepdim=True)},
        ),
        Misconception(
            "largest absolute value subtracted",
            kind="wrong formula",
            credit=0.75,
            says="Your results are those of subtracting the largest absolute value. Where all numbers are far below "
            "zero, all exponentials become 0. Subtract the maximum.",
            change={"shift": lambda x, dim: x - x.abs().amax(dim, keepdim=True)},
        ),
        Misconception(
            "largest added",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of adding the maximum, which makes large numbers larger. Subtract it.",
            change={"shift": lambda x, dim: x + x.amax(dim, keepdim=True)},
        ),
        Misconception(
            "subtracted the wrong way round",
            kind="wrong formula",
            credit=0.25,
            says="Your results are those of exp(max − x), where the largest number gets the smallest weight. It should "
            "be exp(x − max).",
            change={"shift": lambda x, dim: x.amax(dim, keepdim=True) - x},
        ),
        Misconception(
            "sign flipped",
            kind="wrong formula",
            credit=0.25,
            says="Your results are the softmax of −x: the largest number gets the smallest weight.",
            change={"before": lambda x, dim: -x},
        ),
        Misconception(
            "divided by the largest",
            kind="wrong formula",
            credit=0.25,
            says="Your results are those of numbers divided by their maximum before exp, which changes the weights. "
            "Subtract it.",
            change={"shift": lambda x, dim: x / x.amax(dim, keepdim=True)},
        ),
        Misconception(
            "divided by the largest absolute value",
            kind="wrong formula",
            credit=0.25,
            says="Your results are those of numbers divided by their largest magnitude, which alters the weights. "
            "Subtract the maximum.",
            change={"shift": lambda x, dim: x / x.abs().amax(dim, keepdim=True)},
        ),
        Misconception(
            "standardised",
            kind="wrong formula",
            credit=0.25,
            says="Your results are those of subtracting the mean and dividing by the spread, which alters the weights. "
            "Subtract only the maximum.",
            change={"shift": lambda x, dim: (x - x.mean(dim, keepdim=True)) / x.std(dim, keepdim=True)},
        ),
        Misconception(
            "cut off",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of cutting off large numbers, so different numbers get equal weights. "
            "Subtract the maximum.",
            # Wherever between 10 and 87 one cuts, the cases see the same.
            change={"shift": lambda x, dim: x.clamp(-80, 80)},
        ),
        Misconception(
            "cut off above",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of cutting off numbers at the top only: different ones get equal weights, and "
            "those far below zero all become 0. Subtract the maximum.",
            change={"shift": lambda x, dim: x.clamp(max=80)},
        ),
        Misconception(
            "shifted on top only",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of subtracting a maximum above the fraction bar only. Subtract it before both "
            "uses.",
            change={"normalise": share_of_unshifted},
        ),
        Misconception(
            "shifted below only",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of subtracting a maximum below the fraction bar only. Subtract it before both "
            "uses.",
            change={"normalise": unshifted_share},
        ),
        Misconception(
            "always the last dimension",
            kind="axis",
            credit=0.5,
            says="Your results are always those along the last dimension, whatever dim is. Work along dim.",
            change={"axis": lambda dim, x: -1},
        ),
        Misconception(
            "always the first dimension",
            kind="axis",
            credit=0.5,
            says="Your results are always those along the first dimension, whatever dim is. Work along dim.",
            change={"axis": lambda dim, x: 0},
        ),
        Misconception(
            "always the second dimension",
            kind="axis",
            credit=0.5,
            says="Your results are always those along dimension 1. Use the argument dim.",
            change={"axis": lambda dim, x: 1},
        ),
        Misconception(
            "rows and columns only",
            kind="axis",
            credit=0.75,
            says="Your function works with two dimensions only. Use the argument dim as it is: tensors may have one "
            "dimension, or three or more.",
            change={"axis": lambda dim, x: 0 if dim == 0 else 1},
        ),
        Misconception(
            "rows and columns exchanged",
            kind="axis",
            credit=0.5,
            says="Your results are those along the other dimension, not along dim. dim=0 runs down the columns, dim=1 "
            "along the rows.",
            change={"axis": lambda dim, x: 1 - dim % x.dim() if x.dim() == 2 else dim},
        ),
        Misconception(
            "first dimension by default",
            kind="axis",
            credit=0.75,
            says="Where dim is not given, your results are those of dim=0. The default is the last dimension, dim=-1.",
            change={"default": 0},
        ),
        Misconception(
            "largest along the wrong dimension",
            kind="axis",
            credit=0.5,
            says="Your results are those of a maximum subtracted along the wrong dimension, as when it has lost a "
            "dimension. Keep the dimension: keepdim=True.",
            change={"shift": lambda x, dim: x - x.amax(dim)},
        ),
        Misconception(
            "sum along the wrong dimension",
            kind="axis",
            credit=0.5,
            says="Your results are those of a sum divided out along the wrong dimension, as when it has lost a "
            "dimension. Keep the dimension: keepdim=True.",
            change={"normalise": lambda e, x, dim: e / e.sum(dim)},
        ),
        Misconception(
            "sum over everything",
            kind="axis",
            credit=0.5,
            says="Your results are divided by the sum of the whole tensor. Sum along dim, with keepdim=True.",
            change={"normalise": lambda e, x, dim: e / e.sum()},
        ),
        Misconception(
            "softmax over everything",
            kind="axis",
            credit=0.5,
            says="Your results are the softmax over the whole tensor, as if dim were not there. Maximum and sum run "
            "along dim.",
            change={"shift": lambda x, dim: x - x.max(), "normalise": lambda e, x, dim: e / e.sum()},
        ),
        Misconception(
            "not normalised",
            kind="missing step",
            credit=0.5,
            says="Your values do not sum to one. Divide by their sum along dim.",
            change={"normalise": lambda e, x, dim: e},
        ),
        Misconception(
            "largest weight 1",
            kind="wrong formula",
            credit=0.5,
            says="The largest weight is 1, and the weights do not sum to one. Divide the exponentials by their sum "
            "along dim.",
            change={"shift": not_shifted, "normalise": lambda e, x, dim: e / e.amax(dim, keepdim=True)},
        ),
        Misconception(
            "divided by the mean",
            kind="wrong formula",
            credit=0.5,
            says="Your values sum to how many there are, as after a division by the mean. Divide by the sum along dim.",
            change={"normalise": lambda e, x, dim: e / e.mean(dim, keepdim=True)},
        ),
        Misconception(
            "divided by the count",
            kind="wrong formula",
            credit=0.5,
            says="Your values are exponentials divided by how many there are. Divide them by their sum along dim.",
            change={"normalise": lambda e, x, dim: e / e.shape[dim]},
        ),
        softmax.divided_by_the_length(normalise=lambda e, x, dim: e / e.norm(dim=dim, keepdim=True)),
        Misconception(
            "logarithm",
            kind="wrong formula",
            credit=0.5,
            says="Your results are the logarithms of softmax. Return the weights: positive numbers that sum to one.",
            change={"after": lambda weights, dim: weights.log()},
        ),
        softmax.EXPONENTIAL_FORGOTTEN,
        softmax.BASE_TWO,
        Misconception(
            "scaled",
            kind="scaling",
            credit=0.5,
            says="Your results are those of numbers divided by the root of the size. Softmax itself does not scale.",
            change={"before": lambda x, dim: x / x.shape[dim] ** 0.5},
        ),
        softmax.applied_twice(before=lambda x, dim: torch.softmax(x, dim)),
        softmax.hard_maximum(positive=lambda x: (x == 0).float()),
        Misconception(
            "dimension not moved back",
            kind="arrangement",
            credit=0.75,
            says="The numbers are right, but dim has become the last dimension. Return the shape of x.",
            change={"after": lambda weights, dim: weights.movedim(dim, -1)},
        ),
        Misconception(
            "a list returned",
            kind="arrangement",
            credit=0.75,
            says="The numbers are right, but in lists. Return a tensor of the shape of x.",
            change={"after": lambda weights, dim: weights.tolist()},
        ),
        *PIECES,
    ],
)
