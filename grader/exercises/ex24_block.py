"""Exercise 24: a block of a transformer, attention and a feed-forward network with norms and shortcuts."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from grader import Case, Exercise, Inputs, randn
from grader.kit.module_cases import draw_weights, in_float64, trial, twice_and_changed
from grader.kit.module_readings import picture_of_future, reader
from grader.kit.module_references import glancing, observing
from grader.kit.module_steps import Linear
from grader.kit.pieces import FLOAT64
from grader.model.forms.module import MODULE
from grader.model.lent_class import LentClass

from .given_attention import GivenAttention, block_shapes
from .mistakes import blocks, modules

Tensor = torch.Tensor

TINY = 1e-3  # of numbers whose squares are about as large as the eps of a norm
EPS = (
    "Your code is right until numbers become tiny: then the eps of a norm counts. It should be that of nn.LayerNorm, "
    "1e-5, added to the variance under the root."
)


class TransformerBlock(nn.Module):
    """The reference, in steps that a misconception can change. Steps of a part are told which one it is: 1 or 2."""

    heads: Any = staticmethod(lambda num_heads: num_heads)
    hidden_size: Any = staticmethod(lambda d_model, d_ff: d_ff)
    bias: Any = True
    norm: Any = nn.LayerNorm
    two_norms: Any = staticmethod(lambda new: (new(), new()))
    rate: Any = staticmethod(lambda p: p)
    parts: Any = (1, 2)
    which: Any = staticmethod(lambda part: part)
    read: Any = staticmethod(lambda x, first, part: x)
    before: Any = staticmethod(lambda norm, x, part: norm(x))
    drop_normed: Any = staticmethod(lambda dropout, normed: normed)
    activate: Any = staticmethod(nn.functional.gelu)
    inside: Any = staticmethod(lambda dropout, hidden: hidden)
    activate_last: Any = staticmethod(lambda made: made)
    norm_made: Any = staticmethod(lambda norm, made: made)
    drop: Any = staticmethod(lambda dropout, made, part: dropout(made))
    shortcut: Any = staticmethod(lambda x, normed, first, part: x)
    add: Any = staticmethod(lambda x, made, part: x + made)
    drop_sum: Any = staticmethod(lambda dropout, x: x)
    after: Any = staticmethod(lambda norm, x: x)
    drop_last: Any = staticmethod(lambda dropout, x: x)
    finish: Any = staticmethod(lambda x: x)
    begin: Any = staticmethod(lambda module: None)
    dtype: Any = staticmethod(lambda outputs: outputs)

    def __init__(self, d_model: int, num_heads: int, d_ff: int, dropout: float) -> None:
        super().__init__()
        d_ff = self.hidden_size(d_model, d_ff)
        self.norm1, self.norm2 = self.two_norms(lambda: self.norm(d_model))
        self.attention = GivenAttention(d_model, self.heads(num_heads))
        self.ff_in = Linear(d_model, d_ff, bias=self.bias)
        self.ff_out = Linear(d_ff, d_model, bias=self.bias)
        self.dropout = nn.Dropout(self.rate(dropout))
        self.begin(self)

    def forward(self, x: Tensor) -> Any:
        first = x  # (B, T, d_model)
        for part in self.parts:
            norm = (self.norm1, self.norm2)[self.which(part) - 1]
            normed = self.drop_normed(self.dropout, self.before(norm, self.read(x, first, part), part))
            made = self.norm_made(norm, self.attention(normed) if part == 1 else self.feed_forward(normed))
            kept = self.shortcut(x, normed, first, part)
            x = self.drop_sum(self.dropout, self.add(kept, self.drop(self.dropout, made, part), part))
            x = self.drop_last(self.dropout, self.after(norm, x))
        return self.dtype(self.finish(x))

    def feed_forward(self, x: Tensor) -> Any:
        hidden = self.inside(self.dropout, self.activate(self.ff_in(x)))  # (B, T, d_ff)
        return self.activate_last(self.ff_out(hidden))


def drawn(rng: torch.Generator, d_model: int, d_ff: int) -> dict[str, Tensor]:
    """Biases and norms as large as anything else, so that whatever lacks them shows it."""
    weights = draw_weights(rng, block_shapes(d_model, d_ff))
    return {name: weight if weight.dim() > 1 else weight * len(weight) ** 0.5 for name, weight in weights.items()}


def sized(
    B: int, T: int, d_model: int, heads: int, d_ff: int, p: float = 0.0, **how: Any
) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        weights = drawn(rng, d_model, d_ff)
        x = 2 * randn(rng, B, T, d_model) + 0.5
        return trial([d_model, heads, d_ff, p], weights, twice_and_changed(rng, x), **how)

    return inputs


def with_nothing_to_add(rng: torch.Generator) -> Inputs:
    """Both output layers are zero, so that nothing is added to x, and what comes out is x itself."""
    arguments, weights, calls, how = sized(2, 4, 6, 2, 9)(rng)
    last = ("attention.combine", "ff_out")
    silent = {name: torch.zeros_like(each) if name.startswith(last) else each for name, each in weights.items()}
    return (arguments, silent, calls, how)


def of_tiny_numbers(rng: torch.Generator, *, silent: bool) -> Inputs:
    """Words whose variance is about as small as eps. The second norm sees them if attention is silent, so that it adds
    nothing to them; if not, the first."""
    arguments, weights, calls, how = sized(2, 3, 5, 1, 6)(rng)
    if silent:
        weights |= {name: torch.zeros_like(each) for name, each in weights.items() if "combine" in name}
    return (arguments, weights, {"output": [TINY * calls["output"][0]]}, how)


reference = observing(TransformerBlock)

exercise = Exercise(
    number=24,
    assignment="transformer",
    title="A block",
    entry="TransformerBlock",
    form=MODULE,
    glance=glancing(TransformerBlock),
    reference=reference,
    lent=LentClass(TransformerBlock),
    picture=picture_of_future,
    read=reader(reference, causal=True),
    cases=[
        Case("one sentence", "missing gradients, a mask that is missing", sized(1, 5, 4, 2, 7, gradients=1)),
        Case("several sentences", "sentences that are mixed, norms over the batch", sized(3, 4, 6, 3, 11, gradients=1)),
        Case("as many heads as words", "words and heads that are exchanged", sized(2, 4, 8, 4, 5)),
        Case("as many features as words", "norms over words", sized(2, 6, 6, 2, 3)),
        Case("a single word", "squeezed dimensions", sized(2, 1, 4, 2, 6)),
        Case("one head", "a number of heads that is not the argument", sized(2, 5, 5, 1, 8)),
        Case("nothing to add", "norms outside of the shortcuts", with_nothing_to_add),
        Case(
            "tiny numbers",
            "another eps of the first norm, or at another place",
            functools.partial(of_tiny_numbers, silent=False),
            beside=EPS,
        ),
        Case(
            "tiny numbers that go on",
            "another eps of the second norm, or at another place",
            functools.partial(of_tiny_numbers, silent=True),
            beside=EPS,
        ),
        Case("not in training", "dropout that is always active", sized(2, 4, 6, 2, 10, p=1.0)),
        Case("in training, at a rate of 0", "a rate that is not the argument", sized(2, 5, 4, 2, 9, train=True)),
        Case(
            "in training, at a rate of 1",
            "dropout that is missing, or elsewhere",
            sized(2, 5, 6, 3, 8, p=1.0, train=True),
        ),
        Case("float64 inputs", "a result of another type than the input", in_float64(sized(2, 5, 6, 2, 7)), FLOAT64),
    ],
    misconceptions=[*blocks.OF_A_BLOCK, *modules.BESIDE_NUMBERS],
)
