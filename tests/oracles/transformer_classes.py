"""The right results for the classes of `transformer`, by definitions in float64, and inputs of many sizes."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from grader.model.exercise import Inputs

Tensor = torch.Tensor
Weights = Mapping[str, Tensor]


def normed(x: Tensor, weights: Weights, name: str) -> Tensor:
    centred = x - x.mean(-1, keepdim=True)
    spread = centred.square().mean(-1, keepdim=True) + 1e-5
    return centred / spread.sqrt() * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def through(x: Tensor, weights: Weights, name: str) -> Tensor:
    y = torch.einsum("...i,oi->...o", x, weights[f"{name}.weight"])
    return y + weights[f"{name}.bias"] if f"{name}.bias" in weights else y


def attended(x: Tensor, weights: Weights, name: str, heads: int) -> Tensor:
    """The notebook's own attention, head by head and word by word."""
    size = x.shape[-1] // heads
    q, k, v = through(x, weights, f"{name}.project").chunk(3, dim=-1)
    outputs = []
    for t in range(x.shape[1]):
        row = []
        for h in range(heads):
            part = slice(h * size, (h + 1) * size)
            scores = torch.einsum("bd,bsd->bs", q[:, t, part], k[:, : t + 1, part]) / math.sqrt(size)
            shares = (scores - scores.amax(-1, keepdim=True)).exp()
            row.append(torch.einsum("bs,bsd->bd", shares / shares.sum(-1, keepdim=True), v[:, : t + 1, part]))
        outputs.append(torch.cat(row, dim=-1))
    return through(torch.stack(outputs, dim=1), weights, f"{name}.combine")


def block(arguments: Sequence[Any], weights: Weights, x: Tensor, begins: str = "") -> Tensor:
    """Exercise 24. A rate of 1 stands for a module in training, which drops everything that is added."""
    if arguments[3] == 1.0:
        return x
    own = {name.removeprefix(begins): weight for name, weight in weights.items() if name.startswith(begins)}
    x = x + attended(normed(x, own, "norm1"), own, "attention", arguments[1])
    hidden = through(normed(x, own, "norm2"), own, "ff_in")
    return x + through(hidden * (1 + torch.erf(hidden / math.sqrt(2))) / 2, own, "ff_out")


def model(arguments: Sequence[Any], weights: Weights, tokens: Tensor) -> Tensor:
    """Exercise 25."""
    _vocabulary, d_model, layers, heads, _context, *rate = arguments
    places = torch.stack([weights["position_embedding.weight"][t] for t in range(tokens.shape[1])])
    x = weights["token_embedding.weight"][tokens] + places
    for i in range(layers):
        x = block([d_model, heads, 4 * d_model, *rate, 0.0], weights, x, f"blocks.{i}.")
    return through(normed(x, weights, "norm"), weights, "head")


def same_size(arguments: Sequence[Any], weights: Weights, x: Tensor) -> Tensor:
    """Exercise 23."""
    eps = arguments[1] if len(arguments) > 1 else 1e-6
    return weights["weight"] * x / (torch.einsum("...d,...d->...", x, x)[..., None] / x.shape[-1] + eps).sqrt()


MODULES: dict[int, Callable[..., Tensor]] = {23: same_size, 24: block, 25: model}


def some(shapes: Mapping[str, Sequence[int]]) -> dict[str, Tensor]:
    """Weights with these names, none of them small."""
    return {name: torch.randn(*shape) + (len(shape) == 1) for name, shape in shapes.items()}


def shapes_of_block(d_model: int, d_ff: int) -> dict[str, tuple[int, ...]]:
    norms: dict[str, tuple[int, ...]] = {f"norm{i}.{name}": (d_model,) for i in (1, 2) for name in ("weight", "bias")}
    return norms | {
        "attention.project.weight": (3 * d_model, d_model),
        "attention.combine.weight": (d_model, d_model),
        "attention.combine.bias": (d_model,),
        "ff_in.weight": (d_ff, d_model),
        "ff_in.bias": (d_ff,),
        "ff_out.weight": (d_model, d_ff),
        "ff_out.bias": (d_model,),
    }


def case_23(choose: random.Random) -> Inputs:
    kind = choose.choice(["any", "any", "new", "zeros", "tiny", "large float16", "small float16"])
    if kind == "any":
        return any_case_23(choose)
    x = torch.randn(3, 5)
    if kind == "zeros":
        x[1] = 0
    x = x * {"tiny": 1e-3, "large float16": 500, "small float16": 2e-3}.get(kind, 1.0)
    call = [x.half() if kind.endswith("float16") else x]
    how = {"new": True} if kind == "new" else {"train": False, "gradients": 0}
    return ([5], some({"weight": (5,)}), {"first": call, "second": call}, how)


def any_case_23(choose: random.Random) -> Inputs:
    d, shape = choose.randint(2, 6), [choose.randint(1, 4) for _ in range(choose.randint(0, 2))]
    arguments = [d, *([choose.random()] if choose.random() < 0.5 else [])]
    calls = {name: [torch.randn(*shape, d)] for name in ("first", "second")}
    return (arguments, some({"weight": (d,)}), calls, {"train": False, "gradients": 1})


def case_24(choose: random.Random) -> Inputs:
    B, T, size, heads, d_ff = (choose.randint(1, 4) for _ in range(5))
    d, training = size * heads, choose.random() < 0.5
    arguments = [d, heads, d_ff, choose.choice([0.0, 1.0, 1.0] if training else [0.0, 0.7])]
    calls = {"first": [torch.randn(B, T, d)], "second": [torch.randn(B + 1, T + 1, d)]}
    return (arguments, some(shapes_of_block(d, d_ff)), calls, {"train": training, "gradients": int(not training)})


def case_25(choose: random.Random) -> Inputs:
    B, T, size, heads, layers, vocabulary = (choose.randint(1, 3) for _ in range(6))
    d, training, vocabulary = size * heads, choose.random() < 0.5, vocabulary + 3
    rates = choose.choice([[], [1.0], [1.0]] if training else [[], [0.7]])
    context = T + choose.randint(1, 3)
    shapes: dict[str, tuple[int, ...]] = {"token_embedding.weight": (vocabulary, d)}
    shapes |= {"position_embedding.weight": (context, d), "norm.weight": (d,), "norm.bias": (d,)}
    shapes |= {"head.weight": (vocabulary, d)}
    for i in range(layers):
        shapes |= {f"blocks.{i}.{name}": shape for name, shape in shapes_of_block(d, 4 * d).items()}
    calls = {name: [torch.randint(vocabulary, (B, T))] for name in ("first", "second")}
    calls["third"] = [torch.randint(vocabulary, (B + 1, context))]
    how = {"train": training, "gradients": int(not training), "numbers": ["context_length"]}
    return ([vocabulary, d, layers, heads, context, *rates], some(shapes), calls, how)


CASES: dict[int, Callable[[random.Random], Inputs]] = {23: case_23, 24: case_24, 25: case_25}
