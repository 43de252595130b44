"""Exercise 43: an indexer, small and quick, chooses the keys that a query reads."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: F401  in lines

from grader import EXACT, Case, Exercise, Inputs, Misconception, at, randn, wrong
from grader.kit.pieces import LARGE, as_pieces

from .ex28_grouped_queries import exercise as grouped
from .head_cases import NOT_FILLED, PRIME, of_large_scores, with_a_query_of_zeros
from .index_cases import HEADS, LONG, NO_TABLE, indexer
from .mistakes import heads, mistakes_named
from .mistakes.of_choosing import ALL, BY_HEADS, BY_REAL_SCORES, NOTHING_HIDDEN, ROW_BY_ROW, TABLE
from .mistakes.of_pieces import another_type, gradients_lost
from .three_gradients import probe_of_three


def sparse_attention(queries, keys, values, index_q, index_k, index_w, top_k):
    B, _, T, d = queries.shape
    products = torch.einsum("bite,bse->bits", index_q, index_k)  #: products
    index_scores = torch.einsum("bti,bits->bts", index_w, torch.relu(products))  #: index
    later = torch.ones(T, T, dtype=torch.bool, device=queries.device).triu(1)
    index_scores = index_scores.masked_fill(later, -math.inf)  #: forbid
    chosen = index_scores.topk(min(top_k, T), dim=-1).indices  # (B, T, k), the same for all heads  #: choose
    t = torch.arange(T, device=queries.device)[:, None]
    hidden = (chosen > t)[:, None]  # (B, 1, T, k); the first queries have fewer than k keys  #: hidden

    b = torch.arange(B, device=queries.device)[:, None, None]
    some_keys = keys.transpose(1, 2)[b, chosen]  # (B, T, k, H, d)  #: keys
    some_values = values.transpose(1, 2)[b, chosen]  #: values
    scores = torch.einsum("bhtd,btkhd->bhtk", queries, some_keys)  #: scores
    scores = scores / math.sqrt(d)  #: scale
    scores = scores.masked_fill(hidden, -math.inf)  #: hide
    weights = torch.softmax(scores, dim=-1)  #: normalize
    outputs = torch.einsum("bhtk,btkhd->bhtd", weights, some_values)  #: mix
    return outputs  #: result


def sized(B: int, H: int, T: int, d: int, *indexed: int) -> Callable[[torch.Generator], Inputs]:
    """`indexed`: index heads, entries of an index key, and top_k."""

    def inputs(rng: torch.Generator) -> Inputs:
        index_heads, e, top_k = indexed
        three = (randn(rng, B, H, T, d) for _ in range(3))
        return (*three, *indexer(rng, B, index_heads, T, e, top_k), top_k)

    return inputs


def large(rng: torch.Generator) -> Inputs:
    return *of_large_scores(rng, 2, 2, 2, 6, 6), *indexer(rng, 2, 3, 6, 2, 3), 3


RELU_LAST = 'index_scores = torch.relu(torch.einsum("bti,bits->bts", index_w, products))'
RELU_LATER = 'index_scores = torch.relu(torch.einsum("bti,bits->bits", index_w, products)).sum(1)'
# Mistakes whose results depend on whether there is a table of all keys.
OF_TABLES = (
    "softmax twice", "softmax over heads", "softmax over queries", "masked after softmax", "zeros for −∞",
    "renormalized after softmax", "renormalized after softmax, with a limit",
    "values averaged", "mean instead of sum", "weights alone",
)  # fmt: skip


def in_both_ways(mistake: Misconception) -> Misconception:
    """A mistake of heads.with_lines, in code that gathers keys, and in code with a table if that matters."""
    if mistake.name not in OF_TABLES:
        return mistake
    table = {"after hidden": TABLE, **mistake.change}
    two_ways = mistake.add_way(table)
    if not mistake.name.startswith("softmax over"):
        return two_ways
    return two_ways.add_way({**table, "normalize": f"{table['normalize']}.nan_to_num(0.0)"})


# fmt: off
exercise = Exercise(
    number=43,
    assignment="modern_attention",
    title="Sparse attention",
    solution=sparse_attention,
    form=EXACT,
    probe=probe_of_three,
    cases=[
        Case("three keys of seven words", "another choice; scores of 0 that are hidden",
             inputs=with_a_query_of_zeros(sized(2, 2, 7, 4, 3, 5, 3))),
        Case("one key", "a choice of more than one key", sized(1, 3, 6, 2, 2, 3, 1)),
        Case("all keys", "anything but causal attention", sized(2, 1, 5, 3, 2, 4, 5)),
        Case("more keys than words", "a number of keys that is not limited", sized(1, 2, 4, 3, 2, 2, 9)),
        Case("one word", "squeezed dimensions", sized(3, 2, 1, 4, 2, 3, 2)),
        Case("one index head, one entry", "squeezed dimensions", sized(1, 2, 6, 1, 1, 1, 3)),
        Case("as many index heads as heads", "a choice for each head", sized(2, 3, 6, 4, 3, 2, 2)),
        Case("everything is four", "axes that are exchanged without an error", sized(4, 4, 4, 4, 4, 4, 2)),
        Case("five keys of thirteen words", "later keys that are chosen", sized(2, 3, 13, 6, 4, 3, 5)),
        Case("scores of ±10⁴", "a softmax that overflows", large, beside=LARGE),
        Case("a text of many words", "blocks that must fill it", sized(1, 1, PRIME, 2, 2, 2, 6), beside=NOT_FILLED,
             once=True),
        *as_pieces(sized(2, 2, 5, 3, 3, 2, 2)),
        Case("a long text with many heads", "memory that grows with H · T²", sized(1, HEADS, LONG, 2, 2, 2, 8),
             promise=NO_TABLE),
    ],
    mistakes=[
        *heads.and_with_zeros(
            wrong("chosen among later keys, too", {"forbid": ""},
                  "In your results, later keys are among the chosen ones, and are hidden only then, so that a query is "
                  "left with fewer keys, or none. Set the index scores of later keys to −∞ first, then choose.",
                  kind="mix-up")),
        wrong("later keys read", {"forbid": "", "hidden": NOTHING_HIDDEN},
              "Your queries choose among all keys, and read later ones. Set their index scores to −∞ before you "
              "choose, and hide what fills up too short a choice.", kind="missing step"),
        wrong("later keys read by the first queries",
              [{"hidden": NOTHING_HIDDEN},
               {"choose": "chosen = index_scores.sort(dim=-1, descending=True, stable=True).indices[..., :top_k]",
                "hidden": NOTHING_HIDDEN},
               {"hidden": "least = index_scores.gather(-1, chosen)[..., -1:]\n"
                          f"hidden = (index_scores < least)[:, None]\n{ALL}"}],
              "In your results, the first queries read later keys: they have fewer than top_k keys to choose from, and "
              "then later ones are read, too. Hide these in the softmax.", kind="missing step"),
        *heads.and_with_zeros(
            wrong("index scores of later keys are 0",
                  {"forbid": "index_scores = index_scores.masked_fill(later, 0.0)"},
                  "In your results, later keys have an index score of 0, which is larger than one below 0, so they are "
                  "chosen instead of it. Set it to −∞.", kind="mix-up")),
        wrong("index scores of later keys are 0, and read",
              {"forbid": "index_scores = index_scores.masked_fill(later, 0.0)", "hidden": NOTHING_HIDDEN},
              "In your results, later keys have an index score of 0, and some of them are read. Set it to −∞, and hide "
              "later keys in the softmax as well.", kind="missing step"),
        *at("choose",
            wrong("one key too many", "chosen = index_scores.topk(min(top_k + 1, T), dim=-1).indices",
                  "Your queries read top_k + 1 keys. Choose top_k.", kind="mix-up"),
            wrong("one key too few",
                  ["chosen = index_scores.topk(min(max(top_k - 1, 1), T), dim=-1).indices",
                   "chosen = index_scores.topk(min(top_k - 1, T), dim=-1).indices"],
                  "Your queries read top_k − 1 keys. Choose top_k.", kind="mix-up"),
            wrong("top_k not limited", "chosen = index_scores.topk(top_k, dim=-1).indices",
                  "Your code stops if top_k is larger than the number of words. Then a query reads all keys up to its "
                  "own.", credit=0.75, kind="input"),
            wrong("all earlier keys", ALL,
                  "Your queries read all keys up to their own, as in ordinary causal attention. Read only the top_k "
                  "with the largest index scores.", credit=0.0, kind="missing step"),
            wrong("nearest keys",
                  "chosen = torch.arange(T, device=queries.device)[:, None] - torch.arange(min(top_k, T))\n"
                  "chosen = torch.where(chosen < 0, T - 1, chosen).expand(B, -1, -1)",
                  "Your queries read the last top_k keys up to their own, whatever the index scores are. Choose those "
                  "with the largest index scores.", credit=0.25, kind="missing step")),
        wrong("smallest",
              [{"forbid": ("-math.inf", "math.inf"), "choose": ("dim=-1", "dim=-1, largest=False")},
               {"choose": ("dim=-1", "dim=-1, largest=False")},
               {"choose": ("dim=-1", "dim=-1, largest=False"),
                "normalize": "weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)"}],
              "Your queries read the keys with the smallest index scores. Choose the largest.", kind="mix-up"),
        *heads.and_with_zeros(wrong("chosen for keys",
              {"choose": ("dim=-1", "dim=1"),
               "hidden": "hidden = torch.ones_like(later).expand(B, T, T).scatter(1, chosen, False)[:, None] | later\n"
                         f"{ALL}"},
              "In your results, each key chooses top_k queries. Each query chooses keys: go along the last axis of the "
              "index scores.", kind="axis")),
        *at("index",
            wrong("no ReLU", ("torch.relu(products)", "products"),
                  "Your index scores are made of products below 0, too. Set these to 0 with a ReLU before they are "
                  "weighted.", kind="missing step"),
            wrong("ReLU of the sum", [RELU_LAST, {"index": RELU_LAST, "choose": ROW_BY_ROW}],
                  "In your results, the ReLU comes after the sum over the index heads. Apply it to each product of an "
                  "index query and an index key, then weigh and sum.", kind="mix-up"),
            wrong("ReLU of the weighted products", [RELU_LATER, {"index": RELU_LATER, "choose": ROW_BY_ROW}],
                  "In your results, the ReLU comes after the weights, so that it also cuts off what has a negative "
                  "weight. Apply it to the products alone.", kind="mix-up"),
            wrong("absolute products", ("torch.relu(products)", "products.abs()"),
                  "Your index scores are made of absolute values. Products below 0 count as 0: use a ReLU."),
            wrong("no weights", "index_scores = torch.relu(products).sum(1)",
                  "Your index scores do not depend on index_w. For query t, multiply index head i by index_w[t, i], "
                  "then sum over the index heads.", kind="missing step"),
            wrong("weights of the keys", ("bti,", "bsi,"),
                  "In your results, the weights are those of the key's word. Use those of the query's: index_w[t, i].",
                  kind="mix-up"),
            wrong("weights through softmax", ("index_w,", "index_w.softmax(-1),"),
                  "In your results, index_w goes through a softmax first. Use it as it is."),
            wrong("first index head alone", 'index_scores = index_w[..., :1] * torch.relu(products[:, 0])',
                  "Your index scores are those of the first index head. Sum over all of them.", kind="missing step"),
            wrong("index scores transposed", ("->bts", "->bst"),
                  "In your results, rows and columns of the index scores are exchanged. The score of query t and key s "
                  "is in row t and column s.", kind="axis"),
            wrong("chosen by the scores of all heads",
                  ["index_scores = (queries @ keys.mT).sum(1)",
                   "index_scores = torch.softmax((queries @ keys.mT / math.sqrt(d)).masked_fill(torch.ones(T, T, "
                   "device=queries.device).triu(1) > 0, -math.inf), dim=-1).sum(1)"],
                  "Your keys are chosen by the scores of attention itself, summed over the heads. Choose by the index "
                  "scores: that is much less work.", credit=0.25, kind="missing step")),
        wrong("absolute index scores", {"before forbid": "index_scores = index_scores.abs()"},
              "Your queries read the keys whose index scores are the largest in absolute value. Leave out the absolute "
              "value: a score far below 0 is a small one."),
        wrong("chosen by the scores", {"before products": BY_REAL_SCORES},
              "Your keys are chosen by the scores of attention itself, for each head. Choose by the index scores, the "
              "same keys for all heads.", credit=0.25, kind="missing step"),
        wrong("a choice for each head", {"after products": BY_HEADS},
              "In your results, each head has its own choice, made by one index head. Sum over all index heads, and "
              "choose once.", kind="missing step"),
        wrong("own key always", {"after hidden": TABLE + "    hidden = hidden & (chosen != t)[:, None]\n"},
              "In your results, a query always reads its own key, in addition to the chosen ones. Its own key has an "
              "index score like any other.", kind="mix-up"),
        *heads.and_with_zeros(
            wrong("choice of the last query for all", {"after choose": "chosen = chosen[:, -1:].expand_as(chosen)"},
                  "All your queries read the keys that the last one chooses. Each query has its own choice.",
                  kind="mix-up")),
        wrong("choice of the first sentence for all", {"after choose": "chosen = chosen[:1].expand_as(chosen)"},
              "All sentences have the choice of the first one. Choose for each sentence.", kind="mix-up"),
        wrong("not renormalized",
              {"after hidden": TABLE, "hide": "scores = scores.masked_fill(later, -math.inf)",
               "after normalize": "weights = weights.masked_fill(hidden, 0.0)"},
              "Your weights do not sum to one: they are from a softmax over all keys up to the query's own, and only "
              "then is what was not chosen set to 0. Set scores to −∞ before softmax.", kind="missing step"),
        wrong("index scores as scores",
              {"scores": "scores = index_scores.gather(-1, chosen)[:, None].expand(-1, queries.shape[1], -1, -1)",
               "scale": ""},
              "Your weights are a softmax of the index scores. These only choose: weigh the chosen keys by q · k / √d.",
              credit=0.25, kind="missing step"),
        wrong("values not chosen", {"values": "some_values = values.transpose(1, 2)[:, None, : chosen.shape[-1]]"},
              "Your weights belong to the chosen keys, but the values are the first ones. Gather both with the same "
              "numbers.", kind="mix-up"),
        *at("scale",
            wrong("scaled by the root of top_k", "scores = scores / math.sqrt(top_k)",
                  "Your scores are divided by the square root of top_k. Divide by √d.", kind="scaling"),
            *mistakes_named(grouped.mistakes, "scaled by √T")),
        *map(in_both_ways, heads.with_lines()),
        heads.BEHIND_WORDS,
        *gradients_lost("outputs"), *another_type("outputs", "after mix"),
    ],
)
# fmt: on
