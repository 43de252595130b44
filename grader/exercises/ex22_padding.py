"""Exercise 22: attention over sentences of different lengths in one batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.pieces import LARGE, as_pieces, asked
from grader.model.forms.exact import EXACT

from .head_cases import MANY, OF_ANY_LENGTH, of_large_scores, with_a_query_of_zeros
from .mistakes import heads
from .mistakes.pieces import PIECES, unchanged

Tensor = torch.Tensor


@dataclass(frozen=True)
class Sizes:
    """All that somebody may take the root of, and all that counts for a mask."""

    T: int
    S: int
    d: int
    d_v: int


def beyond(lengths: Tensor, sizes: Sizes) -> Tensor:
    """True for the keys that are padding."""
    return (torch.arange(sizes.S, device=lengths.device) >= lengths[:, None])[:, None, None]  # (B, 1, 1, S)


def later(sizes: Sizes) -> Tensor:
    """True for the keys after a query."""
    return torch.ones(sizes.T, sizes.S, dtype=torch.bool).triu(1)


def of_rows(lengths: Tensor, sizes: Sizes) -> Tensor:
    """Queries in place of keys."""
    return (torch.arange(sizes.T, device=lengths.device) >= lengths[:, None])[:, None, :, None]  # (B, 1, T, 1)


def nothing_seen(hidden: Tensor) -> Tensor:
    return hidden.all(-1, keepdim=True)  # (B, 1, T, 1)


def softened(scores: Tensor, hidden: Tensor) -> Tensor:
    """Rows in which all is hidden go to softmax unhidden, or NaN comes back as a gradient."""
    return scores.masked_fill(hidden & ~nothing_seen(hidden), -torch.inf)


def attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    lengths: Tensor,
    causal: bool = False,
    *,
    which_lengths: Callable[[Tensor], Tensor] = lambda lengths: lengths,
    padding: Callable[[Tensor, Sizes], Tensor] = beyond,
    overwrite: Callable[[Tensor, Tensor], Tensor] = lambda part, padding: part,
    hides: Callable[[Tensor], Tensor] = lambda padding: padding,
    future: Callable[[Sizes], Tensor] = later,
    is_causal: Callable[[bool], bool] = bool,
    both: Callable[[Tensor, Tensor], Tensor] = torch.logical_or,
    compared: Callable[[Tensor, Tensor], Tensor] = lambda k, v: k,
    score: Callable[[Tensor, Tensor], Tensor] = lambda q, k: q @ k.mT,
    scale: Callable[[Tensor, Sizes], Tensor] = lambda scores, sizes: scores / sizes.d**0.5,
    hide: Callable[[Tensor, Tensor], Tensor] = softened,
    normalise: Callable[[Tensor], Tensor] = lambda scores: torch.softmax(scores, dim=-1),
    hide_weights: Callable[[Tensor, Tensor], Tensor] = lambda weights, hidden: weights,
    empty: Callable[[Tensor, Tensor], Tensor] = lambda weights, hidden: weights.masked_fill(nothing_seen(hidden), 0.0),
    change_weights: Callable[[Tensor, Sizes], Tensor] = lambda weights, sizes: weights,
    weighed: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda q, k, v: v,
    mix: Callable[[Tensor, Tensor], Tensor] = lambda weights, v: weights @ v,
    after: Callable[[Tensor, Tensor], Any] = lambda outputs, lengths: outputs,
    finish: Callable[[Any], Any] = unchanged,
    dtype: Callable[[Any], Any] = unchanged,
) -> Any:
    sizes = Sizes(queries.shape[-2], keys.shape[-2], queries.shape[-1], values.shape[-1])
    padded = padding(which_lengths(lengths), sizes)  # (B, 1, 1, S)
    keys, values = overwrite(keys, padded.mT), overwrite(values, padded.mT)
    hidden = hides(padded)
    if is_causal(causal):
        hidden = both(hidden, future(sizes).to(hidden.device))  # (B, 1, T, S)
    scores = scale(score(queries, compared(keys, values)), sizes)  # (B, H, T, S)
    hidden = hidden.to(scores.device).expand(scores.shape)
    weights = empty(hide_weights(normalise(hide(scores, hidden)), hidden), hidden)
    outputs = mix(change_weights(weights, sizes), weighed(queries, keys, values))  # (B, H, T, d_v)
    return dtype(finish(after(outputs, lengths)))


def left_nan(weights: Tensor, _hidden: Tensor) -> Tensor:
    return weights


def at_rest(outputs: Tensor, lengths: Tensor) -> Tensor:
    """The outputs of padded queries as zeros, too."""
    T = outputs.shape[-2]
    return outputs.masked_fill((torch.arange(T, device=lengths.device) >= lengths[:, None])[:, None, :, None], 0.0)


def sized(
    H: int, T: int, S: int, d: int, d_v: int, lengths: Sequence[int], *, causal: bool = False
) -> Callable[[torch.Generator], Inputs]:
    """Sentences of these lengths, in any order."""

    def inputs(rng: torch.Generator) -> Inputs:
        B = len(lengths)
        given = randn(rng, B, H, T, d), randn(rng, B, H, S, d), randn(rng, B, H, S, d_v)
        return (*given, shuffled(rng, lengths), *([True] if causal else []))

    return inputs


def shuffled(rng: torch.Generator, lengths: Sequence[int]) -> Tensor:
    return torch.tensor(lengths)[torch.randperm(len(lengths), generator=rng)]


def large(T: int, *causal: bool) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (*of_large_scores(rng, 3, 2, 2, T, 6), shuffled(rng, [6, 2, 3]), *causal)


def wild_padding(rng: torch.Generator) -> Inputs:
    """What stands under padding is large, and counts for nothing."""
    queries, keys, values, lengths = sized(2, 4, 6, 3, 4, [2, 4, 5])(rng)
    hidden = (torch.arange(6) >= lengths[:, None])[:, None, :, None]  # (B, 1, S, 1)
    return queries, keys.masked_fill(hidden, 50.0), values.masked_fill(hidden, 1e4), lengths


def read(value: Any, *_inputs: Any) -> Any:
    """Where some gradients are NaN, how many are depends on how a score is hidden: all of them count as NaN."""
    found = value.get("gradients") if isinstance(value, dict) else None
    if not isinstance(found, dict) or not any(bool(one.isnan().any()) for one in found.values() if one is not None):
        return value
    return {**value, "gradients": {name: one if one is None else one * torch.nan for name, one in found.items()}}


EMPTY = (
    "Your code is right, except for batches with a sentence of length 0: a query that sees no key must get zeros, not "
    "NaN or an average, and all others what they get without such a sentence."
)

exercise = Exercise(
    number=22,
    assignment="transformer",
    title="Padding",
    entry="padded_attention",
    form=EXACT,
    reference=asked(attention),
    read=read,
    scales={"scale": "the dot products of queries and keys"},
    cases=[
        Case("three lengths", catches="lengths that are ignored", inputs=sized(2, 4, 5, 6, 3, [5, 2, 4])),
        Case(
            "causal",
            "one mask in place of two, scores of 0 taken for hidden ones",
            with_a_query_of_zeros(sized(2, 5, 5, 4, 3, [5, 3, 1], causal=True)),
        ),
        Case("more keys than queries", catches="a mask of queries", inputs=sized(1, 3, 7, 2, 5, [6, 1, 4, 7])),
        Case("more queries than keys", catches="a mask of queries", inputs=sized(3, 6, 4, 5, 2, [3, 4])),
        Case(
            "everything is four",
            catches="axes that are exchanged without an error",
            inputs=sized(4, 4, 4, 4, 4, [1, 2, 3, 4], causal=True),
        ),
        Case("what stands under padding", catches="padding that is seen a little", inputs=wild_padding),
        Case("one feature", catches="squeezed dimensions", inputs=sized(1, 3, 4, 1, 1, [2])),
        Case(
            "a sentence of length 0",
            catches="NaN, or an average, where nothing is seen",
            inputs=sized(2, 4, 5, 3, 4, [0, 5, 2]),
            beside=EMPTY,
        ),
        Case(
            "a sentence of length 0, causal",
            catches="NaN, or an average, where nothing is seen",
            inputs=sized(2, 4, 4, 3, 2, [3, 0], causal=True),
            beside=EMPTY,
        ),
        Case("nothing but empty sentences", "zeros of another type", sized(1, 3, 3, 2, 2, [0, 0]), beside=EMPTY),
        Case("scores of ±10⁴", catches="a softmax that overflows", inputs=large(4), beside=LARGE),
        Case("scores of ±10⁴, causal", "one of two masks that hides too little", large(6, True), beside=LARGE),
        Case(
            "a text of many words",
            catches="masks of a fixed size",
            inputs=sized(1, MANY, MANY, 2, 2, [MANY, MANY // 2], causal=True),
            beside=OF_ANY_LENGTH,
            once=True,
        ),
        *as_pieces(sized(2, 3, 4, 3, 2, [4, 2])),
        Case(
            "gradients with a sentence of length 0",
            catches="NaN on the way back",
            inputs=lambda rng: (*sized(2, 3, 4, 3, 2, [4, 0])(rng), {"gradients": True}),
            beside="With a sentence of length 0 in the batch, gradients must be finite, too, and right for the others.",
        ),
    ],
    misconceptions=[
        Misconception(
            "lengths without effect",
            kind="missing step",
            credit=0.5,
            says="Padding counts as words in your results. Of sentence b, only the first lengths[b] keys count: hide "
            "the others.",
            change={"padding": lambda lengths, sizes: beyond(torch.full_like(lengths, sizes.S), sizes)},
        ),
        Misconception(
            "padding set to zero",
            kind="wrong formula",
            credit=0.5,
            says="In your results, padding counts as keys and values of zeros: the score of such a key is 0, and "
            "exp(0) is 1, so it takes its share of the weights. Set its score to −∞.",
            change={"overwrite": lambda part, padding: part.masked_fill(padding, 0.0), "hides": torch.zeros_like},
        ),
        Misconception(
            "one key too many",
            kind="mix-up",
            credit=0.5,
            says="In your results, the first key of each sentence's padding counts, too. Of sentence b, the keys 0 … "
            "lengths[b] − 1 count.",
            change={"which_lengths": lambda lengths: lengths + 1},
        ),
        Misconception(
            "last word hidden",
            kind="mix-up",
            credit=0.5,
            says="The last word of each sentence is hidden in your results. Of sentence b, the keys 0 … lengths[b] − 1 "
            "count.",
            change={"which_lengths": lambda lengths: lengths - 1},
        ),
        Misconception(
            "first length for all",
            kind="mix-up",
            credit=0.25,
            says="In your results, all sentences have the length of the first. Each has one of its own.",
            change={"which_lengths": lambda lengths: lengths[:1].expand_as(lengths)},
        ),
        Misconception(
            "longest length for all",
            kind="mix-up",
            credit=0.25,
            says="In your results, all sentences have the length of the longest. Each has one of its own.",
            change={"which_lengths": lambda lengths: lengths.amax().expand_as(lengths)},
        ),
        Misconception(
            "words hidden, padding seen",
            kind="mix-up",
            credit=0.25,
            says="The words are hidden in your results, and the padding is seen: the mask is the wrong way round.",
            change={"padding": lambda lengths, sizes: ~beyond(lengths, sizes)},
        ),
        Misconception(
            "padding in front",
            kind="mix-up",
            credit=0.25,
            says="In your results, the last lengths[b] keys count. It should be the first ones: padding is at the end.",
            change={"padding": lambda lengths, sizes: beyond(lengths, sizes).flip(-1)},
        ),
        Misconception(
            "queries hidden for keys",
            kind="axis",
            credit=0.25,
            says="The rows of queries beyond a sentence are hidden in your results, and padded keys are seen. Hide "
            "columns: the keys.",
            change={"padding": of_rows},
        ),
        Misconception(
            "zeros for padded queries",
            kind="mix-up",
            credit=0.75,
            says="Queries from lengths[b] on get zeros in your results. All queries count: only keys are hidden, and "
            "there may be more queries than keys.",
            change={"after": at_rest},
        ),
        Misconception(
            "causal has no effect",
            kind="missing step",
            credit=0.5,
            says="With causal=True, queries see later keys in your results. Query t sees the keys 0 … t.",
            change={"is_causal": lambda causal: False},
        ),
        Misconception(
            "always causal",
            kind="mix-up",
            credit=0.5,
            says="In your results, later keys are hidden even without causal=True. Hide them only with causal=True.",
            change={"is_causal": lambda causal: True},
        ),
        Misconception(
            "causal in place of lengths",
            kind="mix-up",
            credit=0.5,
            says="With causal=True, padding is seen in your results. Both count: hide padding and later keys.",
            change={"both": lambda padding, future: future.expand(len(padding), 1, *future.shape)},
        ),
        Misconception(
            "hidden only by both masks",
            kind="mix-up",
            credit=0.25,
            says="With causal=True, only keys that are both padding and later are hidden in your results. Either is "
            "reason enough.",
            change={"both": torch.logical_and},
        ),
        Misconception(
            "own key hidden",
            kind="mix-up",
            credit=0.25,
            says="With causal=True, a query does not see the key at its own place in your results. Query t sees the "
            "keys up to and including t.",
            change={"future": lambda sizes: torch.ones(sizes.T, sizes.S, dtype=torch.bool).triu(0)},
        ),
        Misconception(
            "past hidden",
            kind="mix-up",
            credit=0.25,
            says="With causal=True, the past is hidden and the future seen in your results. Hide the keys after t.",
            change={"future": lambda sizes: torch.ones(sizes.T, sizes.S, dtype=torch.bool).tril(-1)},
        ),
        Misconception(
            "NaN for empty sentences",
            kind="missing step",
            credit=0.75,
            says="Where a sentence has length 0, all scores are −∞, and softmax turns them into NaN. Such a query must "
            "get zeros.",
            change={
                "hide": lambda scores, hidden: scores + torch.zeros_like(scores).masked_fill(hidden, -torch.inf),
                "empty": left_nan,
            },
        ),
        Misconception(
            "average for empty sentences",
            kind="missing step",
            credit=0.75,
            says="Where a sentence has length 0, your result is an average of its padding, as with scores that are all "
            "the same large negative number. Such a query must get zeros.",
            change={"hide": lambda scores, hidden: scores.masked_fill(hidden, -1e9), "empty": left_nan},
        ),
        Misconception(
            "NaN on the way back",
            kind="gradient",
            credit=0.75,
            says="The numbers are right, but where a sentence has length 0, gradients are NaN: zeros were put over "
            "NaN, which is still there on the way back. Let no NaN appear: give such rows another score before "
            "softmax.",
            change={
                "hide": lambda scores, hidden: scores + torch.zeros_like(scores).masked_fill(hidden, -torch.inf),
                "empty": lambda weights, hidden: weights.nan_to_num(0.0),
            },
        ),
        Misconception(
            "softmax over heads, with zeros for NaN",
            kind="axis",
            credit=0.25,
            says="The weights of all heads sum to one for each pair of query and key. It is over the keys that those "
            "of a query should sum to one: dim=-1.",
            change={"normalise": lambda scores: torch.softmax(scores, dim=1).nan_to_num(0.0)},
        ),
        Misconception(
            "scaled by √d_v",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the root of the length of a value. Divide by √d, the root of "
            "the length of a key.",
            change={"scale": lambda scores, sizes: scores / sizes.d_v**0.5},
        ),
        heads.SCALED_BY_QUERIES,
        heads.SCALED_BY_KEYS,
        *heads.IN_FUNCTIONS,
        *PIECES,
    ],
)
