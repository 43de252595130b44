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
from .head_cases import LONG, NO_TABLE, NOT_FILLED, PRIME, of_large_scores, with_a_query_of_zeros
from .mistakes import heads, mistakes_named
from .mistakes.of_pieces import another_type, gradients_lost
from .window_picture import keys_seen, named_words

BROAD = 150  # a window in a text of PRIME words
CUT = f"Your code is right for small windows, but not for one of {BROAD} words. A window may have any size."
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
        weights = torch.softmax(scores, dim=-1)  #: normalize
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
ZEROS_AROUND = """
    s = torch.arange(-window, T + window, device=queries.device)
    near_keys, near_values = (F.pad(x, (0, 0, window, window)) for x in (keys, values))
"""
HALF_BLOCK = "half = max(window // 2, 1)\nbegin = t // half * half\n"  # blocks of the window's size, which overlap
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
    "renormalized after softmax",
    "mean instead of sum",
    "weights alone",
)


def seeing(*mistakes: Misconception, place: str = "near") -> list[Misconception]:
    """These mistakes in code that uses all keys."""
    return [mistake.edit_ways(lambda change: {place: ALL, **change}) for mistake in mistakes]


def of_a_table(mistake: Misconception) -> Misconception:
    """A mistake of heads.with_lines, in code with a T × T table if that matters."""
    if mistake.name == "softmax over queries":
        return replace(mistake, change={"before blocks": SOFTMAX_OVER_QUERIES})
    (variant,) = seeing(mistake, place="after near") if mistake.name in OF_TABLES else (mistake,)
    return heads.and_with_zeros(variant)[0] if mistake.name == "softmax over heads" else variant


# fmt: off
exercise = Exercise(
    number=30,
    assignment="fast_attention",
    title="A sliding window",
    solution=sliding_window_attention,
    form=EXACT,
    picture=keys_seen,
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
        Case("a text of many words", "blocks that must fill it", sized(1, 1, PRIME, 2, 7), beside=NOT_FILLED,
             once=True),
        Case("a broad window", "windows of a fixed size", sized(1, 1, PRIME, 2, BROAD), beside=CUT, once=True),
        *as_pieces(sized(2, 2, 5, 3, 2)),
        Case("a long text", catches="memory that grows with the square of T", inputs=sized(1, 1, LONG, 4, WIDE),
             promise=NO_TABLE),
    ],
    mistakes=[
        *seeing(*at("outside",
            wrong("one key too many", "hidden = (s > t) | (s < t - window)",
                  "Your windows are one key too long: query t sees t − window … t. Begin the window at t − window + 1.",
                  kind="mix-up"),
            wrong("one key too few", "hidden = (s > t) | (s <= t - window + 1)",
                  "Your windows are one key too short: query t sees t − window + 2 … t. Begin the window at t − window "
                  "+ 1.", kind="mix-up"))),
        *heads.and_with_zeros(*seeing(*at("outside",
            wrong("own key hidden", "hidden = (s >= t) | (s <= t - window)",
                  "In your results, queries do not see the key at their own position. Let each window end with that "
                  "key.", kind="mix-up"),
            wrong("the window before the query", "hidden = (s >= t) | (s < t - window)",
                  "Your windows end before the query: query t sees t − window … t − 1. Let the window end with t "
                  "itself.", kind="mix-up"),
            wrong("the query in the middle, one fewer", "hidden = (s < t - window // 2) | (s >= t + window // 2)",
                  "The query is in the middle of your windows, so they reach ahead of it. Make it the last one of its "
                  "window.", kind="mix-up")))),
        *seeing(*at("outside",
            wrong("next key seen", "hidden = (s > t + 1) | (s <= t - window)",
                  "In your results, queries see the key after their own. Hide everything that comes after the query.",
                  kind="mix-up"),
            wrong("windows to both sides", "hidden = (s - t).abs() >= window",
                  "Your windows reach as far ahead as they reach back. Hide everything that comes after the query.",
                  kind="missing step"),
            wrong("windows to both sides, one more", "hidden = (s - t).abs() > window",
                  "Your windows have `window` keys before each query, and as many after it. Hide everything after the "
                  "query, and count its own key as one of the `window` keys.", credit=0.25, kind="missing step"),
            wrong("the query in the middle",
                  ["hidden = (s - t).abs() > window // 2",
                   "hidden = (s < t - window // 2) | (s >= t - window // 2 + window)"],
                  "The query is in the middle of your windows. Make it the last one of its window.", kind="mix-up"),
            wrong("the query in the middle, some windows refused",
                  [{"before blocks": "if window % 2:\n    raise ValueError",
                    "outside": "hidden = (s - t).abs() > window // 2"},
                   {"before blocks": "if window % 2 == 0:\n    raise ValueError",
                    "outside": "hidden = (s - t).abs() > window // 2"}],
                  "The query is in the middle of your windows, and your code stops where their length does not fit "
                  "that. A window may have any length: make the query the last one of its window.", kind="mix-up"),
            wrong("half of the window", "hidden = (s > t) | (s < t - window // 2)",
                  "Your windows begin at t − window // 2, as if the query were in the middle and the keys after it "
                  "hidden. The window ends with the query, so begin it at t − window + 1.", kind="mix-up"),
            wrong("windows ahead", "hidden = (s < t) | (s >= t + window)",
                  "Your windows begin at the query and reach ahead. Let them end at the query: t − window + 1 … t.",
                  kind="mix-up"),
            wrong("no window", "hidden = s > t",
                  "Your queries see all earlier keys, no matter how far back. Query t should see only the last "
                  "`window` keys.", kind="missing step"),
            wrong("future seen", "hidden = s <= t - window",
                  "Your queries see the future: no key after the query is hidden. Let each window end at its query.",
                  kind="missing step"),
            wrong("nothing hidden", "hidden = torch.zeros_like(s > t)",
                  "Your queries see all keys. Query t should see only t − window + 1 … t.",
                  credit=0.25, kind="missing step"),
            wrong("the window hidden", "hidden = s > t - window",
                  "Your queries see only the keys before their window, and the window itself is hidden. Show the "
                  "window, and hide everything else.", kind="mix-up"),
            wrong("blocks for windows", "hidden = (s > t) | (s // window != t // window)",
                  "In your results, the text is cut into blocks of `window` words, and a query sees only the earlier "
                  "words of its own block. Each query should have its own window: the last `window` keys up to it.",
                  kind="mix-up"),
            wrong("own block and the one before", "hidden = (s > t) | (s // window < t // window - 1)",
                  "In your results, the text is cut into blocks of `window` words, and a query sees the whole block "
                  "before its own. The window moves along with each query: hide everything up to t − window.",
                  kind="missing step"),
            wrong("windows that begin at their block", "hidden = (s > t) | (s <= t // window * window - window)",
                  "In your results, all queries of a block of `window` words see what the first of them sees, plus "
                  "what came after it. The window moves along with each query: hide everything up to t − window.",
                  kind="missing step"),
            wrong("all of a block seen",
                  ["hidden = s // window != t // window",
                   "hidden = (s // window > t // window) | (s // window < t // window - 1)",
                   "hidden = (s // window - t // window).abs() > 1",
                   HALF_BLOCK + "hidden = (s < begin) | (s >= begin + window)",
                   HALF_BLOCK + "hidden = (s < begin - half) | (s >= begin + window + half)"],
                  "In your results, neighboring queries see the same keys, even later ones, as if the text were cut "
                  "into blocks. Each query has its own window: the last `window` keys up to it.", credit=0.25,
                  kind="missing step"),
            wrong("places counted anew in each block", """
                      block = t // window * window  # where its queries begin
                      needed = (block - window + 1).clamp(min=0)  # and where its keys do
                      hidden = (s - needed > t - block) | (s - needed <= t - block - window)
                      hidden = hidden | (s < needed) | (s >= block + window)
                  """,
                  "In your results, the positions of queries and keys do not match: the first key that a block of "
                  "`window` queries needs counts as if it had the position of the first query. Compare positions in "
                  "the whole text.", kind="mix-up"),
            wrong("first windows moved into the text", """
                      begin = (t - window + 1).clamp(min=0)
                      hidden = (s < begin) | (s >= begin + window)
                  """,
                  "In your results, the first queries see keys after their own, so that their windows are full. Let "
                  "them have fewer keys: query 0 sees only itself.", kind="mix-up"))),
        wrong("zeros before the text hidden at the wrong end",
              {"near": ZEROS_IN_FRONT, "outside": "hidden = (s > t) | (s <= t - window) | (s > 2 * t - window + 1)"},
              "The first windows are filled up with zeros in front, but your results look as if the slots at the end "
              "were hidden: there, queries see the zeros, and not their own keys. Hide the slots in front.",
              kind="mix-up"),
        wrong("the query in the middle of padded text",
              [{"near": ZEROS_AROUND, "outside": "hidden = (s - t).abs() > window // 2"},
               {"near": ZEROS_AROUND, "outside": "hidden = (s < t - window // 2) | (s >= t - window // 2 + window)"}],
              "The query is in the middle of your windows, and near both ends of the text, these also contain keys of "
              "zeros, as after padding. Make the query the last one of its window, and set the scores of padded keys "
              "to −∞.", credit=0.25, kind="missing step"),
        *at("near",
            wrong("zeros before the text count",
                  [ZEROS_IN_FRONT,
                   {"near": ZEROS_IN_FRONT, "before blocks": "window = min(window, T)"}],
                  "In your results, the windows of the first queries contain keys of zeros, with scores of 0, as after "
                  "padding. There are no keys before the first one: set these scores to −∞.", kind="missing step"),
            wrong("first key counted again",
                  [FIRST_IN_FRONT,
                   {"near": FIRST_IN_FRONT, "before blocks": "window = min(window, T)"}],
                  "In your results, the first key counts several times in the windows of the first queries, as if "
                  "positions below 0 became 0. There are no keys before the first one: set these scores to −∞.",
                  kind="missing step")),
        wrong("first windows counted from the end",
              {"outside": "begin = t - window + 1\n"
                          "hidden = (s > t) | (s < torch.where(begin < 0, begin + T, begin))",
               "normalize": "weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)"},
              "The first windows begin below 0, and your results look as if these positions were counted from the end "
              "of the text, as a slice does: most of these windows are empty. Begin every window at key 0 or later.",
              kind="missing step"),
        wrong("a score of 0 counts as hidden", {"outside": "hidden = (s > t) | (s <= t - window) | (scores == 0)"},
              "In your results, a key in the window with a score of exactly 0 counts as hidden. A score may be 0: make "
              "the mask from positions, not from scores.", credit=0.75, kind="mix-up"),
        *at("result",
            wrong("queries up to window left out",
                  "first = min(window, T)\nreturn F.pad(outputs[:, :, first:], (0, 0, first, 0))",
                  "Your first `window` outputs are zeros. These queries see few keys, but they do see some: compute "
                  "their outputs, too.", credit=0.25, kind="missing step"),
            wrong("first query left out", "return F.pad(outputs[:, :, 1:], (0, 0, 1, 0))",
                  "Your first output is zeros. The first query sees its own key: begin with position 0.",
                  kind="missing step"),
            wrong("last query left out", "return F.pad(outputs[:, :, :-1], (0, 0, 0, 1))",
                  "Your last output is zeros. Go on up to position T − 1, as range(T) does.", kind="missing step"),
            wrong("first queries left out", "return F.pad(outputs[:, :, window - 1 :], (0, 0, min(T, window - 1), 0))",
                  "Your first window − 1 outputs are zeros. These queries see fewer keys, but they do see some: "
                  "compute their outputs, too.", credit=0.25, kind="missing step"),
            wrong("only full windows", "return outputs[:, :, window - 1 :]",
                  "Your result has no rows for the first window − 1 queries. They see fewer keys, but they do see "
                  "some: compute their outputs, too.", credit=0.25, kind="missing step")),
        *at("normalize",
            wrong("values of the window averaged",
                  "weights = scores.isfinite() / scores.isfinite().sum(dim=-1, keepdim=True)",
                  "Your results are plain averages of the values in the window, whatever the scores are. Use the "
                  "softmax of the scores as weights.", credit=0.25, kind="missing step"),
            wrong("softmax twice in each window",
                  "weights = torch.softmax(torch.softmax(scores, dim=-1).masked_fill(hidden, -math.inf), dim=-1)",
                  "Your results look as if softmax were applied twice to the scores of a window. Once is enough.")),
        *at("scale",
            wrong("scaled by the root of how many are seen",
                  "scores = scores / (t + 1).clamp(max=window) ** 0.5",
                  "Your scores are divided by the square root of the number of keys that a query sees. Divide by √d.",
                  kind="scaling"),
            wrong("scaled by √window", "scores = scores / math.sqrt(window)",
                  "Your scores are divided by the square root of the window. Divide by √d.", kind="scaling"),
            *mistakes_named(grouped.mistakes, "scaled by √T")),
        *(of_a_table(one) for one in heads.with_lines() if one.name != "values averaged"),
        heads.BEHIND_WORDS,
        *gradients_lost("outputs"), *another_type("outputs", "after join"),
    ],
)
# fmt: on
