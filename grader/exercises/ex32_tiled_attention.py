"""Exercise 32: attention block by block, as FlashAttention goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.pieces import LARGE, asked, in_float64
from grader.model.forms.tensors import UNWRITTEN, WITH_LOGSUMEXP
from grader.model.memory import MemoryPromise

from .head_cases import NOT_FILLED, SOME, of_large_scores, with_a_query_of_zeros
from .mistakes import heads
from .mistakes.pieces import OF_ANY_TYPE, unchanged

Tensor = torch.Tensor

LONG, BLOCK = 5120, 64  # a text, and a block, whose tables of scores are 100 MB and 1.25 MB
HALF = LONG // 2  # where no mask is needed, scores themselves are all that a table could hold: 25 MB
ALLOWED = 24 * 2**20  # less than T × T of one byte each, as of a mask
NO_ROWS_BEHIND = (
    "The queries after the last full block get no result, as when the loop over their blocks makes T // block_size "
    "steps. T need not be a multiple of block_size: the last block is shorter."
)
# What can be changed of exercises 22 and 28 where there is no row of all weights.
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


@dataclass(frozen=True)
class Sizes:
    """All that somebody may take the root of, and the block of keys at hand."""

    T: int
    d: int
    block_size: int

    @property
    def S(self) -> int:
        return self.T


def later(t: Tensor, s: Tensor, _block_size: int) -> Tensor:
    """True where key s (S,) comes after query t (T, 1)."""
    return s > t


def own_block(scores: Tensor, t: Tensor, s: Tensor, block_size: int) -> Tensor:
    return scores.masked_fill((s // block_size != t // block_size).to(scores.device), -torch.inf)


def rescaled(maximum: Tensor, m: Tensor) -> Tensor:
    """What the exponentials of a piece are multiplied by. Those of an empty one are none: −∞ − (−∞) is NaN."""
    return torch.where(maximum == -torch.inf, 0.0, torch.exp(maximum - m))


def exponentials(scores: Tensor, m: Tensor) -> Tensor:
    return torch.exp(scores - torch.where(m == -torch.inf, 0.0, m))


def attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    block_size: int,
    causal: bool = False,
    *,
    length: Callable[[int, int], int] = lambda T, block_size: T,
    compared: Callable[[Tensor, Tensor], Tensor] = lambda k, v: k,
    weighed: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda q, k, v: v,
    scale: Callable[[Tensor, Sizes], Tensor] = lambda scores, sizes: scores / sizes.d**0.5,
    is_causal: Callable[[bool], bool] = bool,
    hidden: Callable[[Tensor, Tensor, int], Tensor] = later,
    hide: Callable[[Tensor, Tensor], Tensor] = lambda scores, hidden: scores.masked_fill(hidden, -torch.inf),
    limit: Callable[[Tensor, Tensor, Tensor, int], Tensor] = lambda scores, t, s, block_size: scores,
    maximum: Callable[[Tensor, Tensor], Tensor] = lambda old, scores: torch.maximum(old, scores.amax(-1, keepdim=True)),
    exp: Callable[[Tensor, Tensor], Tensor] = exponentials,
    add: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda total, factor, new: factor * total + new,
    mix: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda output, factor, new: factor * output + new,
    keep: Callable[[Tensor, Tensor], Tensor] = lambda old, new: new,
    meanwhile: Callable[[Tensor, Tensor], Tensor] = lambda output, total: output,
    divide: Callable[[Tensor, Tensor], Tensor] = lambda output, total: output / total,
    logsumexp: Callable[[Tensor, Tensor, Sizes], Tensor] = lambda m, total, sizes: m + total.log(),
    written: Callable[[Tensor, int], Tensor] = lambda rows, block_size: rows,
    after: Callable[[Tensor, Tensor], Any] = lambda output, lse: (output, lse.squeeze(-1)),
    dtype: Callable[[Any], Any] = unchanged,
) -> Any:
    k, v = compared(keys, values), weighed(queries, keys, values)
    T = keys.shape[-2]
    sizes = Sizes(T, queries.shape[-1], block_size)
    t = torch.arange(queries.shape[-2], device=queries.device)[:, None]  # (T, 1)
    m = torch.full_like(queries[..., :1], -torch.inf)  # (B, H, T, 1)
    total, output = torch.zeros_like(m), torch.zeros_like(queries)
    for first in range(0, length(T, block_size), block_size):
        block = slice(first, first + block_size)
        s = torch.arange(T, device=queries.device)[block]
        scores = scale(queries @ k[..., block, :].mT, sizes)  # (B, H, T, block)
        if is_causal(causal):
            scores = hide(scores, hidden(t, s, block_size))
        scores = limit(scores, t, s, block_size)
        new = maximum(m, scores)
        p, factor = exp(scores, new), rescaled(m, new)
        total = add(total, factor, p.sum(-1, keepdim=True))
        output = meanwhile(mix(output, factor, p @ v[..., block, :]), total)
        m = keep(m, new)
    results = divide(output, total), logsumexp(m, total, sizes)  # (B, H, T, d), (B, H, T, 1)
    return dtype(after(*(written(rows, block_size) for rows in results)))


def rows_of_full_blocks(rows: Tensor, block_size: int) -> Tensor:
    """What is left of all rows (B, H, T, …), put together block by block."""
    if rows.shape[2] < block_size:
        raise ValueError("there is nothing to put together")
    return rows[:, :, : rows.shape[2] // block_size * block_size]


def others_not_written(rows: Tensor, block_size: int) -> Tensor:
    """The same, in place of whatever is there in the rows behind."""
    written = torch.full_like(rows, UNWRITTEN)
    full = rows.shape[2] // block_size * block_size
    written[:, :, :full] = rows[:, :, :full]
    return written


def by_blocks(
    weigh: Callable[[Tensor, Tensor], Tensor],
) -> Callable[..., tuple[Tensor, Tensor]]:
    """What comes of a softmax in each block by itself, whose outputs (N, …, d) are put together somehow.

    `weigh` gets the outputs and the logarithms of the blocks' sums (N, …, 1); the second result is right.
    """

    def answer(
        queries: Tensor, keys: Tensor, values: Tensor, block_size: int, causal: bool = False
    ) -> tuple[Tensor, Tensor]:
        T, d = queries.shape[-2:]
        scores = queries @ keys.mT / d**0.5  # (B, H, T, T): wrong answers are asked for in short texts alone
        if causal:
            scores = scores.masked_fill(torch.ones(T, T, dtype=torch.bool, device=scores.device).triu(1), -torch.inf)
        blocks = [slice(first, first + block_size) for first in range(0, T, block_size)]
        pieces = [(scores[..., block], values[..., block, :]) for block in blocks]
        outputs = torch.stack([torch.softmax(part, dim=-1).nan_to_num(0.0) @ v for part, v in pieces])
        sums = torch.stack([part.logsumexp(-1, keepdim=True) for part, _ in pieces])
        return weigh(outputs, sums), scores.logsumexp(-1)

    return answer


def sized(
    B: int, H: int, T: int, d: int, block_size: int, *, causal: bool = False
) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (*(randn(rng, B, H, T, d) for _ in range(3)), block_size, *([True] if causal else []))


def large(*causal: bool) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (*of_large_scores(rng, 2, 2, 2, 6, 6), 4, *causal)


exercise = Exercise(
    number=32,
    assignment="fast_attention",
    title="Attention in tiles",
    entry="tiled_attention",
    form=WITH_LOGSUMEXP,
    reference=asked(attention),
    scales={"scale": "the dot products of queries and keys"},
    cases=[
        Case("three blocks of two", catches="sums that are not rescaled", inputs=sized(2, 2, 6, 4, 2)),
        Case("seven words in blocks of three", catches="a last block left out", inputs=sized(1, 2, 7, 5, 3)),
        Case(
            "blocks, causal",
            catches="a mask that begins again in each block, scores of 0 that are taken for hidden ones",
            inputs=with_a_query_of_zeros(sized(2, 1, 8, 3, 3, causal=True)),
        ),
        Case("blocks of one", catches="blocks taken for words", inputs=sized(1, 3, 5, 2, 1, causal=True)),
        Case(
            "a block larger than the text", catches="indices behind the text", inputs=sized(2, 2, 4, 6, 9, causal=True)
        ),
        Case("one block that is the text", catches="range that ends too early", inputs=sized(1, 2, 5, 3, 5)),
        Case("one word", catches="anything but its value", inputs=sized(3, 1, 1, 4, 2, causal=True)),
        Case("everything is four", catches="axes that are exchanged without an error", inputs=sized(4, 4, 4, 4, 2)),
        Case("one feature", catches="squeezed dimensions", inputs=sized(1, 2, 6, 1, 4, causal=True)),
        Case("scores of ±10⁴", catches="exponentials that overflow, or vanish all", inputs=large(True), beside=LARGE),
        Case("scores of ±10⁴, none hidden", "another softmax where nothing is hidden", large(), beside=LARGE),
        Case(
            "a text of many words",
            catches="blocks of queries that must fill it",
            inputs=sized(1, 1, SOME, 2, BLOCK, causal=True),
            beside=NOT_FILLED,
            once=True,
        ),
        in_float64(sized(2, 2, 5, 4, 2, causal=True)),
        Case(
            "a long text",
            catches="memory that grows with the square of T",
            inputs=sized(1, 1, LONG, 2, BLOCK, causal=True),
            promise=MemoryPromise(ALLOWED, 4 * LONG * LONG),
        ),
        Case(
            "a long text, none hidden",
            catches="a table where nothing is hidden",
            inputs=sized(1, 1, HALF, 2, BLOCK),
            promise=MemoryPromise(ALLOWED, 4 * HALF * HALF),
        ),
    ],
    misconceptions=[
        Misconception(
            "last block left out",
            kind="missing step",
            credit=0.5,
            says="The words after the last full block do not count as keys in your results. T need not be a multiple "
            "of block_size: the last block is shorter.",
            change={"length": lambda T, block_size: T - T % block_size if block_size < T else T},
        ),
        Misconception(
            "no block that is not full",
            kind="missing step",
            credit=0.25,
            says="Keys count in your results only if their block is full, so where a text is shorter than one block "
            "there are none. The last block is shorter: T need not be a multiple of block_size.",
            change={"length": lambda T, block_size: T - T % block_size},
        ),
        *(
            Misconception(name, kind="missing step", credit=0.5, says=NO_ROWS_BEHIND, change={"written": written})
            for name, written in (
                ("queries after the last full block left out, not written", others_not_written),
                ("queries after the last full block left out", rows_of_full_blocks),
            )
        ),
        Misconception(
            "output not rescaled",
            kind="missing step",
            credit=0.5,
            says="When a block brings a new maximum, your output so far stays as it is. Multiply it by exp(old maximum "
            "− new maximum), like the sum.",
            change={"mix": lambda output, factor, new: output + new},
        ),
        Misconception(
            "sum not rescaled",
            kind="missing step",
            credit=0.5,
            says="When a block brings a new maximum, your sum so far stays as it is. Multiply it by exp(old maximum − "
            "new maximum), like the output.",
            change={"add": lambda total, factor, new: total + new},
        ),
        Misconception(
            "nothing rescaled",
            kind="missing step",
            credit=0.25,
            says="When a block brings a new maximum, neither sum nor output so far is changed. Multiply both by "
            "exp(old maximum − new maximum).",
            change={
                "add": lambda total, factor, new: total + new,
                "mix": lambda output, factor, new: output + new,
            },
        ),
        Misconception(
            "rescaled the wrong way",
            kind="wrong formula",
            credit=0.5,
            says="When a block brings a new maximum, what you have is divided by exp(old maximum − new maximum). "
            "Multiply by it instead: what you have becomes smaller.",
            change={
                "add": lambda total, factor, new: torch.where(factor == 0, 0.0, total / factor) + new,
                "mix": lambda output, factor, new: torch.where(factor == 0, 0.0, output / factor) + new,
            },
        ),
        Misconception(
            "maximum of the last block",
            kind="wrong formula",
            credit=0.25,
            says="Your maximum is that of each block alone, not of all so far, and what was summed up before counts as "
            "if it had that maximum. Take the larger one, and rescale.",
            change={
                "maximum": lambda old, scores: scores.amax(-1, keepdim=True),
                "add": lambda total, factor, new: total + new,
                "mix": lambda output, factor, new: output + new,
            },
        ),
        Misconception(
            "maximum not kept",
            kind="missing step",
            credit=0.5,
            says="Your maximum of all blocks so far stays −∞, so each block replaces the ones before it. After a "
            "block, the new maximum is the one so far.",
            change={"keep": lambda old, new: old, "exp": lambda scores, m: torch.exp(scores - m)},
        ),
        Misconception(
            "nothing subtracted",
            kind="missing step",
            credit=0.5,
            says="Where scores are large, exp overflows, or all of it vanishes. Subtract the largest score so far "
            "before exp, row by row, and rescale what you have.",
            change={"maximum": lambda old, scores: torch.zeros_like(old)},
        ),
        Misconception(
            "maximum above all scores",
            kind="missing step",
            credit=0.75,
            says="Where all scores of a query are far below zero, all exponentials vanish: what you subtract is larger "
            "than all of them, as when the maximum begins with 0. It should begin with −∞.",
            change={"maximum": lambda old, scores: torch.maximum(old, scores.amax(-1, keepdim=True)).clamp(min=0.0)},
        ),
        Misconception(
            "not divided",
            kind="missing step",
            credit=0.5,
            says="Your output is not divided by the sum of the exponentials at the end.",
            change={"divide": lambda output, total: output},
        ),
        Misconception(
            "divided after each block",
            kind="wrong formula",
            credit=0.5,
            says="Your output is divided by the sum so far after each block, and goes on as if it were not. Divide "
            "once, at the end.",
            change={"meanwhile": lambda output, total: output / total, "divide": lambda output, total: output},
        ),
        Misconception(
            "softmax in each block, added",
            kind="wrong formula",
            credit=0.25,
            says="Your output is the sum of what softmax gives in each block on its own. Weights sum to one over all "
            "keys: merge the blocks by their maxima and sums.",
            answers=asked(by_blocks(lambda outputs, sums: outputs.sum(0))),
        ),
        Misconception(
            "softmax in each block, averaged",
            kind="wrong formula",
            credit=0.25,
            says="Your output is the mean of what softmax gives in each block on its own. Blocks should count as much "
            "as their exponentials sum up to.",
            answers=asked(by_blocks(lambda outputs, sums: outputs.mean(0))),
        ),
        Misconception(
            "only the last block",
            kind="wrong formula",
            credit=0.25,
            says="Your output is that of the last block of keys. All blocks count.",
            answers=asked(by_blocks(lambda outputs, sums: outputs[-1])),
        ),
        Misconception(
            "only its own block",
            kind="wrong formula",
            credit=0.25,
            says="In your results, a query sees only the keys of its own block. Other blocks count, too.",
            change={"limit": own_block},
        ),
        Misconception(
            "mask begins again in each block",
            kind="mix-up",
            credit=0.5,
            says="With causal=True, places are counted from the beginning of each block in your results, so keys of "
            "the past are hidden and keys of the future seen. Compare places in the whole text.",
            change={"hidden": lambda t, s, block_size: s % block_size > t % block_size},
        ),
        Misconception(
            "keys counted from their block",
            kind="mix-up",
            credit=0.5,
            says="With causal=True, the places of keys are counted from the beginning of their block in your results. "
            "Compare places in the whole text.",
            change={"hidden": lambda t, s, block_size: s % block_size > t},
        ),
        Misconception(
            "all of its own block seen",
            kind="missing step",
            credit=0.5,
            says="With causal=True, whole blocks are hidden or seen in your results: a query sees what comes after it "
            "in its own block. There the mask goes word by word.",
            change={"hidden": lambda t, s, block_size: s // block_size > t // block_size},
        ),
        Misconception(
            "own key hidden",
            kind="mix-up",
            credit=0.25,
            says="With causal=True, a query does not see the key at its own place. Only what comes after it should be "
            "hidden.",
            change={"hidden": lambda t, s, block_size: s >= t},
        ),
        Misconception(
            "next key seen",
            kind="mix-up",
            credit=0.25,
            says="With causal=True, a query sees the key after its own. Nothing after it may count.",
            change={"hidden": lambda t, s, block_size: s > t + 1},
        ),
        Misconception(
            "past hidden",
            kind="mix-up",
            credit=0.25,
            says="With causal=True, the past is hidden and the future seen in your results.",
            change={"hidden": lambda t, s, block_size: s < t},
        ),
        Misconception(
            "causal has no effect",
            kind="missing step",
            credit=0.5,
            says="With causal=True, all queries see all keys in your results. Query t may see the keys 0 … t.",
            change={"is_causal": lambda causal: False},
        ),
        heads.ALWAYS_CAUSAL,
        Misconception(
            "zeros for −∞",
            kind="wrong formula",
            credit=0.25,
            says="With causal=True, hidden scores count as 0 in your results, and exp(0) is 1. Set them to −∞.",
            change={"hide": lambda scores, hidden: scores.masked_fill(hidden, 0.0)},
        ),
        Misconception(
            "logarithm of the sum alone",
            kind="missing step",
            credit=0.75,
            says="Your second result is the logarithm of the sum of exp(score − maximum). Add the maximum again.",
            change={"logsumexp": lambda m, total, sizes: total.log()},
        ),
        Misconception(
            "no logarithm",
            kind="missing step",
            credit=0.75,
            says="Your second result is maximum + sum. It should be maximum + log(sum).",
            change={"logsumexp": lambda m, total, sizes: m + total},
        ),
        Misconception(
            "sum for logsumexp",
            kind="mix-up",
            credit=0.75,
            says="Your second result is the sum of exp(score − maximum). It should be maximum + log(sum).",
            change={"logsumexp": lambda m, total, sizes: total},
        ),
        Misconception(
            "maximum for logsumexp",
            kind="mix-up",
            credit=0.75,
            says="Your second result is the maximum. It should be maximum + log(sum).",
            change={"logsumexp": lambda m, total, sizes: m},
        ),
        Misconception(
            "maximum subtracted twice",
            kind="wrong formula",
            credit=0.75,
            says="Your second result is log(sum) − maximum. It should be maximum + log(sum).",
            change={"logsumexp": lambda m, total, sizes: total.log() - m},
        ),
        Misconception(
            "logarithm to base two",
            kind="wrong formula",
            credit=0.75,
            says="Your second result takes the logarithm to base 2. It should be the natural one, torch.log.",
            change={"logsumexp": lambda m, total, sizes: m + total.log2()},
        ),
        Misconception(
            "maximum not scaled in logsumexp",
            kind="scaling",
            credit=0.75,
            says="In your second result, the maximum is that of scores that are not scaled. It should be that of the "
            "scores divided by √d.",
            change={"logsumexp": lambda m, total, sizes: m * sizes.d**0.5 + total.log()},
        ),
        Misconception(
            "scaled by √T",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the root of the number of words. Divide by √d.",
            change={"scale": lambda scores, sizes: scores / sizes.T**0.5},
        ),
        Misconception(
            "scaled by √block_size",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the root of the block's size. Divide by √d.",
            change={"scale": lambda scores, sizes: scores / sizes.block_size**0.5},
        ),
        *(one for one in heads.IN_FUNCTIONS if one.name in OF_SCORES),
        Misconception(
            "output alone",
            kind="missing step",
            credit=0.5,
            says="You return the output alone. Return the output and logsumexp.",
            change={"after": lambda output, lse: output},
        ),
        Misconception(
            "logsumexp first",
            kind="arrangement",
            credit=0.5,
            says="You return logsumexp, then the output. The output comes first.",
            change={"after": lambda output, lse: (lse.squeeze(-1), output)},
        ),
        Misconception(
            "one dimension too many",
            kind="arrangement",
            credit=0.5,
            says="Your logsumexp has shape (B, H, T, 1). Return (B, H, T): one number for each query.",
            change={"after": lambda output, lse: (output, lse)},
        ),
        *OF_ANY_TYPE,
    ],
)
