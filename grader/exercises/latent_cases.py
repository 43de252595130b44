"""Cases for exercise 40: a module that takes a text in chunks with a cache of latents, by two methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from grader import ClassCase, MemoryPromise, Module, randn
from grader.kit.module_cases import LATER_CHANGED, OTHERS_CHANGED, SECOND_CALL, draw_weights, with_large_scores

from .ex29_cached_attention import CACHE, IN_THE_END, OUTPUTS, step

Tensor = torch.Tensor

FORWARD, ABSORBED, BOTH = "forward", "absorbed", "forward, then absorbed"  # how chunks are put
LONG, HEADS, WIDE = 16384, 16, 128  # words, and heads of so many entries: their keys alone take 128 MB
NO_KEYS = MemoryPromise(
    56 * 2**20,
    4 * LONG * HEADS * WIDE,
    "Your absorbed makes keys or values of all cached words, or uses too much memory in some other way. Multiply the "
    "queries by the key part of up.weight, and use its value part after you have mixed the latents.",
)


class WithAbsorbed(Module):
    """A module with a second way to call it."""

    methods = (*Module.methods, ABSORBED)


# A call of a case is a run: one text, cut into chunks, each with the cache that came back from the one before.


def run(
    module: nn.Module,
    x: Tensor,
    sizes: Sequence[int],
    way: str = FORWARD,
    goal: str = OUTPUTS,
    cache: object = None,
    aside: Tensor | None = None,
) -> object:
    """The outputs for a text x (B, T, d_model) in chunks of these sizes, or the cache in the end.

    The first chunk may have a cache to begin with. What goes on with `aside` must not change how x goes on. If there is
    no method absorbed yet, its outputs are empty.
    """
    outputs = []
    for number, chunk in enumerate(torch.split(x, list(sizes), dim=1)):
        absorb = way == ABSORBED or (way == BOTH and number > 0)
        method = absorbed_of(module) if absorb else module
        if aside is not None and cache is not None:
            step(method, aside, cache)
        y, cache = step(method, chunk, cache)
        if not isinstance(y, Tensor) or (absorb and y.numel() == 0):  # the text cannot go on from here
            return y
        outputs.append(y)
    if goal == CACHE:
        return cache if isinstance(cache, Tensor) else torch.empty(0)
    return outputs[0] if len(outputs) == 1 else torch.cat(outputs, dim=1)


def absorbed_of(module: nn.Module) -> Callable[..., Any]:
    """The second method, which returns an empty output where it is still to do."""

    def method(*arguments: Any) -> Any:
        try:
            returned = getattr(module, ABSORBED, to_do)(*arguments)
        except NotImplementedError:
            returned = None
        return (torch.empty(0), None) if returned is None else returned

    return method


def to_do(*_arguments: object) -> None:
    """What a module without this method does."""


Sample = Callable[[torch.Generator], ClassCase]
Sizes = tuple[int, int, int, int, int]  # d_model, num_heads, head_dim, rank, rope_dim


def sized(B: int, T: int, sizes: Sizes, chunks: list[int], way: str = FORWARD, **options: Any) -> Sample:
    """A text in chunks of these sizes, all at once, word by word, and interleaved with another text, by both methods.

    Its second word is zeros, and code must not treat scores of 0 as hidden. With `gradients`, these come from the run
    in chunks.
    """

    def inputs(rng: torch.Generator) -> ClassCase:
        x = randn(rng, B, T, sizes[0])
        x[:, 1:2] = 0
        later = torch.cat([x[:, :-1], randn(rng, B, 1, sizes[0])], dim=1)
        other_text = torch.cat([x[:1], randn(rng, B - 1, T, sizes[0])])
        aside = randn(rng, B, 2, sizes[0])
        first = chunks if options.get("gradients") else [T]
        # Separate lists, so that no two calls look like the same one.
        calls: dict[str, list[Any]] = {"output": [x, first, way], SECOND_CALL: [x, list(first), way]}
        calls["output at once"] = [x, [T]]
        calls["output in chunks"] = [x, list(chunks)]
        calls["output word by word"] = [x, [1] * T]
        calls["output with another text in between"] = [x, list(chunks), FORWARD, OUTPUTS, None, aside]
        calls[LATER_CHANGED] = [later, list(first), way]
        if B > 1:
            calls[OTHERS_CHANGED] = [other_text, list(first), way]
        calls[IN_THE_END] = [x, list(chunks), FORWARD, CACHE]
        calls["output of absorbed"] = [x, list(chunks), ABSORBED]
        calls["output of absorbed after forward"] = [x, list(chunks), BOTH]
        calls["cache of absorbed at the end"] = [x, list(chunks), ABSORBED, CACHE]
        return ClassCase(list(sizes), weights_for(rng, sizes), calls, **options)

    return inputs


def going_on(B: int, S: int, sizes: Sizes, chunks: list[int]) -> Sample:
    """A text that continues S earlier words, whose cache is given."""

    def inputs(rng: torch.Generator) -> ClassCase:
        x, cache = randn(rng, B, sum(chunks), sizes[0]), randn(rng, B, S, sizes[3] + sizes[4])
        calls: dict[str, list[Any]] = {}
        for name, way in (("output", FORWARD), (SECOND_CALL, FORWARD), ("output of absorbed", ABSORBED)):
            calls[name] = [x, [sum(chunks)], way, OUTPUTS, cache]
        for name, way in (("in chunks", FORWARD), ("of absorbed in chunks", ABSORBED)):
            calls[f"output {name}"] = [x, list(chunks), way, OUTPUTS, cache]
        calls[IN_THE_END] = [x, list(chunks), FORWARD, CACHE, cache]
        calls["cache of absorbed at the end"] = [x, list(chunks), ABSORBED, CACHE, cache]
        return ClassCase(list(sizes), weights_for(rng, sizes), calls)

    return inputs


def weights_for(rng: torch.Generator, sizes: Sizes) -> dict[str, Tensor]:
    """The rotary key is made larger, so that it matters beside latents that go through two layers."""
    d_model, heads, head_dim, rank, rope_dim = sizes
    shapes = {"q": [heads * (head_dim + rope_dim), d_model], "down": [rank + rope_dim, d_model]}
    shapes |= {"up": [heads * 2 * head_dim, rank], "out": [d_model, heads * head_dim]}
    weights = draw_weights(rng, {f"{name}.weight": shape for name, shape in shapes.items()})
    return {name: weight * (1.5 if name == "up.weight" else 1.0) for name, weight in weights.items()}


SMALL: Sizes = (4, 2, 3, 2, 4)  # for large scores


def large(rng: torch.Generator) -> ClassCase:
    """Scores of ±10⁴, of which the rotary part, whose sign depends on positions, is small."""
    return by_both(with_large_scores(sized(2, 4, SMALL, [2, 2]))(rng), 1e-3)


def far_below(rng: torch.Generator) -> ClassCase:
    """Scores just below −10⁴: queries and keys are the first feature of a word, which differs by 0.3 %."""
    case = sized(2, 4, SMALL, [2, 2])(rng)
    weights = {name: weight.clone() for name, weight in case.weights.items()}
    for weight, rows, number in (("q", slice(None), -1.0), ("down", slice(1), 1.0)):
        weights[f"{weight}.weight"][rows] = torch.tensor([number, 0.0, 0.0, 0.0])
    up = weights["up.weight"].view(2, 2, 3, 2)  # heads, keys and values, head_dim, rank
    up[:, 0] = torch.tensor([1.0, 0.0])
    x = case.calls["output"][0]
    order = torch.rand(x.shape[:-1], generator=rng).argsort(-1)
    x[..., 0] = 100 * (7**0.5 / 3) ** 0.5 * (1.001 + 0.003 * order)
    return by_both(replace(case, weights=weights), 0.0)


def by_both(case: ClassCase, rotary: float) -> ClassCase:
    """The first call of a case by both methods, in which the rotary key is smaller by a factor."""
    x, sizes, *_ = case.calls["output"]
    factors = torch.ones(6, 1)
    factors[2:] = rotary
    weights = {name: factors * each if name == "down.weight" else each for name, each in case.weights.items()}
    calls = {"output": [x, sizes], "output of absorbed": [x, list(sizes), ABSORBED]}
    return replace(case, weights=weights, calls=calls)


def of_many_words(rng: torch.Generator) -> ClassCase:
    """One word after so many that their keys do not fit."""
    sizes = (2, HEADS, WIDE, 2, 2)
    calls = {"output": [randn(rng, 1, 1, 2), [1], ABSORBED, OUTPUTS, randn(rng, 1, LONG, 4)]}
    return ClassCase(list(sizes), weights_for(rng, sizes), calls)
