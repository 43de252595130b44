"""Exercise 29: attention that keeps its keys and values in a cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from grader import MODULE, Case, ClassCase, Exercise, Picture, at, randn, wrong
from grader.kit.module_cases import (
    LATER_CHANGED,
    OTHERS_CHANGED,
    SECOND_CALL,
    about_minus_ten_thousand,
    beside_numbers,
    draw_weights,
)
from grader.kit.module_readings import TWO_OUTPUTS, Readings, reader
from grader.kit.pictures import looks_ahead

from .head_cases import OVERLONG
from .mistakes import attention

Tensor = torch.Tensor

LAYERS = ("q", "k", "v", "out")
IN_THE_END = "cache at the end"
OUTPUTS, CACHE = "outputs", "cache"  # what a run is asked for
NO_PAIR = "The cache that your forward returns is not a pair of two tensors of the same shape: keys and values."


class CachedAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.q = nn.Linear(d_model, d_model, bias=False)  #: projections
        self.k = nn.Linear(d_model, d_model, bias=False)  #: projections
        self.v = nn.Linear(d_model, d_model, bias=False)  #: projections
        self.out = nn.Linear(d_model, d_model, bias=False)  #: out_layer

    def forward(self, x, cache=None):
        B, T, _ = x.shape  #: sizes
        q = self.q(x)  # (B, T, d_model)  #: query
        k = self.k(x)  #: key
        v = self.v(x)  #: value
        q, k, v = (y.view(B, T, self.num_heads, -1).transpose(1, 2) for y in (q, k, v))  # (B, H, T, d)  #: split
        if cache is not None:  #: given
            past_k, past_v = cache  #: past
            k = torch.cat([past_k, k], dim=2)  # (B, H, S, d)  #: join
            v = torch.cat([past_v, v], dim=2)  #: join
        cache = k, v  #: cache

        S = k.shape[2]
        scores = q @ k.transpose(2, 3)  # (B, H, T, S)  #: scores
        scores = scores / math.sqrt(self.head_dim)  #: scale
        mask = torch.ones(T, S, device=x.device).triu(1 + S - T) == 1  # after the query  #: crop
        scores = scores.masked_fill(mask, -math.inf)  #: hide
        weights = torch.softmax(scores, dim=-1)  #: normalize

        context = weights @ v  # (B, H, T, d)  #: mix
        context = context.transpose(1, 2).reshape(B, T, -1)  # (B, T, d_model)  #: merge
        context = self.out(context)  #: out
        return context, cache  #: result


# A call of a case is a run: one text, cut into chunks, each with the cache that came back from the one before. Nothing
# in the cache is trusted: it goes back to the code that made it, and only tensors leave the sandbox.


def run(
    module: nn.Module,
    x: Tensor,
    sizes: Sequence[int],
    goal: str = OUTPUTS,
    keys: Tensor | None = None,
    values: Tensor | None = None,
    aside: Tensor | None = None,
) -> object:
    """The outputs for a text x (B, T, d_model) in chunks of these sizes, or the cache in the end: (2, B, H, S, d).

    The first chunk may have keys and values to begin with. What goes on with `aside` must not change how x goes on.
    """
    cache = None if keys is None or values is None else like(step(module, x[:, :1])[1], keys, values)
    outputs = []
    for chunk in torch.split(x, list(sizes), dim=1):
        if aside is not None and cache is not None:
            step(module, aside, cache)
        y, cache = step(module, chunk, cache)
        if not isinstance(y, Tensor):  # the text cannot go on from here
            return y
        outputs.append(y)
    if goal == CACHE:
        return stacked(cache)
    return outputs[0] if len(outputs) == 1 else torch.cat(outputs, dim=1)


def step(module: Callable[..., Any], x: Tensor, cache: object = None) -> tuple[object, object]:
    """Make one call, which returns an output and a cache. A single tensor is an output, even a batch of two."""
    returned = module(x) if cache is None else module(x, cache)
    if isinstance(returned, (tuple, list)) and len(returned) == 2:
        return returned[0], returned[1]
    return returned, None


def stacked(cache: object) -> Tensor:
    """Keys and values of a cache in one tensor, which is empty if they are not a pair."""
    pair = list(cache) if isinstance(cache, (tuple, list, Tensor)) and len(cache) == 2 else []
    if len(pair) != 2 or not all(isinstance(half, Tensor) for half in pair) or pair[0].shape != pair[1].shape:
        return torch.empty(0)
    return torch.stack(pair)


def like(cache: object, keys: Tensor, values: Tensor) -> object:
    """A cache of these keys and values in the form that the code itself gives to one."""
    if isinstance(cache, Tensor):
        return torch.stack([keys, values])
    if isinstance(cache, list):
        return [keys, values]
    return getattr(cache, "_make", tuple)((keys, values))  # a tuple may have names


Sample = Callable[[torch.Generator], ClassCase]


def sized(B: int, T: int, d_model: int, heads: int, chunks: list[int], **options: Any) -> Sample:
    """A text in chunks of these sizes, all at once, word by word, and interleaved with another text.

    Its second word is zeros, and code must not treat scores of 0 as hidden. With `gradients`, these come from the run
    in chunks.
    """

    def inputs(rng: torch.Generator) -> ClassCase:
        x, weights = randn(rng, B, T, d_model), weights_for(rng, d_model)
        x[:, 1] = 0
        whole, single = [T], [1] * T
        later = torch.cat([x[:, :-1], randn(rng, B, 1, d_model)], dim=1)
        other_text = torch.cat([x[:1], randn(rng, B - 1, T, d_model)])
        aside = randn(rng, B, 2, d_model)
        first = chunks if options.get("gradients") else whole
        # Separate lists, so that no two calls look like the same one.
        calls: dict[str, list[Any]] = {"output": [x, first], SECOND_CALL: [x, list(first)]}
        calls["output at once"] = [x, list(whole)]
        calls["output in chunks"] = [x, list(chunks)]
        calls["output word by word"] = [x, single]
        calls["output with another text in between"] = [x, list(chunks), OUTPUTS, None, None, aside]
        calls[LATER_CHANGED] = [later, list(first)]
        if B > 1:
            calls[OTHERS_CHANGED] = [other_text, list(first)]
        calls[IN_THE_END] = [x, list(chunks), CACHE]
        return ClassCase([d_model, heads], weights, calls, **options)

    return inputs


def going_on(B: int, S: int, T: int, d_model: int, heads: int, chunks: list[int]) -> Sample:
    """A text that continues S earlier words, whose cache is given."""

    def inputs(rng: torch.Generator) -> ClassCase:
        x, weights = randn(rng, B, T, d_model), weights_for(rng, d_model)
        keys, values = (randn(rng, B, heads, S, d_model // heads) for _ in range(2))
        calls = {
            "output": [x, [T], OUTPUTS, keys, values],
            SECOND_CALL: [x, [T], OUTPUTS, keys, values],
            "output in chunks": [x, chunks, OUTPUTS, keys, values],
            IN_THE_END: [x, list(chunks), CACHE, keys, values],
        }
        return ClassCase([d_model, heads], weights, calls)

    return inputs


def weights_for(rng: torch.Generator, d_model: int) -> dict[str, Tensor]:
    return draw_weights(rng, {f"{name}.weight": [d_model, d_model] for name in LAYERS})


def cache_reader(read_as_module: Callable[..., Readings], no_cache: str) -> Callable[..., Readings]:
    """Read like any module, and add this sentence if the cache is not what it should be.

    If a module answers differently when it is asked again, the first answer counts: it keeps something between calls,
    so the difference is not random.
    """

    def read(observation: Any, *inputs: Any) -> Readings:
        readings = read_as_module(observation, *inputs)
        if readings.get("behavior") == TWO_OUTPUTS:
            readings["output"] = {"output": observation.outputs["output"]}
        outputs = readings.get("output")
        cache = outputs.get(IN_THE_END) if isinstance(outputs, dict) else None
        return {"cache": no_cache if isinstance(cache, Tensor) and cache.dim() == 1 else ""} | readings

    return read


def picture(value: Any, inputs: Sequence[Any]) -> Picture | None:
    """A picture of outputs that changed with a later word."""
    outputs = value.get("output") if isinstance(value, dict) else None
    if not isinstance(outputs, dict):
        return None
    first, x = outputs.get("output"), inputs[2]["output"][0]
    if not isinstance(first, Tensor) or first.shape != x.shape:  # no output for each word
        return None
    return looks_ahead(first, outputs.get(LATER_CHANGED), count_from=0)


read = cache_reader(reader(CachedAttention, causal=True), NO_PAIR)

KEEPS_STATE = (
    "Called twice with the same text and no cache, your module gives two different outputs: something is kept between "
    "the calls. The module may know about the past only from the cache that it is given."
)


# fmt: off
exercise = Exercise(
    number=29,
    assignment="fast_attention",
    title="A cache",
    solution=CachedAttention,
    form=MODULE,
    probe=run,
    read=read,
    picture=picture,
    cases=[
        Case("a text in two chunks", catches="gradients that do not come through the cache, √d_model for √d",
             inputs=sized(1, 5, 8, 2, [2, 3], gradients=1)),
        Case("several sentences in chunks",
             catches="a mask that is wrong where there is a cache, sentences that are mixed",
             inputs=sized(3, 6, 6, 3, [1, 3, 2])),
        Case("as many sentences, words, heads and entries", catches="axes that are exchanged without an error",
             inputs=sized(4, 4, 16, 4, [2, 2])),
        Case("one head", catches="squeezed dimensions", inputs=sized(2, 3, 5, 1, [2, 1])),
        Case("one entry in each head", catches="squeezed dimensions", inputs=sized(1, 4, 3, 3, [3, 1])),
        Case("two words after others, one by one", catches="a cache that is ignored, or kept by the module",
             inputs=going_on(2, 5, 2, 6, 2, [1, 1])),
        Case("words after others", catches="new keys before old ones, a mask that begins at the first key",
             inputs=going_on(1, 4, 3, 8, 4, [1, 2])),
        Case(
            "words after many others",
            catches="a mask of a fixed size, a cache that is cut off",
            inputs=going_on(1, OVERLONG, 2, 2, 2, [1, 1]),  # so small that functions are still lent
            beside=f"Your module is right for short texts, but not after {OVERLONG} earlier words. A text may have any "
            "length.",
            once=True,
        ),
        # With gradients, so that the first output is from chunks. Both chunks hide a word from a query.
        *beside_numbers(sized(2, 4, 6, 2, [2, 2], gradients=1)),
        about_minus_ten_thousand(sized(2, 4, 6, 2, [2, 2], gradients=1), head_dim=3),
    ],
    mistakes=[
        *at("crop",
            wrong("mask from the first key", "mask = torch.ones(T, S, device=x.device).triu(1) == 1",
                  "With a cache, query i of a chunk sees the keys 0 … i, as if the text began there. But the chunk "
                  "comes after all cached words: it should see these, and the words of the chunk up to its own.",
                  kind="mix-up"),
            wrong("mask from the first key, except for single words",
                  "mask = torch.ones(T, S, device=x.device).triu(1 if T > 1 else S) == 1",
                  "Single words see what they should. But with a cache, query i of a longer chunk sees the keys 0 … i, "
                  "as if the text began there. The chunk comes after all cached words: the query should see these, and "
                  "the words of the chunk up to its own.", kind="mix-up"),
            wrong("mask only with a cache",
                  "mask = torch.ones(T, S, device=x.device).triu(1 + S - T if S > T else S) == 1",
                  "Without a cache, every word sees the whole chunk. Hide the later words there, too.",
                  kind="missing step"),
            wrong("no mask with a cache", "mask = torch.ones(T, S, device=x.device).triu(1 if T == S else S) == 1",
                  "With a cache, the words of a chunk see each other's future. That works for single words only: hide "
                  "the later words of the chunk.", kind="missing step")),
        wrong("no mask", {"hide": ""},
              "Every word of a chunk sees the whole chunk. Hide the later words: no word may see them.",
              credit=0.25, kind="missing step"),
        wrong("own word hidden",
              [{"crop": "mask = torch.ones(T, S, device=x.device).triu(S - T) == 1"},
               {"crop": "mask = torch.ones(T, S, device=x.device).triu(S - T) == 1",
                "normalize": "weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)"}],
              "In your results, words do not see themselves. A word should see the cached words, and those of its "
              "chunk up to and including itself.", kind="mix-up"),
        wrong("own word hidden, except for single words",
              {"crop": "mask = torch.ones(T, S, device=x.device).triu(S - T if T > 1 else S) == 1"},
              "Single words see what they should. But in a longer chunk, words do not see themselves. A word should "
              "see the cached words, and those of its chunk up to and including itself.", kind="mix-up"),
        wrong("mask inverted",
              [{"crop": "mask = torch.ones(T, S, device=x.device).triu(1 + S - T) == 0"},
               {"crop": "mask = torch.ones(T, S, device=x.device).triu(1 + S - T) == 0",
                "normalize": "weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)"}],
              "Your words see just what should be hidden: the later words of their chunk, and nothing else. Hide "
              "those. In a mask for PyTorch's own kernel, True means “seen”; masked_fill fills where the mask is True.",
              kind="mix-up"),
        wrong("next word seen", {"crop": "mask = torch.ones(T, S, device=x.device).triu(2 + S - T) == 1"},
              "Your words see the word after them. A word should see the cached words, and those of its chunk up to "
              "itself.", kind="mix-up"),
        *at("join",
            wrong("cache without effect", "",
                  "Your results ignore the words before: each chunk is treated as a new text. Put the cached keys and "
                  "values before the new ones.", credit=0.25, kind="missing step"),
            wrong("new words before old ones", "k = torch.cat([k, past_k], dim=2)\nv = torch.cat([v, past_v], dim=2)",
                  "In your results, the new keys and values come before the cached ones. Put them after.",
                  kind="arrangement")),
        wrong("cached words handed on, but without effect",
              {"before given": "new_k, new_v = k, v", "after cache": "k, v = new_k, new_v"},
              "Your results ignore the words before, although your cache grows: attend to all of its keys and values, "
              "not to the new ones alone.", kind="missing step"),
        wrong("cached keys as values", {"join": ("past_v, v", "past_k, v")},
              "Your module puts the cached keys before the new values. Put the cached values there: the second of the "
              "pair.", kind="mix-up"),
        wrong("given cache returned", {"before given": "old = cache", "cache": "cache = old or (k, v)"},
              "When your module is given a cache, it returns it without the new words. The new cache must hold all "
              "words so far.", kind="missing step"),
        wrong("new words alone handed on", {"before given": "new = k, v", "cache": "cache = new"},
              "The cache that you return holds only the words of the last chunk. The next chunks need all of them: "
              "return all words so far.", kind="missing step"),
        wrong("cache kept by the module",
              [{"before sizes": "cache = getattr(self, 'kept', None)\n"
                                "if cache is not None and cache[0].shape[2] > 63:\n"
                                "    cache = None",
                "after cache": "self.kept = k.detach(), v.detach()"},
               {"before sizes": "if cache is None:\n    cache = getattr(self, 'kept', None)",
                "after cache": "self.kept = cache"}],
              KEEPS_STATE, kind="mix-up"),
        wrong("cache kept by the module, until a new text",
              {"before sizes": "if cache is not None:\n    cache = getattr(self, 'kept', None)",
               "after cache": "self.kept = cache"},
              "Your module continues where its last call ended, whatever cache it is given, so two texts that take "
              "turns get mixed up. It may know about the past only from the cache that it is given.", kind="mix-up"),
        *at("cache",
            wrong("given cache changed", "if isinstance(cache, list):\n    cache[:] = k, v\nelse:\n    cache = [k, v]",
                  "Your module changes the cache that it is given, so no second text can continue from it. Make new "
                  "tensors and a new pair.", kind="input"),
            wrong("cache detached", "cache = k.detach(), v.detach()",
                  "No gradient gets through the cache. Leave out detach and .data for what you pass on.",
                  kind="gradient")),
        *at("result",
            wrong("no cache returned", "return context, None",
                  "Your forward does not return y and a pair of keys and values, so each chunk is treated as a new "
                  "text. Return y and (keys, values).", credit=0.25, kind="missing step"),
            wrong("keys and values apart", "return context, *cache",
                  "Your forward returns three things: y, keys and values. Return two: y, and the pair (keys, values).",
                  kind="arrangement"),
            wrong("cache first", "return cache, context",
                  "You return the cache first, then y. Return y first, then the cache.", kind="arrangement")),
        wrong("values first in the cache", {"past": "past_v, past_k = cache", "cache": "cache = v, k"},
              "Your cache holds the values first, then the keys. Put the keys first.", kind="arrangement"),
        wrong("heads merged in the cache",
              {"past": "past_k, past_v = (y.reshape(*y.shape[:-1], self.num_heads, -1).transpose(1, 2) for y in cache)",
               "cache": "cache = k.transpose(1, 2).flatten(2), v.transpose(1, 2).flatten(2)"},
              "Keys and values in your cache have the shape (B, S, d_model). Keep those of each head: (B, H, S, d).",
              kind="arrangement"),
        wrong("words before heads in the cache",
              {"past": "past_k, past_v = (y.transpose(1, 2) for y in cache)",
               "cache": "cache = k.transpose(1, 2), v.transpose(1, 2)"},
              "Keys and values in your cache have the shape (B, S, H, d). Keep them as (B, H, S, d).",
              kind="arrangement"),
        *attention.of_split_heads("before mix", "reshape(B, T, -1)", "{}, cache"),
        wrong("queries and keys exchanged", {"query": "q = self.k(x)", "key": "k = self.q(x)"},
              "Queries and keys are swapped in your results: k(x) is used for the queries, and q(x) for the keys in "
              "the cache. Swap them back.", kind="mix-up"),
        *at("scale",
            wrong("scaled by √d_model", "scores = scores / math.sqrt(x.shape[-1])",
                  "Your scores are divided by √d_model. The keys of one head have d_model / num_heads entries: divide "
                  "by the square root of that.", credit=0.75, kind="scaling"),
            wrong("scaled by √num_heads", "scores = scores / math.sqrt(self.num_heads)",
                  "Your scores are divided by √num_heads. Divide by the square root of the length of a key.",
                  kind="scaling"),
            wrong("scaled by √S", "scores = scores / math.sqrt(S)",
                  "Your scores are divided by the square root of the number of keys. Divide by the square root of the "
                  "length of a key.", kind="scaling"),
            wrong("divided by √8", "scores = scores / math.sqrt(8)",
                  "Your scores are divided by √8, whatever the sizes are. Divide by the square root of the length of a "
                  "key.", kind="hard-coded")),
        wrong("one head only", {"split": ("self.num_heads", "1"), "scale": "scores = scores / math.sqrt(k.shape[-1])"},
              "Your results come from a single head with d_model entries. Split q, k and v into num_heads heads.",
              credit=0.25, kind="missing step"),
        wrong("words mixed up in splitting",
              {"split": "q, k, v = (y.view(B, self.num_heads, T, -1) for y in (q, k, v))"},
              "In your results, the words are mixed up, as if (B, T, d_model) were viewed as (B, H, T, d). View it as "
              "(B, T, H, d), then take the result of transpose(1, 2).", kind="arrangement"),
        wrong("words mixed up in merging", {"merge": "context = context.reshape(B, T, -1)"},
              "In your results, the words are mixed up, as if the heads were merged while they come before the words. "
              "Transpose them back first.", kind="arrangement"),
        wrong("keys as values", {"value": "v = self.k(x)"},
              "Your results are weighted sums of the keys. Use the weights for the values, v(x).", kind="mix-up"),
        wrong("keys and values exchanged", {"key": "k = self.v(x)", "value": "v = self.k(x)"},
              "Keys and values are swapped in your results: queries are compared with v(x), and the weighted sums are "
              "of k(x). Swap them back.", kind="mix-up"),
        wrong("out without effect", {"out": ""},
              "Your results look as if the last layer, out, were missing. Apply it at the end.", kind="missing step"),
        wrong("no layer out", {"out_layer": "", "out": ""},
              "Your module has no layer called out. Add it: it mixes the heads after they are merged.",
              kind="missing step"),
        wrong("with biases", {"projections": ("False", "True"), "out_layer": ("False", "True")},
              "Your linear layers have a bias, but they should not. Give them bias=False.", credit=0.75, kind="input"),
        wrong("raw scores as weights",
              {"hide": "scores = scores.masked_fill(mask, 0)", "normalize": "weights = scores"},
              "Your values are weighted with the masked scores themselves. Use the softmax of these scores as weights.",
              credit=0.25, kind="missing step"),
        attention.HIDDEN_BY_A_NUMBER,
        wrong("zeros for −∞", {"hide": "scores = scores.masked_fill(mask, 0)"},
              "In your results, hidden scores count as 0, or nearly 0, and softmax turns each of them into exp(0) = 1. "
              "Set them to −∞."),
        *attention.of_modules("out_layer"),
    ],
)
# fmt: on
