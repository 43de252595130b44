"""Exercise 22: attention over sentences of different lengths in one batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from grader import EXACT, Case, Exercise, Inputs, at, randn, wrong
from grader.kit.pieces import LARGE, as_pieces

from .head_cases import OF_ANY_LENGTH, OVERLONG, of_large_scores, with_a_query_of_zeros
from .mistakes import heads
from .mistakes.of_pieces import another_type, gradients_lost

Tensor = torch.Tensor


def padded_attention(queries, keys, values, lengths, causal=False):
    d = keys.shape[-1]
    scores = queries @ keys.mT  # (B, H, Tq, Tk)  #: scores
    scores = scores / d**0.5  #: scale

    places = torch.arange(keys.shape[2], device=keys.device)  # (Tk)
    hidden = places >= lengths.to(keys.device)[:, None, None, None]  # (B, 1, 1, Tk)  #: padding
    if causal:  #: causal
        future = torch.ones_like(scores, dtype=torch.bool).triu(diagonal=1)  # (B, H, Tq, Tk)  #: future
        hidden = hidden | future  #: both
    empty = hidden.all(dim=-1, keepdim=True)  # true where a query sees no key

    scores = scores.masked_fill(hidden & ~empty, -torch.inf)  # softmax of nothing but -∞ is NaN  #: hide
    weights = torch.softmax(scores, dim=-1)  # (B, H, Tq, Tk)  #: normalize
    weights = weights.masked_fill(empty, 0.0)  #: zeros
    outputs = weights @ values  # (B, H, Tq, d_v)  #: mix
    return outputs  #: result


ADDED = "scores = scores + torch.zeros_like(scores).masked_fill(hidden, -torch.inf)"


def sized(
    H: int, T: int, S: int, d: int, d_v: int, lengths: Sequence[int], *, causal: bool = False
) -> Callable[[torch.Generator], Inputs]:
    """Sentences of these lengths, in any order."""

    def inputs(rng: torch.Generator) -> Inputs:
        B = len(lengths)
        tensors = randn(rng, B, H, T, d), randn(rng, B, H, S, d), randn(rng, B, H, S, d_v)
        return (*tensors, shuffled(rng, lengths), *([True] if causal else []))

    return inputs


def shuffled(rng: torch.Generator, lengths: Sequence[int]) -> Tensor:
    return torch.tensor(lengths)[torch.randperm(len(lengths), generator=rng)]


def large(T: int, *causal: bool) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (*of_large_scores(rng, 3, 2, 2, T, 6), shuffled(rng, [6, 2, 3]), *causal)


def wild_padding(rng: torch.Generator) -> Inputs:
    """Padding holds large numbers, which must not count."""
    queries, keys, values, lengths = sized(2, 4, 6, 3, 4, [2, 4, 5])(rng)
    hidden = (torch.arange(6) >= lengths[:, None])[:, None, :, None]  # (B, 1, S, 1)
    return queries, keys.masked_fill(hidden, 50.0), values.masked_fill(hidden, 1e4), lengths


def read(value: Any, *_inputs: Any) -> Any:
    """If any gradients are NaN, all are read as NaN: how many there are depends on how scores are hidden."""
    gradients = value.get("gradients") if isinstance(value, dict) else None
    if not isinstance(gradients, dict):
        return value
    if not any(bool(gradient.isnan().any()) for gradient in gradients.values() if gradient is not None):
        return value
    return {
        **value,
        "gradients": {name: None if each is None else each * torch.nan for name, each in gradients.items()},
    }


EMPTY = (
    "Your code is right, except for batches with a sentence of length 0. A query that sees no key must get zeros, not "
    "NaN or an average. All others must get the same as without such a sentence."
)


# fmt: off
exercise = Exercise(
    number=22,
    assignment="transformer",
    title="Padding",
    solution=padded_attention,
    form=EXACT,
    read=read,
    cases=[
        Case("three lengths", catches="lengths that are ignored", inputs=sized(2, 4, 5, 6, 3, [5, 2, 4])),
        Case("causal", "one mask in place of two, scores of 0 taken for hidden ones",
             with_a_query_of_zeros(sized(2, 5, 5, 4, 3, [5, 3, 1], causal=True))),
        Case("more keys than queries", catches="a mask of queries", inputs=sized(1, 3, 7, 2, 5, [6, 1, 4, 7])),
        Case("more queries than keys", catches="a mask of queries", inputs=sized(3, 6, 4, 5, 2, [3, 4])),
        Case("everything is four", catches="axes that are exchanged without an error",
             inputs=sized(4, 4, 4, 4, 4, [1, 2, 3, 4], causal=True)),
        Case("what stands under padding", catches="padding that is seen a little", inputs=wild_padding),
        Case("one feature", catches="squeezed dimensions", inputs=sized(1, 3, 4, 1, 1, [2])),
        Case("a sentence of length 0", catches="NaN, or an average, where nothing is seen",
             inputs=sized(2, 4, 5, 3, 4, [0, 5, 2]), beside=EMPTY),
        Case("a sentence of length 0, causal", catches="NaN, or an average, where nothing is seen",
             inputs=sized(2, 4, 4, 3, 2, [3, 0], causal=True), beside=EMPTY),
        Case("nothing but empty sentences", "zeros of another type", sized(1, 3, 3, 2, 2, [0, 0]), beside=EMPTY),
        Case("scores of ±10⁴", catches="a softmax that overflows", inputs=large(4), beside=LARGE),
        Case("scores of ±10⁴, causal", "one of two masks that hides too little", large(6, True), beside=LARGE),
        Case("a text of many words", catches="masks of a fixed size",
             inputs=sized(1, OVERLONG, OVERLONG, 2, 2, [OVERLONG, OVERLONG // 2], causal=True),
             beside=OF_ANY_LENGTH, once=True),
        *as_pieces(sized(2, 3, 4, 3, 2, [4, 2])),
        Case("gradients with a sentence of length 0", catches="NaN on the way back",
             inputs=lambda rng: (*sized(2, 3, 4, 3, 2, [4, 0])(rng), {"gradients": True}),
             beside="With a sentence of length 0 in the batch, gradients must still be finite, and right for the other "
             "sentences."),
    ],
    mistakes=[
        wrong("lengths without effect", {"padding": "hidden = torch.zeros_like(scores, dtype=torch.bool)"},
              "In your results, padding counts as words. Of sentence b, only the first lengths[b] keys count: hide the "
              "others.", kind="missing step"),
        # A key of zeros has a score of 0.
        wrong("padding set to zero",
              {"after padding": "scores = scores.masked_fill(hidden, 0.0)\n"
                                "values = values.masked_fill(hidden.mT, 0.0)\n"
                                "hidden = torch.zeros_like(hidden)"},
              "In your results, padding counts as keys and values of zeros. The score of such a key is 0, and exp(0) "
              "is 1, so it takes its share of the weights. Set its score to −∞."),
        *at("before padding",
            wrong("one key too many", "lengths = lengths + 1",
                  "In your results, the first padded key of each sentence counts, too. Of sentence b, only the keys 0 "
                  "… lengths[b] − 1 count.", kind="mix-up"),
            wrong("last word hidden", "lengths = lengths - 1",
                  "In your results, the last word of each sentence is hidden. Of sentence b, all the keys 0 … "
                  "lengths[b] − 1 count.", kind="mix-up"),
            wrong("first length for all", "lengths = lengths[:1]",
                  "In your results, all sentences have the length of the first. Use the length of each sentence.",
                  kind="mix-up"),
            wrong("longest length for all", "lengths = lengths.max().expand_as(lengths)",
                  "In your results, all sentences have the length of the longest. Use the length of each sentence.",
                  kind="mix-up")),
        wrong("mask repeated over the heads",
              {"padding": """
                   B, H = queries.shape[:2]
                   hidden = (places >= lengths.to(keys.device)[:, None]).repeat(H, 1)  # (H · B, Tk)
                   hidden = hidden.view(B, H, 1, -1)
               """},
              "In your results, heads have the padding of other sentences, as if a mask of (B, Tk) were repeated H "
              "times and then split into (B, H). Give it axes instead, (B, 1, 1, Tk), or use repeat_interleave.",
              kind="arrangement"),
        *at("padding",
            wrong("words hidden, padding seen", (">=", "<"),
                  "In your results, the words are hidden, and the padding is seen. Invert the mask.", kind="mix-up"),
            wrong("padding in front", ("places >=", "places < len(places) -"),
                  "In your results, the last lengths[b] keys count. Padding is at the end, so count the first ones.",
                  kind="mix-up"),
            wrong("queries hidden for keys",
                  "rows = torch.arange(queries.shape[2], device=keys.device)[:, None]\n"
                  "hidden = rows >= lengths.to(keys.device)[:, None, None, None]",
                  "In your results, the rows of queries beyond a sentence are hidden, and padded keys are seen. Hide "
                  "columns: the keys.", kind="axis")),
        wrong("zeros for padded queries",
              {"result": "rows = torch.arange(queries.shape[2], device=keys.device)[:, None]\n"
                         "return outputs.masked_fill(rows >= lengths.to(keys.device)[:, None, None, None], 0.0)"},
              "In your results, queries from lengths[b] on get zeros. All queries count, and there may be more queries "
              "than keys. Hide only keys.", credit=0.75, kind="mix-up"),
        *at("before causal",
            wrong("causal has no effect", "causal = False",
                  "With causal=True, queries see later keys in your results. Query t sees the keys 0 … t.",
                  kind="missing step"),
            wrong("always causal", "causal = True",
                  "In your results, later keys are hidden even without causal=True. Hide them only with causal=True.",
                  kind="mix-up")),
        *at("both",
            wrong("causal in place of lengths", "hidden = future",
                  "With causal=True, padding is seen in your results. Hide both padding and later keys.",
                  kind="mix-up"),
            wrong("hidden only by both masks", "hidden = hidden & future",
                  "With causal=True, your results hide only keys that are both padding and later. Hide a key if it is "
                  "either of these.", kind="mix-up")),
        *at("future",
            wrong("own key hidden", ("diagonal=1", "diagonal=0"),
                  "With causal=True, a query does not see the key at its own position in your results. Query t sees "
                  "the keys up to and including t.", kind="mix-up"),
            wrong("past hidden", ("triu(diagonal=1)", "tril(diagonal=-1)"),
                  "With causal=True, the past is hidden and the future seen in your results. Hide the keys after t.",
                  kind="mix-up")),
        wrong("NaN for empty sentences", {"hide": ADDED, "zeros": ""},
              "Where a sentence has length 0, all scores are −∞, and softmax turns them into NaN. Return zeros for "
              "such a query.", credit=0.75, kind="missing step"),
        wrong("average for empty sentences", {"hide": "scores = scores.masked_fill(hidden, -1e9)", "zeros": ""},
              "Where a sentence has length 0, your result is an average of its padding, as when all scores are the "
              "same large negative number. Return zeros for such a query.", credit=0.75, kind="missing step"),
        wrong("NaN on the way back", {"hide": ADDED, "zeros": "weights = weights.nan_to_num(0.0)"},
              "Where a sentence has length 0, your gradients are NaN. Zeros replace NaN in the "
              "result, but NaN is still there on the way back. Give such rows finite scores before softmax, and set "
              "their weights to 0 after it.", credit=0.75, kind="gradient"),
        wrong("softmax over heads, with zeros for NaN",
              {"normalize": "weights = torch.softmax(scores, dim=1).nan_to_num(0.0)"},
              "For each pair of query and key, the weights of all heads sum to one. The weights of a query should sum "
              "to one over the keys: dim=-1.", kind="axis"),
        *at("scale",
            wrong("scaled by √d_v", "scores = scores / values.shape[-1] ** 0.5",
                  "The scores that you use are divided by the root of the size of a value. Divide by √d, the root of "
                  "the size of a key.", kind="scaling"),
            wrong("scaled by √T", "scores = scores / queries.shape[2] ** 0.5",
                  "The scores that you use are divided by the root of the number of queries. Divide by √d.",
                  kind="scaling"),
            wrong("scaled by √S", "scores = scores / keys.shape[2] ** 0.5",
                  "The scores that you use are divided by the root of the number of keys. Divide by √d.",
                  kind="scaling")),
        *heads.with_lines(),
        *gradients_lost("outputs"),
        *another_type("outputs", "after mix"),
    ],
)
# fmt: on
