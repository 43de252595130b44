"""Exercise 34: attention whose sums are kept, so that its work grows with T and not with T²."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import elu

from grader import Case, Exercise, Inputs, Misconception, randn
from grader.kit.pieces import as_pieces, asked
from grader.model.forms.exact import EXACT

from .head_cases import LONG, NO_TABLE, NOT_FILLED, SOME
from .mistakes import heads
from .mistakes.pieces import PIECES, unchanged

Tensor = torch.Tensor
Roles = tuple[Tensor, Tensor, Tensor]
Map = Callable[[Tensor], Tensor]


def positive(x: Tensor) -> Tensor:
    """The feature map φ."""
    return elu(x) + 1


def so_far(parts: Tensor) -> Tensor:
    """Sums over all words up to each, of (B, H, T, …)."""
    return parts.cumsum(dim=2)


def of_all(parts: Tensor) -> Tensor:
    return parts.sum(dim=2, keepdim=True).expand_as(parts)


def before(parts: Tensor) -> Tensor:
    return so_far(parts) - parts


def from_here(parts: Tensor) -> Tensor:
    return so_far(parts.flip(2)).flip(2)


def attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    roles: Callable[[Tensor, Tensor, Tensor], Roles] = lambda q, k, v: (q, k, v),
    of_query: Map = positive,
    of_key: Map = positive,
    of_value: Map = unchanged,
    outer: Callable[[Tensor, Tensor], Tensor] = lambda k, v: k[..., :, None] * v[..., None, :],
    collect: Map = so_far,
    total: Map = so_far,
    divide: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda mixed, q, sums: (
        mixed / (q * sums).sum(-1, keepdim=True)
    ),
    after: Callable[[Tensor], Any] = unchanged,
    finish: Callable[[Any], Any] = unchanged,
    dtype: Callable[[Any], Any] = unchanged,
) -> Any:
    q, k, v = roles(queries, keys, values)
    q, k, v = of_query(q), of_key(k), of_value(v)  # (B, H, T, d)
    products = collect(outer(k, v))  # (B, H, T, d, d)
    mixed = (q[..., None, :] @ products)[..., 0, :]  # (B, H, T, d)
    return dtype(finish(after(divide(mixed, q, total(k)))))


def with_table(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    weights: Callable[[Tensor], Tensor],
) -> Tensor:
    """Outputs from a table of scores (B, H, T, T), as other kinds of attention have it."""
    found = weights(queries @ keys.mT)  # (B, H, T, T)
    return found @ values


def ordinary(scale: float) -> Callable[..., Tensor]:
    """Softmax of dot products, divided by √d or not."""

    def answer(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        d = queries.shape[-1]
        later = torch.ones(keys.shape[2], keys.shape[2], dtype=torch.bool, device=keys.device).triu(1)
        return with_table(
            queries, keys, values, lambda s: torch.softmax((s / d**scale).masked_fill(later, -torch.inf), dim=-1)
        )

    return answer


def of_scores(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """φ of the dot products, in place of products of φ."""

    def weights(scores: Tensor) -> Tensor:
        seen = positive(scores).tril()
        return seen / seen.sum(-1, keepdim=True)

    return with_table(queries, keys, values, weights)


def softmax_of_products(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """A softmax of φ(q)·φ(k), which are the weights already but for their sum."""
    later = torch.ones(keys.shape[2], keys.shape[2], dtype=torch.bool, device=keys.device).triu(1)
    return with_table(
        positive(queries), positive(keys), values, lambda s: torch.softmax(s.masked_fill(later, -torch.inf), dim=-1)
    )


def between(rng: torch.Generator, least: float, most: float, *shape: int) -> Tensor:
    """Not far below zero: no divisor is so small that an ε of 10⁻⁶ counts, which many add to it."""
    return least + (most - least) * torch.rand(*shape, generator=rng)


def sized(
    B: int, H: int, T: int, d: int, least: float = -0.5, most: float = 2.5
) -> Callable[[torch.Generator], Inputs]:
    def inputs(rng: torch.Generator) -> Inputs:
        queries, keys = (between(rng, least, most, B, H, T, d) for _ in range(2))
        return queries, keys, randn(rng, B, H, T, d)

    return inputs


exercise = Exercise(
    number=34,
    assignment="fast_attention",
    title="Linear attention",
    entry="linear_attention",
    form=EXACT,
    reference=asked(attention),
    cases=[
        Case("two sentences of five words", catches="sums over all words", inputs=sized(2, 2, 5, 4)),
        Case("one word", catches="an output that is not its value", inputs=sized(2, 3, 1, 4)),
        Case("two words", catches="a query that does not see its own key", inputs=sized(1, 1, 2, 3)),
        Case("one feature", catches="squeezed dimensions", inputs=sized(1, 2, 4, 1)),
        Case("everything is four", catches="axes that are exchanged without an error", inputs=sized(4, 4, 4, 4)),
        Case("more words than entries", catches="sums over entries", inputs=sized(1, 2, 9, 2)),
        Case("entries from −1 to 4", catches="another feature map", inputs=sized(2, 2, 6, 4, -1.0, 4.0)),
        Case("a text of many words", "blocks that must fill it", sized(1, 1, SOME, 3), beside=NOT_FILLED, once=True),
        *as_pieces(sized(2, 2, 4, 3)),
        Case(
            "a long text",
            catches="memory that grows with the square of T",
            inputs=sized(1, 1, LONG, 4),
            promise=NO_TABLE,
        ),
    ],
    misconceptions=[
        Misconception(
            "not causal",
            kind="missing step",
            credit=0.5,
            says="Every query sees all keys in your results. Output t is made of the words 0 … t: sum up to there.",
            change={"collect": of_all, "total": of_all},
        ),
        Misconception(
            "only the divisor is causal",
            kind="missing step",
            credit=0.5,
            says="In your results, the sum of φ(k) vᵀ goes over all words, and that of φ(k) up to t only. Both should "
            "go up to t.",
            change={"collect": of_all},
        ),
        Misconception(
            "divisor of all words",
            kind="missing step",
            credit=0.5,
            says="Your results are divided by a sum over all keys. Divide output t by the sum over the keys up to t.",
            change={"total": of_all},
        ),
        Misconception(
            "own key hidden",
            kind="mix-up",
            credit=0.25,
            says="A query does not see its own key in your results, only those before. The sum should go up to and "
            "including t.",
            change={"collect": before, "total": before},
        ),
        Misconception(
            "own word only in the divisor",
            kind="mix-up",
            credit=0.5,
            says="In your results, word t is in the sum of φ(k) that output t is divided by, but not yet in that of "
            "φ(k) vᵀ. Add it to both before output t is read.",
            change={"collect": before},
        ),
        Misconception(
            "own word not in the divisor",
            kind="mix-up",
            credit=0.5,
            says="In your results, word t is in the sum of φ(k) vᵀ, but not yet in that of φ(k), which output t is "
            "divided by. Add it to both before output t is read.",
            change={"total": before},
        ),
        Misconception(
            "past hidden",
            kind="mix-up",
            credit=0.25,
            says="Your sums go from t to the end. They should go from the beginning to t.",
            change={"collect": from_here, "total": from_here},
        ),
        Misconception(
            "not divided",
            kind="missing step",
            credit=0.5,
            says="Your outputs are not divided by the sum of φ(q)·φ(k) over the keys so far: their weights do not sum "
            "to one.",
            change={"divide": lambda mixed, q, sums: mixed},
        ),
        Misconception(
            "divided by the number of words",
            kind="wrong formula",
            credit=0.25,
            says="Your outputs are divided by the number of words so far. Divide by the sum of φ(q)·φ(k) over them.",
            change={
                "divide": lambda mixed, q, sums: (
                    mixed / torch.arange(1, mixed.shape[2] + 1, device=mixed.device)[:, None].to(mixed.dtype)
                )
            },
        ),
        Misconception(
            "divided by the sum of keys",
            kind="wrong formula",
            credit=0.25,
            says="Your outputs are divided by the sum of φ(k), entry by entry. The divisor is one number: "
            "the dot product of φ(q) with that sum.",
            change={"divide": lambda mixed, q, sums: mixed / sums},
        ),
        Misconception(
            "elu without one",
            kind="missing step",
            credit=0.5,
            says="Your feature map is elu(x), which is negative for negative x. It should be elu(x) + 1.",
            change={"of_query": elu, "of_key": elu},
        ),
        Misconception(
            "elu without one for queries",
            kind="missing step",
            credit=0.5,
            says="The feature map of your queries is elu(x). It should be elu(x) + 1, like that of your keys.",
            change={"of_query": elu},
        ),
        Misconception(
            "elu without one for keys",
            kind="missing step",
            credit=0.5,
            says="The feature map of your keys is elu(x). It should be elu(x) + 1, like that of your queries.",
            change={"of_key": elu},
        ),
        Misconception(
            "products transposed",
            kind="arrangement",
            credit=0.5,
            says="In your results, φ(q) is multiplied by the values, and it is φ(k) that is weighed, as when sums of v "
            "φ(k)ᵀ are kept. Keep those of φ(k) vᵀ.",
            change={"outer": lambda k, v: v[..., :, None] * k[..., None, :]},
        ),
        Misconception(
            "relu",
            kind="wrong formula",
            credit=0.5,
            says="Your feature map is relu(x). It should be elu(x) + 1.",
            change={"of_query": torch.relu, "of_key": torch.relu},
        ),
        Misconception(
            "relu plus one",
            kind="wrong formula",
            credit=0.5,
            says="Your feature map is relu(x) + 1. It should be elu(x) + 1.",
            change={"of_query": lambda x: torch.relu(x) + 1, "of_key": lambda x: torch.relu(x) + 1},
        ),
        Misconception(
            "exp",
            kind="wrong formula",
            credit=0.5,
            says="Your feature map is exp(x), even where x is above 0. It should be elu(x) + 1, which is x + 1 there.",
            change={"of_query": torch.exp, "of_key": torch.exp},
        ),
        Misconception(
            "softmax of entries",
            kind="wrong formula",
            credit=0.5,
            says="Your feature map is a softmax over the entries of each query and key. It should be elu(x) + 1.",
            change={"of_query": lambda x: x.softmax(-1), "of_key": lambda x: x.softmax(-1)},
        ),
        Misconception(
            "sigmoid",
            kind="wrong formula",
            credit=0.5,
            says="Your feature map is a sigmoid. It should be elu(x) + 1.",
            change={"of_query": torch.sigmoid, "of_key": torch.sigmoid},
        ),
        Misconception(
            "no feature map",
            kind="missing step",
            credit=0.5,
            says="Queries and keys are taken as they are in your results. φ(x) = elu(x) + 1 comes first, for both.",
            change={"of_query": unchanged, "of_key": unchanged},
        ),
        Misconception(
            "feature map of keys alone",
            kind="missing step",
            credit=0.5,
            says="In your results, the map φ is applied to the keys alone. The queries need it, too.",
            change={"of_query": unchanged},
        ),
        Misconception(
            "feature map of queries alone",
            kind="missing step",
            credit=0.5,
            says="In your results, the map φ is applied to the queries alone. The keys need it, too.",
            change={"of_key": unchanged},
        ),
        Misconception(
            "feature map of values, too",
            kind="wrong formula",
            credit=0.5,
            says="In your results, the map φ is applied to the values, too. They should be weighed as they are.",
            change={"of_value": positive},
        ),
        Misconception(
            "scaled by √d",
            kind="scaling",
            credit=0.5,
            says="Your queries are divided by √d before φ. This exercise scales nothing.",
            change={"of_query": lambda x: positive(x / x.shape[-1] ** 0.5)},
        ),
        Misconception(
            "both scaled by √d",
            kind="scaling",
            credit=0.5,
            says="Your queries and keys are divided by √d before φ. This exercise scales nothing.",
            change={
                "of_query": lambda x: positive(x / x.shape[-1] ** 0.5),
                "of_key": lambda x: positive(x / x.shape[-1] ** 0.5),
            },
        ),
        Misconception(
            "both scaled by the fourth root of d",
            kind="scaling",
            credit=0.5,
            says="Your queries and keys are divided by the fourth root of d before φ. This exercise scales nothing.",
            change={
                "of_query": lambda x: positive(x / x.shape[-1] ** 0.25),
                "of_key": lambda x: positive(x / x.shape[-1] ** 0.25),
            },
        ),
        Misconception(
            "feature map of scores",
            kind="wrong formula",
            credit=0.25,
            says="The map φ is applied to the dot products in your results. Apply it to queries and keys, then "
            "multiply: only then can sums be kept.",
            answers=asked(of_scores),
        ),
        Misconception(
            "softmax of φ(q)·φ(k)",
            kind="wrong formula",
            credit=0.25,
            says="Your weights are a softmax of φ(q)·φ(k). They should be these products themselves, divided by their "
            "sum.",
            answers=asked(softmax_of_products),
        ),
        Misconception(
            "ordinary attention",
            kind="wrong formula",
            credit=0.0,
            says="Your results are those of softmax attention. Weights are φ(q)·φ(k), divided by their sum.",
            answers=asked(ordinary(0.5)),
        ),
        Misconception(
            "softmax of plain scores",
            kind="wrong formula",
            credit=0.0,
            says="Your results are those of softmax attention whose scores are not scaled. Weights are φ(q)·φ(k), "
            "divided by their sum.",
            answers=asked(ordinary(0.0)),
        ),
        heads.keys_as_values(roles=lambda q, k, v: (q, k, k)),
        Misconception(
            "queries and keys exchanged",
            kind="mix-up",
            credit=0.5,
            says="Queries and keys change places in your results: it is the keys that should be summed up.",
            change={"roles": lambda q, k, v: (k, q, v)},
        ),
        heads.keys_and_values_exchanged(roles=lambda q, k, v: (q, v, k)),
        Misconception(
            "sums over heads",
            kind="axis",
            credit=0.25,
            says="Your sums go on over the heads of a sentence. They should go over its words: dim=2.",
            change={"collect": lambda parts: parts.cumsum(1), "total": lambda parts: parts.cumsum(1)},
        ),
        Misconception(
            "no sums",
            kind="missing step",
            credit=0.0,
            says="Your outputs are the values: each query sees its own key alone. Sum over the words up to t.",
            change={"collect": unchanged, "total": unchanged},
        ),
        heads.heads_behind_the_words(after=lambda outputs: outputs.transpose(1, 2)),
        *PIECES,
    ],
)
