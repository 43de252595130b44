"""Exercise 3: softmax."""

from __future__ import annotations

import torch

from grader import Case, Exercise, at, randn, wrong
from grader.kit.pictures import softmax_along


def softmax(items_in):
    items = torch.as_tensor(items_in)  # (n,)  #: items
    exp = torch.exp(items)  # (n,)  #: exponentials
    return exp / exp.sum()  # (n,)  #: weights


# fmt: off
exercise = Exercise(
    number=3,
    assignment="self_attention",
    title="Softmax",
    solution=softmax,
    picture=softmax_along,
    cases=[
        Case("five scores", catches="a hard-coded size, no normalization", inputs=lambda rng: (randn(rng, 5),)),
        Case("two far apart", catches="roundings and wrong bases", inputs=lambda rng: (4 * randn(rng, 2) - 1,)),
        Case("all below zero", catches="|x| for exp(x)", inputs=lambda rng: (-2 * randn(rng, 7).abs() - 0.1,)),
        Case("a plain list", catches="input that is never made a tensor", inputs=lambda rng: (randn(rng, 4).tolist(),)),
    ],
    mistakes=[
        wrong("not normalized", {"weights": "return exp"},
              "Your values do not sum to one. Divide them by their sum.", kind="missing step"),
        wrong("without the exponential", {"exponentials": "exp = items"},
              "Your results look as if exp were missing. It makes every number positive: take it before you divide by "
              "the sum.", credit=0.25, kind="missing step"),
        *at("weights",
            wrong("largest weight 1", "return exp / exp.max()",
                  "Your largest weight is 1, and the weights do not sum to one. Divide the exponentials by their sum."),
            wrong("divided by the mean", "return exp / exp.mean()",
                  "Your values sum to their count, as after dividing by the mean. Divide by the sum instead."),
            wrong("divided by the count", "return exp / exp.numel()",
                  "Your values are exponentials divided by their count. Divide them by their sum."),
            wrong("divided by the length", "return exp / exp.norm()",
                  "The squares of your values sum to one, as after dividing by the Euclidean norm. Divide by the plain "
                  "sum."),
            wrong("sum of the raw numbers", "return exp / items.sum()",
                  "Your exponentials are divided by the sum of the raw numbers. Divide them by their own sum."),
            wrong("shifted on top only", "return exp / items.max().exp() / exp.sum()",
                  "Your results look as if the maximum were subtracted only in the numerator. Subtract it in the "
                  "denominator, too."),
            wrong("exponential of the sum", "return exp / items.sum().exp()",
                  "Your exponentials are divided by the exponential of the sum. Divide by the sum of the "
                  "exponentials."),
            wrong("sum so far", "return exp / exp.cumsum(dim=0)",
                  "Each exponential is divided by the sum so far. Divide by the sum of all exponentials."),
            wrong("sum plus one", "return exp / (1 + exp.sum())",
                  "A constant seems to be added to the sum, so your values sum to less than one. Divide by the plain "
                  "sum."),
            wrong("sum of the others", "return exp / (exp.sum() - exp)",
                  "Each exponential is divided by the sum of the others. Divide by the sum of all, including its own."),
            wrong("logarithm", "return (exp / exp.sum()).log()",
                  "Your results are the logarithms of softmax. Return softmax itself: positive numbers that sum to "
                  "one.")),
        *at("exponentials",
            wrong("sign flipped", "exp = torch.exp(-items)",
                  "Your largest number gets the smallest weight, as with exp(-x). Use exp(x)."),
            wrong("base two", "exp = torch.exp2(items)",
                  "Your results come from powers of 2. Softmax uses the exponential function, torch.exp."),
            wrong("base ten", "exp = 10.0 ** items",
                  "Your results come from powers of 10. Softmax uses the exponential function, torch.exp."),
            wrong("sigmoid", "",
                  "Your results are the sigmoids of the numbers. Softmax is exp(x) divided by the sum of all exp(x).",
                  also={"weights": "return torch.sigmoid(items)"}),
            wrong("sigmoid, normalized", "exp = torch.sigmoid(items)",
                  "Your results are proportional to the sigmoids of the numbers. Use exponentials instead."),
            wrong("squares", "exp = items ** 2",
                  "Your results are proportional to the squares of the numbers. Use the exponential: it also makes "
                  "numbers positive, but keeps their order."),
            wrong("absolute values", "exp = abs(items)",
                  "Your results are proportional to the absolute values of the numbers. Use the exponential: it also "
                  "makes numbers positive, but keeps their order."),
            wrong("negatives cut off", "exp = torch.relu(items)",
                  "Negative numbers count as zero in your results, as after ReLU. Use the exponential, which gives "
                  "every number some weight."),
            wrong("hard maximum", "exp = (items == items.max()).float()",
                  "All your weight is on the largest number. Softmax gives every number some weight.",
                  credit=0.0)),
        *at("after items",
            wrong("divided by the maximum first", "items = items / items.max()",
                  "Your results look as if the numbers were divided by their maximum before exp. To keep exp small, "
                  "subtract the maximum instead."),
            wrong("standardised first", "items = (items - items.mean()) / items.std()",
                  "Your results look as if the numbers were divided by their spread before exp. Use the numbers "
                  "unchanged."),
            wrong("applied twice", "items = torch.softmax(items, dim=0)",
                  "Your weights look as if softmax had been applied twice. Once is enough.")),
        wrong("items returned", {"exponentials": "", "weights": "return items"},
              "Your results are the input numbers, unchanged. Softmax is exp(x) divided by the sum of all exp(x).",
              credit=0.0, kind="missing step"),
        *at("items",
            wrong("tensors only", "items = items_in + 0",
                  "Your function works for tensors but not for a plain list. Turn the input into a tensor first.",
                  credit=0.75, kind="input"),
            wrong("lists only", "items = torch.tensor([float(item) for item in items_in + []])",
                  "Your function works for a list but not for a tensor. Turn the input into a tensor in both cases.",
                  credit=0.75, kind="input")),
        *at("weights",
            wrong("a list returned", "return (exp / exp.sum()).tolist()",
                  "Your result is a list. Return a tensor.", credit=0.75, kind="arrangement"),
            wrong("largest weight only", "return (exp / exp.sum()).max()",
                  "You return only the largest weight. Return the weights of all numbers.",
                  kind="arrangement")),
    ],
)
# fmt: on
