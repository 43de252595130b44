"""Exercise 3: softmax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from grader import Case, Exercise, Misconception, randn
from grader.kit.pictures import softmax_along

from .mistakes import softmax

Tensor = torch.Tensor


def share(x: Tensor, _items: Tensor) -> Tensor:
    return x / x.sum()


def reference(
    items_in: Any,
    *,
    before: Callable[[Tensor], Tensor] = lambda items: items,
    positive: Callable[[Tensor], Tensor] = torch.exp,
    normalise: Callable[[Tensor, Tensor], Tensor] = share,
    arrange: Callable[[Tensor], Any] = lambda weights: weights,
) -> Any:
    items = torch.as_tensor(items_in, dtype=torch.float32)
    return arrange(normalise(positive(before(items)), items))


def tensors_only(items_in: Any) -> Tensor:
    if not isinstance(items_in, torch.Tensor):
        raise TypeError("the input is no tensor")
    return torch.softmax(items_in, dim=0)


def lists_only(items_in: Any) -> Tensor:
    if not isinstance(items_in, list):
        raise TypeError("the input is no list")
    return torch.softmax(torch.tensor(items_in), dim=0)


def one_hot(items: Tensor) -> Tensor:
    return (items == items.max()).float()


exercise = Exercise(
    number=3,
    assignment="self_attention",
    title="Softmax",
    entry="softmax",
    reference=reference,
    picture=softmax_along,
    cases=[
        Case("five scores", catches="a hard-coded size, no normalisation", inputs=lambda rng: (randn(rng, 5),)),
        Case("two far apart", catches="roundings and wrong bases", inputs=lambda rng: (4 * randn(rng, 2) - 1,)),
        Case("all below zero", catches="|x| for exp(x)", inputs=lambda rng: (-2 * randn(rng, 7).abs() - 0.1,)),
        Case(
            "a plain list",
            catches="input that is never made a tensor",
            inputs=lambda rng: (randn(rng, 4).tolist(),),
        ),
    ],
    misconceptions=[
        Misconception(
            "not normalised",
            kind="missing step",
            credit=0.5,
            says="Your values do not sum to one. Divide them by their sum.",
            change={"normalise": lambda x, items: x},
        ),
        softmax.EXPONENTIAL_FORGOTTEN,
        Misconception(
            "largest weight 1",
            kind="wrong formula",
            credit=0.5,
            says="Your largest weight is 1, and the weights do not sum to one. Divide the exponentials by their sum.",
            change={"normalise": lambda x, items: x / x.max()},
        ),
        Misconception(
            "divided by the mean",
            kind="wrong formula",
            credit=0.5,
            says="Your values sum to how many there are, as after a division by the mean. Divide by the sum.",
            change={"normalise": lambda x, items: x / x.mean()},
        ),
        Misconception(
            "divided by the count",
            kind="wrong formula",
            credit=0.5,
            says="Your values are exponentials divided by how many there are. Divide them by their sum.",
            change={"normalise": lambda x, items: x / x.numel()},
        ),
        softmax.divided_by_the_length(normalise=lambda x, items: x / x.norm()),
        Misconception(
            "sum of the raw numbers",
            kind="wrong formula",
            credit=0.5,
            says="Your exponentials are divided by the sum of the raw numbers. Divide them by their own sum.",
            change={"normalise": lambda x, items: x / items.sum()},
        ),
        Misconception(
            "shifted on top only",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of subtracting the maximum in the numerator only. Subtract it from all "
            "numbers, before both uses.",
            change={"normalise": lambda x, items: x / items.max().exp() / x.sum()},
        ),
        Misconception(
            "sum plus one",
            kind="wrong formula",
            credit=0.5,
            says="A constant is added to the sum, so the values sum to less than one. Divide by the plain sum.",
            change={"normalise": lambda x, items: x / (1 + x.sum())},
        ),
        Misconception(
            "others' sum",
            kind="wrong formula",
            credit=0.25,
            says="Each number's own exponential is missing from the sum below it. The sum runs over all of them.",
            change={"normalise": lambda x, items: x / (x.sum() - x)},
        ),
        Misconception(
            "logarithm",
            kind="wrong formula",
            credit=0.5,
            says="Your results are the logarithms of softmax. Return softmax itself: positive numbers that sum to one.",
            change={"normalise": lambda x, items: (x / x.sum()).log()},
        ),
        Misconception(
            "sign flipped",
            kind="wrong formula",
            credit=0.5,
            says="Your largest number gets the smallest weight, as with exp(-x). It should be exp(x).",
            change={"positive": lambda items: torch.exp(-items)},
        ),
        softmax.BASE_TWO,
        Misconception(
            "base ten",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of powers of 10. Softmax uses the exponential function, torch.exp.",
            change={"positive": lambda items: torch.pow(10.0, items)},
        ),
        Misconception(
            "sigmoid",
            kind="wrong formula",
            credit=0.25,
            says="Your results are the sigmoids of the numbers. Softmax is exp(x) divided by the sum of all exp(x).",
            change={"positive": torch.sigmoid, "normalise": lambda x, items: x},
        ),
        Misconception(
            "sigmoid, normalised",
            kind="wrong formula",
            credit=0.25,
            says="Your results are in proportion to the sigmoids of the numbers. Softmax takes exponentials.",
            change={"positive": torch.sigmoid},
        ),
        Misconception(
            "squares",
            kind="wrong formula",
            credit=0.25,
            says="Your results are in proportion to the squares of the numbers. The exponential makes numbers "
            "positive, too, and keeps their order.",
            change={"positive": torch.square},
        ),
        Misconception(
            "absolute values",
            kind="wrong formula",
            credit=0.25,
            says="Your results are in proportion to the absolute values of the numbers. The exponential makes numbers "
            "positive, too, and keeps their order.",
            change={"positive": torch.abs},
        ),
        Misconception(
            "negatives cut off",
            kind="wrong formula",
            credit=0.25,
            says="Negative numbers count as zero in your results, as after ReLU. With the exponential, every number "
            "gets some weight.",
            change={"positive": torch.relu},
        ),
        softmax.hard_maximum(positive=one_hot),
        Misconception(
            "divided by the maximum first",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of numbers divided by their maximum before exp. To keep exp small, subtract "
            "the maximum instead.",
            change={"before": lambda items: items / items.max()},
        ),
        Misconception(
            "standardised first",
            kind="wrong formula",
            credit=0.5,
            says="Your results are those of numbers divided by their spread before exp. Softmax takes them as "
            "they are.",
            change={"before": lambda items: (items - items.mean()) / items.std()},
        ),
        softmax.applied_twice(before=lambda items: torch.softmax(items, dim=0)),
        Misconception(
            "items returned",
            kind="missing step",
            credit=0.0,
            says="Your results are the numbers as they came. Softmax is exp(x) divided by the sum of all exp(x).",
            change={"positive": lambda items: items, "normalise": lambda x, items: x},
        ),
        Misconception(
            "tensors only",
            kind="input",
            credit=0.75,
            says="Your function works for tensors but not for a plain list. Make the input a tensor first.",
            answers=tensors_only,
        ),
        Misconception(
            "lists only",
            kind="input",
            credit=0.75,
            says="Your function works for a list but not for a tensor. Make the input a tensor in both cases.",
            answers=lists_only,
        ),
        Misconception(
            "a list returned",
            kind="arrangement",
            credit=0.75,
            says="The numbers are right, but in a list. Return a tensor.",
            change={"arrange": lambda weights: weights.tolist()},
        ),
        Misconception(
            "largest weight only",
            kind="arrangement",
            credit=0.25,
            says="You return only the largest weight. Return the weights of all numbers.",
            change={"arrange": lambda weights: weights.max()},
        ),
    ],
)
