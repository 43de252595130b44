"""Exercise 30: each query sees the last few keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.nn.functional import pad

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.pieces import LARGE, as_pieces, asked
from grader.model.forms.exact import EXACT

from .head_cases import LONG, NO_TABLE, NOT_FILLED, SOME, of_large_scores, with_a_query_of_zeros
from .mistakes import heads
from .mistakes.pieces import PIECES, unchanged
from .window_picture import keys_seen, named_words

Tensor = torch.Tensor

ROWS = 512  # queries at a time, so that we build no T × T table ourselves
BROAD = 150  # a window in a text of SOME words
CUT = f"Your code is right for narrow windows, but not for one of {BROAD} words. A window may be of any size."
WIDE = 16  # a window whose table for a long text takes half a megabyte


@dataclass(frozen=True)
class Sizes:
    """All that somebody may take the root of."""

    T: int
    d: int
    window: int


def beyond(t: Tensor, s: Tensor, sizes: Sizes) -> Tensor:
    """True where key s (1, S) comes after query t (T, 1), or is too long ago."""
    return (s > t) | (s <= t - sizes.window)


def beyond_at_most(t: Tensor, s: Tensor, sizes: Sizes) -> Tensor:
    """Of windows that are no longer than the text."""
    return beyond(t, s, replace(sizes, window=min(sizes.window, sizes.T)))


def shifted(by: int) -> Callable[[Tensor, Tensor, Sizes], Tensor]:
    """With a window that begins so many keys earlier."""
    return lambda t, s, sizes: (s > t) | (s <= t - sizes.window - by)


def from_its_block(t: Tensor, s: Tensor, sizes: Sizes) -> Tensor:
    """Queries of a block of `window` words all see what the first of them sees, up to their own key."""
    return (s > t) | (s <= t // sizes.window * sizes.window - sizes.window)


def counted_anew(t: Tensor, s: Tensor, sizes: Sizes) -> Tensor:
    """In blocks of `window` queries, whose places, and those of the keys that they need, are counted from 0."""
    first = t // sizes.window * sizes.window
    start = (first - sizes.window + 1).clamp(min=0)
    outside = (s < start) | (s >= first + sizes.window)
    return outside | beyond(t - first, s - start, sizes)


def held_inside(t: Tensor, s: Tensor, sizes: Sizes) -> Tensor:
    """Windows that begin before the text are moved into it: the first queries see what comes after them."""
    start = (t - sizes.window + 1).clamp(min=0)
    return (s < start) | (s >= start + sizes.window)


def twice_inside(scores: Tensor) -> Tensor:
    """Softmax, and again softmax, of what is not hidden."""
    return torch.softmax(torch.softmax(scores, dim=-1).masked_fill(scores == -torch.inf, -torch.inf), dim=-1)


def near(first: int, last: int, sizes: Sizes) -> tuple[int, int]:
    """The keys that queries first … last − 1 can see in a long text; all in a short one, whatever they should see."""
    return (0, sizes.T) if sizes.T <= ROWS else (max(first - sizes.window, 0), last)


def from_the_end(t: Tensor, s: Tensor, sizes: Sizes) -> Tensor:
    """Windows that begin below 0 begin there counted from the end, as a slice does."""
    start = t - sizes.window + 1
    start = torch.where(start < 0, start + sizes.T, start)
    return (s > t) | (s < start)


def zeros_in_front(x: Tensor, count: int) -> Tensor:
    return pad(x, (0, 0, count, 0))


def first_in_front(x: Tensor, count: int) -> Tensor:
    """The first word over and over, as where places below 0 are taken for 0."""
    return torch.cat([x[..., :1, :].expand(*x.shape[:-2], count, -1), x], dim=-2)


def before_the_text(window: int, _T: int) -> int:
    return max(window - 1, 0)


def no_more_than_words(window: int, T: int) -> int:
    """Of such windows."""
    return max(min(window, T) - 1, 0)


def attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    window: int,
    *,
    padding: Callable[[int, int], int] = lambda window, T: 0,
    padded: Callable[[Tensor, int], Tensor] = zeros_in_front,
    compared: Callable[[Tensor, Tensor], Tensor] = lambda k, v: k,
    score: Callable[[Tensor, Tensor], Tensor] = lambda q, k: q @ k.mT,
    scale: Callable[[Tensor, Sizes], Tensor] = lambda scores, sizes: scores / sizes.d**0.5,
    hidden: Callable[[Tensor, Tensor, Sizes], Tensor] = beyond,
    hide: Callable[[Tensor, Tensor], Tensor] = lambda scores, hidden: scores.masked_fill(hidden, -torch.inf),
    normalise: Callable[[Tensor], Tensor] = lambda scores: torch.softmax(scores, dim=-1),
    hide_weights: Callable[[Tensor, Tensor], Tensor] = lambda weights, hidden: weights,
    change_weights: Callable[[Tensor, Sizes], Tensor] = lambda weights, sizes: weights,
    weighed: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda q, k, v: v,
    mix: Callable[[Tensor, Tensor], Tensor] = lambda weights, v: weights @ v,
    after: Callable[[Tensor, Sizes], Any] = lambda outputs, sizes: outputs,
    finish: Callable[[Any], Any] = unchanged,
    dtype: Callable[[Any], Any] = unchanged,
) -> Any:
    sizes = Sizes(queries.shape[-2], queries.shape[-1], window)
    in_front = padding(window, sizes.T)  # keys and values that there are none of
    padded_keys, padded_values = (padded(x, in_front) for x in (keys, values))  # (B, H, in_front + T, d)
    outputs = []
    for first in range(0, sizes.T, ROWS):
        last = min(first + ROWS, sizes.T)
        low, high = near(first, last, sizes)
        here = slice(low, high + in_front)
        q, k, v = queries[..., first:last, :], padded_keys[..., here, :], padded_values[..., here, :]
        t = torch.arange(first, last, device=q.device)[:, None]  # (rows, 1)
        s = torch.arange(low - in_front, high, device=q.device)  # (S,)
        mask = hidden(t, s, sizes)  # (rows, S)
        scores = scale(score(q, compared(k, v)), sizes)  # (B, H, rows, S)
        weights = hide_weights(normalise(hide(scores, mask)), mask)
        outputs.append(mix(change_weights(weights, sizes), weighed(q, k, v)))
    return dtype(finish(after(torch.cat(outputs, dim=-2), sizes)))


def sized(B: int, H: int, T: int, d: int, window: int) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (*(randn(rng, B, H, T, d) for _ in range(3)), window)


def large(rng: torch.Generator) -> Inputs:
    return *of_large_scores(rng, 2, 2, 2, 6, 6), 5


OWN_KEY_HIDDEN = Misconception(
    "own key hidden",
    kind="mix-up",
    credit=0.25,
    says="In your results, a query does not see the key at its own place. Its window ends with that key.",
    change={"hidden": lambda t, s, sizes: (s >= t) | (s <= t - sizes.window)},
)
WINDOW_BEFORE = Misconception(
    "the window before the query",
    kind="mix-up",
    credit=0.25,
    says="Your windows end before the query: query t sees t − window … t − 1. The window should end with t itself.",
    change={"hidden": lambda t, s, sizes: (s >= t) | (s < t - sizes.window)},
)

exercise = Exercise(
    number=30,
    assignment="fast_attention",
    title="A sliding window",
    entry="sliding_window_attention",
    form=EXACT,
    reference=asked(attention),
    picture=keys_seen,
    scales={"scale": "the dot products of queries and keys"},
    cases=[
        Case(
            "a window of three",
            catches="a window too long or too short, scores of 0 that are taken for hidden ones",
            inputs=with_a_query_of_zeros(sized(2, 2, 7, 4, 3)),
        ),
        Case("a window of one", catches="anything but the values", inputs=sized(1, 2, 5, 3, 1)),
        Case("a window as long as the text", catches="anything but causal attention", inputs=sized(2, 1, 6, 5, 6)),
        Case("a window longer than the text", catches="indices before the text", inputs=sized(1, 3, 4, 2, 9)),
        Case("one word", catches="windows that need two", inputs=sized(3, 2, 1, 6, 2)),
        Case("everything is four", catches="axes that are exchanged without an error", inputs=sized(4, 4, 4, 4, 2)),
        Case("one feature", catches="squeezed dimensions", inputs=sized(1, 2, 6, 1, 4)),
        Case("a text of thirteen", catches="windows that are blocks", inputs=sized(2, 3, 13, 6, 5)),
        Case("scores of ±10⁴", catches="a softmax that overflows", inputs=large, beside=LARGE),
        Case(
            "values that name their words", catches="keys outside of the window, shown in a picture", inputs=named_words
        ),
        Case("a text of many words", "blocks that must fill it", sized(1, 1, SOME, 2, 7), beside=NOT_FILLED, once=True),
        Case("a broad window", "windows of a fixed size", sized(1, 1, SOME, 2, BROAD), beside=CUT, once=True),
        *as_pieces(sized(2, 2, 5, 3, 2)),
        Case(
            "a long text",
            catches="memory that grows with the square of T",
            inputs=sized(1, 1, LONG, 4, WIDE),
            promise=NO_TABLE,
        ),
    ],
    misconceptions=[
        Misconception(
            "one key too many",
            kind="mix-up",
            credit=0.5,
            says="Your windows hold one key too many: query t sees t − window … t. The window should begin at t − "
            "window + 1.",
            change={"hidden": shifted(1)},
        ),
        Misconception(
            "one key too few",
            kind="mix-up",
            credit=0.5,
            says="Your windows hold one key too few: query t sees t − window + 2 … t. The window should begin at t − "
            "window + 1.",
            change={"hidden": shifted(-1)},
        ),
        OWN_KEY_HIDDEN,
        heads.with_zeros(OWN_KEY_HIDDEN),
        WINDOW_BEFORE,
        heads.with_zeros(WINDOW_BEFORE),
        Misconception(
            "next key seen",
            kind="mix-up",
            credit=0.25,
            says="In your results, a query sees the key after its own. Nothing after it may count.",
            change={"hidden": lambda t, s, sizes: (s > t + 1) | (s <= t - sizes.window)},
        ),
        Misconception(
            "windows to both sides",
            kind="missing step",
            credit=0.5,
            says="Your windows reach as far ahead as back. A query must see nothing that comes after it.",
            change={"hidden": lambda t, s, sizes: (s - t).abs() >= sizes.window},
        ),
        Misconception(
            "windows to both sides, one more",
            kind="missing step",
            credit=0.25,
            says="Your windows hold `window` keys before each query, and as many after it. A query must see nothing "
            "that comes after it, and its own key is one of the `window` keys.",
            change={"hidden": lambda t, s, sizes: (s - t).abs() > sizes.window},
        ),
        Misconception(
            "the query in the middle",
            kind="mix-up",
            credit=0.25,
            says="The query stands in the middle of your windows. It should be the last of its window.",
            change={"hidden": lambda t, s, sizes: (s - t).abs() > sizes.window // 2},
        ),
        Misconception(
            "windows ahead",
            kind="mix-up",
            credit=0.25,
            says="Your windows begin at the query and reach ahead. They should end at the query: t − window + 1 … t.",
            change={"hidden": lambda t, s, sizes: (s < t) | (s >= t + sizes.window)},
        ),
        Misconception(
            "no window",
            kind="missing step",
            credit=0.5,
            says="All earlier keys count in your results, however long ago. Query t should see the last `window` keys.",
            change={"hidden": lambda t, s, sizes: s > t},
        ),
        Misconception(
            "future seen",
            kind="missing step",
            credit=0.5,
            says="The future counts in your results: of the keys after the query, none is hidden. A window ends at its "
            "query.",
            change={"hidden": lambda t, s, sizes: s <= t - sizes.window},
        ),
        Misconception(
            "nothing hidden",
            kind="missing step",
            credit=0.25,
            says="All keys count in your results. Query t should see t − window + 1 … t.",
            change={"hidden": lambda t, s, sizes: (s < 0) & (t < 0)},
        ),
        Misconception(
            "the window hidden",
            kind="mix-up",
            credit=0.25,
            says="Your results are those of the keys before the window alone: what should be seen is hidden.",
            change={"hidden": lambda t, s, sizes: s > t - sizes.window},
        ),
        Misconception(
            "blocks for windows",
            kind="mix-up",
            credit=0.25,
            says="Your text is cut into blocks of `window` words, and a query sees what came before it in its own "
            "block. Each query should have a window of its own, the last `window` keys up to it.",
            change={"hidden": lambda t, s, sizes: (s > t) | (s // sizes.window != t // sizes.window)},
        ),
        Misconception(
            "own block and the one before",
            kind="missing step",
            credit=0.5,
            says="Your text is cut into blocks of `window` words, and a query sees all of the block before its own. "
            "The window moves on with each query: nothing up to t − window counts.",
            change={"hidden": lambda t, s, sizes: (s > t) | (s // sizes.window < t // sizes.window - 1)},
        ),
        Misconception(
            "windows that begin at their block",
            kind="missing step",
            credit=0.5,
            says="In your results, all queries of a block of `window` words see what the first of them sees, and what "
            "came since. The window moves on with each query: nothing up to t − window counts.",
            change={"hidden": from_its_block},
        ),
        Misconception(
            "places counted anew in each block",
            kind="mix-up",
            credit=0.5,
            says="In your results, the first key that a block of `window` queries needs counts as if it stood where "
            "the first query stands. Compare places in the whole text.",
            change={"hidden": counted_anew},
        ),
        Misconception(
            "first windows moved into the text",
            kind="mix-up",
            credit=0.5,
            says="The first queries see keys after their own in your results, so that their windows are full. They "
            "have fewer keys: query 0 sees itself.",
            change={"hidden": held_inside},
        ),
        Misconception(
            "zeros before the text count",
            kind="missing step",
            credit=0.5,
            says="In the windows of the first queries, keys of zeros count, with scores of 0, as after padding. "
            "There are no keys before the first: set their scores to −∞.",
            change={"padding": before_the_text},
        ),
        Misconception(
            "zeros before the text count, no more than words",
            kind="missing step",
            credit=0.5,
            says="In the windows of the first queries, keys of zeros count, with scores of 0, as after padding. "
            "There are no keys before the first: set their scores to −∞.",
            change={"padding": no_more_than_words, "hidden": beyond_at_most},
        ),
        Misconception(
            "first key counted again",
            kind="missing step",
            credit=0.5,
            says="In the windows of the first queries, the first key counts several times in your results, as when "
            "places below 0 are taken as 0. There are no keys before the first: set their scores to −∞.",
            change={"padding": before_the_text, "padded": first_in_front},
        ),
        Misconception(
            "first key counted again, no more than words",
            kind="missing step",
            credit=0.5,
            says="In the windows of the first queries, the first key counts several times in your results, as when "
            "places below 0 are taken as 0. There are no keys before the first: set their scores to −∞.",
            change={"padding": no_more_than_words, "hidden": beyond_at_most, "padded": first_in_front},
        ),
        Misconception(
            "first windows counted from the end",
            kind="missing step",
            credit=0.5,
            says="The first windows begin below 0, and your results are those of windows that begin there counted from "
            "the end of the text, as a slice does: most hold nothing. A window begins with key 0 at the earliest.",
            change={
                "hidden": from_the_end,
                "normalise": lambda scores: torch.softmax(scores, dim=-1).nan_to_num(0.0),
            },
        ),
        Misconception(
            "first queries left out",
            kind="missing step",
            credit=0.25,
            says="Your first window − 1 outputs are zeros. These queries see fewer keys, but they see some.",
            change={
                "after": lambda outputs, sizes: pad(
                    outputs[..., sizes.window - 1 :, :], (0, 0, min(sizes.T, sizes.window - 1), 0)
                )
            },
        ),
        Misconception(
            "only full windows",
            kind="missing step",
            credit=0.25,
            says="Your result has no rows for the first window − 1 queries. They see fewer keys, but they see some.",
            change={"after": lambda outputs, sizes: outputs[..., sizes.window - 1 :, :]},
        ),
        Misconception(
            "values of the window averaged",
            kind="missing step",
            credit=0.25,
            says="Your results are the averages of the values in the window, whatever the scores. Their weights should "
            "be the softmax of the scores.",
            change={"normalise": lambda scores: scores.isfinite() / scores.isfinite().sum(-1, keepdim=True)},
        ),
        Misconception(
            "softmax twice in each window",
            kind="wrong formula",
            credit=0.25,
            says="Your results are those of softmax applied twice to the scores of a window. Apply it once.",
            change={"normalise": twice_inside},
        ),
        Misconception(
            "scaled by √window",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the root of the window. Divide by √d.",
            change={"scale": lambda scores, sizes: scores / sizes.window**0.5},
        ),
        heads.SCALED_BY_QUERIES,
        *(one for one in heads.IN_FUNCTIONS if one.name != "values averaged"),
        *(heads.with_zeros(one) for one in heads.IN_FUNCTIONS if one.name == "softmax over heads"),
        heads.heads_behind_the_words(after=lambda outputs, sizes: outputs.transpose(1, 2)),
        *PIECES,
    ],
)
