"""Exercise 29: attention that hands its keys and values on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from grader import Case, Exercise, Inputs, Misconception, Picture, randn
from grader.kit.module_cases import LATER_CHANGED, OTHERS_CHANGED, SECOND_CALL, beside_numbers, draw_weights, trial
from grader.kit.module_readings import TWO_OUTPUTS, Parts, reader
from grader.kit.module_references import glancing, observing
from grader.kit.module_steps import Linear
from grader.kit.pictures import looks_ahead
from grader.model.forms.cached import CACHED
from grader.sandbox.forms.cached import CACHE, OUTPUTS, run

from .head_cases import MANY
from .mistakes import modules, split_heads
from .mistakes.cache import FOR_EVER, IN_CACHES, NEVER, UNTIL_A_NEW_TEXT

Tensor = torch.Tensor
Pair = Sequence[Tensor]  # keys and values, (B, H, S, d) each

LAYERS = ("q", "k", "v", "out")
IN_THE_END = "cache in the end"
NO_PAIR = "What your forward returns as a cache is no pair of two tensors of one shape, keys and values."
MOST_KEPT = 64  # words of a module that forgets nothing: it is called thousands of times


@dataclass(frozen=True)
class Sizes:
    """All that somebody may take the root of."""

    d_model: int
    heads: int
    head_dim: int
    T: int
    S: int


def after_the_query(T: int, S: int, _is_first: bool) -> Tensor:
    """True where the key comes after the query: the last query stands at the last key."""
    return torch.ones(T, S, dtype=torch.bool).triu(S - T + 1)


class CachedAttention(nn.Module):
    """The reference, in steps that a misconception can change."""

    roles: Any = ("q", "k", "v")
    bias: Any = staticmethod(lambda asked: asked)
    project: Any = staticmethod(lambda linear, x: linear(x))
    pass_on: Any = staticmethod(lambda projected, _role, _x: projected)
    number: Any = staticmethod(lambda heads: heads)
    # reshape, not unflatten, which takes a hundred times as long to say that something does not fit
    split: Any = staticmethod(lambda x, heads: x.reshape(*x.shape[:-1], heads, -1).transpose(1, 2))
    kept_as: Any = staticmethod(lambda tensor: tensor)
    taken_as: Any = staticmethod(lambda tensor, heads: tensor)
    order: Any = (0, 1)
    join: Any = staticmethod(lambda past, new: torch.cat([past, new], dim=2))
    hand_on: Any = staticmethod(lambda joined, new: joined)
    score: Any = staticmethod(lambda q, k: q @ k.mT)
    scale: Any = staticmethod(lambda scores, sizes: scores / sizes.head_dim**0.5)
    hidden: Any = staticmethod(after_the_query)
    hide: Any = staticmethod(lambda scores, later, sizes: scores.masked_fill(later, -torch.inf))
    normalise: Any = staticmethod(lambda scores: torch.softmax(scores, dim=-1))
    change_weights: Any = staticmethod(lambda weights, sizes: weights)
    mix: Any = staticmethod(lambda weights, v: weights @ v)
    merge: Any = staticmethod(lambda outputs: outputs.transpose(1, 2).flatten(2))
    keep_out: Any = staticmethod(lambda module, linear: setattr(module, "out", linear))
    project_out: Any = staticmethod(lambda out, merged: out(merged))
    finish: Any = staticmethod(lambda outputs: outputs)
    begin: Any = staticmethod(lambda module: None)
    dtype: Any = staticmethod(lambda outputs: outputs)
    # What is no function of what is given: whether the module itself keeps the past, and writes into a cache.
    keeps: Any = NEVER
    overwrites: Any = False
    returns: Any = staticmethod(lambda y, cache: (y, cache))

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.sizes = (d_model, num_heads, d_model // num_heads)
        self.q, self.k, self.v, out = (Linear(d_model, d_model, bias=self.bias(False)) for _ in LAYERS)
        self.keep_out(self, out)
        self.begin(self)

    def forward(self, x: Tensor, cache: Pair | None = None) -> Any:
        """One chunk x (B, T, d_model)."""
        past, heads = self._past(cache), self.number(self.sizes[1])
        projected = [self.project(getattr(self, name), x) for name in self.roles]  # (B, T, d_model) each
        passed_on = (self.pass_on(vectors, role, x) for vectors, role in zip(projected, "qkv", strict=True))
        q, *new = (self.split(vectors, heads) for vectors in passed_on)  # (B, H, T, d) each
        joined = new
        if past is not None:
            before = [self.taken_as(past[place], heads) for place in self.order]
            joined = [self.join(*both) for both in zip(before, new, strict=True)]  # (B, H, S, d) each
        k, v = joined
        sizes = Sizes(*self.sizes, T=q.shape[2], S=k.shape[2])
        later = self.hidden(sizes.T, sizes.S, past is None).to(x.device)  # (T, S)
        scores = self.hide(self.scale(self.score(q, k), sizes), later, sizes)  # (B, H, T, S)
        weights = self.change_weights(self.normalise(scores), sizes)
        y = self.project_out(getattr(self, "out", None), self.merge(self.mix(weights, v)))  # (B, T, d_model)
        kept = [self.kept_as(self.hand_on(*both)) for both in zip(joined, new, strict=True)]
        kept = [kept[place] for place in self.order]
        return self.returns(self.dtype(self.finish(y)), self._written(cache, kept))

    def _past(self, cache: Pair | None) -> Pair | None:
        """What is used of the past: what was given, or what the module has kept."""
        if self.keeps == NEVER or (self.keeps == UNTIL_A_NEW_TEXT and cache is None):
            return cache
        kept = vars(self).get("kept")
        return kept if kept and kept[0].shape[2] < MOST_KEPT else None

    def _written(self, cache: Pair | None, kept: list[Tensor]) -> Pair:
        if self.keeps != NEVER:
            # What is kept for ever outlives the call whose gradients are asked, and with them their graph.
            vars(self)["kept"] = [tensor.detach() for tensor in kept] if self.keeps == FOR_EVER else kept
        if self.overwrites and isinstance(cache, list):
            cache[:] = kept
            return cache
        return kept


class InRuns(CachedAttention):
    """The same, called with runs, as in the sandbox."""

    __annotations__ = CachedAttention.__annotations__  # its steps

    def forward(self, *of_run: Any) -> Any:
        return run(super().forward, *of_run)


Sample = Callable[[torch.Generator], Inputs]


def sized(B: int, T: int, d_model: int, heads: int, chunks: list[int], **how: Any) -> Sample:
    """A text in chunks of these sizes, at once and word by word, and again while another text goes on in between.

    Its second word is zeros: scores of 0 are like any others, and must not be taken for hidden ones. Where gradients
    are asked, they are those of the run in chunks.
    """

    def inputs(rng: torch.Generator) -> Inputs:
        x, weights = randn(rng, B, T, d_model), weights_for(rng, d_model)
        x[:, 1] = 0
        whole, single = [T], [1] * T
        later = torch.cat([x[:, :-1], randn(rng, B, 1, d_model)], dim=1)
        others = torch.cat([x[:1], randn(rng, B - 1, T, d_model)])
        aside = randn(rng, B, 2, d_model)
        first = chunks if how.get("gradients") else whole
        # Lists of their own, so that no two calls are taken for the same.
        calls: dict[str, list[Any]] = {"output": [x, first], SECOND_CALL: [x, list(first)]}
        calls["output at once"] = [x, list(whole)]
        calls["output in chunks"] = [x, list(chunks)]
        calls["output word by word"] = [x, single]
        calls["output with another text in between"] = [x, list(chunks), OUTPUTS, None, None, aside]
        calls[LATER_CHANGED] = [later, list(first)]
        if B > 1:
            calls[OTHERS_CHANGED] = [others, list(first)]
        calls[IN_THE_END] = [x, list(chunks), CACHE]
        return trial([d_model, heads], weights, calls, **how)

    return inputs


def going_on(B: int, S: int, T: int, d_model: int, heads: int, chunks: list[int]) -> Sample:
    """A text that goes on where S words were before, of which the cache is given."""

    def inputs(rng: torch.Generator) -> Inputs:
        x, weights = randn(rng, B, T, d_model), weights_for(rng, d_model)
        keys, values = (randn(rng, B, heads, S, d_model // heads) for _ in range(2))
        calls = {
            "output": [x, [T], OUTPUTS, keys, values],
            SECOND_CALL: [x, [T], OUTPUTS, keys, values],
            "output in chunks": [x, chunks, OUTPUTS, keys, values],
            IN_THE_END: [x, list(chunks), CACHE, keys, values],
        }
        return trial([d_model, heads], weights, calls)

    return inputs


def weights_for(rng: torch.Generator, d_model: int) -> dict[str, Tensor]:
    return draw_weights(rng, {f"{name}.weight": [d_model, d_model] for name in LAYERS})


def read(value: Any, *inputs: Any) -> Parts:
    """What is read of any module, and before it a sentence on a cache that is no pair.

    Of a module that answers a text otherwise when it is asked again, the first answer counts: that of one which
    keeps something between the calls is no matter of chance.
    """
    parts = read_as_module(value, *inputs)
    if parts.get("behaviour") == TWO_OUTPUTS:
        parts["output"] = {"output": value["outputs"]["output"]}
    outputs = parts.get("output")
    cache = outputs.get(IN_THE_END) if isinstance(outputs, dict) else None
    return {"cache": NO_PAIR if isinstance(cache, Tensor) and cache.dim() == 1 else ""} | parts


def picture(value: Any, inputs: Sequence[Any]) -> Picture | None:
    """What changed with a later word, from what was read."""
    outputs = value.get("output") if isinstance(value, dict) else None
    if not isinstance(outputs, dict):
        return None
    first, x = outputs.get("output"), inputs[2]["output"][0]
    if not isinstance(first, Tensor) or first.shape != x.shape:  # no output for each word
        return None
    return looks_ahead(first, outputs.get(LATER_CHANGED))


reference = observing(InRuns)
reference.__wrapped__ = CachedAttention  # type: ignore[attr-defined]  # as it is called, and must not leak
read_as_module = reader(reference, causal=True)

exercise = Exercise(
    number=29,
    assignment="fast_attention",
    title="A cache",
    entry="CachedAttention",
    form=CACHED,
    glance=glancing(InRuns),
    reference=reference,
    read=read,
    picture=picture,
    scales={"scale": "the dot products of queries and keys"},
    cases=[
        Case(
            "a text in two chunks",
            catches="gradients that do not come through the cache, √d_model for √d",
            inputs=sized(1, 5, 8, 2, [2, 3], gradients=1),
        ),
        Case(
            "several sentences in chunks",
            catches="a mask that is wrong where there is a cache, sentences that are mixed",
            inputs=sized(3, 6, 6, 3, [1, 3, 2]),
        ),
        Case(
            "as many sentences, words, heads and entries",
            catches="axes that are exchanged without an error",
            inputs=sized(4, 4, 16, 4, [2, 2]),
        ),
        Case("one head", catches="squeezed dimensions", inputs=sized(2, 3, 5, 1, [2, 1])),
        Case("one entry in each head", catches="squeezed dimensions", inputs=sized(1, 4, 3, 3, [3, 1])),
        Case(
            "two words after others, one by one",
            catches="a cache that is ignored, or kept by the module",
            inputs=going_on(2, 5, 2, 6, 2, [1, 1]),
        ),
        Case(
            "words after others",
            catches="new keys before old ones, a mask that begins at the first key",
            inputs=going_on(1, 4, 3, 8, 4, [1, 2]),
        ),
        Case(
            "words after many others",
            catches="a mask of a fixed size, a cache that is cut off",
            inputs=going_on(1, MANY, 2, 2, 2, [1, 1]),  # few numbers, so that functions are lent for them
            beside=f"Your module is right for short texts, but not where {MANY} words were before. A text may be of "
            "any length.",
            once=True,
        ),
        # With gradients, so that the first output is that of chunks; in both, a word is hidden from a query.
        *beside_numbers(sized(2, 4, 6, 2, [2, 2], gradients=1)),
    ],
    misconceptions=[
        *IN_CACHES,
        *split_heads.IN_MODULES,
        Misconception(
            "queries and keys exchanged",
            kind="mix-up",
            credit=0.5,
            says="Queries and keys change places in your results: k(x) asks, and q(x) is asked and cached.",
            change={"roles": ("k", "q", "v")},
        ),
        Misconception(
            "scaled by √d_model",
            kind="scaling",
            credit=0.75,
            says="The scores that you use are divided by √d_model. The keys of one head have d_model / num_heads "
            "entries: divide by the root of that.",
            change={"scale": lambda scores, sizes: scores / sizes.d_model**0.5},
        ),
        Misconception(
            "scaled by √num_heads",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by √num_heads. Divide by the root of the length of a key.",
            change={"scale": lambda scores, sizes: scores / sizes.heads**0.5},
        ),
        Misconception(
            "scaled by √S",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the root of the number of keys. Divide by the root of the "
            "length of a key.",
            change={"scale": lambda scores, sizes: scores / sizes.S**0.5},
        ),
        Misconception(
            "divided by √8",
            kind="hard-coded",
            credit=0.5,
            says="Your scores are divided by √8 whatever the sizes are. Divide by the root of the length of a key.",
            change={"scale": lambda scores, sizes: scores / 8**0.5},
        ),
        Misconception(
            "one head only",
            kind="missing step",
            credit=0.25,
            says="Your results are those of a single head of d_model entries. Split q, k and v into num_heads heads.",
            change={"number": lambda heads: 1, "scale": lambda scores, sizes: scores / sizes.d_model**0.5},
        ),
        Misconception(
            "words mixed up in splitting",
            kind="arrangement",
            credit=0.25,
            says="Your results are those of (B, T, d_model) viewed as (B, H, T, d), which mixes words up. View as (B, "
            "T, H, d), then take the result of transpose(1, 2).",
            change={"split": split_heads.viewed},
        ),
        Misconception(
            "words mixed up in merging",
            kind="arrangement",
            credit=0.25,
            says="Your results are those of heads merged while they stand before the words, which mixes words up. "
            "Transpose them back first.",
            change={"merge": lambda outputs: outputs.reshape(outputs.shape[0], outputs.shape[2], -1)},
        ),
        Misconception(
            "keys as values",
            kind="mix-up",
            credit=0.5,
            says="Your results are weighted keys. The weights belong to the values, v(x).",
            change={"roles": ("q", "k", "k")},
        ),
        Misconception(
            "keys and values exchanged",
            kind="mix-up",
            credit=0.5,
            says="Keys and values change places in your results: queries are compared with v(x), and k(x) is weighed.",
            change={"roles": ("q", "v", "k")},
        ),
        Misconception(
            "out without effect",
            kind="missing step",
            credit=0.5,
            says="Your results have not been through the last layer, out.",
            change={"project_out": lambda out, merged: merged},
        ),
        Misconception(
            "no layer out",
            kind="missing step",
            credit=0.5,
            says="Your module has no layer called out, which mixes the heads after they are merged.",
            change={"keep_out": split_heads.not_kept, "project_out": lambda out, merged: merged},
        ),
        Misconception(
            "with biases",
            kind="input",
            credit=0.75,
            says="Your linear layers have a bias, but should have none. Give them bias=False.",
            change={"bias": lambda _asked: True},
        ),
        Misconception(
            "raw scores as weights",
            kind="missing step",
            credit=0.25,
            says="Your values are weighted by the masked scores themselves. The weights are the softmax of these.",
            change={
                "hide": lambda scores, later, sizes: scores.masked_fill(later, 0.0),
                "normalise": lambda scores: scores,
            },
        ),
        split_heads.zeros_for_infinity(0.25),
        *modules.IN_MODULES,
    ],
)
