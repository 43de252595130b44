"""Exercise 28: several heads of queries share a head of keys and values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.pieces import LARGE, as_pieces, asked
from grader.model.forms import refusing
from grader.model.forms.refusing import REFUSING
from grader.sandbox.forms.refusing import put

from .head_cases import MANY, OF_ANY_LENGTH, of_large_scores, with_a_query_of_zeros
from .mistakes import heads
from .mistakes.pieces import PIECES, unchanged

Tensor = torch.Tensor


@dataclass(frozen=True)
class Sizes:
    """All that somebody may take the root of."""

    Hq: int
    Hkv: int
    T: int
    S: int
    d: int

    @property
    def group(self) -> int:
        return self.Hq // self.Hkv


def fits(Hq: int, Hkv: int) -> None:
    if Hq % Hkv:
        raise ValueError("the number of query heads must be a multiple of the number of key heads")


def accepts_any(_Hq: int, _Hkv: int) -> None:
    """Without a word, whatever comes out."""


def fails_somewhere(Hq: int, Hkv: int) -> None:
    if Hq % Hkv:
        raise RuntimeError("shapes do not fit")


def in_turn(Hq: int, group: int, Hkv: int) -> Tensor:
    """One group after the other: 0 0 1 1."""
    return (torch.arange(Hq) // max(group, 1)).clamp(max=Hkv - 1)


def over_and_over(Hq: int, _group: int, Hkv: int) -> Tensor:
    """All heads, and again: 0 1 0 1."""
    return torch.arange(Hq) % Hkv


def always_first(Hq: int, _group: int, _Hkv: int) -> Tensor:
    return torch.zeros(Hq, dtype=torch.long)


def backwards(Hq: int, group: int, Hkv: int) -> Tensor:
    return in_turn(Hq, group, Hkv).flip(0)


def later_than(sizes: Sizes, last_sees: int) -> Tensor:
    """True where the key comes after what query i sees: the keys up to i + last_sees."""
    return torch.ones(sizes.T, sizes.S, dtype=torch.bool).triu(1 + last_sees)


def after_the_query(sizes: Sizes) -> Tensor:
    """The last query stands at the last key."""
    return later_than(sizes, sizes.S - sizes.T)


def added_up(scores: Tensor, sizes: Sizes) -> Tensor:
    """The sum of the scores of a group (B, Hq, T, S), for each query of it."""
    sums = scores.reshape(len(scores), -1, sizes.group, *scores.shape[2:]).sum(2)  # (B, Hkv, T, S)
    shared: Tensor = sums.repeat_interleave(sizes.group, dim=1) / sizes.d**0.5
    return shared


def attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    causal: bool = False,
    *,
    check: Callable[[int, int], None] = fits,
    keys_of: Callable[[int, int, int], Tensor] = in_turn,
    values_of: Callable[[int, int, int], Tensor] = in_turn,
    compared: Callable[[Tensor, Tensor], Tensor] = lambda k, v: k,
    score: Callable[[Tensor, Tensor], Tensor] = lambda q, k: q @ k.mT,
    scale: Callable[[Tensor, Sizes], Tensor] = lambda scores, sizes: scores / sizes.d**0.5,
    is_causal: Callable[[bool], bool] = bool,
    hidden: Callable[[Sizes], Tensor] = after_the_query,
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
    (_B, Hq, T, d), (_, Hkv, S, _) = queries.shape, keys.shape
    check(Hq, Hkv)
    sizes = Sizes(Hq, Hkv, T, S, d)
    k = keys[:, keys_of(Hq, sizes.group, Hkv)]  # (B, Hkv, S, d) -> (B, Hq, S, d)
    v = values[:, values_of(Hq, sizes.group, Hkv)]
    scores = scale(score(queries, compared(k, v)), sizes)  # (B, Hq, T, S)
    if is_causal(causal):
        mask = hidden(sizes).to(scores.device)
        weights = hide_weights(normalise(hide(scores, mask)), mask)
    else:
        weights = normalise(scores)
    outputs = mix(change_weights(weights, sizes), weighed(queries, k, v))  # (B, Hq, T, d)
    return dtype(finish(after(outputs, sizes)))


reference = asked(attention, put)


def sized(
    B: int, Hq: int, Hkv: int, T: int, S: int, d: int, *, causal: bool = False
) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        queries, keys, values = randn(rng, B, Hq, T, d), randn(rng, B, Hkv, S, d), randn(rng, B, Hkv, S, d)
        return (queries, keys, values, *([True] if causal else []))

    return inputs


def large(*causal: bool) -> Callable[[torch.Generator], Inputs]:
    return lambda rng: (*of_large_scores(rng, 2, 4, 2, 4, 6), *causal)


def refused(Hq: int, Hkv: int) -> Case:
    return Case(
        f"{Hq} heads of queries, {Hkv} of keys",
        catches="a check of the numbers of heads that is missing",
        inputs=lambda rng: (*sized(2, Hq, Hkv, 3, 3, 4)(rng), {"refuses": True}),
        beside="Where the heads of the queries cannot be shared out, your function must raise a ValueError.",
    )


OWN_KEY_HIDDEN = Misconception(
    "own key hidden",
    kind="mix-up",
    credit=0.25,
    says="With causal=True, a query does not see the key at its own place. Query i sees the keys up to and including i "
    "+ S − T.",
    change={"hidden": lambda sizes: later_than(sizes, sizes.S - sizes.T - 1)},
)
MASK_INVERTED = Misconception(
    "mask inverted",
    kind="mix-up",
    credit=0.25,
    says="With causal=True, what should be seen is hidden in your results, and vice versa: query i sees only the keys "
    "after i + S − T. In masks of PyTorch's own kernel, True is what is seen; masked_fill fills where True is.",
    change={"hidden": lambda sizes: ~after_the_query(sizes)},
)

exercise = Exercise(
    number=28,
    assignment="fast_attention",
    title="Grouped queries",
    entry="grouped_query_attention",
    form=REFUSING,
    reference=reference,
    scales={"scale": "the dot products of queries and keys"},
    cases=[
        Case("two queries share a key", catches="head h % Hkv for h // group", inputs=sized(2, 4, 2, 3, 5, 6)),
        Case(
            "three queries share a key",
            catches="a fixed group of two, √Hq, √T or √S for √d",
            inputs=sized(1, 6, 2, 4, 4, 5, causal=True),
        ),
        Case("one head of keys", catches="a group that is not Hq // Hkv", inputs=sized(2, 3, 1, 5, 5, 2)),
        Case(
            "as many heads of keys as of queries",
            catches="something else than ordinary heads",
            inputs=sized(2, 3, 3, 2, 4, 3, causal=True),
        ),
        Case(
            "more keys than queries",
            catches="a mask that begins at the first key, instead of ending at the last; scores of 0 that are hidden",
            inputs=with_a_query_of_zeros(sized(2, 4, 2, 3, 7, 4, causal=True)),
        ),
        Case(
            "one query", catches="a last query that does not see all keys", inputs=sized(3, 4, 2, 1, 6, 3, causal=True)
        ),
        Case(
            "everything is four",
            catches="axes that are exchanged without an error",
            inputs=sized(4, 4, 2, 4, 4, 4, causal=True),
        ),
        Case("one feature", catches="squeezed dimensions", inputs=sized(1, 2, 1, 3, 4, 1)),
        Case("scores of ±10⁴", catches="a softmax that overflows", inputs=large(True), beside=LARGE),
        Case("scores of ±10⁴, none hidden", "another softmax where nothing is hidden", large(), beside=LARGE),
        Case(
            "a text of many words",
            catches="masks of a fixed size",
            inputs=sized(1, 2, 1, MANY, MANY, 2, causal=True),
            beside=OF_ANY_LENGTH,
            once=True,
        ),
        *as_pieces(sized(2, 4, 2, 3, 4, 3, causal=True)),
        refused(6, 4),
        refused(3, 2),
        refused(2, 4),
    ],
    misconceptions=[
        Misconception(
            "keys and values over and over",
            kind="mix-up",
            credit=0.5,
            says="Your results are those of query head h with key head h % Hkv, as when all key heads are repeated one "
            "after the other. Neighbours share: it should be key head h // (Hq // Hkv).",
            in_code=("_.repeat(_, _, _, _)",),
            says_of_code="repeat puts all key heads one after another, so query head h gets key head h % Hkv. "
            "Neighbours share: torch.repeat_interleave repeats each head in its place.",
            change={"keys_of": over_and_over, "values_of": over_and_over},
        ),
        Misconception(
            "values over and over",
            kind="mix-up",
            credit=0.5,
            says="Query head h uses the right keys, but the values of head h % Hkv. Both should be those of head h // "
            "(Hq // Hkv).",
            change={"values_of": over_and_over},
        ),
        Misconception(
            "keys over and over",
            kind="mix-up",
            credit=0.5,
            says="Query head h uses the right values, but the keys of head h % Hkv. Both should be those of head h // "
            "(Hq // Hkv).",
            change={"keys_of": over_and_over},
        ),
        Misconception(
            "first key head for all",
            kind="mix-up",
            credit=0.25,
            says="All heads of queries use the first head of keys and values. Each group should have one of its own: h "
            "// (Hq // Hkv).",
            change={"keys_of": always_first, "values_of": always_first},
        ),
        Misconception(
            "key heads backwards",
            kind="arrangement",
            credit=0.5,
            says="The first queries use the last head of keys and values. Groups should be in order: h // (Hq // Hkv).",
            change={"keys_of": backwards, "values_of": backwards},
        ),
        Misconception(
            "scores of a group added up",
            kind="axis",
            credit=0.25,
            says="In your results, all query heads of a group have the same weights, those of the sum of their scores. "
            "They share keys and values; each has scores of its own.",
            change={"scale": added_up},
        ),
        Misconception(
            "heads that do not fit accepted",
            kind="missing step",
            credit=0.75,
            says=refusing.ACCEPTED,
            change={"check": accepts_any},
        ),
        Misconception(
            "another error than ValueError",
            kind="missing step",
            credit=0.75,
            says=refusing.ANOTHER_ERROR,
            change={"check": fails_somewhere},
        ),
        Misconception(
            "mask from the first key",
            kind="mix-up",
            credit=0.5,
            says="With causal=True, your query i sees the keys 0 … i. The last query is at the last key: query i sees "
            "the keys up to i + S − T.",
            in_code=("F.scaled_dot_product_attention(is_causal=_)",),
            says_of_code="is_causal=True lets query i see the keys 0 … i, even where there are more keys than queries. "
            "Here query i sees the keys up to i + S − T: pass a mask.",
            change={"hidden": lambda sizes: later_than(sizes, 0)},
        ),
        OWN_KEY_HIDDEN,
        heads.with_zeros(OWN_KEY_HIDDEN),
        Misconception(
            "next key seen",
            kind="mix-up",
            credit=0.25,
            says="With causal=True, a query sees one key too many. Query i sees the keys up to i + S − T, and none "
            "after that.",
            change={"hidden": lambda sizes: later_than(sizes, sizes.S - sizes.T + 1)},
        ),
        Misconception(
            "past hidden",
            kind="mix-up",
            credit=0.25,
            says="With causal=True, the past is hidden and the future seen in your results. Hide the keys after "
            "i + S − T.",
            change={"hidden": lambda sizes: torch.ones(sizes.T, sizes.S, dtype=torch.bool).tril(sizes.S - sizes.T - 1)},
        ),
        MASK_INVERTED,
        heads.with_zeros(MASK_INVERTED),
        Misconception(
            "causal has no effect",
            kind="missing step",
            credit=0.5,
            says="With causal=True, all queries see all keys in your results. Query i may see the keys up to "
            "i + S − T.",
            change={"is_causal": lambda causal: False},
        ),
        heads.ALWAYS_CAUSAL,
        Misconception(
            "scaled by √Hq·d",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by √(Hq · d). Divide by √d, the root of the length of one key.",
            change={"scale": lambda scores, sizes: scores / (sizes.Hq * sizes.d) ** 0.5},
        ),
        heads.SCALED_BY_QUERIES,
        heads.SCALED_BY_KEYS,
        Misconception(
            "scaled by √Hq",
            kind="scaling",
            credit=0.5,
            says="The scores that you use are divided by the root of the number of heads. Divide by √d.",
            change={"scale": lambda scores, sizes: scores / sizes.Hq**0.5},
        ),
        *heads.IN_FUNCTIONS,
        Misconception(
            "one head of each group",
            kind="mix-up",
            credit=0.25,
            says="Your result has as many heads as the keys. Each head of queries has an output of its own: "
            "(B, Hq, T, d).",
            change={"after": lambda outputs, sizes: outputs[:, :: max(sizes.group, 1)]},
        ),
        Misconception(
            "heads in another order",
            kind="arrangement",
            credit=0.5,
            says="The right outputs stand in the wrong places: the heads of a group, which are neighbours, are apart "
            "in your result. Output h belongs to query head h.",
            change={
                "after": lambda outputs, sizes: (
                    outputs.unflatten(1, (sizes.Hkv, -1)).transpose(1, 2).flatten(1, 2)  # (B, group · Hkv, T, d)
                )
            },
        ),
        Misconception(
            "heads behind the words",
            kind="arrangement",
            credit=0.5,
            says="The numbers are right, but of shape (B, T, Hq, d). Return (B, Hq, T, d).",
            change={"after": lambda outputs, sizes: outputs.transpose(1, 2)},
        ),
        Misconception(
            "heads merged",
            kind="arrangement",
            credit=0.5,
            says="The numbers are right, but the heads are put side by side. Return (B, Hq, T, d).",
            change={"after": lambda outputs, sizes: outputs.transpose(1, 2).flatten(2)},
        ),
        *PIECES,
    ],
)
