"""Exercise 17: several heads of causal attention in a list, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from grader import Case, Exercise, Inputs, Misconception
from grader.kit.module_cases import WORDS, beside_numbers, dropout_trial
from grader.kit.module_readings import picture_of_future, reader, wrong_mask
from grader.kit.module_references import glancing, observing
from grader.model.forms.module import MODULE

from . import attention_cases
from . import ex16_causal_attention as ex16
from .mistakes import results

Tensor = torch.Tensor


class MultiHeadAttentionWrapper(nn.Module):
    """The reference, in steps that a misconception can change."""

    head: Any = ex16.CausalAttention
    count: Any = staticmethod(lambda num_heads: num_heads)
    sizes: Any = staticmethod(lambda d_in, d_out, context, num_heads: (d_in, d_out, context))
    rate: Any = staticmethod(lambda p: p)
    bias: Any = staticmethod(lambda asked: asked)
    several: Any = staticmethod(lambda new, count: [new() for _ in range(count)])
    keep: Any = staticmethod(lambda module, heads: setattr(module, "heads", nn.ModuleList(heads)))
    add_layers: Any = staticmethod(lambda module, size: None)
    prepare: Any = staticmethod(lambda x: x)
    run: Any = staticmethod(lambda heads, x: [head(x) for head in heads])
    join: Any = staticmethod(lambda outputs: torch.cat(outputs, dim=-1))
    finish: Any = staticmethod(lambda module, joined, x: joined)

    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float, num_heads: int, qkv_bias: bool = False
    ) -> None:
        super().__init__()
        sizes = self.sizes(d_in, d_out, context_length, num_heads)
        arguments = (*sizes, self.rate(dropout), self.bias(qkv_bias))
        self.keep(self, self.several(lambda: self.head(*arguments), self.count(num_heads)))
        self.p = dropout
        self.add_layers(self, d_out * num_heads)

    def forward(self, x: Tensor) -> Any:
        outputs = self.run(self.heads, self.prepare(x))  # (B, T, d_out) of each head
        return self.finish(self, self.join(outputs), x)  # (B, T, num_heads * d_out)


def heads_with(**changes: Any) -> type[nn.Module]:
    """Heads with one of the mistakes of exercise 16."""
    steps = {name: staticmethod(change) for name, change in changes.items()}
    return type("CausalAttention", (ex16.CausalAttention,), steps)


def in_a_chain(heads: Any, x: Tensor) -> list[Tensor]:
    outputs = [x]
    for head in heads:
        outputs.append(head(outputs[-1]))
    return outputs[1:]


def interleaved(outputs: list[Tensor]) -> Tensor:
    return torch.stack(outputs, dim=-1).flatten(-2)


def viewed_as_one(dim: int) -> Callable[[list[Tensor]], Tensor]:
    """Joined on another dim, and then forced into the shape that is asked for."""
    return lambda outputs: torch.cat(outputs, dim).reshape(*outputs[0].shape[:-1], -1)


def product(outputs: list[Tensor]) -> Tensor:
    return torch.stack(outputs).prod(0)


def drop(module: Any, outputs: Tensor, _x: Tensor) -> Tensor:
    return nn.functional.dropout(outputs, module.p, module.training)


def add_projection(module: nn.Module, size: int) -> None:
    module.out_proj = nn.Linear(size, size)


def shapes(d_in: int, d_out: int, heads: int, bias: bool) -> dict[str, list[int]]:
    """Of all parameters, by name."""
    of_one = attention_cases.projection_shapes(d_in, d_out, bias)
    return {f"heads.{h}.{name}": shape for h in range(heads) for name, shape in of_one.items()}


sized = attention_cases.texts_for_heads(shapes)


def with_dropout(rng: torch.Generator) -> Inputs:
    p, heads = attention_cases.some_rate(rng), 2

    def weights(for_scores: Callable[[], Tensor], for_values: Callable[[], Tensor]) -> dict[str, Tensor]:
        made = attention_cases.by_name(for_scores, for_values)
        return {f"heads.{h}.{name}": make() for h in range(heads) for name, make in made.items()}

    return dropout_trial(rng, lambda d_in, d_out: [d_in, d_out, WORDS + 2, p, heads], weights)


def wrong_buffers(seen: Any, _d_in: int, _d_out: int, context: int, _dropout: float, heads: int, *_bias: bool) -> str:
    """About the mask of the first head that has none."""
    return next(filter(None, (wrong_mask(seen, context, f"heads.{h}.") for h in range(heads))), "")


reference = observing(MultiHeadAttentionWrapper)

exercise = Exercise(
    number=17,
    assignment="multi_head_attention",
    title="A list of heads",
    entry="MultiHeadAttentionWrapper",
    form=MODULE,
    glance=glancing(MultiHeadAttentionWrapper),
    reference=reference,
    picture=picture_of_future,
    read=reader(reference, causal=True, mask=wrong_buffers),
    cases=[
        Case(
            "one sentence", catches="missing gradients, heads that share", inputs=sized(1, 5, 3, 4, 3, 5, gradients=1)
        ),
        Case("several sentences", catches="sentences that are mixed", inputs=sized(3, 4, 5, 2, 2, 4, gradients=1)),
        Case(
            "as many heads as sentences and words",
            catches="heads joined on another dimension",
            inputs=sized(3, 3, 2, 5, 3, 4),
        ),
        Case("a longer text", catches="a context length that is not the argument", inputs=sized(2, 8, 4, 3, 2, 9)),
        Case("shorter than the context", catches="a mask of another size", inputs=sized(2, 3, 4, 6, 2, 8, gradients=1)),
        Case(
            "outputs as long as inputs",
            catches="heads in a chain, d_in and d_out exchanged",
            inputs=sized(2, 4, 3, 3, 3, 5),
        ),
        Case("a single word", catches="squeezed dimensions", inputs=sized(2, 1, 3, 5, 2, 4)),
        Case("one output feature", catches="squeezed dimensions", inputs=sized(2, 6, 4, 1, 4, 7)),
        Case("one head", catches="a number of heads that is not the argument", inputs=sized(2, 4, 5, 3, 1, 4)),
        Case("with biases", catches="qkv_bias that is ignored", inputs=sized(2, 5, 3, 2, 3, 6, bias=True, gradients=1)),
        Case(
            "in training, with a rate of 0",
            catches="a rate that is not the argument",
            inputs=sized(2, 4, 3, 5, 2, 4, train=True, gradients=1),
        ),
        Case("not in training", catches="dropout that is always active", inputs=sized(2, 5, 4, 3, 2, 5, dropout=0.5)),
        Case("in training", catches="a rate that is not passed on, dropout elsewhere", inputs=with_dropout),
        *beside_numbers(sized(2, 5, 3, 4, 2, 6)),
    ],
    misconceptions=[
        Misconception(
            "heads added",
            kind="wrong formula",
            credit=0.25,
            says="Your result is that of adding up the outputs of the heads. Put them side by side: torch.cat(…, "
            "dim=-1).",
            change={"join": lambda outputs: torch.stack(outputs).sum(0)},
        ),
        Misconception(
            "heads averaged",
            kind="wrong formula",
            credit=0.25,
            says="Your result is the average of the heads' outputs. Put them side by side: torch.cat(…, dim=-1).",
            change={"join": lambda outputs: torch.stack(outputs).mean(0)},
        ),
        Misconception(
            "heads multiplied",
            kind="wrong formula",
            credit=0.25,
            says="Your result is the product of the heads' outputs. Put them side by side: torch.cat(…, dim=-1).",
            change={"join": product},
        ),
        Misconception(
            "largest head only",
            kind="wrong formula",
            credit=0.25,
            says="Your result has the largest entries of all heads. Put their outputs side by side: torch.cat(…, "
            "dim=-1).",
            change={"join": lambda outputs: torch.stack(outputs).amax(0)},
        ),
        Misconception(
            "joined on the words",
            kind="axis",
            credit=0.5,
            says="The heads are joined along the words (dim=1) in your result. Join their features: torch.cat(…, "
            "dim=-1).",
            change={"join": lambda outputs: torch.cat(outputs, dim=1)},
        ),
        Misconception(
            "joined on the batch",
            kind="axis",
            credit=0.5,
            says="The heads are joined along the sentences (dim=0) in your result. Join their features: torch.cat(…, "
            "dim=-1).",
            change={"join": lambda outputs: torch.cat(outputs, dim=0)},
        ),
        Misconception(
            "stacked on a new last dimension",
            kind="axis",
            credit=0.5,
            says="Your result has a new dimension for the heads, like the one that torch.stack makes. Join the "
            "features that are there, with torch.cat.",
            change={"join": lambda outputs: torch.stack(outputs, dim=-1)},
        ),
        Misconception(
            "stacked on a new first dimension",
            kind="axis",
            credit=0.5,
            says="The result has a first dimension for the heads. Join their features: torch.cat(…, dim=-1).",
            change={"join": torch.stack},
        ),
        Misconception(
            "stacked beside the words",
            kind="axis",
            credit=0.5,
            says="The result has shape (B, T, num_heads, d_out). Join the last two dimensions, or use torch.cat.",
            change={"join": lambda outputs: torch.stack(outputs, dim=2)},
        ),
        Misconception(
            "stacked before the words",
            kind="axis",
            credit=0.5,
            says="The result has shape (B, num_heads, T, d_out). Join the features: torch.cat(…, dim=-1).",
            change={"join": lambda outputs: torch.stack(outputs, dim=1)},
        ),
        Misconception(
            "heads not joined",
            kind="missing step",
            credit=0.5,
            says="You return a list of the heads' outputs. Join them: torch.cat(…, dim=-1).",
            change={"join": list},
        ),
        Misconception(
            "features interleaved",
            kind="arrangement",
            credit=0.5,
            says="The features of the heads take turns. All those of the first head come first: torch.cat(…, dim=-1).",
            change={"join": interleaved},
        ),
        Misconception(
            "words mixed up in joining",
            kind="arrangement",
            credit=0.25,
            says="The shape is right, but words are mixed up, as when heads are joined before the words, then "
            "reshaped. "
            "Use torch.cat(…, dim=-1).",
            change={"join": viewed_as_one(1)},
        ),
        Misconception(
            "sentences mixed up in joining",
            kind="arrangement",
            credit=0.25,
            says="The shape is right, but sentences are mixed up, as when heads are joined in front, then "
            "reshaped. Use "
            "torch.cat(…, dim=-1).",
            change={"join": viewed_as_one(0)},
        ),
        Misconception(
            "heads in reverse order",
            kind="arrangement",
            credit=0.75,
            says="The last head comes first. Join the outputs in the order of the heads.",
            change={"join": lambda outputs: torch.cat(outputs[::-1], dim=-1)},
        ),
        Misconception(
            "divided by the number of heads",
            kind="scaling",
            credit=0.5,
            says="Your result is divided by the number of heads. Heads stand side by side; nothing is averaged.",
            change={"join": lambda outputs: torch.cat(outputs, dim=-1) / len(outputs)},
        ),
        Misconception(
            "first head only",
            kind="missing step",
            credit=0.25,
            says="You return the output of the first head. Join those of all: torch.cat(…, dim=-1).",
            change={"run": lambda heads, x: [heads[0](x)]},
        ),
        Misconception(
            "last head only",
            kind="missing step",
            credit=0.25,
            says="Your result is the output of the last head, as when each one replaces those before. Collect them and "
            "join them.",
            change={"run": lambda heads, x: [heads[-1](x)]},
        ),
        Misconception(
            "first head's output repeated",
            kind="mix-up",
            credit=0.25,
            says="Your result repeats the output of the first head. Every head should have its own.",
            change={"run": lambda heads, x: [heads[0](x)] * len(heads)},
        ),
        Misconception(
            "the same head repeated",
            kind="mix-up",
            credit=0.25,
            says="All heads are one and the same, with the same weights: [head] * n copies no module. "
            "Make a new CausalAttention for each.",
            change={"several": lambda new, count: [new()] * count},
        ),
        Misconception(
            "heads in a chain",
            kind="mix-up",
            credit=0.25,
            says="Your result is that of heads that get the output of the one before. All of them should get x.",
            change={"run": in_a_chain},
        ),
        Misconception(
            "end of a chain",
            kind="mix-up",
            credit=0.25,
            says="Your result is that of heads one after the other, as in nn.Sequential. Give x to each, and "
            "join their "
            "outputs.",
            change={"run": lambda heads, x: in_a_chain(heads, x)[-1:]},
        ),
        Misconception(
            "one head",
            kind="input",
            credit=0.25,
            says="There is one head, whatever num_heads says. Make num_heads of them.",
            change={"count": lambda _num_heads: 1},
        ),
        Misconception(
            "two heads",
            kind="hard-coded",
            credit=0.5,
            says="There are always two heads. Make num_heads of them.",
            change={"count": lambda _num_heads: 2},
        ),
        Misconception(
            "one head too many",
            kind="input",
            credit=0.5,
            says="There is one head more than num_heads. Use range(num_heads).",
            change={"count": lambda num_heads: num_heads + 1},
        ),
        Misconception(
            "one head too few",
            kind="input",
            credit=0.5,
            says="There is one head fewer than num_heads. Use range(num_heads).",
            change={"count": lambda num_heads: num_heads - 1},
        ),
        Misconception(
            "heads not registered",
            kind="missing step",
            credit=0.25,
            says="Your module has no parameters, so nothing would be trained: modules in a plain list, or made in "
            "forward, do not count. The heads are made in __init__: self.heads = nn.ModuleList([…]).",
            change={"keep": lambda module, heads: setattr(module, "heads", heads)},
        ),
        Misconception(
            "d_out split among the heads",
            kind="mix-up",
            credit=0.5,
            says="Each head has d_out // num_heads features. Here every head should have d_out: nothing is split.",
            change={"sizes": lambda d_in, d_out, context, heads: (d_in, d_out // heads, context)},
        ),
        Misconception(
            "one wide head",
            kind="mix-up",
            credit=0.25,
            says="There is one head with num_heads · d_out features. Make num_heads heads with d_out each.",
            change={
                "count": lambda _num_heads: 1,
                "sizes": lambda d_in, d_out, context, heads: (d_in, d_out * heads, context),
            },
        ),
        Misconception(
            "wide heads",
            kind="mix-up",
            credit=0.5,
            says="Each head has num_heads · d_out features. A head should have d_out; all of them together have more.",
            change={"sizes": lambda d_in, d_out, context, heads: (d_in, d_out * heads, context)},
        ),
        Misconception(
            "d_in and d_out exchanged",
            kind="mix-up",
            credit=0.25,
            says="d_in and d_out change places in the heads: it should be CausalAttention(d_in, d_out, …).",
            change={"sizes": lambda d_in, d_out, context, heads: (d_out, d_in, context)},
        ),
        Misconception(
            "d_in passed twice",
            kind="input",
            credit=0.5,
            says="Your heads have d_in output features instead of d_out: it should be CausalAttention(d_in, d_out, …).",
            change={"sizes": lambda d_in, d_out, context, heads: (d_in, d_in, context)},
        ),
        Misconception(
            "context length 6",
            kind="hard-coded",
            credit=0.5,
            says="Your heads take no more than six words. Pass context_length on to them.",
            change={"sizes": lambda d_in, d_out, context, heads: (d_in, d_out, 6)},
        ),
        Misconception(
            "always biased",
            kind="input",
            credit=0.75,
            says="Your heads have a bias although qkv_bias is False. qkv_bias is the fifth argument of a head.",
            change={"bias": lambda _asked: True},
        ),
        Misconception(
            "never biased",
            kind="input",
            credit=0.75,
            says="Your heads have no bias when qkv_bias is True. qkv_bias is the fifth argument of a head.",
            change={"bias": lambda _asked: False},
        ),
        Misconception(
            "nothing dropped",
            kind="input",
            credit=0.5,
            says="In training, nothing is dropped. Every head needs the argument dropout, and has to be in training.",
            change={"rate": lambda _p: 0.0},
        ),
        Misconception(
            "dropout of 0",
            kind="hard-coded",
            credit=0.5,
            says="Even with a dropout of 0, two calls in training differ, as with a rate written in the code. Pass the "
            "argument dropout on to the heads, and use no other rate.",
            change={"rate": lambda _p: 0.5},
        ),
        Misconception(
            "dropout on the output",
            kind="mix-up",
            credit=0.5,
            says="Entries of the output are dropped. Dropout is for the weights, inside the heads.",
            change={"finish": drop},
        ),
        Misconception(
            "dropout always active",
            kind="mix-up",
            credit=0.5,
            says="Entries are dropped outside of training, too. Dropout belongs to the heads; add no more of it.",
            change={"finish": lambda module, joined, x: nn.functional.dropout(joined, module.p, True)},
        ),
        Misconception(
            "an output projection",
            kind="mix-up",
            credit=0.5,
            says="The joined heads are projected once more in your result. That comes in exercise 18; here there is no "
            "out_proj.",
            change={"add_layers": add_projection, "finish": lambda module, joined, x: module.out_proj(joined)},
        ),
        Misconception(
            "softmax on the output",
            kind="mix-up",
            credit=0.25,
            says="Your result is that of softmax on the output. Softmax is for the weights, inside the heads.",
            change={"finish": lambda module, joined, x: torch.softmax(joined, dim=-1)},
        ),
        Misconception(
            "first sentence only",
            kind="missing step",
            credit=0.25,
            says="You return one sentence of the batch. The result has shape (B, T, num_heads · d_out).",
            change={"finish": lambda module, joined, x: joined[0]},
        ),
        Misconception(
            "last word only",
            kind="missing step",
            credit=0.25,
            says="You return the last word of each sentence. The result has shape (B, T, num_heads · d_out).",
            change={"finish": lambda module, joined, x: joined[:, -1]},
        ),
        Misconception(
            "result transposed",
            kind="convention",
            credit=0.5,
            says="The numbers are right, but words and features are exchanged. Return (B, T, num_heads · d_out).",
            change={"finish": lambda module, joined, x: joined.mT},
        ),
        results.squeezed(finish=lambda module, joined, x: joined.squeeze()),
        Misconception(
            "words and sentences exchanged",
            kind="axis",
            credit=0.25,
            says="Words and sentences change places in your results: the heads expect (B, T, d_in).",
            change={
                "prepare": lambda x: x.transpose(0, 1),
                "finish": lambda module, joined, x: joined.transpose(0, 1),
            },
        ),
        Misconception(
            "sentences joined",
            kind="mix-up",
            credit=0.25,
            says="The sentences of a batch become one long text in your results, whose words see each other. Give x to "
            "the heads as it is.",
            change={
                "prepare": lambda x: x.reshape(1, -1, x.shape[-1]),
                "finish": lambda module, joined, x: joined.reshape(*x.shape[:2], -1),
            },
        ),
        Misconception(
            "everything detached",
            kind="gradient",
            credit=0.5,
            says="No gradient comes through, as when something like no_grad or detach is around the heads. Nothing of "
            "that kind belongs there.",
            change={"finish": lambda module, joined, x: joined.detach()},
        ),
        Misconception(
            "input detached",
            kind="gradient",
            credit=0.5,
            says="No gradient reaches the input. Give x to the heads as it is: without detach, .data or a copy.",
            change={"prepare": lambda x: x.detach()},
        ),
        Misconception(
            "heads that do not scale",
            kind="scaling",
            credit=0.5,
            says="Your heads do not scale their scores. Use the given CausalAttention.",
            change={"head": heads_with(scale=lambda scores, *_sizes: scores)},
        ),
        Misconception(
            "heads that see the future",
            kind="missing step",
            credit=0.25,
            says="In your heads, every word sees all words. Use the given CausalAttention.",
            change={"head": heads_with(hide=lambda scores, later: scores)},
        ),
    ],
)
