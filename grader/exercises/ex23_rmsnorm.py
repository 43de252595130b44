"""Exercise 23: vectors brought to a common size, by a module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.module_cases import OTHERS_CHANGED, SECOND_CALL, in_float64, trial
from grader.kit.module_readings import Parts, reader
from grader.kit.module_steps import with_steps
from grader.kit.pieces import FLOAT64, other_type
from grader.model.forms.new_module import NEW_MODULE
from grader.model.forms.rounded import OF_16_BITS
from grader.sandbox.forms.new_module import put

from .mistakes.pieces import ALWAYS_FLOAT32, ALWAYS_FLOAT64

Tensor = torch.Tensor

SIXTEEN = (
    "With inputs of 16 bits, your numbers are wrong: squares above 65504 are ∞ in float16, and small ones 0. Compute "
    "in float32, and give the result the dtype of the input at the end."
)

NOT_ONES = (
    "The weight of a new module does not hold ones. A module that has learned nothing should treat all entries alike: "
    "begin with torch.ones."
)


class RMSNorm(nn.Module):
    """The reference, in steps that a misconception can change."""

    first: Any = staticmethod(torch.ones)
    precise: Any = staticmethod(lambda x: x.float() if x.dtype in OF_16_BITS else x)
    centre: Any = staticmethod(lambda x: x)
    around: Any = staticmethod(lambda x: x)
    eps_of: Any = staticmethod(lambda eps: eps)
    mean: Any = staticmethod(lambda x: x.pow(2).mean(-1, keepdim=True))
    size: Any = staticmethod(lambda mean, eps: torch.sqrt(mean + eps))
    divide: Any = staticmethod(lambda x, size: x / size)
    weigh: Any = staticmethod(lambda x, weight: x * weight)
    new_bias: Any = staticmethod(lambda d_model: None)
    finish: Any = staticmethod(lambda y: y)
    back: Any = staticmethod(lambda y, x: y.to(x.dtype))
    dtype: Any = staticmethod(lambda y: y)

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = self.eps_of(eps)
        self.weight = nn.Parameter(self.first(d_model))
        self.register_parameter("bias", self.new_bias(d_model))

    def forward(self, x: Tensor) -> Any:
        precise = self.centre(self.precise(x))  # (..., d_model)
        size = self.size(self.mean(self.around(precise)), self.eps)  # (..., 1)
        y = self.weigh(self.divide(precise, size), self.weight)
        y = self.back(y if self.bias is None else y + self.bias, x)
        return self.dtype(self.finish(y))


def reference(*inputs: Any, **changes: Any) -> dict[str, Any]:
    return put(lambda *arguments: with_steps(RMSNorm, changes, *arguments), inputs)


reference.__wrapped__ = RMSNorm  # type: ignore[attr-defined]  # its source is the one that must not leak

of_any_module = reader(reference)


def read(seen: Mapping[str, Any], arguments: Any, weights: Any, calls: Any, how: Any) -> Parts:
    """As of any module; numbers of 16 bits are compared with as many digits as they have."""
    (x,) = calls["output"]
    if "new" in seen:
        weight = seen["new"].get("weight")
        is_one = not isinstance(weight, Tensor) or torch.equal(weight.double(), torch.ones(arguments[0]).double())
        return {"initial": "" if is_one else NOT_ONES}  # where there is none, other cases tell
    parts = of_any_module(seen, arguments, weights, calls, how)
    if x.dtype in OF_16_BITS and "output" in parts:
        output = parts.pop("output")["output"]
        exact = RMSNorm.forward(_with(weights["weight"], *arguments), x.float())
        parts = {"parameters": parts["parameters"], "sixteen bits": SIXTEEN if _is_far(output, exact, x) else ""}
        parts["type"] = other_type(output, x)
    return parts


def _with(weight: Tensor, *arguments: Any) -> RMSNorm:
    module = RMSNorm(*arguments).requires_grad_(False)
    module.weight.copy_(weight)
    return module


def _is_far(output: Any, exact: Tensor, x: Tensor) -> bool:
    if not isinstance(output, Tensor) or output.shape != exact.shape:
        return True
    return not bool((output.float() - exact).abs().max() <= OF_16_BITS[x.dtype] * exact.abs().max())


def sized(*shape: int, eps: float | None = None, scale: float = 1.0, **how: Any) -> Callable[..., Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        x = scale * randn(rng, *shape)
        calls = {"output": [x], SECOND_CALL: [x]}
        if len(shape) > 1 and len(x) > 1:
            calls[OTHERS_CHANGED] = [torch.cat([x[:1], randn(rng, *x[1:].shape)])]
        weights = {"weight": 1 + randn(rng, shape[-1]) / 2}
        return trial([shape[-1], *([] if eps is None else [eps])], weights, calls, **how)

    return inputs


def new(*shape: int) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        arguments, weights, calls, _how = sized(*shape)(rng)
        return arguments, weights, {"output": calls["output"]}, {"new": True}

    return inputs


def of_type(dtype: torch.dtype, scale: float) -> Callable[[torch.Generator], Inputs]:
    """Numbers that float32 can square, and 16 bits cannot."""

    def inputs(rng: torch.Generator) -> Inputs:
        arguments, weights, calls, _how = sized(2, 3, 8, scale=scale)(rng)
        return trial(arguments, weights, {"output": [calls["output"][0].to(dtype)]})

    return inputs


def a_zero_vector(rng: torch.Generator) -> Inputs:
    arguments, weights, calls, how = sized(2, 3, 4)(rng)
    x = calls["output"][0].clone()
    x[0, 1] = 0
    return arguments, weights, {"output": [x]}, how


OF_16 = (
    "Your code is right for float32 inputs, but not for those of 16 bits: compute in float32, and return the input's "
    "dtype."
)

exercise = Exercise(
    number=23,
    assignment="transformer",
    title="A common size",
    entry="RMSNorm",
    form=NEW_MODULE,
    reference=reference,
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
        Case(
            "a new module",
            catches="a weight that does not begin with ones",
            inputs=new(2, 3, 4),
            beside="Your code is right with weights that are loaded, but a new module must begin with ones.",
        ),
        Case("large float16", catches="squares in 16 bits", inputs=of_type(torch.float16, 500), beside=OF_16),
        Case("small float16", catches="squares in 16 bits", inputs=of_type(torch.float16, 2e-3), beside=OF_16),
        Case("bfloat16", catches="a result of another type", inputs=of_type(torch.bfloat16, 1.0), beside=OF_16),
        Case("float64", catches="a result of another type", inputs=in_float64(sized(2, 3, 4)), beside=FLOAT64),
    ],
    misconceptions=[
        Misconception(
            "mean subtracted",
            kind="mix-up",
            credit=0.5,
            says="The mean is subtracted first in your results, as nn.LayerNorm does. RMSNorm leaves it out: divide by "
            "the root of the mean of the squares only.",
            change={"centre": lambda x: x - x.mean(-1, keepdim=True)},
        ),
        Misconception(
            "divided by the spread",
            kind="mix-up",
            credit=0.5,
            says="Your vectors are divided by the spread of their entries, as by var or std: the mean is subtracted "
            "before squares are taken. RMSNorm leaves it out.",
            change={"around": lambda x: x - x.mean(-1, keepdim=True)},
        ),
        Misconception(
            "sum of squares",
            kind="missing step",
            credit=0.5,
            says="Your vectors are divided by the root of the sum of their squares. It should be the root of their "
            "mean.",
            change={"mean": lambda x: x.pow(2).sum(-1, keepdim=True)},
        ),
        Misconception(
            "sum of squares less one",
            kind="wrong formula",
            credit=0.75,
            says="The sum of the squares is divided by d_model − 1 in your results, as for a spread. Divide by "
            "d_model: it is a mean.",
            change={"mean": lambda x: x.pow(2).sum(-1, keepdim=True) / (x.shape[-1] - 1)},
        ),
        Misconception(
            "mean size",
            kind="wrong formula",
            credit=0.5,
            says="Your vectors are divided by the mean of the absolute values. It should be the root of the mean of "
            "the squares.",
            change={"mean": lambda x: x.abs().mean(-1, keepdim=True).pow(2)},
        ),
        Misconception(
            "largest size",
            kind="wrong formula",
            credit=0.25,
            says="Your vectors are divided by their largest absolute value. It should be the root of the mean of the "
            "squares.",
            change={"mean": lambda x: x.abs().amax(-1, keepdim=True).pow(2)},
        ),
        Misconception(
            "square of the mean",
            kind="mix-up",
            credit=0.25,
            says="Your vectors are divided by the size of their mean: the square of the mean is not the mean of the "
            "squares. Square first.",
            change={"mean": lambda x: x.mean(-1, keepdim=True).pow(2)},
        ),
        Misconception(
            "root missing",
            kind="missing step",
            credit=0.5,
            says="Your vectors are divided by the mean of their squares. Divide by its root.",
            change={"size": lambda mean, eps: mean + eps},
        ),
        Misconception(
            "multiplied by the root",
            kind="wrong formula",
            credit=0.25,
            says="Your vectors are multiplied by the root of the mean of the squares. Divide by it.",
            change={"divide": lambda x, size: x * size},
        ),
        Misconception(
            "not divided",
            kind="missing step",
            credit=0.25,
            says="Your vectors keep their size: they are only multiplied by the weight.",
            change={"divide": lambda x, size: x},
        ),
        Misconception(
            "over the words",
            kind="axis",
            credit=0.5,
            says="In your results, the mean runs over the words. Each vector has a size of its own: the mean should "
            "run over the last dimension.",
            change={"mean": lambda x: x.pow(2).mean(-2 if x.dim() > 1 else -1, keepdim=True)},
        ),
        Misconception(
            "over the batch",
            kind="axis",
            credit=0.5,
            says="In your results, the mean runs over the first dimension. Each vector has a size of its own: the mean "
            "should run over the last dimension.",
            change={"mean": lambda x: x.pow(2).mean(0, keepdim=True)},
        ),
        Misconception(
            "over each sentence",
            kind="axis",
            credit=0.5,
            says="In your results, all words of a sentence are divided by one number. Each vector has a size of its "
            "own: the mean should run over the last dimension only.",
            change={"mean": lambda x: x.pow(2).mean((-2, -1) if x.dim() > 1 else -1, keepdim=True)},
        ),
        Misconception(
            "over everything",
            kind="axis",
            credit=0.5,
            says="In your results, all vectors are divided by the same number. Each has a size of its own: the mean "
            "should run over the last dimension.",
            change={"mean": lambda x: x.pow(2).mean()},
        ),
        Misconception(
            "eps outside the root",
            kind="wrong formula",
            credit=0.75,
            says="In your results, eps is added to the root. Add it to the mean of the squares, below the root.",
            change={"size": lambda mean, eps: torch.sqrt(mean) + eps},
        ),
        Misconception(
            "eps left out",
            kind="missing step",
            credit=0.5,
            says="Your results are those without eps: a vector of zeros becomes 0/0, which is NaN. Add eps below the "
            "root.",
            change={"size": lambda mean, eps: torch.sqrt(mean)},
        ),
        Misconception(
            "eps without effect",
            kind="missing step",
            credit=0.5,
            says="Your results do not depend on eps: vectors are divided by their root mean square alone, and zeros "
            "stay zeros. Add eps to the mean of the squares.",
            change={"size": lambda mean, eps: torch.sqrt(mean).clamp(min=1e-12)},
        ),
        Misconception(
            "eps squared",
            kind="wrong formula",
            credit=0.75,
            says="In your results, eps² stands below the root. It should be eps.",
            change={"size": lambda mean, eps: torch.sqrt(mean + eps**2)},
        ),
        Misconception(
            "eps as a floor",
            kind="wrong formula",
            credit=0.75,
            says="In your results, eps is only the smallest number that you divide by. Add it to the mean of the "
            "squares.",
            change={"size": lambda mean, eps: torch.sqrt(mean).clamp(min=eps)},
        ),
        Misconception(
            "always the usual eps",
            kind="hard-coded",
            credit=0.75,
            says="Your results are those of eps = 1e-6, whatever the argument is. Keep the argument in __init__.",
            change={"eps_of": lambda eps: 1e-6},
        ),
        Misconception(
            "PyTorch's eps",
            kind="missing step",
            credit=0.75,
            says="Your results are those of eps = 1.2e-7, which PyTorch takes where none is given. Pass the argument "
            "on.",
            change={"eps_of": lambda eps: torch.finfo(torch.float32).eps},
        ),
        Misconception(
            "weight without effect",
            kind="missing step",
            credit=0.5,
            says="Your results are not multiplied by the weight. Each entry has one.",
            change={"weigh": lambda x, weight: x},
        ),
        Misconception(
            "with a bias",
            kind="mix-up",
            credit=0.75,
            says="There is a bias, which is added. RMSNorm has one parameter, weight.",
            change={"new_bias": lambda d_model: nn.Parameter(torch.zeros(d_model))},
        ),
        Misconception(
            "weight added",
            kind="wrong formula",
            credit=0.25,
            says="The weight is added in your results. Multiply by it.",
            change={"weigh": lambda x, weight: x + weight},
        ),
        Misconception(
            "one more than the weight",
            kind="convention",
            credit=0.75,
            says="Your results are multiplied by 1 + weight, as in some published models. Here the weight begins with "
            "ones, and is what entries are multiplied by.",
            change={"weigh": lambda x, weight: x * (1 + weight)},
        ),
        Misconception(
            "does not begin with ones",
            kind="missing step",
            credit=0.75,
            says=NOT_ONES,
            change={"first": torch.zeros},
        ),
        Misconception(
            "computed in 16 bits",
            kind="type",
            credit=0.75,
            says=SIXTEEN,
            change={"precise": lambda x: x},
        ),
        Misconception(
            "gradients cut off",
            kind="gradient",
            credit=0.5,
            says="No gradient comes through, as when something like no_grad or detach is around the computation. The "
            "result must be computed by operations that keep gradients.",
            change={"finish": lambda y: y.detach()},
        ),
        Misconception(
            "size detached",
            kind="gradient",
            credit=0.75,
            says="The numbers are right, but the gradients are not: the size of a vector, which it is divided by, "
            "counts as a constant on the way back. Neither detach, .data nor no_grad belongs there.",
            change={"size": lambda mean, eps: torch.sqrt(mean + eps).detach()},
        ),
        Misconception(
            "not the input's dtype",
            kind="type",
            credit=0.75,
            says="Your result has a different type from the input. Give it the dtype of x at the end: .to(x.dtype).",
            change={**ALWAYS_FLOAT32.change},
        ),
        Misconception(
            "float64 returned",
            kind="type",
            credit=0.75,
            says=ALWAYS_FLOAT64.says,
            change=ALWAYS_FLOAT64.change,
        ),
    ],
)
