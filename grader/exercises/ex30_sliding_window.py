"""Exercise 30: each query sees the last few keys."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import torch
import torch.nn.functional as F  # noqa: F401  in lines

from grader import EXACT, Case, Exercise, Inputs, Misconception, at, randn, wrong
from grader.kit.pieces import LARGE, as_pieces

from .ex28_grouped_queries import exercise as grouped
from .head_cases import LONG, NO_TABLE, NOT_FILLED, SOME, of_large_scores, with_a_query_of_zeros
from .mistakes import heads, named
from .mistakes.of_pieces import another_type, gradients_lost
from .window_picture import keys_seen, named_words

BROAD = 150  # a window in a text of SOME words
CUT = f"Your code is right for narrow windows, but not for one of {BROAD} words. A window may be of any size."
WIDE = 16  # a window whose table for a long text takes half a megabyte


def sliding_window_attention(queries, keys, values, window):
    T, d = queries.shape[-2:]
    blocks = []  #: blocks
    for first in range(0, T, window):  # blocks of queries; none sees more than two blocks of keys
        last = min(first + window, T)
        start = max(first - window + 1, 0)
        t = torch.arange(first, last, device=queries.device)[:, None]
        s = torch.arange(start, last, device=queries.device)  #: near
        near_keys, near_values = keys[:, :, start:last], values[:, :, start:last]  #: near

        scores = queries[:, :, first:last] @ near_keys.mT  # (B, H, w, at most 2 w)  #: scores
        scores = scores / math.sqrt(d)  #: scale
        hidden = (s > t) | (s <= t - window)  #: outside
        scores = scores.masked_fill(hidden, -math.inf)  #: hide
        weights = torch.softmax(scores, dim=-1)  #: normalise
        outputs = weights @ near_values  # (B, H, w, d)  #: mix
        blocks.append(outputs)
    outputs = torch.cat(blocks, dim=2)  # (B, H, T, d)  #: join
    return outputs  #: result


def sized(B: int, H: int, T: int, d: int, window: int) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (*(randn(rng, B, H, T, d) for _ in range(3)), window)


def large(rng: torch.Generator) -> Inputs:
    return *of_large_scores(rng, 2, 2, 2, 6, 6), 5


# Keys to use instead of those nearby.
ALL = "s, near_keys, near_values = torch.arange(T, device=queries.device), keys, values"
ZEROS_IN_FRONT = """
    s = torch.arange(start - window + 1, last, device=queries.device)
    near_keys, near_values = (F.pad(x[:, :, start:last], (0, 0, window - 1, 0)) for x in (keys, values))
"""
FIRST_IN_FRONT = """
    s = torch.arange(start - window + 1, last, device=queries.device)
    near_keys, near_values = keys[:, :, s.clamp(min=0)], values[:, :, s.clamp(min=0)]
"""
SOFTMAX_OVER_QUERIES = """
    t, s = torch.arange(T, device=queries.device)[:, None], torch.arange(T, device=queries.device)
    scores = (queries @ keys.mT / math.sqrt(d)).masked_fill((s > t) | (s <= t - window), -math.inf)
    return torch.softmax(scores, dim=-2) @ values
"""
# Mistakes whose result depends on the whole table, which a table for one block would change.
OF_TABLES = (
    "softmax twice",
    "softmax over heads",
    "masked after softmax",
    "zeros for −∞",
    "renormalised after softmax",
    "mean instead of sum",
    "weights alone",
)


def seeing(*mistakes: Misconception, place: str = "near") -> list[Misconception]:
    """These mistakes in code that uses all keys."""
    return [replace(one, change={place: ALL, **one.change}) for one in mistakes]


def of_a_table(one: Misconception) -> Misconception:
    """A mistake of heads.with_lines, in code with a T × T table if that matters."""
    if one.name == "softmax over queries":
        return replace(one, change={"before blocks": SOFTMAX_OVER_QUERIES})
    return seeing(one, place="after near")[0] if one.name in OF_TABLES else one


# fmt: off
exercise = Exercise(
    number=30,
    assignment="fast_attention",
    title="A sliding window",
    solution=sliding_window_attention,
    form=EXACT,
    picture=keys_seen,
    scales={"scale": "the dot products of queries and keys"},
    cases=[
        Case("a window of three", catches="a window too long or too short, scores of 0 that are taken for hidden ones",
             inputs=with_a_query_of_zeros(sized(2, 2, 7, 4, 3))),
        Case("a window of one", catches="anything but the values", inputs=sized(1, 2, 5, 3, 1)),
        Case("a window as long as the text", catches="anything but causal attention", inputs=sized(2, 1, 6, 5, 6)),
        Case("a window longer than the text", catches="indices before the text", inputs=sized(1, 3, 4, 2, 9)),
        Case("one word", catches="windows that need two", inputs=sized(3, 2, 1, 6, 2)),
        Case("everything is four", catches="axes that are exchanged without an error", inputs=sized(4, 4, 4, 4, 2)),
        Case("one feature", catches="squeezed dimensions", inputs=sized(1, 2, 6, 1, 4)),
        Case("a text of thirteen", catches="windows that are blocks", inputs=sized(2, 3, 13, 6, 5)),
        Case("scores of ±10⁴", catches="a softmax that overflows", inputs=large, beside=LARGE),
        Case("values that name their words", catches="keys outside of the window, shown in a picture",
             inputs=named_words),
        Case("a text of many words", "blocks that must fill it", sized(1, 1, SOME, 2, 7), beside=NOT_FILLED, once=True),
        Case("a broad window", "windows of a fixed size", sized(1, 1, SOME, 2, BROAD), beside=CUT, once=True),
        *as_pieces(sized(2, 2, 5, 3, 2)),
        Case("a long text", catches="memory that grows with the square of T", inputs=sized(1, 1, LONG, 4, WIDE),
             promise=NO_TABLE),
    ],
    mistakes=[
        *seeing(*at("outside",
            wrong("one key too many", "hidden = (s > t) | (s < t - window)",
                  "Your windows hold one key too many: query t sees t − window … t. The window should begin at t − "
                  "window + 1.", kind="mix-up"),
            wrong("one key too few", "hidden = (s > t) | (s <= t - window + 1)",
                  "Your windows hold one key too few: query t sees t − window + 2 … t. The window should begin at t − "
                  "window + 1.", kind="mix-up"))),
        *heads.and_with_zeros(*seeing(*at("outside",
            wrong("own key hidden", "hidden = (s >= t) | (s <= t - window)",
                  "In your results, a query does not see the key at its own place. Its window ends with that key.",
                  kind="mix-up"),
            wrong("the window before the query", "hidden = (s >= t) | (s < t - window)",
                  "Your windows end before the query: query t sees t − window … t − 1. The window should end with t "
                  "itself.", kind="mix-up")))),
        *seeing(*at("outside",
            wrong("next key seen", "hidden = (s > t + 1) | (s <= t - window)",
                  "In your results, a query sees the key after its own. Nothing after it may count.",
                  kind="mix-up"),
            wrong("windows to both sides", "hidden = (s - t).abs() >= window",
                  "Your windows reach as far ahead as back. A query must see nothing that comes after it.",
                  kind="missing step"),
            wrong("windows to both sides, one more", "hidden = (s - t).abs() > window",
                  "Your windows hold `window` keys before each query, and as many after it. A query must see nothing "
                  "that comes after it, and its own key is one of the `window` keys.",
                  credit=0.25, kind="missing step"),
            wrong("the query in the middle", "hidden = (s - t).abs() > window // 2",
                  "The query stands in the middle of your windows. It should be the last of its window.",
                  kind="mix-up"),
            wrong("windows ahead", "hidden = (s < t) | (s >= t + window)",
                  "Your windows begin at the query and reach ahead. They should end at the query: t − window + 1 … t.",
                  kind="mix-up"),
            wrong("no window", "hidden = s > t",
                  "All earlier keys count in your results, however long ago. Query t should see the last `window` "
                  "keys.", kind="missing step"),
            wrong("future seen", "hidden = s <= t - window",
                  "The future counts in your results: of the keys after the query, none is hidden. A window ends at "
                  "its query.", kind="missing step"),
            wrong("nothing hidden", "hidden = torch.zeros_like(s > t)",
                  "All keys count in your results. Query t should see t − window + 1 … t.",
                  credit=0.25, kind="missing step"),
            wrong("the window hidden", "hidden = s > t - window",
                  "Your results are those of the keys before the window alone: what should be seen is hidden.",
                  kind="mix-up"),
            wrong("blocks for windows", "hidden = (s > t) | (s // window != t // window)",
                  "Your text is cut into blocks of `window` words, and a query sees what came before it in its own "
                  "block. Each query should have a window of its own, the last `window` keys up to it.",
                  kind="mix-up"),
            wrong("own block and the one before", "hidden = (s > t) | (s // window < t // window - 1)",
                  "Your text is cut into blocks of `window` words, and a query sees all of the block before its own. "
                  "The window moves on with each query: nothing up to t − window counts.", kind="missing step"),
            wrong("windows that begin at their block", "hidden = (s > t) | (s <= t // window * window - window)",
                  "In your results, all queries of a block of `window` words see what the first of them sees, and what "
                  "came since. The window moves on with each query: nothing up to t − window counts.",
                  kind="missing step"),
            wrong("places counted anew in each block", """
                      block = t // window * window  # where its queries begin
                      needed = (block - window + 1).clamp(min=0)  # and where its keys do
                      hidden = (s - needed > t - block) | (s - needed <= t - block - window)
                      hidden = hidden | (s < needed) | (s >= block + window)
                  """,
                  "In your results, the first key that a block of `window` queries needs counts as if it stood where "
                  "the first query stands. Compare places in the whole text.", kind="mix-up"),
            wrong("first windows moved into the text", """
                      begin = (t - window + 1).clamp(min=0)
                      hidden = (s < begin) | (s >= begin + window)
                  """,
                  "The first queries see keys after their own in your results, so that their windows are full. They "
                  "have fewer keys: query 0 sees itself.", kind="mix-up"))),
        *at("near",
            wrong("zeros before the text count", ZEROS_IN_FRONT,
                  "In the windows of the first queries, keys of zeros count, with scores of 0, as after padding. There "
                  "are no keys before the first: set their scores to −∞.", kind="missing step"),
            wrong("zeros before the text count, no more than words",
                  {"": ZEROS_IN_FRONT, "before blocks": "window = min(window, T)"},
                  "In the windows of the first queries, keys of zeros count, with scores of 0, as after padding. There "
                  "are no keys before the first: set their scores to −∞.", kind="missing step"),
            wrong("first key counted again", FIRST_IN_FRONT,
                  "In the windows of the first queries, the first key counts several times in your results, as when "
                  "places below 0 are taken as 0. There are no keys before the first: set their scores to −∞.",
                  kind="missing step"),
            wrong("first key counted again, no more than words",
                  {"": FIRST_IN_FRONT, "before blocks": "window = min(window, T)"},
                  "In the windows of the first queries, the first key counts several times in your results, as when "
                  "places below 0 are taken as 0. There are no keys before the first: set their scores to −∞.",
                  kind="missing step")),
        wrong("first windows counted from the end",
              {"outside": "begin = t - window + 1\n"
                          "hidden = (s > t) | (s < torch.where(begin < 0, begin + T, begin))",
               "normalise": "weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)"},
              "The first windows begin below 0, and your results are those of windows that begin there counted from "
              "the end of the text, as a slice does: most hold nothing. A window begins with key 0 at the earliest.",
              kind="missing step"),
        *at("result",
            wrong("first queries left out", "return F.pad(outputs[:, :, window - 1 :], (0, 0, min(T, window - 1), 0))",
                  "Your first window − 1 outputs are zeros. These queries see fewer keys, but they see some.",
                  credit=0.25, kind="missing step"),
            wrong("only full windows", "return outputs[:, :, window - 1 :]",
                  "Your result has no rows for the first window − 1 queries. They see fewer keys, but they see some.",
                  credit=0.25, kind="missing step")),
        *at("normalise",
            wrong("values of the window averaged",
                  "weights = scores.isfinite() / scores.isfinite().sum(dim=-1, keepdim=True)",
                  "Your results are the averages of the values in the window, whatever the scores. Their weights "
                  "should be the softmax of the scores.", credit=0.25, kind="missing step"),
            wrong("softmax twice in each window",
                  "weights = torch.softmax(torch.softmax(scores, dim=-1).masked_fill(hidden, -math.inf), dim=-1)",
                  "Your results are those of softmax applied twice to the scores of a window. Apply it once.")),
        *at("scale",
            wrong("scaled by √window", "scores = scores / math.sqrt(window)",
                  "The scores that you use are divided by the root of the window. Divide by √d.", kind="scaling"),
            *named(grouped.mistakes, "scaled by √T")),
        *(of_a_table(one) for one in heads.with_lines() if one.name != "values averaged"),
        *(heads.zeros_of_nothing(of_a_table(one)) for one in heads.with_lines() if one.name == "softmax over heads"),
        wrong("heads behind the words", {"result": "return outputs.transpose(1, 2)"},
              "The numbers are right, but of shape (B, T, H, d). Return (B, H, T, d).", kind="arrangement"),
        *gradients_lost("outputs"), *another_type("outputs", "after join"),
    ],
)
# fmt: on
