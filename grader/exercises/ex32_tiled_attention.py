"""Exercise 32: attention block by block, as in FlashAttention."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: F401  in lines

from grader import UNWRITTEN, WITH_LOGSUMEXP, Case, Exercise, Inputs, MemoryPromise, at, randn, wrong  # noqa: F401  in lines
from grader.kit.pieces import LARGE, in_float64

from .ex28_grouped_queries import exercise as grouped
from .head_cases import NOT_FILLED, PRIME, of_large_scores, with_a_query_of_zeros
from .mistakes import heads, mistakes_named
from .mistakes.of_pieces import another_type

BLOCK = 64
LONG, NARROW = 2560, 32  # for a text and a block of it; tables of scores take 25 MB and 0.3 MB
HALF = LONG // 2  # without a mask, only the scores could fill a table, of 6.25 MB
ALLOWED = 6 * 2**20  # less than a T × T mask of one byte each
NO_ROWS_BEHIND = (
    "The queries after the last full block get no result, as if the loop over the blocks had only T // block_size "
    "steps. T need not be a multiple of block_size: include the last, shorter block."
)
NOT_KEPT = (
    "Your maximum so far stays −∞, so each block replaces the ones before it. After each block, keep the new maximum."
)
# The mistakes of exercises 22 and 28 that are possible without a whole row of weights.
OF_SCORES = (
    "not scaled",
    "divided by d",
    "multiplied by √d",
    "divided by √8",
    "divided by 2",
    "sign flipped",
    "keys as values",
    "keys and values exchanged",
)


def tiled_attention(queries, keys, values, block_size, causal=False):
    T, d = queries.shape[-2:]
    m = torch.full_like(queries[..., :1], -math.inf)  # (B, H, T, 1)
    l = torch.zeros_like(m)
    output = torch.zeros_like(queries)
    t = torch.arange(T, device=queries.device)
    for start in range(0, T, block_size):
        block = slice(start, start + block_size)  #: block
        scores = queries @ keys[:, :, block].mT  # (B, H, T, block_size)  #: scores
        scores = scores / math.sqrt(d)  #: scale
        if causal:  #: causal
            hidden = t[block] > t[:, None]  #: later
            scores = scores.masked_fill(hidden, -math.inf)  #: hide
        new_m = torch.maximum(m, scores.amax(dim=-1, keepdim=True))  #: maximum
        rescale = torch.exp(m - new_m)  #: rescale
        p = torch.exp(scores - new_m)  #: exponentials
        l = rescale * l + p.sum(dim=-1, keepdim=True)  #: sum
        output = rescale * output + p @ values[:, :, block]  #: mix
        m = new_m  #: keep
    output = output / l  #: divide
    lse = m + torch.log(l)  #: logarithm
    return output, lse.squeeze(-1)  #: result


# For mistakes where a query may see nothing of the first blocks.
EMPTY_BLOCKS = {
    "rescale": "rescale = torch.exp(m - new_m).nan_to_num(0.0)",
    "exponentials": "p = torch.exp(scores - new_m).nan_to_num(0.0)",
}
# Where a loop over queries leaves out the blocks of keys that come later.
HAS_ENDED = "(start > t[:, None]) & causal"
BLOCK_ALONE = "torch.softmax(scores, dim=-1).nan_to_num(0.0) @ values[:, :, block]"


def sized(
    B: int, H: int, T: int, d: int, block_size: int, *, causal: bool = False
) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (*(randn(rng, B, H, T, d) for _ in range(3)), block_size, *([True] if causal else []))


def large(*causal: bool) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (*of_large_scores(rng, 2, 2, 2, 6, 6), 4, *causal)


# fmt: off
exercise = Exercise(
    number=32,
    assignment="fast_attention",
    title="Attention in tiles",
    solution=tiled_attention,
    form=WITH_LOGSUMEXP,
    cases=[
        Case("three blocks of two", catches="sums that are not rescaled", inputs=sized(2, 2, 6, 4, 2)),
        Case("seven words in blocks of three", catches="a last block left out", inputs=sized(1, 2, 7, 5, 3)),
        Case("blocks, causal",
             catches="a mask that begins again in each block, scores of 0 that are taken for hidden ones",
             inputs=with_a_query_of_zeros(sized(2, 1, 8, 3, 3, causal=True))),
        Case("full blocks, causal", catches="a mask that begins again in each block, where no block is shorter",
             inputs=sized(2, 2, 8, 3, 4, causal=True)),
        Case("blocks of one", catches="blocks taken for words", inputs=sized(1, 3, 5, 2, 1, causal=True)),
        Case("a block larger than the text", catches="indices behind the text",
             inputs=sized(2, 2, 4, 6, 9, causal=True)),
        Case("one block that is the text", catches="range that ends too early", inputs=sized(1, 2, 5, 3, 5)),
        Case("one word", catches="anything but its value", inputs=sized(3, 1, 1, 4, 2, causal=True)),
        Case("everything is four", catches="axes that are exchanged without an error", inputs=sized(4, 4, 4, 4, 2)),
        Case("one feature", catches="squeezed dimensions", inputs=sized(1, 2, 6, 1, 4, causal=True)),
        Case("scores of ±10⁴", catches="exponentials that overflow, or vanish all", inputs=large(True), beside=LARGE),
        Case("scores of ±10⁴, none hidden", "another softmax where nothing is hidden", large(), beside=LARGE),
        Case("a text of many words", catches="blocks of queries that must fill it",
             inputs=sized(1, 1, PRIME, 2, BLOCK, causal=True), beside=NOT_FILLED, once=True),
        in_float64(sized(2, 2, 5, 4, 2, causal=True)),
        Case("a long text", catches="memory that grows with the square of T",
             inputs=sized(1, 1, LONG, 2, NARROW, causal=True), promise=MemoryPromise(ALLOWED, 4 * LONG * LONG)),
        Case("a long text, none hidden", catches="a table where nothing is hidden", inputs=sized(1, 1, HALF, 2, NARROW),
             promise=MemoryPromise(ALLOWED, 4 * HALF * HALF)),
    ],
    mistakes=[
        *at("before block",
            wrong("last block left out", "if start > 0 and start + block_size > T:\n    break",
                  "In your results, the words after the last full block do not count as keys. T need not be a multiple "
                  "of block_size: include the last, shorter block.", kind="missing step"),
            wrong("no block that is not full", "if start + block_size > T:\n    break",
                  "In your results, keys count only if their block is full, so a text that is shorter than one block "
                  "has none. T need not be a multiple of block_size: include the last, shorter block.",
                  credit=0.25, kind="missing step"),
            wrong("error where the last block is shorter", "if T % block_size:\n    raise RuntimeError",
                  "Your code stops if T is not a multiple of block_size. Let the last block be shorter.",
                  kind="missing step"),
            wrong("padded keys count",
                  """
                       if start + block_size > T:
                           keys, values = (F.pad(x, (0, 0, 0, start + block_size - T)) for x in (keys, values))
                           t = torch.arange(start + block_size, device=queries.device)
                   """,
                  "Without causal=True, your last block is filled up with keys of zeros, and these count: their score "
                  "is 0, and exp(0) is 1. Set their scores to −∞, or let the last block be shorter.",
                  kind="missing step", also={"later": ("t[:, None]", "t[:T, None]")})),
        *at("before result",
            wrong("queries after the last full block left out",
                  ["""
                      full = T // min(block_size, T) * min(block_size, T)
                      output[:, :, full:], lse[:, :, full:] = UNWRITTEN, UNWRITTEN
                  """,
                   """
                      full = T // min(block_size, T) * min(block_size, T)
                      output, lse = output[:, :, :full], lse[:, :, :full]
                  """,
                   """
                      full = T // block_size * block_size
                      output[:, :, full:], lse[:, :, full:] = UNWRITTEN, UNWRITTEN
                  """,
                   """
                      blocks = [rows.split(block_size, dim=2)[: T // block_size] for rows in (output, lse)]
                      output, lse = torch.cat(blocks[0], dim=2), torch.cat(blocks[1], dim=2)
                  """],
                  NO_ROWS_BEHIND, kind="missing step")),
        wrong("output not rescaled", {"mix": "output = output + p @ values[:, :, block]"},
              "When a block brings a new maximum, your output so far stays unchanged. Multiply it by exp(old maximum − "
              "new maximum), like the sum.", kind="missing step"),
        wrong("sum not rescaled", {"sum": "l = l + p.sum(dim=-1, keepdim=True)"},
              "When a block brings a new maximum, your sum so far stays unchanged. Multiply it by exp(old maximum − "
              "new maximum), like the output.", kind="missing step"),
        wrong("nothing rescaled",
              {"sum": "l = l + p.sum(dim=-1, keepdim=True)", "mix": "output = output + p @ values[:, :, block]"},
              "When a block brings a new maximum, your sum and your output so far stay unchanged. Multiply both by "
              "exp(old maximum − new maximum).", credit=0.25, kind="missing step"),
        wrong("rescaled the wrong way",
              {"sum": "l = torch.where(rescale == 0, 0.0, l / rescale) + p.sum(dim=-1, keepdim=True)",
               "mix": "output = torch.where(rescale == 0, 0.0, output / rescale) + p @ values[:, :, block]"},
              "When a block brings a new maximum, your sum and your output so far are divided by exp(old maximum − new "
              "maximum). Multiply by it instead: they become smaller."),
        wrong("rescaled the wrong way, NaN of nothing", {"rescale": "rescale = torch.exp(new_m - m)"},
              "Your sum and your output so far are multiplied by exp(new maximum − old maximum), which is ∞ in the "
              "first block, and 0 · ∞ is NaN. Use exp(old maximum − new maximum).", kind="mix-up", credit=0.0),
        *at("sum",
            wrong("sum of the last block",
                  ["l = p.sum(dim=-1, keepdim=True)",
                   f"l = torch.where({HAS_ENDED}, l, p.sum(dim=-1, keepdim=True))"],
                  "Your output is divided by the sum of the last block alone. Add it to the sum so far, which you "
                  "rescale first.", kind="missing step")),
        *at("mix",
            wrong("output of the last block",
                  ["output = p @ values[:, :, block]",
                   f"output = torch.where({HAS_ENDED}, output, p @ values[:, :, block])"],
                  "Your output has the values of the last block alone. Add them to the output so far, which you "
                  "rescale first.", kind="missing step")),
        *at("exponentials",
            wrong("maximum of the block in its exponentials",
                  ["p = torch.exp(scores - scores.amax(dim=-1, keepdim=True))",
                   "p = torch.exp(scores - scores.amax(dim=-1, keepdim=True)).nan_to_num(0.0)"],
                  "The exponentials of each block belong to the maximum of this block alone, but your sums belong to "
                  "the largest so far. Subtract the largest so far.", kind="mix-up"),
            wrong("softmax for exponentials",
                  ["p = torch.softmax(scores, dim=-1)",
                   "p = torch.softmax(scores, dim=-1).nan_to_num(0.0)"],
                  "In each block, your exponentials are divided by their sum already. Use exp(score − maximum), and "
                  "divide once, at the end.", kind="mix-up")),
        wrong("maximum of the last block",
              {"maximum": "new_m = scores.amax(dim=-1, keepdim=True)", **EMPTY_BLOCKS,
               "sum": "l = l + p.sum(dim=-1, keepdim=True)", "mix": "output = output + p @ values[:, :, block]"},
              "Your maximum is that of each block alone, but your sums so far still belong to the maximum before it. "
              "Take the larger of the two maxima, and rescale the sums to it."),
        wrong("maximum of the newest block", {"maximum": "new_m = scores.amax(dim=-1, keepdim=True)"},
              "Your maximum is that of the newest block, even where an earlier one is larger. Then factors can "
              "overflow, and a block that is all hidden gives NaN. Take the larger of the two maxima.",
              kind="missing step"),
        wrong("maximum not kept",
              [{"keep": ""},
               {"keep": "", "after maximum": "past = new_m == -math.inf",
                "rescale": "rescale = torch.where(past, 1.0, torch.exp(m - new_m))",
                "exponentials": "p = torch.where(past, 0.0, torch.exp(scores - new_m))"}],
              NOT_KEPT, kind="missing step"),
        wrong("each block divided by the sum so far",
              {"mix": "output = rescale * output + p @ values[:, :, block] / l", "divide": "", **EMPTY_BLOCKS},
              "Each block's part of your output is divided by the sum so far, but later blocks make the sum larger. "
              "Divide once, at the end."),
        *at("maximum",
            wrong("nothing subtracted", "new_m = torch.zeros_like(m)",
                  "Where scores are large, your exponentials overflow or are all 0. Before exp, subtract the largest "
                  "score so far from each row, and rescale what you have.", kind="missing step"),
            wrong("maximum above all scores",
                  "new_m = torch.maximum(m, scores.amax(dim=-1, keepdim=True)).clamp(min=0.0)",
                  "Where all scores of a query are far below zero, all your exponentials are 0: you subtract a number "
                  "that is larger than all scores, as if the maximum began with 0. Begin with −∞.",
                  credit=0.75, kind="missing step")),
        *at("divide",
            wrong("not divided", "", "Your output is not divided by the sum of the exponentials. Divide it at the end.",
                  kind="missing step"),
            wrong("divided after each block", "",
                  "Your output is divided by the sum so far after each block, and then used as if it were not. Divide "
                  "once, at the end.", also={"after mix": "output = output / l"}),
            wrong("softmax in each block, added", "",
                  "Your output is the sum of separate softmax results, one for each block. The weights must sum to one "
                  "over all keys: merge the blocks by their maxima and sums.",
                  also={"mix": f"output = output + {BLOCK_ALONE}"}),
            wrong("softmax in each block, averaged",
                  "output = output / math.ceil(T / block_size)",
                  "Your output is the mean of separate softmax results, one for each block. Weight each block by the "
                  "sum of its exponentials.", also={"mix": f"output = output + {BLOCK_ALONE}"}),
            wrong("only the last block", "",
                  "Your output comes from the last block of keys only. Merge all blocks.",
                  also={"mix": f"output = {BLOCK_ALONE}"})),
        wrong("only its own block",
              {"before maximum": "elsewhere = t[block] // block_size != t[:, None] // block_size\n"
                                 "scores = scores.masked_fill(elsewhere, -math.inf)", **EMPTY_BLOCKS},
              "In your results, a query sees only the keys of its own block. Include the other blocks, too."),
        *at("later",
            wrong("mask begins again in each block", "hidden = t[block] % block_size > t[:, None] % block_size",
                  "With causal=True, positions are counted from the beginning of each block in your results, so past "
                  "keys are hidden and future keys are seen. Compare positions in the whole text.", kind="mix-up"),
            wrong("keys counted from their block", "hidden = t[block] % block_size > t[:, None]",
                  "With causal=True, the positions of keys are counted from the beginning of their block in your "
                  "results. Compare positions in the whole text.", kind="mix-up"),
            wrong("all of its own block seen, but in the first",
                  "hidden = (t[block] % block_size > t[:, None]) | (start > t[:, None])",
                  "With causal=True, the positions of keys are counted from the beginning of their block in your "
                  "results, so from the second block on, a query sees later keys of its own block. Compare positions "
                  "in the whole text.", kind="mix-up"),
            wrong("mask begins again in each block, later blocks left out",
                  "hidden = (t[block] % block_size > t[:, None] % block_size) | (start > t[:, None])",
                  "With causal=True, positions are counted from the beginning of each block in your results, so past "
                  "keys are hidden. Compare positions in the whole text.", kind="mix-up"),
            wrong("all of its own block seen", "hidden = t[block] // block_size > t[:, None] // block_size",
                  "With causal=True, only whole blocks are hidden in your results, so a query sees later keys of its "
                  "own block. There, mask word by word.", kind="missing step"),
            wrong("later blocks seen", "hidden = (t[block] > t[:, None]) & (t[block] // block_size == t[:, None] // "
                  "block_size)",
                  "With causal=True, a query does not see the later keys of its own block, but it sees all later "
                  "blocks. Leave these out.", kind="missing step"),
            wrong("own block hidden",
                  "hidden = t[block] // block_size >= t[:, None] // block_size",
                  "With causal=True, your queries see only the blocks before their own, and those of the first block "
                  "see nothing. Go through their own block, too, and mask it word by word.", kind="missing step",
                  also=EMPTY_BLOCKS),
            wrong("positions beyond the text",
                  "hidden = torch.arange(start, start + block_size, device=queries.device) > t[:, None]",
                  "With causal=True, your code stops if the last block is shorter: its mask has positions beyond the "
                  "text. Let the block end at min(start + block_size, T).", kind="missing step"),
            wrong("own key hidden", "hidden = t[block] >= t[:, None]",
                  "With causal=True, your queries do not see the key at their own position. Hide only what comes after "
                  "it.", kind="mix-up", also=EMPTY_BLOCKS),
            wrong("next key seen", "hidden = t[block] > t[:, None] + 1",
                  "With causal=True, your queries see the key after their own. Hide everything that comes after the "
                  "query.", kind="mix-up"),
            wrong("past hidden", "hidden = t[block] < t[:, None]",
                  "With causal=True, your queries see the future, and the past is hidden. Hide the keys after the "
                  "query instead.", kind="mix-up", also=EMPTY_BLOCKS)),
        *at("before causal",
            wrong("causal has no effect", "causal = False",
                  "With causal=True, all queries still see all keys in your results. Query t may see the keys 0 … t.",
                  kind="missing step"),
            *mistakes_named(grouped.mistakes, "always causal")),
        wrong("zeros for −∞", {"hide": "scores = scores.masked_fill(hidden, 0.0)"},
              "With causal=True, hidden scores count as 0 in your results, and exp(0) is 1. Set them to −∞."),
        *at("logarithm",
            wrong("logarithm of the sum alone", "lse = torch.log(l)",
                  "Your second result is the logarithm of the sum of exp(score − maximum). Add the maximum.",
                  credit=0.75, kind="missing step"),
            wrong("no logarithm", "lse = m + l",
                  "Your second result is maximum + sum. Return maximum + log(sum).", credit=0.75, kind="missing step"),
            wrong("sum for logsumexp", "lse = l",
                  "Your second result is the sum of exp(score − maximum). Return maximum + log(sum).",
                  credit=0.75, kind="mix-up"),
            wrong("maximum for logsumexp", "lse = m",
                  "Your second result is the maximum. Return maximum + log(sum).", credit=0.75, kind="mix-up"),
            wrong("maximum subtracted twice", "lse = torch.log(l) - m",
                  "Your second result is log(sum) − maximum. Return maximum + log(sum).", credit=0.75),
            wrong("logarithm to base two", "lse = m + torch.log2(l)",
                  "Your second result uses the logarithm to base 2. Use the natural one, torch.log.", credit=0.75),
            wrong("maximum not scaled in logsumexp", "lse = m * math.sqrt(d) + torch.log(l)",
                  "In your second result, the maximum is that of unscaled scores. Take it from the scores divided by "
                  "√d.", credit=0.75, kind="scaling")),
        *at("scale",
            wrong("scaled by √T", "scores = scores / math.sqrt(T)",
                  "Your scores are divided by the square root of the number of words. Divide by √d.", kind="scaling"),
            wrong("scaled by √block_size", "scores = scores / math.sqrt(block_size)",
                  "Your scores are divided by the square root of the block size. Divide by √d.", kind="scaling")),
        *(one for one in heads.with_lines() if one.name in OF_SCORES),
        *at("result",
            wrong("output alone", "return output",
                  "You return only the output. Return the output and the logsumexp.", kind="missing step"),
            wrong("logsumexp first", "return lse.squeeze(-1), output",
                  "You return the logsumexp first. Return the output first, then the logsumexp.", kind="arrangement"),
            wrong("squeezed", "return output, lse.squeeze()",
                  "Your logsumexp has lost all its dimensions of size 1, as with squeeze(). Remove only the last one: "
                  "squeeze(-1).", credit=0.75, kind="arrangement"),
            wrong("both squeezed", "return output.squeeze(), lse.squeeze()",
                  "Your results have lost all their dimensions of size 1, as with squeeze(). Keep (B, H, T, d) and (B, "
                  "H, T).", credit=0.75, kind="arrangement"),
            wrong("one dimension too many", "return output, lse",
                  "Your logsumexp has shape (B, H, T, 1). Return (B, H, T): one number for each query.",
                  kind="arrangement")),
        *another_type("output, lse", "after logarithm"),
    ],
)
# fmt: on
