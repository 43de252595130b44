"""Exercise 23: a module that brings vectors to a common size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from grader import NEW_MODULE, OF_16_BITS, BuildSeen, Case, ClassCase, Exercise, ModuleSeen, NewSeen, at, randn, wrong
from grader.kit.module_cases import OTHERS_CHANGED, SECOND_CALL, in_float64
from grader.kit.module_readings import Readings, reader
from grader.kit.pieces import FLOAT64, other_type

Tensor = torch.Tensor

SIXTEEN = (
    "With 16-bit inputs, your numbers are wrong: squares above 65504 are ∞ in float16, and small ones are 0. Compute "
    "in float32, and convert the result to the dtype of the input at the end."
)

NOT_ONES = (
    "The weight of a new module is not made of ones. A module that has learned nothing should treat all entries alike: "
    "start with torch.ones."
)


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.eps = eps  #: eps
        self.weight = nn.Parameter(torch.ones(d_model))  #: weight

    def forward(self, x):
        precise = x.float()  # (..., d_model)  #: precise
        squares = precise.square()  #: squares
        mean = squares.mean(dim=-1, keepdim=True)  # (..., 1)  #: mean
        size = torch.sqrt(mean + self.eps)  #: size
        y = precise / size  #: divide
        y = y * self.weight  #: weigh
        return y.to(x.dtype)  #: result


of_any_module = reader(RMSNorm)


def read(
    observation: NewSeen | BuildSeen | ModuleSeen, arguments: Any, weights: Any, calls: Any, options: Any
) -> Readings:
    """Read like any module, but compare numbers of 16 bits only to as many digits as they have."""
    (x,) = calls["output"]
    if isinstance(observation, NewSeen):
        weight = observation.parameters.get("weight")
        is_one = not isinstance(weight, Tensor) or torch.equal(weight.double(), torch.ones(arguments[0]).double())
        return {"initial": "" if is_one else NOT_ONES}  # other cases report a missing one
    readings = of_any_module(observation, arguments, weights, calls, options)
    if x.dtype in OF_16_BITS and "output" in readings:
        output = readings.pop("output")["output"]
        exact = RMSNorm.forward(_with(weights["weight"], *arguments), x.float())
        readings = {"parameters": readings["parameters"], "sixteen bits": SIXTEEN if _is_far(output, exact, x) else ""}
        readings["type"] = other_type(output, x)
    return readings


def _with(weight: Tensor, *arguments: Any) -> RMSNorm:
    module = RMSNorm(*arguments).requires_grad_(False)
    module.weight.copy_(weight)
    return module


def _is_far(output: Any, exact: Tensor, x: Tensor) -> bool:
    if not isinstance(output, Tensor) or output.shape != exact.shape:
        return True
    return not bool((output.float() - exact).abs().max() <= OF_16_BITS[x.dtype] * exact.abs().max())


def sized(*shape: int, eps: float | None = None, scale: float = 1.0, **options: Any) -> Callable[..., ClassCase]:
    def inputs(rng: torch.Generator) -> ClassCase:
        x = scale * randn(rng, *shape)
        calls = {"output": [x], SECOND_CALL: [x]}
        if len(shape) > 1 and len(x) > 1:
            calls[OTHERS_CHANGED] = [torch.cat([x[:1], randn(rng, *x[1:].shape)])]
        weights = {"weight": 1 + randn(rng, shape[-1]) / 2}
        return ClassCase([shape[-1], *([] if eps is None else [eps])], weights, calls, **options)

    return inputs


def new(*shape: int) -> Callable[[torch.Generator], ClassCase]:
    def inputs(rng: torch.Generator) -> ClassCase:
        case = sized(*shape)(rng)
        return replace(case, calls={"output": case.calls["output"]}, new=True)

    return inputs


def of_type(dtype: torch.dtype, scale: float) -> Callable[[torch.Generator], ClassCase]:
    """Numbers that can be squared in float32, but not in 16 bits."""

    def inputs(rng: torch.Generator) -> ClassCase:
        case = sized(2, 3, 8, scale=scale)(rng)
        return replace(case, calls={"output": [case.calls["output"][0].to(dtype)]})

    return inputs


def a_zero_vector(rng: torch.Generator) -> ClassCase:
    case = sized(2, 3, 4)(rng)
    x = case.calls["output"][0].clone()
    x[0, 1] = 0
    return replace(case, calls={"output": [x]})


OF_16 = (
    "Your code is right for float32 inputs, but not for 16-bit inputs. Compute in float32, and return the input's "
    "dtype."
)

BY_WORDS = (
    "In your results, the sum of the squares is divided by the number of words. Divide by d_model, the length of the "
    "last axis."
)


# fmt: off
exercise = Exercise(
    number=23,
    assignment="transformer",
    title="A common size",
    solution=RMSNorm,
    form=NEW_MODULE,
    read=read,
    cases=[
        Case("two sentences", catches="a mean over another axis", inputs=sized(2, 3, 5, gradients=1)),
        Case("as many words as entries", catches="axes that are exchanged", inputs=sized(4, 4, 4, gradients=1)),
        Case("one sentence", catches="code for batches only", inputs=sized(6, 3)),
        Case("a single vector", catches="code for batches only", inputs=sized(7)),
        Case("one entry", catches="squeezed dimensions", inputs=sized(3, 2, 1, eps=0.3)),
        Case("another eps", catches="an eps that is not the argument", inputs=sized(2, 4, 6, eps=0.5, gradients=1)),
        Case("large numbers", catches="numbers that are cut off", inputs=sized(2, 3, 6, scale=1e4)),
        Case("tiny numbers", catches="another eps, or at another place", inputs=sized(2, 3, 5, scale=1e-3)),
        Case("a vector of zeros", catches="a division by zero", inputs=a_zero_vector),
        Case("a new module", catches="a weight that does not begin with ones", inputs=new(2, 3, 4),
             beside="Your code is right with weights that are loaded, but the weight of a new module must start with "
             "ones."),
        Case("large float16", catches="squares in 16 bits", inputs=of_type(torch.float16, 500), beside=OF_16),
        Case("small float16", catches="squares in 16 bits", inputs=of_type(torch.float16, 2e-3), beside=OF_16),
        Case("bfloat16", catches="a result of another type", inputs=of_type(torch.bfloat16, 1.0), beside=OF_16),
        Case("float64", catches="a result of another type", inputs=in_float64(sized(2, 3, 4)), beside=FLOAT64),
    ],
    mistakes=[
        wrong("mean subtracted", {"after precise": "precise = precise - precise.mean(dim=-1, keepdim=True)"},
              "In your results, the mean is subtracted first, as nn.LayerNorm does. RMSNorm leaves this out: only "
              "divide by the root of the mean of the squares.", kind="mix-up"),
        wrong("divided by the spread", {"squares": "squares = (precise - precise.mean(dim=-1, keepdim=True)).square()"},
              "Your vectors are divided by their standard deviation, as with var or std: the mean is subtracted before "
              "squaring. RMSNorm leaves this out.", kind="mix-up"),
        *at("mean",
            wrong("sum of squares", "mean = squares.sum(dim=-1, keepdim=True)",
                  "Your vectors are divided by the root of the sum of their squares. Use the root of the mean.",
                  kind="missing step"),
            wrong("sum of squares less one", "mean = squares.sum(dim=-1, keepdim=True) / (x.shape[-1] - 1)",
                  "In your results, the sum of the squares is divided by d_model − 1, as for a standard deviation. "
                  "Divide by d_model: it is a mean.", credit=0.75),
            wrong("divided by the number of words",
                  ["mean = squares.sum(dim=-1, keepdim=True) / x.shape[-2]",
                   "mean = squares.sum(dim=-1, keepdim=True) / x.shape[1]"],
                  BY_WORDS, kind="axis"),
            wrong("mean size", "mean = precise.abs().mean(dim=-1, keepdim=True) ** 2",
                  "Your vectors are divided by the mean of the absolute values. Use the root of the mean of the "
                  "squares."),
            wrong("largest size", "mean = precise.abs().amax(dim=-1, keepdim=True) ** 2",
                  "Your vectors are divided by their largest absolute value. Use the root of the mean of the squares."),
            wrong("square of the mean", "mean = precise.mean(dim=-1, keepdim=True) ** 2",
                  "Your vectors are divided by the size of their mean. The square of the mean is not the mean of the "
                  "squares: square first.", kind="mix-up")),
        wrong("root missing", {"size": "size = mean + self.eps"},
              "Your vectors are divided by the mean of their squares. Divide by its root.", kind="missing step"),
        *at("divide",
            wrong("eps added after dividing",
                  ["y = precise * (1 / torch.sqrt(mean) + self.eps)", "y = precise / torch.sqrt(mean) + self.eps"],
                  "In your results, eps is added only after dividing by the root, so that zeros are still divided by "
                  "0. Add it to the mean of the squares, under the root.", credit=0.75, kind="arrangement"),
            wrong("multiplied by the root", "y = precise * size",
                  "Your vectors are multiplied by the root of the mean of the squares. Divide by it."),
            wrong("not divided", "y = precise",
                  "Your vectors keep their size: they are only multiplied by the weight. Divide them by the root of "
                  "the mean of the squares, too.", credit=0.25, kind="missing step")),
        *at("mean",
            wrong("over the words", "mean = squares.mean(dim=-2 if x.dim() > 1 else -1, keepdim=True)",
                  "In your results, the mean runs over the words. Each vector has its own size: take the mean over the "
                  "last dimension.", kind="axis"),
            wrong("over the batch", "mean = squares.mean(dim=0, keepdim=True)",
                  "In your results, the mean runs over the first dimension. Each vector has its own size: take the "
                  "mean over the last dimension.", kind="axis"),
            wrong("over each sentence", "mean = squares.mean(dim=(-2, -1) if x.dim() > 1 else -1, keepdim=True)",
                  "In your results, all words of a sentence are divided by one number. Each vector has its own size: "
                  "take the mean over the last dimension only.", kind="axis"),
            wrong("over everything", "mean = squares.mean()",
                  "In your results, all vectors are divided by the same number. Each vector has its own size: take the "
                  "mean over the last dimension.", kind="axis")),
        *at("size",
            wrong("eps outside the root",
                  ["size = torch.sqrt(mean) + self.eps",
                   "size = torch.sqrt(mean) + self.eps / x.shape[-1] ** 0.5"],
                  "In your results, eps is added to the root. Add it to the mean of the squares, under the root.",
                  credit=0.75),
            wrong("eps divided by d_model", "size = torch.sqrt(mean + self.eps / x.shape[-1])",
                  "In your results, eps / d_model is under the root, as when eps is added to the sum of the squares. "
                  "Add it to their mean, after dividing.", credit=0.75, kind="mix-up"),
            wrong("eps left out", "size = torch.sqrt(mean)",
                  "Your results look as if there were no eps: a vector of zeros becomes 0/0, which is NaN. Add eps "
                  "under the root.", kind="missing step"),
            wrong("eps without effect", "size = torch.sqrt(mean).clamp(min=1e-12)",
                  "Your results do not depend on eps: vectors are divided by their root mean square alone, and zeros "
                  "stay zeros. Add eps to the mean of the squares.", kind="missing step"),
            wrong("eps squared", "size = torch.sqrt(mean + self.eps**2)",
                  "In your results, eps² is under the root. It should be eps.", credit=0.75),
            wrong("eps as a floor", "size = torch.sqrt(mean).clamp(min=self.eps)",
                  "In your results, eps is only a lower limit for what you divide by. Add it to the mean of the "
                  "squares.", credit=0.75)),
        *at("eps",
            wrong("always the usual eps", "self.eps = 1e-6",
                  "Your results are for eps = 1e-6, whatever the argument is. Keep the argument in __init__.",
                  credit=0.75, kind="hard-coded"),
            wrong("PyTorch's eps", "self.eps = torch.finfo(torch.float32).eps",
                  "Your results are for eps = 1.2e-7, which PyTorch uses if none is given. Pass the argument on.",
                  credit=0.75, kind="missing step")),
        wrong("weight without effect", {"weigh": ""},
              "Your results are not multiplied by the weight. Multiply each entry by its own weight.",
              kind="missing step"),
        wrong("with a bias",
              {"after weight": "self.bias = nn.Parameter(torch.zeros(d_model))", "after weigh": "y = y + self.bias"},
              "Your module adds a bias. RMSNorm has only one parameter, weight.", credit=0.75, kind="mix-up"),
        *at("weigh",
            wrong("weight added", "y = y + self.weight",
                  "In your results, the weight is added. Multiply by it."),
            wrong("one more than the weight", "y = y * (1 + self.weight)",
                  "Your results are multiplied by 1 + weight, as in some published models. Here, the weight starts "
                  "with ones. Multiply by the weight itself.", credit=0.75, kind="convention",
                  also={"weight": ("ones", "zeros")})),
        wrong("does not begin with ones", {"weight": ("ones", "zeros")}, NOT_ONES,
              credit=0.75, kind="missing step"),
        wrong("computed in 16 bits", {"precise": "precise = x"}, SIXTEEN, kind="type"),
        wrong("gradients cut off", {"before result": "y = y.detach()"},
              "No gradient gets through, as when the computation uses no_grad, detach or the like. Compute "
              "the result with operations that keep gradients.", kind="gradient"),
        wrong("size detached", {"after size": "size = size.detach()"},
              "In your gradients, the size that a vector is divided by counts as a constant. Compute it without "
              "detach, .data and no_grad.", credit=0.75, kind="gradient"),
        *at("result",
            wrong("not the input's dtype", "return y.float()",
                  "Your result has a different type than the input. Convert it to the dtype of x at the end: "
                  ".to(x.dtype).", kind="type"),
            wrong("float64 returned", "return y.double()",
                  "Your result has float64 numbers although the inputs are float32. Return the dtype of the inputs.",
                  kind="type")),
    ],
)
# fmt: on
